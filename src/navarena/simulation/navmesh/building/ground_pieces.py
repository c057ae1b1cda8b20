# mypy: disable-error-code="no-untyped-def"
"""Pieces of ground under the triangles of a voxelised mesh, which follow the floors exactly.

A triangle whose plane leaves the traced floors by more than a tolerance is split at the
worst cell until no cell is that far off, or the pieces come down to the size of cells.
All coordinates are in grid units: cells (x, z) and voxels (y).
"""

import numpy as np
from jaxtyping import Float64, Int64

from navarena.core.kernels import kernel
from navarena.simulation.navmesh.voxels.voxel_spans import Grid
from navarena.simulation.navmesh.voxels.walkable_floors import WalkableFloors

MAX_PIECES = 4096  # of one triangle
MIN_DOUBLE_AREA = 36.0  # square cells; smaller pieces are not split (Recast samples every 6 cells)
MIN_SHARE = 0.15  # of an edge that a split leaves on either side


@kernel
def _floor_height(x, z, layer, starts, layers, heights, nx):
    """Height of `layer` in column (x, z), or NaN."""
    for i in range(starts[z * nx + x], starts[z * nx + x + 1]):
        if layers[i] == layer:
            return heights[i]
    return np.nan


@kernel
def _worst_cell(pieces, p, layer, starts, layers, heights, nx, nz):
    """The column centre inside piece p where its plane is farthest from the floor.

    Returns (deviation, x, height, z); deviation 0 when no floor lies beneath it.
    """
    ax, ay, az = pieces[p, 0, 0], pieces[p, 0, 1], pieces[p, 0, 2]
    bx, by, bz = pieces[p, 1, 0], pieces[p, 1, 1], pieces[p, 1, 2]
    cx, cy, cz = pieces[p, 2, 0], pieces[p, 2, 1], pieces[p, 2, 2]
    double_area = (bx - ax) * (cz - az) - (bz - az) * (cx - ax)
    slope_x = ((by - ay) * (cz - az) - (cy - ay) * (bz - az)) / double_area
    slope_z = ((cy - ay) * (bx - ax) - (by - ay) * (cx - ax)) / double_area
    worst, worst_x, worst_y, worst_z = 0.0, 0.0, 0.0, 0.0
    first_row = max(0, int(np.floor(min(az, bz, cz))))
    last_row = min(nz - 1, int(np.floor(max(az, bz, cz))))
    for row in range(first_row, last_row + 1):
        z = row + 0.5
        left, right = np.inf, -np.inf
        for k in range(3):
            px, pz = pieces[p, k, 0], pieces[p, k, 2]
            qx, qz = pieces[p, (k + 1) % 3, 0], pieces[p, (k + 1) % 3, 2]
            if (pz <= z) != (qz <= z):
                crossing = px + (z - pz) * (qx - px) / (qz - pz)
                left, right = min(left, crossing), max(right, crossing)
        if left > right:
            continue
        for column in range(max(0, int(np.ceil(left - 0.5))), min(nx - 1, int(np.floor(right - 0.5))) + 1):
            height = _floor_height(column, row, layer, starts, layers, heights, nx)
            plane = ay + slope_x * (column + 0.5 - ax) + slope_z * (z - az)
            away = abs(height - plane)
            if away > worst:  # never for NaN
                worst, worst_x, worst_y, worst_z = away, column + 0.5, height, z
    return worst, worst_x, worst_y, worst_z


@kernel
def _copy_piece(source, i, target, j):
    for k in range(3):
        for axis in range(3):
            target[j, k, axis] = source[i, k, axis]


