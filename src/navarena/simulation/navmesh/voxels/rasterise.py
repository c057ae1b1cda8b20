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

MAX_CORNERS = 8  # a triangle cut by two lines has at most five
NOT_WALKABLE = np.int16(-1)
_ON_VOXEL = 1e-4  # of a voxel: surfaces this near to a voxel's border lie on it
_STEEP = 1e-6  # of a triangle's area: below this its plan is a line


@kernel
def split_at_row(polygon, count, line, below, above):
    """Cut the convex `polygon[:count]` (rows x, y, z) where z = `line`.

    Writes the parts below and above the line, returns their corner counts. Corners on the
    line belong to both parts, with z exactly equal to `line`.
    """
    n_below = n_above = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        x, y, z = polygon[i, 0], polygon[i, 1], polygon[i, 2]
        side, next_side = z - line, polygon[j, 2] - line
        if side <= 0.0:
            below[n_below, 0], below[n_below, 1], below[n_below, 2] = x, y, z
            n_below += 1
        if side >= 0.0:
            above[n_above, 0], above[n_above, 1], above[n_above, 2] = x, y, z
            n_above += 1
        if (side < 0.0 and next_side > 0.0) or (side > 0.0 and next_side < 0.0):
            t = side / (side - next_side)
            x += t * (polygon[j, 0] - x)
            y += t * (polygon[j, 1] - y)
            below[n_below, 0], below[n_below, 1], below[n_below, 2] = x, y, line
            above[n_above, 0], above[n_above, 1], above[n_above, 2] = x, y, line
            n_below += 1
            n_above += 1
    return n_below, n_above


@kernel
def height_range(polygon, count, left, right):
    """Least and greatest y of the convex `polygon[:count]` where left <= x <= right.

    The polygon reaches into that range; as a convex shape its extremes are those of its edges.
    """
    low, high = np.inf, -np.inf
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        x, y, end_x, end_y = polygon[i, 0], polygon[i, 1], polygon[j, 0], polygon[j, 1]
        if (x < left and end_x < left) or (x > right and end_x > right):
            continue
        rise = (end_y - y) / (end_x - x) if end_x != x else 0.0
        start = y + (min(max(x, left), right) - x) * rise
        end = end_y + (min(max(end_x, left), right) - end_x) * rise
        low, high = min(low, start, end), max(high, start, end)
    return low, high


@kernel(inline=True)
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


@kernel(inline=True)
def _keep_highest(node, top, height, tops, heights):
    """Keep the higher of two walkable pieces, else the highest piece."""
    if top > tops[node]:
        tops[node], heights[node] = top, height
    elif top == tops[node]:
        heights[node] = max(heights[node], height)


