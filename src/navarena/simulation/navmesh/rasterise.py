# mypy: disable-error-code="no-untyped-def"
"""Kernels that turn triangles into the solid spans of voxel columns.

Conservative like Recast's rasteriser: every column that a triangle touches receives a span
from the lowest to the highest voxel it touches there, and spans that touch are merged.
Coordinates are in cells (x, z) and voxels (y) from the grid's origin; column (ix, iz) has
index iz * nx + ix.

A span also remembers its highest walkable piece: the top voxel and the height of that
surface above the column's centre. Merging keeps the highest one, so that the result does
not depend on the order of the triangles.
"""

import numpy as np

from navarena.core.kernels import kernel

MAX_CORNERS = 10  # a triangle cut by four lines has at most seven
NOT_WALKABLE = np.int16(-1)
_ON_VOXEL = 1e-4  # of a voxel: surfaces this near to a voxel's border lie on it
_STEEP = 1e-6  # of a triangle's area: below this its plan is a line


@kernel
def split_polygon(polygon, count, axis, line, below, above):
    """Cut the convex `polygon[:count]` at coordinate `axis` = `line`.

    Writes the parts below and above the line, returns their corner counts. Corners on the
    line belong to both parts, with that coordinate exactly equal to `line`.
    """
    n_below = n_above = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        side = polygon[i, axis] - line
        next_side = polygon[j, axis] - line
        if side <= 0.0:
            below[n_below] = polygon[i]
            n_below += 1
        if side >= 0.0:
            above[n_above] = polygon[i]
            n_above += 1
        if (side < 0.0 and next_side > 0.0) or (side > 0.0 and next_side < 0.0):
            t = side / (side - next_side)
            for k in range(3):
                below[n_below, k] = polygon[i, k] + t * (polygon[j, k] - polygon[i, k])
            below[n_below, axis] = line
            above[n_above] = below[n_below]
            n_below += 1
            n_above += 1
    return n_below, n_above


@kernel
def insert_span(column, low, high, walkable, height, heads, nexts, lows, highs, tops, heights, counters):
    """Merge one solid piece into the sorted list of `column`.

    `counters` holds (used nodes, first freed node); the caller keeps one node free.
    """
    previous, node = -1, heads[column]
    while node >= 0 and highs[node] < low:
        previous, node = node, nexts[node]
    top = high if walkable else NOT_WALKABLE
    if node < 0 or lows[node] > high:
        if counters[1] >= 0:
            new = counters[1]
            counters[1] = nexts[new]
        else:
            new = counters[0]
            counters[0] += 1
        lows[new], highs[new], tops[new], heights[new], nexts[new] = low, high, top, height, node
        if previous < 0:
            heads[column] = new
        else:
            nexts[previous] = new
        return
    lows[node] = min(lows[node], low)
    highs[node] = max(highs[node], high)
    _keep_highest(node, top, height, tops, heights)
    follower = nexts[node]
    while follower >= 0 and lows[follower] <= highs[node]:
        highs[node] = max(highs[node], highs[follower])
        _keep_highest(node, tops[follower], heights[follower], tops, heights)
        nexts[node] = nexts[follower]
        nexts[follower] = counters[1]
        counters[1] = follower
        follower = nexts[node]


@kernel
def _keep_highest(node, top, height, tops, heights):
    """Keep the higher of two walkable pieces, else the highest piece."""
    if top > tops[node]:
        tops[node], heights[node] = top, height
    elif top == tops[node]:
        heights[node] = max(heights[node], height)


@kernel
def _grow(array, size):
    bigger = np.zeros(size, array.dtype)
    bigger[: array.size] = array
    return bigger


@kernel
def _insert_piece(
    polygon, count, column, centre_height, flat, walkable, heads, nexts, lows, highs, tops, heights, counters
):
    """Insert the part `polygon[:count]` of a triangle that lies over one column."""
    y_min = y_max = polygon[0, 1]
    for i in range(1, count):
        y_min = min(y_min, polygon[i, 1])
        y_max = max(y_max, polygon[i, 1])
    low = np.int16(np.floor(y_min + _ON_VOXEL))
    high = np.int16(max(np.ceil(y_max - _ON_VOXEL), low + 1))
    height = min(max(centre_height, y_min), y_max) if flat else y_max
    insert_span(
        column, low, high, walkable, np.float32(height), heads, nexts, lows, highs, tops, heights, counters
    )


