"""Kernels of terrains: occupancy maps in coarse cells, with the cost of crossing each cell."""

# mypy: disable-error-code="no-untyped-def"

import math

import numpy as np

from navarena.core.kernels import kernel

FAR = 1 << 30
"""The cost of what cannot be reached, during a flood."""

NEIGHBOR_ROWS = (-1, -1, 0, 1, 1, 1, 0, -1)
NEIGHBOR_COLUMNS = (0, 1, 1, 1, 0, -1, -1, -1)
"""The neighbours of a cell, clockwise from up; odd ones lie diagonally."""


@kernel
def known_box(scores, box):
    """(first row, last row + 1, first column, last column + 1) of the cells (R, C) that were seen.

    box: (4,) the same, but generous: nothing was seen outside it.
    """
    rows, columns = scores.shape
    top, bottom, left, right = rows, 0, box[3] - box[2], 0
    for r in range(box[0], box[1]):
        row = scores[r, box[2] : box[3]]
        some = False
        for c in range(row.size):
            some |= row[c] != 0
        if some:
            top, bottom = min(top, r), r + 1
            c = 0
            while c < left and row[c] == 0:
                c += 1
            left = min(left, c)
            c = row.size
            while c > right and row[c - 1] == 0:
                c -= 1
            right = max(right, c)
    return (top, bottom, box[2] + left, box[2] + right) if top < bottom else (rows, 0, columns, 0)


@kernel
def coarsen(scores, first_row, first_column, factor, states):
    """Write the states (A, B) uint8 of blocks of factor x factor cells of the evidence (R, C) int8.

    A block is occupied (2) when one cell is, free (1) when half of its cells are, else unknown (0).
    """
    rows, columns = scores.shape
    width, enough = states.shape[1] * factor, factor * factor
    low, high = max(0, -first_column), min(width, columns - first_column)
    # of each column of cells: how many of a row of blocks are free, and whether one is occupied
    free, taken = np.zeros(width, np.uint8), np.zeros(width, np.uint8)
    for a in range(states.shape[0]):
        free[:], taken[:] = 0, 0
        for r in range(max(0, first_row + a * factor), min(rows, first_row + (a + 1) * factor)):
            row = scores[r, first_column + low : first_column + high]
            for c in range(high - low):
                free[low + c] += np.uint8(row[c] < 0)
                taken[low + c] |= np.uint8(row[c] > 0)
        for b in range(states.shape[1]):
            count, some = 0, 0
            for c in range(b * factor, (b + 1) * factor):
                count += free[c]
                some |= taken[c]
            states[a, b] = 2 if some else (1 if 2 * count >= enough else 0)


@kernel
def spread_clearance(states, clearance):
    """Write the distance (A, B) float32, in cells, to the nearest occupied one (chamfer of 1 and sqrt 2).

    Two sweeps, down and up. In each, a row takes what the row before gives, all columns at once, and then
    passes it on along itself.
    """
    rows, columns = states.shape
    far, diagonal, one = np.float32(1e6), np.float32(math.sqrt(2.0)), np.float32(1)
    before = np.full(columns + 2, far, np.float32)
    for a in range(rows):
        state, row = states[a], clearance[a]
        for b in range(columns):
            here = np.float32(0) if state[b] == 2 else far
            here = min(here, min(before[b], before[b + 2]) + diagonal)
            row[b] = min(here, before[b + 1] + one)
        best = far
        for b in range(columns):
            best = min(row[b], best + one)
            row[b] = best
        before[1:-1] = row
    before[:] = far
    for a in range(rows - 1, -1, -1):
        row = clearance[a]
        for b in range(columns):
            here = min(row[b], min(before[b], before[b + 2]) + diagonal)
            row[b] = min(here, before[b + 1] + one)
        best = far
        for b in range(columns - 1, -1, -1):
            best = min(row[b], best + one)
            row[b] = best
        before[1:-1] = row


@kernel
def weigh_cells(states, clearance, narrow, wide, tight_weight, near_weight, unknown_weight, weights):
    """Write how many times its length each cell (A, B) costs, uint8; 0 where it is occupied.

    narrow, wide: cells of clearance below which the body hardly fits, and below which it keeps off walls.
    """
    tight, near, unknown = np.uint8(tight_weight), np.uint8(near_weight), np.uint8(unknown_weight)
    for a in range(states.shape[0]):
        state, room, row = states[a], clearance[a], weights[a]
        for b in range(row.size):
            weight = tight if room[b] < narrow else (near if room[b] < wide else np.uint8(2))
            more = unknown if state[b] == 0 else np.uint8(0)
            row[b] = np.uint8(0) if state[b] == 2 else np.uint8(weight + more)