@kernel
def rasterise_triangles(
    vertices,
    triangles,
    first_triangle,
    origin,
    cell_size,
    cell_height,
    min_normal_y,
    nx,
    heads,
    nexts,
    lows,
    highs,
    tops,
    heights,
    counters,
):
    """Add the solid spans of triangles to the sorted linked lists of the columns.

    Adding a triangle twice changes nothing, so that a caller whose nodes run out makes room
    and goes on with the triangle where the work stopped.

    Args:
        vertices: (V, 3) float64 metres.
        triangles: (T, 3) int64.
        first_triangle: where to begin.
        origin: (3,) metres, lowest corner of the grid, which holds all triangles.
        cell_size: metres, side of a column.
        cell_height: metres, height of a voxel.
        min_normal_y: least y of the unit normal of a walkable triangle.
        nx: columns along x.
        heads: (columns,) int32 first node of each column, or -1.
        nexts: (N,) int32 next node upwards, or -1.
        lows: (N,) int16 lowest voxel border of the span.
        highs: (N,) int16 highest voxel border of the span.
        tops: (N,) int16 top of the highest walkable piece, or -1.
        heights: (N,) float32 voxels, of the top piece's surface above the column's centre.
        counters: (2,) used nodes and first freed node.

    Returns:
        The triangle at which nodes ran out; T when all are added.
    """
    rest, other = np.zeros((MAX_CORNERS, 3)), np.zeros((MAX_CORNERS, 3))
    strip = np.zeros((MAX_CORNERS, 3))

    for t in range(first_triangle, triangles.shape[0]):
        for i in range(3):
            corner = triangles[t, i]
            rest[i, 0] = (vertices[corner, 0] - origin[0]) / cell_size
            rest[i, 1] = (vertices[corner, 1] - origin[1]) / cell_height
            rest[i, 2] = (vertices[corner, 2] - origin[2]) / cell_size
        x0, y0, z0 = rest[0, 0], rest[0, 1], rest[0, 2]
        ux, uy, uz = rest[1, 0] - x0, rest[1, 1] - y0, rest[1, 2] - z0
        vx, vy, vz = rest[2, 0] - x0, rest[2, 1] - y0, rest[2, 2] - z0
        # the normal in grid units, and its length and share of y in metres
        normal_x, normal_y, normal_z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        upward = normal_y / cell_height
        length = np.sqrt((normal_x * normal_x + normal_z * normal_z) / cell_size**2 + upward * upward)
        if length == 0.0:
            continue
        walkable = upward > min_normal_y * length
        flat = abs(upward) > _STEEP * length
        slope_x = -normal_x / normal_y if flat else 0.0
        slope_z = -normal_z / normal_y if flat else 0.0
        half_rise = 0.5 * (abs(slope_x) + abs(slope_z))
        y_min, y_max = min(y0, rest[1, 1], rest[2, 1]), max(y0, rest[1, 1], rest[2, 1])
        z_min, z_max = min(z0, rest[1, 2], rest[2, 2]), max(z0, rest[1, 2], rest[2, 2])

        count = 3
        first_row = int(np.floor(z_min))
        last_row = max(first_row, int(np.ceil(z_max)) - 1)
        for row in range(first_row, last_row + 1):
            strip_count, left_over = split_at_row(rest, count, row + 1.0, strip, other)
            rest, other, count = other, rest, left_over
            if strip_count < 2:
                continue
            # columns of this row that the strip touches, and those that it covers entirely
            x_min, x_max = np.inf, -np.inf
            near_left, far_left, near_right, far_right = np.inf, np.inf, -np.inf, -np.inf
            for i in range(strip_count):
                x, z = strip[i, 0], strip[i, 2]
                x_min, x_max = min(x_min, x), max(x_max, x)
                if z == row:
                    near_left, near_right = min(near_left, x), max(near_right, x)
                elif z == row + 1.0:
                    far_left, far_right = min(far_left, x), max(far_right, x)
            first = int(np.floor(x_min))
            last = max(first, int(np.ceil(x_max)) - 1)
            if counters[0] + last - first + 2 > nexts.size:
                return t
            covered = uncovered = last + 1
            if flat and near_left < np.inf and far_left < np.inf:
                covered = int(np.ceil(max(near_left, far_left)))
                uncovered = int(np.floor(min(near_right, far_right)))
            middle = y0 + slope_z * (row + 0.5 - z0)
            for x in range(first, last + 1):
                height = middle + slope_x * (x + 0.5 - x0)
                if covered <= x < uncovered:
                    low, high = max(height - half_rise, y_min), min(height + half_rise, y_max)
                else:
                    low, high = height_range(strip, strip_count, float(x), x + 1.0)
                    height = min(max(height, low), high) if flat else high
                bottom = int(np.floor(low + _ON_VOXEL))
                insert_span(
                    row * nx + x,
                    np.int16(bottom),
                    np.int16(max(int(np.ceil(high - _ON_VOXEL)), bottom + 1)),
                    walkable,
                    np.float32(height),
                    heads,
                    nexts,
                    lows,
                    highs,
                    tops,
                    heights,
                    counters,
                )
    return triangles.shape[0]
