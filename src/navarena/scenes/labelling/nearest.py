"""The nearest triangle to each of many points."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from navarena.core.threads import run_in_shares
from navarena.scenes.labelling.nearest_kernels import (
    LEAF_SIZE,
    fill_boxes,
    morton_codes,
    nearest_triangles,
)

_CELLS = 1 << 20
"""Morton cells along the longest side of what is indexed."""


@dataclass(frozen=True)
class Nearest:
    """Answers for N points.

    Attributes:
        triangle: (N,) index of the nearest triangle, -1 where none is within the limit.
        weights: (N, 3) barycentric coordinates of the nearest point in it, summing to 1.
        distance: (N,) metres, infinite where there is none.
    """

    triangle: Int[np.ndarray, "n"]
    weights: Float[np.ndarray, "n 3"]
    distance: Float[np.ndarray, "n"]


class TriangleTree:
    """Triangles sorted for nearest-point queries.

    Args:
        corners: (T, 3, 3) metres, at least one triangle.
    """

    def __init__(self, corners: Float[np.ndarray, "t 3 3"]) -> None:
        centers = np.ascontiguousarray(corners.mean(1), np.float64)
        order = morton_order(centers)
        self._order = order
        self._corners = np.ascontiguousarray(corners[order], np.float64)
        leaves = 1
        while leaves * LEAF_SIZE < len(order):
            leaves *= 2
        self._boxes = np.zeros((2 * leaves - 1, 6))
        fill_boxes(self._corners, self._boxes)

    def nearest(self, points: Float[np.ndarray, "n 3"], limit: float = np.inf) -> Nearest:
        """The nearest triangle to each of `points` (N, 3), metres, at most `limit` metres away.

        Among equally near triangles the answer is the same whatever the number of threads. It is
        fastest when neighbouring rows are near to each other in space.
        """
        points = np.ascontiguousarray(points, np.float64)
        index = np.full(len(points), -1, np.int64)
        weights = np.zeros((len(points), 3))
        distance = np.full(len(points), np.inf)

        def work(share: int, first: int, last: int) -> None:
            nearest_triangles(
                points, self._corners, self._boxes, float(limit), index, weights, distance, first, last
            )

        run_in_shares(work, len(points))
        return Nearest(np.where(index >= 0, self._order[index], -1), weights, distance)


def morton_order(points: Float[np.ndarray, "n 3"]) -> Int[np.ndarray, "n"]:
    """(N,) indices that put `points` (N, 3), metres, into an order in which neighbours are near."""
    points = np.ascontiguousarray(points, np.float64)
    low = points.min(0)
    extent = float((points.max(0) - low).max()) or 1.0
    codes = np.zeros(len(points), np.uint64)
    morton_codes(points, low, (_CELLS - 1) / extent, codes)
    return np.argsort(codes, kind="stable")
