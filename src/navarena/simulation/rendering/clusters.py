"""Triangles in clusters: the unit that is culled, ordered and tested for occlusion.

Clusters come from a kd-split by position alone; mixing normals into the split made
scan-like meshes 1.4 to 2.2 times slower to draw.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, Int16, Int32

from navarena.simulation.rendering.memory_layout import MAX_CLUSTER_TRIANGLES

HOUSE_CLUSTER = 64
"""Triangles per cluster of a mesh of up to LARGE_MESH triangles."""
SCAN_CLUSTER = MAX_CLUSTER_TRIANGLES
LARGE_MESH = 200_000
THINNEST = 1e-9
"""Height over longest edge up to which a triangle counts as a line."""
NEVER_CULLED = 9.0
"""Sine stored for a cluster whose normals spread too far to be culled as a whole."""
_STORED = ("triangle_offset", "vertex_offset", "box", "cone")


@dataclass(frozen=True)
class Clusters:
    """C clusters over T triangles, with their own copies of the vertices.

    Attributes:
        order: (T,) int64, original index of the triangle at each place.
        triangle_offset: (C + 1,) int32 into the ordered triangles.
        vertex_offset: (C + 1,) int32 into `vertex`.
        vertex: (V,) int64, original vertex index.
        corner: (T, 3) int16, corners of the ordered triangles, counted within the cluster.
        box: (6, C) float32 metres: centre x, y, z, half extent x, y, z.
        cone: (4, C) float32: mean normal x, y, z and sine of the widest deviation from it.
    """

    order: Int[np.ndarray, "t"]
    triangle_offset: Int32[np.ndarray, "c1"]
    vertex_offset: Int32[np.ndarray, "c1"]
    vertex: Int[np.ndarray, "v"]
    corner: Int16[np.ndarray, "t 3"]
    box: Float32[np.ndarray, "6 c"]
    cone: Float32[np.ndarray, "4 c"]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Arrays for a pack; whose vertices they are follows from the triangles of the scene."""
        fields = {name: getattr(self, name) for name in _STORED}
        corner = self.corner.astype(np.uint8 if self.corner.max() <= np.iinfo(np.uint8).max else np.uint16)
        return fields | {"order": self.order.astype(np.uint32), "corner": corner}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], triangles: Int32[np.ndarray, "n 3"]) -> "Clusters":
        """The clusters of an opened pack of the scene with `triangles` (N, 3), degenerate ones included."""
        order, corner = arrays["order"].astype(np.int64), arrays["corner"].astype(np.int16)
        stored = {name: arrays[name] for name in _STORED}
        first = np.repeat(stored["vertex_offset"][:-1], np.diff(stored["triangle_offset"]))
        vertex = np.zeros(stored["vertex_offset"][-1], np.int64)
        vertex[first[:, None] + corner] = triangles[order]
        return cls(order=order, corner=corner, vertex=vertex, **stored)


def split_by_position(
    points: Float[np.ndarray, "t 3"], limit: int
) -> tuple[Int[np.ndarray, "t"], Int[np.ndarray, "c1"]]:
    """A permutation (T,) of points (T, 3) and the offsets (C + 1,) of groups of at most `limit`, as indices.

    Each group too large is halved at the median of its longest axis.
    """
    order = np.arange(len(points))
    starts, pending = [], [(0, len(points))]
    while pending:
        first, last = pending.pop()
        if last - first <= limit:
            starts.append(first)
            continue
        members = points[order[first:last]]
        axis = np.argmax(members.max(0) - members.min(0))
        half = (last - first) // 2
        order[first:last] = order[first:last][_halve(members[:, axis], half)]
        pending += [(first + half, last), (first, first + half)]
    return order, np.array([*starts, len(points)])


def _halve(values: Float[np.ndarray, "m"], half: int) -> Int[np.ndarray, "m"]:
    """(M,) a permutation that brings the `half` smallest of `values` to the front, of equals the first."""
    middle = np.partition(values, half)[half]
    small, equal = np.flatnonzero(values < middle), np.flatnonzero(values == middle)
    return np.concatenate([small, equal, np.flatnonzero(values > middle)])


def build_clusters(
    vertices: Float[np.ndarray, "v 3"], triangles: Int[np.ndarray, "t 3"], limit: int | None = None
) -> Clusters:
    """Group triangles (T, 3), at least one, into clusters of at most `limit` (default by mesh size).

    Vertices (V, 3) are metres, world frame. Triangles without area are left out, unless there
    are no others; in the result T counts those that remain.
    """
    if limit is None:
        limit = HOUSE_CLUSTER if len(triangles) <= LARGE_MESH else SCAN_CLUSTER
    corners = vertices[triangles].astype(np.float64)
    kept = np.flatnonzero(_has_area(corners))
    kept = kept if len(kept) else np.zeros(1, np.int64)
    place, offset = split_by_position(corners[kept].mean(1), min(limit, MAX_CLUSTER_TRIANGLES))
    order = kept[place]
    corners = corners[order]
    triangles = triangles[order].astype(np.int64)
    count = len(offset) - 1
    owner = np.repeat(np.arange(count), np.diff(offset))

    keys, found = np.unique(owner[:, None] * len(vertices) + triangles, return_inverse=True)
    vertex_offset = np.searchsorted(keys, np.arange(count + 1) * len(vertices))
    corner = found.reshape(triangles.shape) - vertex_offset[owner][:, None]

    low = np.minimum.reduceat(corners.min(1), offset[:-1])
    high = np.maximum.reduceat(corners.max(1), offset[:-1])
    return Clusters(
        order=order,
        triangle_offset=offset.astype(np.int32),
        vertex_offset=vertex_offset.astype(np.int32),
        vertex=keys % len(vertices),
        corner=corner.astype(np.int16),
        box=np.concatenate([(low + high) / 2, (high - low) / 2], 1).T.astype(np.float32),
        cone=_normal_cones(corners, offset, owner),
    )


def _has_area(corners: Float[np.ndarray, "t 3 3"]) -> Bool[np.ndarray, "t"]:
    """Whether triangles are more than points and lines."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    longest = ((corners - np.roll(corners, 1, axis=1)) ** 2).sum(2).max(1)
    return np.asarray(np.linalg.norm(normal, axis=1) > THINNEST * longest)


def _normal_cones(
    corners: Float[np.ndarray, "t 3 3"], offset: Int[np.ndarray, "c1"], owner: Int[np.ndarray, "t"]
) -> Float32[np.ndarray, "4 c"]:
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = normal / np.maximum(length, np.finfo(float).tiny)
    axis = np.add.reduceat(normal, offset[:-1])
    axis /= np.maximum(np.linalg.norm(axis, axis=1, keepdims=True), np.finfo(float).tiny)
    cosine = (normal * axis[owner]).sum(1)
    least = np.minimum.reduceat(cosine, offset[:-1])
    sine = np.sqrt(np.maximum(1 - least**2, 0)) + 1e-4
    sine = np.where(least > 0.05, sine, NEVER_CULLED)
    return np.concatenate([axis, sine[:, None]], 1).T.astype(np.float32)
