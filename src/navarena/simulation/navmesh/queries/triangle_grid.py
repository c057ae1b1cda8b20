# mypy: disable-error-code="no-untyped-def"
"""A grid over the plan that lists, for each cell, the triangles that touch it."""

import numpy as np
from jaxtyping import Float, Int32

from navarena.core.kernels import kernel
from navarena.simulation.navmesh.queries.plan_geometry import turn

MIN_CELL = 0.25
MAX_CELL = 4.0
"""Metres between which the side of a cell is kept."""

MAX_CELLS = 1 << 20
"""Cells in all, so that a far-flung mesh does not exhaust memory."""


@kernel
def _touches(corners, triangle, lowx, lowz, highx, highz):
    """Whether the triangle meets the rectangle (separating axes of the three sides)."""
    i = 6 * triangle
    for k in range(3):
        j = (k + 1) % 3
        ax, az = corners[i + 2 * k], corners[i + 2 * k + 1]
        bx, bz = corners[i + 2 * j], corners[i + 2 * j + 1]
        x = highx if bz > az else lowx  # the rectangle's corner farthest to the left of a b
        z = lowz if bx > ax else highz
        if turn(ax, az, bx, bz, x, z) < 0.0:
            return False
    return True


@kernel
def _list_cells(corners, frame, offsets, items, counting):
    """Count the triangles of each cell, or (second pass) write them at the running offsets."""
    x0, z0, scale = frame[0], frame[1], frame[2]
    columns, rows = int(frame[3]), int(frame[4])
    for t in range(corners.shape[0] // 6):
        i = 6 * t
        left = int((min(corners[i], corners[i + 2], corners[i + 4]) - x0) * scale)
        right = int((max(corners[i], corners[i + 2], corners[i + 4]) - x0) * scale)
        near = int((min(corners[i + 1], corners[i + 3], corners[i + 5]) - z0) * scale)
        far = int((max(corners[i + 1], corners[i + 3], corners[i + 5]) - z0) * scale)
        for row in range(max(near, 0), min(far, rows - 1) + 1):
            for column in range(max(left, 0), min(right, columns - 1) + 1):
                # a margin, so that points on a side are found whatever the rounding
                margin = 1e-6
                lowx, lowz = x0 + column / scale - margin, z0 + row / scale - margin
                highx, highz = x0 + (column + 1) / scale + margin, z0 + (row + 1) / scale + margin
                if not _touches(corners, t, lowx, lowz, highx, highz):
                    continue
                cell = row * columns + column
                if not counting:
                    items[offsets[cell]] = t
                offsets[cell] += 1


def build_grid(
    corners: Float[np.ndarray, "t6"], area: float
) -> tuple[Float[np.ndarray, "5"], Int32[np.ndarray, "c1"], Int32[np.ndarray, "i"]]:
    """Frame (smallest x, smallest z, 1 / side, columns, rows), offsets and items of the grid.

    Args:
        corners: (6 T,) metres, x and z of each triangle's corners.
        area: square metres of all triangles; cells are about as large as a triangle.
    """
    plan = corners.reshape(-1, 2)
    low, high = plan.min(0) - 1e-3, plan.max(0) + 1e-3
    side = float(np.clip(np.sqrt(area / (len(plan) // 3)), MIN_CELL, MAX_CELL))
    side = max(side, float(np.sqrt(np.prod(high - low) / MAX_CELLS)))
    columns, rows = (np.floor((high - low) / side).astype(int) + 1).tolist()
    frame = np.array([low[0], low[1], 1 / side, columns, rows])

    counts = np.zeros(columns * rows + 1, np.int32)
    _list_cells(corners, frame, counts, np.zeros(1, np.int32), True)
    offsets = np.zeros(columns * rows + 1, np.int32)
    offsets[1:] = np.cumsum(counts[:-1])
    items = np.zeros(max(1, int(offsets[-1])), np.int32)
    _list_cells(corners, frame, offsets[:-1].copy(), items, False)
    return frame, offsets, items
