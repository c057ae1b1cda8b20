# mypy: disable-error-code="no-untyped-def"
"""Kernels that lay the ground under the triangles: detail pieces that follow the floors.

A triangle whose plane leaves the traced floors by more than a tolerance is split at the
worst cell until no cell is that far off, or the pieces come down to the size of cells.
All coordinates are in grid units: cells (x, z) and voxels (y).
"""

import numpy as np

from navarena.core.kernels import kernel

MAX_PIECES = 4096  # of one triangle
MIN_DOUBLE_AREA = 8.0  # square cells; smaller pieces are not split
EDGE_SHARE = 0.08  # a worst cell this near to an edge (barycentric) splits the edge instead


@kernel
def _floor_height(x, z, layer, starts, layers, heights, nx):
    """Height of `layer` in column (x, z), or NaN."""
    for i in range(starts[z * nx + x], starts[z * nx + x + 1]):
        if layers[i] == layer:
            return heights[i]
    return np.nan


@kernel
def _worst_cell(piece, layer, starts, layers, heights, nx, nz):
    """The column centre inside `piece` where its plane is farthest from the floor.

    Returns (deviation, x, height, z); deviation 0 when no floor lies beneath it.
    """
    ax, ay, az = piece[0]
    bx, by, bz = piece[1]
    cx, cy, cz = piece[2]
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
            px, pz = piece[k, 0], piece[k, 2]
            qx, qz = piece[(k + 1) % 3, 0], piece[(k + 1) % 3, 2]
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
def _edge_point(piece, k, x, y, z, layer, starts, layers, heights, nx, nz):
    """The point of edge k nearest to (x, z) in plan, at the height of the floor near it."""
    px, pz = piece[k, 0], piece[k, 2]
    qx, qz = piece[(k + 1) % 3, 0], piece[(k + 1) % 3, 2]
    dx, dz = qx - px, qz - pz
    t = min(max(((x - px) * dx + (z - pz) * dz) / (dx * dx + dz * dz), 0.1), 0.9)
    ex, ez = px + t * dx, pz + t * dz
    column, row = min(max(int(ex), 0), nx - 1), min(max(int(ez), 0), nz - 1)
    height = _floor_height(column, row, layer, starts, layers, heights, nx)
    return ex, height if height == height else y, ez


@kernel
def fit_details(corners, triangle_layers, starts, layers, heights, nx, nz, tolerance):
    """Ground pieces of the triangles that leave the floors by more than `tolerance` voxels.

    Args:
        corners: (T, 3, 3) float64 grid units, clockwise in the x-z plane.
        triangle_layers: (T,) layer of each.
        starts: (columns + 1,) the floors of column c are starts[c]:starts[c + 1].
        layers: (F,) layer of each floor.
        heights: (F,) voxels above the origin.
        nx: columns along x.
        nz: columns along z.
        tolerance: voxels.

    Returns:
        (T + 1,) int64 offsets and (D, 3, 3) float64 pieces; none for a triangle that fits.
    """
    count = corners.shape[0]
    offsets = np.zeros(count + 1, np.int64)
    pieces = np.zeros((max(64, count), 3, 3))
    stack = np.zeros((MAX_PIECES + 3, 3, 3))
    filled = 0
    for t in range(count):
        offsets[t] = filled
        stack[0] = corners[t]
        depth, made = 1, 1
        while depth > 0:
            depth -= 1
            piece = stack[depth].copy()
            dx1, dz1 = piece[1, 0] - piece[0, 0], piece[1, 2] - piece[0, 2]
            dx2, dz2 = piece[2, 0] - piece[0, 0], piece[2, 2] - piece[0, 2]
            double_area = abs(dx1 * dz2 - dz1 * dx2)
            away = 0.0
            if double_area > MIN_DOUBLE_AREA and made < MAX_PIECES:
                away, x, y, z = _worst_cell(piece, triangle_layers[t], starts, layers, heights, nx, nz)
            if away <= tolerance:
                if filled == pieces.shape[0]:
                    bigger = np.zeros((2 * filled, 3, 3))
                    bigger[:filled] = pieces
                    pieces = bigger
                pieces[filled] = piece
                filled += 1
                continue
            # the edge nearest to the worst cell, by the share of area opposite each corner
            nearest, share = 0, np.inf
            for k in range(3):
                px, pz = piece[k, 0], piece[k, 2]
                qx, qz = piece[(k + 1) % 3, 0], piece[(k + 1) % 3, 2]
                part = abs((qx - px) * (z - pz) - (qz - pz) * (x - px)) / double_area
                if part < share:
                    nearest, share = k, part
            if share < EDGE_SHARE:
                x, y, z = _edge_point(
                    piece, nearest, x, y, z, triangle_layers[t], starts, layers, heights, nx, nz
                )
            for k in range(3):
                if share < EDGE_SHARE and k == nearest:
                    continue
                stack[depth, 0], stack[depth, 1] = piece[k], piece[(k + 1) % 3]
                stack[depth, 2, 0], stack[depth, 2, 1], stack[depth, 2, 2] = x, y, z
                depth += 1
                made += 1
        if filled == offsets[t] + 1:
            filled -= 1  # the triangle itself
    offsets[count] = filled
    return offsets, pieces[:filled].copy()