@kernel
def fit_details(
    corners,
    first_triangle,
    triangle_layers,
    starts,
    layers,
    heights,
    nx,
    nz,
    tolerance,
    offsets,
    pieces,
    stack,
):
    """Find ground pieces for the triangles that leave the floors by more than `tolerance`.

    Args:
        corners: (T, 3, 3) float64 grid units, clockwise in the x-z plane.
        first_triangle: where to begin.
        triangle_layers: (T,) layer of each.
        starts: (columns + 1,) the floors of column c are starts[c]:starts[c + 1].
        layers: (F,) layer of each floor.
        heights: (F,) voxels above the origin.
        nx: columns along x.
        nz: columns along z.
        tolerance: voxels.
        offsets: (T + 1,) int64, written: triangle t has the pieces offsets[t]:offsets[t + 1],
            none when it fits; offsets[first_triangle] is read.
        pieces: (D, 3, 3) float64, written.
        stack: (MAX_PIECES + 3, 3, 3) float64, for the work.

    Returns:
        The first triangle for which `pieces` had no room; T when all are done.
    """
    filled = offsets[first_triangle]
    for t in range(first_triangle, corners.shape[0]):
        if filled + MAX_PIECES > pieces.shape[0]:
            return t
        _copy_piece(corners, t, stack, 0)
        depth, made = 1, 1
        while depth > 0:
            depth -= 1
            ax, az = stack[depth, 0, 0], stack[depth, 0, 2]
            bx, bz = stack[depth, 1, 0], stack[depth, 1, 2]
            cx, cz = stack[depth, 2, 0], stack[depth, 2, 2]
            double_area = abs((bx - ax) * (cz - az) - (bz - az) * (cx - ax))
            away, x, y, z = 0.0, 0.0, 0.0, 0.0
            if double_area > MIN_DOUBLE_AREA and made < MAX_PIECES:
                away, x, y, z = _worst_cell(stack, depth, triangle_layers[t], starts, layers, heights, nx, nz)
            _copy_piece(stack, depth, pieces, filled)
            if away <= tolerance:
                filled += 1
                continue
            # split the longest edge, near the worst cell
            longest, length = 0, -1.0
            for k in range(3):
                dx = pieces[filled, (k + 1) % 3, 0] - pieces[filled, k, 0]
                dz = pieces[filled, (k + 1) % 3, 2] - pieces[filled, k, 2]
                if dx * dx + dz * dz > length:
                    longest, length = k, dx * dx + dz * dz
            after = (longest + 1) % 3
            px, pz = pieces[filled, longest, 0], pieces[filled, longest, 2]
            dx, dz = pieces[filled, after, 0] - px, pieces[filled, after, 2] - pz
            along = min(max(((x - px) * dx + (z - pz) * dz) / length, MIN_SHARE), 1.0 - MIN_SHARE)
            x, z = px + along * dx, pz + along * dz
            column, row = min(max(int(x), 0), nx - 1), min(max(int(z), 0), nz - 1)
            height = _floor_height(column, row, triangle_layers[t], starts, layers, heights, nx)
            if height == height:
                y = height
            for k in (after, longest):  # the halves keep one end of the edge each
                _copy_piece(pieces, filled, stack, depth)
                stack[depth, k, 0], stack[depth, k, 1], stack[depth, k, 2] = x, y, z
                depth += 1
            made += 1
        if filled == offsets[t] + 1:
            filled -= 1  # the triangle itself
        offsets[t + 1] = filled
    return corners.shape[0]


def lay_ground(
    corners: Float64[np.ndarray, "t 3 3"],
    layers: Int64[np.ndarray, "t"],
    floors: WalkableFloors,
    grid: Grid,
    tolerance: float,
) -> tuple[Int64[np.ndarray, "t1"], Float64[np.ndarray, "d 3 3"]]:
    """Pieces of ground under the triangles that leave the floors by more than `tolerance`.

    Args:
        corners: (T, 3, 3) grid units.
        layers: (T,) the layer that each triangle covers.
        floors: the floors.
        grid: their columns.
        tolerance: voxels.

    Returns:
        (T + 1,) offsets and (D, 3, 3) pieces in grid units; none under a triangle that fits.
    """
    offsets = np.zeros(len(corners) + 1, np.int64)
    pieces = np.zeros((0, 3, 3))
    stack = np.zeros((MAX_PIECES + 3, 3, 3))
    done = 0
    while done < len(corners):
        more = np.zeros((2 * MAX_PIECES + len(pieces), 3, 3))
        pieces = np.concatenate([pieces, more])
        done = fit_details(
            corners,
            done,
            layers,
            floors.starts,
            floors.layers,
            floors.heights,
            grid.nx,
            grid.nz,
            tolerance,
            offsets,
            pieces,
            stack,
        )
    return offsets, pieces[: offsets[-1]].copy()
