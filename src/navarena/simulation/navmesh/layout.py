"""The arrays of a navmesh as kernels see them: one row of an address table, one slot per array.

Kernels work in the plan: x and z decide which triangle a point is over, y only chooses between
storeys. A half-edge is numbered 3 * triangle + k and runs from corner k to corner (k + 1) % 3;
triangles are counter-clockwise seen from above, so the triangle lies on its left.
"""

from typing import Protocol, runtime_checkable

import numpy as np

CORNERS = 0
"""(6 T,) float64: x and z of the three corners of each triangle."""
LINKS = 1
"""(3 T,) int32: the half-edge on the other side of each half-edge, -1 on the border."""
TRIANGLES = 2
"""(3 T,) int32: vertex indices."""
VERTICES = 3
"""(3 V,) float64: x, y, z in metres."""
DETAIL_OFFSETS = 4
"""(T + 1,) int64: first ground piece of each triangle."""
DETAIL = 5
"""(9 D,) float64: the corners of the ground pieces."""
PLANES = 6
"""(3 T,) float64: a, b, c of y = a x + b z + c through the corners of each triangle."""
HEIGHTS = 7
"""(2 T,) float64: lowest and highest y of the ground under each triangle."""
ISLANDS = 8
"""(T,) int32: connected component of each triangle."""
TURNABLE = 9
"""(V,) uint8: 1 where a shortest path can turn: the border is reflex at this vertex."""
BRANCHES = 10
"""(2 T,) int32: interval of a dead-end triangle's subtree, -1 -1 outside dead ends."""
GRID_FRAME = 11
"""(5,) float64: least x, least z, 1 / cell side, columns (x), rows (z)."""
GRID_OFFSETS = 12
"""(columns * rows + 1,) int32: first item of each cell, row by row (z slow, x fast)."""
GRID_ITEMS = 13
"""int32: the triangles that touch each cell."""
CLIMB = 14
"""(1,) float64: the body's highest step in metres, within which "above a triangle" means on it."""

SLOT_COUNT = 15


@runtime_checkable
class QueryRecord(Protocol):
    """Anything that kernels can query: it owns the arrays of one table row."""

    @property
    def query_arrays(self) -> tuple[np.ndarray, ...]:
        """The SLOT_COUNT arrays in slot order, contiguous, of the dtypes above."""
        ...
