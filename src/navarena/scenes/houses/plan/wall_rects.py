"""Walls of a plan, seen from above: the outer border and the cut through the walls."""

from collections.abc import Sequence
from itertools import pairwise

from navarena.scenes.houses.plan.floor_plan import EAST, NORTH, OUTER_MM, SOUTH, WEST, PlannedRoom, Rect


def _compressed(rects: Sequence[Rect]) -> tuple[list[int], list[int], list[list[Rect]]]:
    """The grid of all borders of `rects`: its lines (x, z), and its cells by column."""
    xs = sorted({x for rect in rects for x in (rect.x0, rect.x1)})
    zs = sorted({z for rect in rects for z in (rect.z0, rect.z1)})
    return xs, zs, [[Rect(x0, z0, x1, z1) for z0, z1 in pairwise(zs)] for x0, x1 in pairwise(xs)]


def _solid_cells(
    rooms: Sequence[PlannedRoom],
) -> tuple[list[int], list[int], list[list[bool]], list[list[bool]]]:
    """Compressed grid lines (x, z), and per cell whether it is inside the house and inside a wall."""
    covers = [piece.grown(OUTER_MM) for room in rooms for piece in room.cell_pieces]
    floors = [piece for room in rooms for piece in room.floor_pieces]
    xs, zs, cells = _compressed(covers + floors)
    inside = [[any(cover.contains(cell) for cover in covers) for cell in column] for column in cells]
    wall = [
        [within and not any(floor.contains(cell) for floor in floors) for cell, within in zip(column, row)]
        for column, row in zip(cells, inside)
    ]
    return xs, zs, inside, wall


def wall_rects(rooms: Sequence[PlannedRoom]) -> list[Rect]:
    """Disjoint rectangles that together are all walls (doorways and windows not cut out)."""
    xs, zs, _, wall = _solid_cells(rooms)
    runs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for i, column in enumerate(wall):
        j = 0
        while j < len(column):
            first = j
            while j < len(column) and column[j]:
                j += 1
            if j > first:
                runs.setdefault((zs[first], zs[j]), []).append((xs[i], xs[i + 1]))
            j += 1
    rects = []
    for (z0, z1), spans in runs.items():
        x0, x1 = spans[0]
        for a, b in spans[1:]:
            if a != x1:
                rects.append(Rect(x0, z0, x1, z1))
                x0 = a
            x1 = b
        rects.append(Rect(x0, z0, x1, z1))
    return rects


def exterior_edges(rooms: Sequence[PlannedRoom]) -> list[tuple[int, int, int, int]]:
    """(side, level, start, end) of each straight piece of the outer border; side faces the outside."""
    return border_edges([piece.grown(OUTER_MM) for room in rooms for piece in room.cell_pieces])


def border_edges(rects: Sequence[Rect]) -> list[tuple[int, int, int, int]]:
    """(side, level, start, end) of each straight piece of the border of what `rects` cover together.

    The side faces the outside. Pieces are sorted by side, then level, then start.
    """
    xs, zs, cells = _compressed(rects)
    inside = [[any(rect.contains(cell) for rect in rects) for cell in column] for column in cells]
    columns, rows = len(xs) - 1, len(zs) - 1

    def is_in(i: int, j: int) -> bool:
        return 0 <= i < columns and 0 <= j < rows and inside[i][j]

    pieces: list[tuple[int, int, int, int]] = []
    for i in range(columns):
        for j in range(rows):
            if not inside[i][j]:
                continue
            if not is_in(i, j - 1):
                pieces.append((NORTH, zs[j], xs[i], xs[i + 1]))
            if not is_in(i, j + 1):
                pieces.append((SOUTH, zs[j + 1], xs[i], xs[i + 1]))
            if not is_in(i - 1, j):
                pieces.append((WEST, xs[i], zs[j], zs[j + 1]))
            if not is_in(i + 1, j):
                pieces.append((EAST, xs[i + 1], zs[j], zs[j + 1]))
    merged: list[tuple[int, int, int, int]] = []
    for side, level, start, end in sorted(pieces):
        if merged and merged[-1][:2] == (side, level) and merged[-1][3] == start:
            merged[-1] = (side, level, merged[-1][2], end)
        else:
            merged.append((side, level, start, end))
    return merged
