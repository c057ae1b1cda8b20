# mypy: disable-error-code="no-untyped-def"
"""Kernels of the merging of cells: rectangles of a grid, and triangles that join them without gaps."""

import numpy as np

from navarena.core.kernels import kernel


@kernel
def place_of_cut(cells, i0, i1, j0, j1):
    """How the cells of a rectangle are mixed: (axis, line) to cut at; axis -1 all there, -2 none."""
    for i in range(i0, i1):
        for j in range(j0, j1):
            if i > i0 and cells[i, j] != cells[i - 1, j]:
                return 0, i
            if j > j0 and cells[i, j] != cells[i, j - 1]:
                return 1, j
    return (-1, 0) if cells[i0, j0] else (-2, 0)


@kernel
def departures(light, seen, first, second, i0, i1, j0, j1):
    """How far the light of a rectangle is from even: (from its four corners, along first, along second).

    The first is the distance to a blend of the corners both ways, the others from straight lines between
    opposite edges.
    """
    a, b, c, d = light[i0, j0], light[i1, j0], light[i1, j1], light[i0, j1]
    worst = along_first = along_second = 0.0
    for i in range(i0, i1 + 1):
        u = (first[i] - first[i0]) / (first[i1] - first[i0])
        for j in range(j0, j1 + 1):
            if seen[i, j]:
                v = (second[j] - second[j0]) / (second[j1] - second[j0])
                blended = (1 - u) * ((1 - v) * a + v * d) + u * ((1 - v) * b + v * c)
                worst = max(worst, abs(light[i, j] - blended))
                along_first = max(along_first, abs(light[i, j] - (1 - u) * light[i0, j] - u * light[i1, j]))
                along_second = max(along_second, abs(light[i, j] - (1 - v) * light[i, j0] - v * light[i, j1]))
    return worst + 0.25 * abs(a + c - b - d), along_first, along_second


@kernel
def line_nearest(lines, first, last):
    """The line between `first` and `last`, neither of them, that is nearest to their middle."""
    middle, best = 0.5 * (lines[first] + lines[last]), first + 1
    for k in range(first + 2, last):
        if abs(lines[k] - middle) < abs(lines[best] - middle):
            best = k
    return best


@kernel
def merge(light, seen, cells, first, second, tolerance, longest):
    """(L, 4) int64 i0, i1, j0, j1: rectangles that cover the cells and are lit as their corners say.

    `light` (A, B) float64; `seen` (A, B) bool, where light matters; `cells` (A - 1, B - 1) bool; `first`
    (A,) and `second` (B,) millimetres; no rectangle of more than one cell is longer than `longest`.
    """
    found = np.zeros((cells.size, 4), np.int64)
    waiting = np.zeros((2 * (cells.shape[0] + cells.shape[1]) + 4, 4), np.int64)
    waiting[0, 1], waiting[0, 3] = cells.shape[0], cells.shape[1]
    count, left = 0, 1
    while left > 0:
        left -= 1
        i0, i1, j0, j1 = waiting[left, 0], waiting[left, 1], waiting[left, 2], waiting[left, 3]
        axis, line = place_of_cut(cells, i0, i1, j0, j1)
        if axis == -2:
            continue
        if axis == -1:
            wide, deep = first[i1] - first[i0], second[j1] - second[j0]
            bent, along_first, along_second = departures(light, seen, first, second, i0, i1, j0, j1)
            single = i1 - i0 == 1 and j1 - j0 == 1
            if single or (max(wide, deep) <= longest and bent <= tolerance):
                found[count, 0], found[count, 1], found[count, 2], found[count, 3] = i0, i1, j0, j1
                count += 1
                continue
            if max(wide, deep) > longest or along_first == along_second:
                axis = 0 if wide >= deep else 1
            else:
                axis = 0 if along_first > along_second else 1
            if i1 - i0 == 1 or j1 - j0 == 1:
                axis = 0 if j1 - j0 == 1 else 1
            line = line_nearest(first, i0, i1) if axis == 0 else line_nearest(second, j0, j1)
        for side in range(2):
            low, high = (i0, i1) if axis == 0 else (j0, j1)
            low, high = (low, line) if side == 0 else (line, high)
            row = waiting[left]
            row[0], row[1], row[2], row[3] = i0, i1, j0, j1
            row[2 * axis], row[2 * axis + 1] = low, high
            left += 1
    return found[:count]


@kernel
def join(leaves, light):
    """(T, 3) int64 triangles of the rectangles, and (C,) int64 the rectangles with a point in their middle.

    A corner is i * B + j for the point (i, j) of the grid, -1 - c for the c-th middle. Where corners of
    others lie on the edges of a rectangle, it is a fan, so that no gap opens: about one of its corners
    whose edges are free of them, else about its middle.
    """
    columns = light.shape[1]
    used = np.zeros(light.shape, np.bool_)
    most = 0
    for k in range(len(leaves)):
        i0, i1, j0, j1 = leaves[k]
        used[i0, j0] = used[i1, j0] = used[i1, j1] = used[i0, j1] = True
        most += 2 * (i1 - i0 + j1 - j0)
    triangles = np.zeros((most, 3), np.int64)
    middles = np.zeros(len(leaves), np.int64)
    count = fans = 0
    rim = np.zeros(2 * (light.shape[0] + light.shape[1]), np.int64)
    corner = np.zeros(5, np.int64)
    for k in range(len(leaves)):
        i0, i1, j0, j1 = leaves[k]
        around = 0
        for i in range(i0, i1):
            if used[i, j0]:
                rim[around] = i * columns + j0
                around += 1
        corner[1] = around
        for j in range(j0, j1):
            if used[i1, j]:
                rim[around] = i1 * columns + j
                around += 1
        corner[2] = around
        for i in range(i1, i0, -1):
            if used[i, j1]:
                rim[around] = i * columns + j1
                around += 1
        corner[3] = around
        for j in range(j1, j0, -1):
            if used[i0, j]:
                rim[around] = i0 * columns + j
                around += 1
        corner[4] = around
        turned = abs(light[i0, j0] - light[i1, j1]) > abs(light[i1, j0] - light[i0, j1])
        start = -1
        for s in range(4):
            s = (s + turned) % 4
            before = corner[s] - corner[s - 1] if s > 0 else corner[4] - corner[3]
            if start < 0 and before == 1 and corner[s + 1] - corner[s] == 1:
                start = corner[s]
        if start < 0:
            middles[fans] = k
            fans += 1
        for t in range(around if start < 0 else around - 2):
            first = t if start < 0 else start + 1 + t
            triangles[count, 0] = rim[first % around]
            triangles[count, 1] = rim[(first + 1) % around]
            triangles[count, 2] = -fans if start < 0 else rim[start]
            count += 1
    return triangles[:count], middles[:fans]
