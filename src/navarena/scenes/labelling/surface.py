"""A labelled surface: triangles whose points each belong to a thing or to nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int, Int32

from navarena.scenes.labelling.nearest import Nearest, TriangleTree


@dataclass(frozen=True)
class SurfacePart:
    """Triangles that carry their labels in one of three ways: exactly one is given.

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
