# mypy: disable-error-code="no-untyped-def"
"""Kernels that find, in the solid spans of voxel columns, the floors that a body can stand on.

The filters, the links and the erosion follow Recast (recastnavigation 1.6: low hanging
obstacles, ledges, low ceilings; RecastArea's erosion), because distances published by the
field stand on them. Directions are 0: +x, 1: +z, 2: -x, 3: -z.
"""

import numpy as np

from navarena.core.kernels import kernel

OPEN_SKY = np.int16(32767)  # ceiling of the highest span of a column
STEP_X = np.array([1, 0, -1, 0])
STEP_Z = np.array([0, 1, 0, -1])


@kernel
def sort_spans(
    heads,
    nexts,
    lows,
    highs,
    tops,
    heights,
    climb,
    starts,
    sorted_lows,
    sorted_highs,
    walkable,
    sorted_heights,
):
    """Copy linked spans column after column; returns their number.

    The last five arguments are written: starts (columns + 1,) int32, the spans of column c are
    starts[c]:starts[c + 1]; per span lows and highs, whether the highest walkable piece lies at
    most `climb` voxels below the top, and the height of its surface.
    """
    i = 0
    for column in range(heads.size):
        starts[column] = i
        node = heads[column]
        while node >= 0:
            sorted_lows[i], sorted_highs[i] = lows[node], highs[node]
            walkable[i] = tops[node] >= 0 and highs[node] - tops[node] <= climb
            top = tops[node] if walkable[i] else highs[node]
            sorted_heights[i] = min(max(heights[node], top - 1.0), float(highs[node]))
            i += 1
            node = nexts[node]
    starts[heads.size] = i
    return i


@kernel(inline=True)
def _is_ledge(x, z, floor, ceiling, starts, lows, highs, nx, nz, height, climb):
    """Whether a floor borders on a drop, or on neighbours too different to be one slope."""
    lowest = highest = floor
    for direction in range(4):
        u, v = x + STEP_X[direction], z + STEP_Z[direction]
        if u < 0 or v < 0 or u >= nx or v >= nz:
            return True
        first, last = starts[v * nx + u], starts[v * nx + u + 1]
        # the space below the neighbour's lowest span has no floor at all
        roof = lows[first] if first < last else OPEN_SKY
        if min(ceiling, roof) - floor >= height:
            return True
        for i in range(first, last):
            roof = lows[i + 1] if i + 1 < last else OPEN_SKY
            if min(ceiling, roof) - max(floor, highs[i]) < height:
                continue
            step = highs[i] - floor
            if step < -climb:
                return True
            if step <= climb:
                lowest, highest = min(lowest, highs[i]), max(highest, highs[i])
    return highest - lowest > climb


@kernel
def find_floors(
    starts,
    lows,
    highs,
    walkable,
    heights,
    nx,
    nz,
    height,
    climb,
    floor_starts,
    columns,
    floors,
    ceilings,
    floor_heights,
):
    """The walkable tops of spans that leave room for a body and are no ledge; returns their number.

    The last five arguments are written: floor_starts (columns + 1,) int32, the floors of column
    c are floor_starts[c]:floor_starts[c + 1]; per floor its column, its voxel height, that of
    the ceiling above it, and the height of its surface in voxels.
    """
    count = 0
    for z in range(nz):
        for x in range(nx):
            column = z * nx + x
            floor_starts[column] = count
            first, last = starts[column], starts[column + 1]
            below_walkable = False
            for i in range(first, last):
                # a low obstacle on a floor is stepped over (Recast: low hanging obstacles)
                stands = walkable[i] or (below_walkable and highs[i] - highs[i - 1] <= climb)
                below_walkable = walkable[i]
                if not stands:
                    continue
                ceiling = lows[i + 1] if i + 1 < last else OPEN_SKY
                if ceiling - highs[i] < height:
                    continue
                if _is_ledge(x, z, highs[i], ceiling, starts, lows, highs, nx, nz, height, climb):
                    continue
                columns[count], floors[count], ceilings[count] = column, highs[i], ceiling
                floor_heights[count] = heights[i]
                count += 1
    floor_starts[starts.size - 1] = count
    return count


@kernel
def link_floors(starts, columns, floors, ceilings, nx, nz, height, climb, links):
    """Write (F, 4) `links`, all -1 before: the floor a body can walk onto in each direction.

    Links are mutual.
    """
    for i in range(columns.size):
        x, z = columns[i] % nx, columns[i] // nx
        for direction in range(2):
            u, v = x + STEP_X[direction], z + STEP_Z[direction]
            if u >= nx or v >= nz:
                continue
            for j in range(starts[v * nx + u], starts[v * nx + u + 1]):
                room = min(ceilings[i], ceilings[j]) - max(floors[i], floors[j])
                if room >= height and abs(floors[i] - floors[j]) <= climb and links[j, direction + 2] < 0:
                    links[i, direction] = j
                    links[j, direction + 2] = i
                    break


@kernel
def erode_floors(links, radius):
    """(F,) bool: floors at least `radius` cells from the border of the linked area.

    Distances are Recast's: 2 per straight and 3 per diagonal cell, in two sweeps; border
    floors have distance 0 and floors below 2 * radius are taken away.
    """
    count = links.shape[0]
    limit = 2 * radius
    distance = np.full(count, limit, np.int32)
    for i in range(count):
        if links[i, 0] < 0 or links[i, 1] < 0 or links[i, 2] < 0 or links[i, 3] < 0:
            distance[i] = 0
    # floors are stored row after row: forwards, -x and -z neighbours are done; backwards, +x and +z
    for i in range(count):
        distance[i] = _nearest(i, 2, 3, links, distance)
    for i in range(count - 1, -1, -1):
        distance[i] = _nearest(i, 0, 1, links, distance)
    return distance >= limit


@kernel(inline=True)
def _nearest(i, along_row, across_row, links, distance):
    """Distance of floor i by its neighbours on one side: the row before it, and beside it."""
    best = distance[i]
    if best == 0:
        return best
    beside = links[i, along_row]
    if beside >= 0:
        best = min(best, distance[beside] + 2)
        corner = links[beside, across_row]
        if corner >= 0:
            best = min(best, distance[corner] + 3)
    before = links[i, across_row]
    if before >= 0:
        best = min(best, distance[before] + 2)
        corner = links[before, (along_row + 2) % 4]
        if corner >= 0:
            best = min(best, distance[corner] + 3)
    return best
