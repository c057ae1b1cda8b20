# mypy: disable-error-code="no-untyped-def"
"""Kernels of the reachability check: a coarse grid of places for a body's centre, all in integers."""

import numpy as np

from navarena.core.kernels import kernel


@kernel
def block_around(grid, rects, x0, z0, cell, radius):
    """Set grid[i, j] = -1 where the cell's centre is closer than `radius` to one of the `rects`.

    `grid` is (nx, nz) int32; `rects` (N, 4) int64 holds x0, z0, x1, z1; x0 and z0 are the grid's
    origin, `cell` its step; all in millimetres.
    """
    nx, nz = grid.shape
    for k in range(len(rects)):
        ax, az, bx, bz = rects[k]
        for i in range(max(0, (ax - radius - x0) // cell), min(nx, (bx + radius - x0) // cell + 1)):
            x = x0 + i * cell + cell // 2
            dx = max(ax - x, x - bx, 0)
            for j in range(max(0, (az - radius - z0) // cell), min(nz, (bz + radius - z0) // cell + 1)):
                z = z0 + j * cell + cell // 2
                dz = max(az - z, z - bz, 0)
                if dx * dx + dz * dz < radius * radius:
                    grid[i, j] = -1


@kernel
def label_components(grid):
    """Number the 4-connected components of cells that are 0 from 1 on; returns their sizes.

    Args:
        grid: (nx, nz) int32; -1 blocked, 0 free; labels are written in place.
    """
    nx, nz = grid.shape
    stack = np.zeros(nx * nz, np.int64)
    sizes = np.zeros(nx * nz, np.int64)
    count = 0
    for start in range(nx * nz):
        if grid[start // nz, start % nz] != 0:
            continue
        count += 1
        grid[start // nz, start % nz] = count
        stack[0], top = start, 1
        while top > 0:
            top -= 1
            i, j = stack[top] // nz, stack[top] % nz
            sizes[count - 1] += 1
            for step in range(4):
                a = i + (step == 0) - (step == 1)
                b = j + (step == 2) - (step == 3)
                if 0 <= a < nx and 0 <= b < nz and grid[a, b] == 0:
                    grid[a, b] = count
                    stack[top] = a * nz + b
                    top += 1
    return sizes[:count].copy()
