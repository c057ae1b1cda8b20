# mypy: disable-error-code="no-untyped-def"
"""The arrays of a navmesh as kernels see them: one row of an address table, one slot per array.

Kernels work in the plan: x and z decide which triangle a point is over, y only chooses between
storeys. A half-edge is numbered 3 * triangle + k and runs from corner k to corner (k + 1) % 3;
triangles are counter-clockwise seen from above, so the triangle lies on its left.
"""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Int64

from navarena.core.kernels import kernel
from navarena.core.pointers import flat_view

# Slots are NumPy integers, since Numba compiles a kernel anew for every literal Python integer.
CORNERS = np.int64(0)
"""(6 T,) float64: x and z of the three corners of each triangle."""
LINKS = np.int64(1)
"""(3 T,) int32: the half-edge on the other side of each half-edge, -1 on the border."""
TRIANGLES = np.int64(2)
"""(3 T,) int32: vertex indices."""
VERTICES = np.int64(3)
"""(3 V,) float64: x, y, z in metres."""
DETAIL_OFFSETS = np.int64(4)
"""(T + 1,) int64: first ground piece of each triangle."""
DETAIL = np.int64(5)
"""(9 D,) float64: the corners of the ground pieces."""
PLANES = np.int64(6)
"""(3 T,) float64: a, b, c of y = a x + b z + c through the corners of each triangle."""
HEIGHTS = np.int64(7)
"""(2 T,) float64: lowest and highest y of the ground under each triangle."""
ISLANDS = np.int64(8)
"""(T,) int32: connected component of each triangle."""
TURNABLE = np.int64(9)
"""(V,) uint8: 1 where a shortest path can turn: the border is reflex at this vertex."""
BRANCHES = np.int64(10)
"""(2 T,) int32: interval of a dead-end triangle's subtree, -1 -1 outside dead ends."""
GRID_FRAME = np.int64(11)
"""(5,) float64: least x, least z, 1 / cell side, columns (x), rows (z)."""
GRID_OFFSETS = np.int64(12)
"""(columns * rows + 1,) int32: first item of each cell, row by row (z slow, x fast)."""
GRID_ITEMS = np.int64(13)
"""int32: the triangles that touch each cell."""
CLIMB = np.int64(14)
"""(1,) float64: the body's highest step in metres, within which "above a triangle" means on it."""

# The convex polygons of a loaded file, which polygon_queries follows; empty on every other navmesh.
POLYGON_CORNERS = np.int64(15)
"""(18 P,) float32: x, y, z of up to six corners of each polygon, in the order of the file."""
POLYGON_LINKS = np.int64(16)
"""(6 P,) int32: the polygon across the side that begins at each corner, -1 on the border."""
POLYGON_HEADS = np.int64(17)
"""(4 (P + 1),) int32: corners, island, first triangle and first ground piece; the last row ends them."""
POLYGON_GROUND = np.int64(18)
"""(9 G,) float32: the corners of the ground pieces of the polygons."""
POLYGON_SIDES = np.int64(19)
"""(G,) uint8: bit k: side k of the piece is on the polygon's border; bit 3 + k: it counts for heights."""
POLYGON_BOXES = np.int64(20)
"""(7 N,) int32: the search tree in depth-first order: least and greatest cell of a node in x, y and z,
then its polygon, or minus the number of nodes to leave out when the node is not met."""
POLYGON_FRAME = np.int64(21)
"""(12,) float32, metres: least and greatest corner of the tree's grid, cells per metre, climb, least x
and z of the tile, its width (x) and depth (z)."""

SLOT_COUNT = 22


@runtime_checkable
class QueryRecord(Protocol):
    """Anything that kernels can query: it owns the arrays of one table row."""

    @property
    def address_row(self) -> Int64[np.ndarray, "s2"]:
        """(2 SLOT_COUNT,) int64: address and length of the contiguous arrays, in slot order.

        The arrays live as long as the record.
        """
        ...


@kernel
def floats(table, row, slot):
    """The float64 array in a slot. (Called, not pasted in: pasting multiplies the time to compile.)"""
    return flat_view(table, row, slot, np.float64)


@kernel
def ints(table, row, slot):
    """The int32 array in a slot."""
    return flat_view(table, row, slot, np.int32)


@kernel
def longs(table, row, slot):
    """The int64 array in a slot."""
    return flat_view(table, row, slot, np.int64)


@kernel
def octets(table, row, slot):
    """The uint8 array in a slot."""
    return flat_view(table, row, slot, np.uint8)
