"""Viewing cells: where to stand to see an object, near enough, far enough, with nothing in between."""

# mypy: disable-error-code="no-untyped-def"

import math

import numpy as np
from jaxtyping import Float

from navarena.core.kernels import kernel
from navarena.mapping.terrain import Reach, Terrain


@kernel
def is_open_between(weights, row, column, to_row, to_column, spare):
    """Whether the line between two places is free, except for its last `spare` cells.

    Off the terrain nothing was seen, which is as open as what was never seen on it.
    """
    length = math.hypot(to_row - row, to_column - column)
    steps = math.ceil(2 * (length - spare))
    for k in range(1, steps + 1):
        share = 0.5 * k / length
        r, c = math.floor(row + (to_row - row) * share), math.floor(column + (to_column - column) * share)
        if 0 <= r < weights.shape[0] and 0 <= c < weights.shape[1] and weights[r, c] == 0:
            return False
    return True


@kernel
def cheapest_viewing_cell(weights, costs, points, min_cells, max_cells, spare, out):
    """Write the (row, column) that is cheapest to reach of all cells before some of the points (K, 2).

    min_cells: (K,) cells, how far from each point at least; max_cells: how far at most. Returns its cost, -1
    for none.
    """
    rows, columns = weights.shape
    best = -1
    wide = math.ceil(max_cells)
    for k in range(points.shape[0]):
        row, column = points[k, 0], points[k, 1]
        middle_r, middle_c = math.floor(row), math.floor(column)
        for r in range(max(0, middle_r - wide), min(rows, middle_r + wide + 1)):
            for c in range(max(0, middle_c - wide), min(columns, middle_c + wide + 1)):
                cost = costs[r, c]
                if cost < 0 or weights[r, c] == 0 or (best >= 0 and cost >= best):
                    continue
                apart = math.hypot(r + 0.5 - row, c + 0.5 - column)
                if apart < min_cells[k] or apart > max_cells:
                    continue
                if is_open_between(weights, r + 0.5, c + 0.5, row, column, spare):
                    best = cost
                    out[0], out[1] = r, c
    return best


def find_viewing_cell(
    terrain: Terrain,
    reach: Reach,
    points: Float[np.ndarray, "k 3"],
    min_distances: Float[np.ndarray, "k"],
    max_distance: float,
    spare: float,
) -> tuple[int, int] | None:
    """The cell that is cheapest to reach from which one of `points` is near and in plain view.

    Args:
        terrain: where.
        reach: of the body.
        points: (K, 3) metres, on the surface of the object.
        min_distances: (K,) metres, how far from each point at least (a camera must look over or under it).
        max_distance: metres, how far at most.
        spare: metres before a point within which the object itself may stand, and hides nothing.

    Returns:
        (row, column), or None where there is no such place.
    """
    if not len(points):
        return None
    out = np.zeros(2, np.int64)
    cell = terrain.grid.cell
    places = np.ascontiguousarray(terrain.grid.coordinates_of(points))
    distances = np.ascontiguousarray(min_distances, np.float64) / cell
    cost = cheapest_viewing_cell(
        terrain.weights, reach.costs, places, distances, float(max_distance / cell), float(spare / cell), out
    )
    return None if cost < 0 else (int(out[0]), int(out[1]))
