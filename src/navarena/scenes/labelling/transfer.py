"""Transfer of labels from the nearest labelled surface to triangles.

Every triangle is asked at points spread evenly over it. Where they disagree it is cut once into four by
the middles of its sides, and each piece takes the label of most of its points. What then still says
otherwise is the ambiguous share: an estimate of how much of the surface wears a wrong label.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int, Int32

from navarena.scenes.labelling.nearest_triangles import Nearest, TriangleTree
from navarena.scenes.scene import Scene


@dataclass(frozen=True)
class SurfacePart:
    """Labelled triangles. Exactly one of the three kinds of labels is given.

    Attributes:
        corners: (T, 3, 3) metres, world frame.
        of_triangle: (T,) the label of each triangle.
        of_corner: (T, 3) the label of each corner; a point has that of the corner it is nearest to.
        image: (h, w) the label of each texel, row 0 on top.
        uv: (T, 3, 2) texture coordinates for `image`, v upwards, repeating.
    """

    corners: Float[np.ndarray, "t 3 3"]
    of_triangle: Int[np.ndarray, "t"] | None = None
    of_corner: Int[np.ndarray, "t 3"] | None = None
    image: Int32[np.ndarray, "h w"] | None = None
    uv: Float[np.ndarray, "t 3 2"] | None = None

    def labels_at(
        self, triangle: Int[np.ndarray, "n"], weights: Float[np.ndarray, "n 3"]
    ) -> Int[np.ndarray, "n"]:
        """(N,) labels of points given by triangle index (N,) and barycentric coordinates (N, 3)."""
        if self.of_triangle is not None:
            return self.of_triangle[triangle].astype(np.int64)
        if self.of_corner is not None:
            return self.of_corner[triangle, weights.argmax(1)].astype(np.int64)
        if self.image is None or self.uv is None:
            raise ValueError("a labelled surface needs labels of triangles, of corners, or an image with uv")
        uv = np.einsum("nk,nkc->nc", weights, self.uv[triangle].astype(np.float64))
        height, width = self.image.shape
        column = np.floor((uv[:, 0] % 1.0) * width).astype(np.int64)
        row = np.floor(((1.0 - uv[:, 1]) % 1.0) * height).astype(np.int64)
        return self.image[np.minimum(row, height - 1), np.minimum(column, width - 1)].astype(np.int64)


class LabelledSurface:
    """Parts of one surface, searched as one.

    Args:
        parts: at least one triangle in all.
    """

    def __init__(self, parts: Sequence[SurfacePart]) -> None:
        self._parts = [part for part in parts if len(part.corners)]
        self._starts = np.cumsum([0, *(len(part.corners) for part in self._parts)])

    @cached_property
    def _tree(self) -> TriangleTree:
        return TriangleTree(np.concatenate([part.corners for part in self._parts]))

    def labels_near(
        self, points: Float[np.ndarray, "n 3"], limit: float
    ) -> tuple[Int[np.ndarray, "n"], Float[np.ndarray, "n"]]:
        """(labels (N,), distances (N,) metres) of the nearest surface points.

        Farther than `limit` metres the label is 0 and the distance infinite.
        """
        found: Nearest = self._tree.nearest(points, limit)
        labels = np.zeros(len(points), np.int64)
        for index, part in enumerate(self._parts):
            first, last = self._starts[index], self._starts[index + 1]
            mine = np.flatnonzero((found.triangle >= first) & (found.triangle < last))
            if len(mine):
                labels[mine] = part.labels_at(found.triangle[mine] - first, found.weights[mine])
        return labels, found.distance


SAMPLE_SPACING = 0.15
"""Metres between the points at which a large triangle is asked."""

MAX_ORDER = 6
"""A triangle is asked at no more than the square of this many points."""

MAX_DISTANCE = 0.25
"""Metres; what is farther from every labelled surface than this has no label."""

_BATCH = 1 << 18
"""Triangles asked at once, to bound memory."""


@dataclass(frozen=True)
class LabelReport:
    """Statistics of how well the labels fit.

    Attributes:
        ambiguous_share: share of the area, 0 to 1, whose points name another object than their triangle.
        far_share: share of the area with no labelled surface within MAX_DISTANCE.
        split_triangles: how many triangles were cut into four.
    """

    ambiguous_share: float
    far_share: float
    split_triangles: int


@dataclass(frozen=True)
class _Votes:
    """For each triangle: the label of most points, the share of others, the share far away."""

    label: Int[np.ndarray, "t"]
    others: Float[np.ndarray, "t"]
    far: Float[np.ndarray, "t"]


def transfer_labels(scene: Scene, surface: LabelledSurface) -> tuple[Scene, LabelReport]:
    """The scene with `triangle_object` (T,) taken from the nearest surface, and a report of the fit.

    Labels are object ids, 0 for nothing. Cut triangles are replaced by their four pieces in place;
    the neighbours of a cut side are left whole. The scene's objects are left as they are.
    """
    votes = _ask(scene.vertices, scene.triangles, surface)
    cut = np.flatnonzero(votes.others > 0)
    if not len(cut):
        labelled = replace(scene, triangle_object=votes.label.astype(np.int32))
        return labelled, _report(labelled, votes, 0)
    finer, source = split_triangles(scene, cut)
    fresh = np.isin(source, cut)
    label, others, far = votes.label[source], votes.others[source], votes.far[source]
    pieces = _ask(finer.vertices, finer.triangles[fresh], surface)
    label[fresh], others[fresh], far[fresh] = pieces.label, pieces.others, pieces.far
    labelled = replace(finer, triangle_object=label.astype(np.int32))
    return labelled, _report(labelled, _Votes(label, others, far), len(cut))


def split_triangles(scene: Scene, chosen: Int[np.ndarray, "k"]) -> tuple[Scene, Int[np.ndarray, "t"]]:
    """Cut the triangles `chosen` (K,) (indices) into four by the middles of their sides.

    Returns the scene and, for each of its triangles, the index (T,) of the one it is a piece of.
    """
    sides = scene.triangles[chosen][:, [[0, 1], [1, 2], [2, 0]]].astype(np.int64)
    keys = np.sort(sides, axis=2) @ np.array([len(scene.vertices), 1])
    edges, middle = np.unique(keys, return_inverse=True)
    middle = (middle.reshape(-1, 3) + len(scene.vertices)).astype(np.int32)
    ends = np.stack([edges // len(scene.vertices), edges % len(scene.vertices)], 1)

    counts = np.ones(len(scene.triangles), np.int64)
    counts[chosen] = 4
    source = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    triangles = scene.triangles[source]
    corner = scene.triangles[chosen]
    for piece, columns in enumerate(((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5))):
        triangles[first[chosen] + piece] = np.concatenate([corner, middle], 1)[:, columns]

    uv = scene.triangle_uv
    if uv is not None:
        old = uv[chosen]
        both = np.concatenate([old, (old + old[:, [1, 2, 0]]) / 2], 1)
        uv = uv[source]
        for piece, columns in enumerate(((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5))):
            uv[first[chosen] + piece] = both[:, columns]
    colors, light = scene.vertex_color, scene.vertex_light
    if colors is not None:
        colors = np.concatenate([colors, np.rint(colors[ends].mean(1)).astype(np.uint8)])
    if light is not None:
        light = np.concatenate([light, light[ends].mean(1)])
    finer = replace(
        scene,
        vertices=np.concatenate([scene.vertices, scene.vertices[ends].mean(1, dtype=np.float32)]),
        triangles=np.ascontiguousarray(triangles),
        triangle_object=scene.triangle_object[source],
        triangle_material=scene.triangle_material[source],
        triangle_uv=uv,
        vertex_color=colors,
        vertex_light=light,
    )
    return finer, source


def _ask(
    vertices: Float[np.ndarray, "v 3"], triangles: Int[np.ndarray, "t 3"], surface: LabelledSurface
) -> _Votes:
    """Majority vote of every triangle's points."""
    label = np.zeros(len(triangles), np.int64)
    others, far = np.zeros(len(triangles)), np.zeros(len(triangles))
    orders = _orders(vertices, triangles)
    for order in np.unique(orders):
        weights = sample_weights(int(order))
        members = np.flatnonzero(orders == order)
        size = max(1, _BATCH * 4 // len(weights))
        for begin in range(0, len(members), size):
            rows = members[begin : begin + size]
            points = np.einsum("sk,tkc->tsc", weights, vertices[triangles[rows]].astype(np.float64))
            found, distance = surface.labels_near(points.reshape(-1, 3), MAX_DISTANCE)
            found = found.reshape(len(rows), -1)
            label[rows] = _majority(found)
            others[rows] = np.mean(found != label[rows, None], axis=1)
            far[rows] = np.mean(np.isinf(distance).reshape(len(rows), -1), axis=1)
    return _Votes(label, others, far)


def _orders(vertices: Float[np.ndarray, "v 3"], triangles: Int[np.ndarray, "t 3"]) -> Int[np.ndarray, "t"]:
    """(T,) number of pieces along each side into which a triangle is divided for its sample points."""
    corners = vertices[triangles].astype(np.float64)
    longest = np.linalg.norm(corners - corners[:, [1, 2, 0]], axis=2).max(1)
    return np.clip(np.ceil(longest / SAMPLE_SPACING), 2, MAX_ORDER).astype(np.int64)


def sample_weights(order: int) -> Float[np.ndarray, "s 3"]:
    """(S, 3) barycentric coordinates, dimensionless: the middles of the order^2 equal pieces."""
    rows = []
    for i in range(order):
        for j in range(order - i):
            rows.append((i + 1 / 3, j + 1 / 3))
            if j < order - i - 1:
                rows.append((i + 2 / 3, j + 2 / 3))
    first = np.array(rows) / order
    return np.column_stack([1 - first.sum(1), first])


def _majority(found: Int[np.ndarray, "t s"]) -> Int[np.ndarray, "t"]:
    """(T,) the label most frequent in each row, the lowest of equals."""
    label = found[:, 0].copy()
    mixed = np.flatnonzero((found != found[:, :1]).any(1))
    ordered = np.sort(found[mixed], axis=1)
    counts = (ordered[:, :, None] == ordered[:, None, :]).sum(2)
    label[mixed] = ordered[np.arange(len(mixed)), counts.argmax(1)]
    return label


def _report(scene: Scene, votes: _Votes, split: int) -> LabelReport:
    corners = scene.vertices[scene.triangles].astype(np.float64)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    total = float(area.sum()) or 1.0
    return LabelReport(float(area @ votes.others) / total, float(area @ votes.far) / total, split)