@kernel
def flood(weights, columns, start, buckets, costs, parents, places, links):
    """Cheapest paths from one cell to all others, on 8 neighbours, through a ring of buckets.

    weights: (A * columns,) uint8, 0 is closed; all cells along the border are closed. costs: int32 as many,
    FAR where there is no path: 5 for each step along an axis and 7 along a diagonal, times the weight of the
    cell entered. parents: int8, the neighbour (0 to 7) that a path comes from. buckets: (Q,) int32, -1
    everywhere, Q a power of two above the dearest step; places, links: int32 scratch, 8 a cell.
    """
    mask = buckets.size - 1
    costs[start] = 0
    places[0], links[0], buckets[0] = start, -1, 0
    entries, left, cost = 1, 1, 0
    offsets = (-columns, 1 - columns, 1, columns + 1, columns, columns - 1, -1, -columns - 1)
    while left > 0:
        entry = buckets[cost & mask]
        if entry < 0:
            cost += 1
            continue
        buckets[cost & mask] = links[entry]
        left -= 1
        place = places[entry]
        if costs[place] != cost:
            continue
        for k in range(8):
            there = place + offsets[k]
            weight = np.int64(weights[there])
            if weight == 0:
                continue
            total = cost + 5 * weight
            if k & 1:
                total += 2 * weight
            if total >= costs[there]:
                continue
            if k & 1 and (weights[place + offsets[k - 1]] == 0 or weights[place + offsets[(k + 1) & 7]] == 0):
                continue
            costs[there] = total
            parents[there] = k
            places[entries], links[entries] = there, buckets[total & mask]
            buckets[total & mask] = entries
            entries += 1
            left += 1


@kernel
def trace_back(parents, start_row, start_column, row, column, path):
    """Write the cells (P, 2) from (row, column) back to the start; returns how many."""
    count = 0
    while count < path.shape[0]:
        path[count, 0], path[count, 1] = row, column
        count += 1
        if row == start_row and column == start_column:
            break
        k = parents[row, column]
        row, column = row - NEIGHBOR_ROWS[k], column - NEIGHBOR_COLUMNS[k]
    return count


@kernel
def is_clear(weights, row, column, to_row, to_column, max_weight):
    """Whether the straight line between two places (in cells) crosses only weights 1 to `max_weight`."""
    length = math.sqrt((to_row - row) ** 2 + (to_column - column) ** 2)
    steps = max(1, math.ceil(3 * length - 1e-6))  # equal lengths give equal steps, however they are rounded
    for k in range(1, steps + 1):
        r = math.floor(row + (to_row - row) * k / steps)
        c = math.floor(column + (to_column - column) * k / steps)
        if not (0 <= r < weights.shape[0] and 0 <= c < weights.shape[1]):
            return False
        weight = weights[r, c]
        if weight == 0 or weight > max_weight:
            return False
    return True


@kernel
def mark_frontiers(states, costs, barred, marks):
    """Mark (A, B) uint8 the free cells within reach that border on an unknown one; returns how many."""
    rows, columns = states.shape
    count = 0
    for a in range(rows):
        for b in range(columns):
            marks[a, b] = 0
            if states[a, b] != 1 or costs[a, b] < 0 or barred[a, b]:
                continue
            if (
                (a > 0 and states[a - 1, b] == 0)
                or (a < rows - 1 and states[a + 1, b] == 0)
                or (b > 0 and states[a, b - 1] == 0)
                or (b < columns - 1 and states[a, b + 1] == 0)
            ):
                marks[a, b] = 1
                count += 1
    return count


@kernel
def gather_frontiers(marks, costs, stack, cells, sizes, middles):
    """Join marked cells (A, B) to groups of 8 neighbours; clears the marks and returns the number of groups.

    cells: (F, 2) the cheapest cell of each group; sizes: (F,) its cells; middles: (F, 2) their mean.
    """
    rows, columns = marks.shape
    groups = 0
    for a in range(rows):
        for b in range(columns):
            if marks[a, b] == 0 or groups == sizes.size:
                continue
            top = 1
            stack[0] = a * columns + b
            marks[a, b] = 0
            size, best = 0, -1
            sum_r, sum_c = 0.0, 0.0
            while top > 0:
                top -= 1
                r, c = stack[top] // columns, stack[top] % columns
                size += 1
                sum_r += r
                sum_c += c
                if best < 0 or costs[r, c] < best:
                    best = costs[r, c]
                    cells[groups, 0], cells[groups, 1] = r, c
                for k in range(8):
                    nr, nc = r + NEIGHBOR_ROWS[k], c + NEIGHBOR_COLUMNS[k]
                    if 0 <= nr < rows and 0 <= nc < columns and marks[nr, nc] != 0:
                        marks[nr, nc] = 0
                        stack[top] = nr * columns + nc
                        top += 1
            sizes[groups] = size
            middles[groups, 0], middles[groups, 1] = sum_r / size, sum_c / size
            groups += 1
    return groups