@kernel
def rasterise_triangles(vertices, triangles, origin, cell_size, cell_height, min_normal_y, nx, nz):
    """Solid spans of all columns, as sorted linked lists.

    Args:
        vertices: (V, 3) float64 metres; triangles: (T, 3) int64.
        origin: (3,) metres, lowest corner of the grid; it holds nx * nz columns.
        min_normal_y: least y of the unit normal of a walkable triangle.

    Returns:
        heads (nx * nz,) int32 first node of each column or -1, and per node: nexts int32,
        lows, highs, tops int16 (voxels; top of the highest walkable piece or -1),
        heights float32 (voxels, surface above the column's centre).
    """
    capacity = max(1024, nx * nz // 2)
    heads = np.full(nx * nz, -1, np.int32)
    nexts = np.zeros(capacity, np.int32)
    lows = np.zeros(capacity, np.int16)
    highs = np.zeros(capacity, np.int16)
    tops = np.zeros(capacity, np.int16)
    heights = np.zeros(capacity, np.float32)
    counters = np.array([0, -1], np.int64)
    rest, other = np.zeros((MAX_CORNERS, 3)), np.zeros((MAX_CORNERS, 3))
    strip, right = np.zeros((MAX_CORNERS, 3)), np.zeros((MAX_CORNERS, 3))
    piece = np.zeros((MAX_CORNERS, 3))
    scale = np.array([1.0 / cell_size, 1.0 / cell_height, 1.0 / cell_size])

    for t in range(triangles.shape[0]):
        for i in range(3):
            for k in range(3):
                rest[i, k] = (vertices[triangles[t, i], k] - origin[k]) * scale[k]
        # the normal in grid units, and its share of y in metres
        ux, uy, uz = rest[1, 0] - rest[0, 0], rest[1, 1] - rest[0, 1], rest[1, 2] - rest[0, 2]
        vx, vy, vz = rest[2, 0] - rest[0, 0], rest[2, 1] - rest[0, 1], rest[2, 2] - rest[0, 2]
        normal_x, normal_y, normal_z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        metric_x, metric_y, metric_z = normal_x / cell_size, normal_y / cell_height, normal_z / cell_size
        length = np.sqrt(metric_x * metric_x + metric_y * metric_y + metric_z * metric_z)
        if length == 0.0:
            continue
        walkable = metric_y > min_normal_y * length
        flat = abs(metric_y) > _STEEP * length
        slope_x = -normal_x / normal_y if flat else 0.0
        slope_z = -normal_z / normal_y if flat else 0.0
        x0, y0, z0 = rest[0, 0], rest[0, 1], rest[0, 2]
        y_min, y_max = min(y0, rest[1, 1], rest[2, 1]), max(y0, rest[1, 1], rest[2, 1])
        half_rise = 0.5 * (abs(slope_x) + abs(slope_z))

        count = 3
        first_row = int(np.floor(min(z0, rest[1, 2], rest[2, 2])))
        last_row = int(np.floor(max(z0, rest[1, 2], rest[2, 2])))
        for row in range(first_row, last_row + 1):
            if row < last_row:
                strip_count, count = split_polygon(rest, count, 2, row + 1.0, strip, other)
                rest, other = other, rest
            else:
                strip_count, strip, rest = count, rest, strip
            if strip_count < 3:
                continue
            # columns of this row that the strip touches, and those it covers entirely
            x_min = x_max = strip[0, 0]
            near_left = far_left = np.inf
            near_right = far_right = -np.inf
            for i in range(strip_count):
                x, z = strip[i, 0], strip[i, 2]
                x_min, x_max = min(x_min, x), max(x_max, x)
                if z == row:
                    near_left, near_right = min(near_left, x), max(near_right, x)
                elif z == row + 1.0:
                    far_left, far_right = min(far_left, x), max(far_right, x)
            first, last = int(np.floor(x_min)), int(np.floor(x_max))
            if counters[0] + last - first + 2 > capacity:
                capacity = 2 * capacity + last - first + 2
                nexts, lows, highs = _grow(nexts, capacity), _grow(lows, capacity), _grow(highs, capacity)
                tops, heights = _grow(tops, capacity), _grow(heights, capacity)
            covered, uncovered = last + 1, last + 1
            if flat and near_left < np.inf and far_left < np.inf:
                covered = max(first, int(np.ceil(max(near_left, far_left))))
                uncovered = int(np.floor(min(near_right, far_right)))
                if uncovered <= covered:
                    covered, uncovered = last + 1, last + 1
            middle = y0 + slope_z * (row + 0.5 - z0)

            for x in range(covered, uncovered):
                centre = middle + slope_x * (x + 0.5 - x0)
                low = np.int16(np.floor(max(centre - half_rise, y_min) + _ON_VOXEL))
                high = np.int16(max(np.ceil(min(centre + half_rise, y_max) - _ON_VOXEL), low + 1))
                insert_span(
                    row * nx + x, low, high, walkable, np.float32(centre),
                    heads, nexts, lows, highs, tops, heights, counters,
                )  # fmt: skip
            for x in range(first, last + 1):
                if covered <= x < uncovered:
                    continue
                if x == uncovered and covered < uncovered:  # drop what the covered columns hold
                    _, strip_count = split_polygon(strip, strip_count, 0, float(x), piece, right)
                    strip, right = right, strip
                if x < last:
                    piece_count, strip_count = split_polygon(strip, strip_count, 0, x + 1.0, piece, right)
                    strip, right = right, strip
                else:
                    piece_count, piece, strip = strip_count, strip, piece
                if piece_count >= 3:
                    _insert_piece(
                        piece, piece_count, row * nx + x, middle + slope_x * (x + 0.5 - x0), flat, walkable,
                        heads, nexts, lows, highs, tops, heights, counters,
                    )  # fmt: skip
    return heads, nexts[: counters[0]], lows, highs, tops, heights
