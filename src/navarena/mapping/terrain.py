"""Shortest paths and frontiers on partial maps.

An occupancy map is coarsened around what was seen; a body's radius and a preference for distance to walls
become weights of the cells. One flood from the body then answers every question: the path to a place,
which frontiers can be reached and at what cost.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32, Int8, Int32, Int64, UInt8

from navarena.core.errors import InputError
from navarena.mapping.map_grid import MapGrid
from navarena.mapping.occupancy import UNKNOWN
from navarena.mapping.terrain_kernels import (
    FAR,
    coarsen,
    flood,
    gather_frontiers,
    known_box,
    mark_frontiers,
    spread_clearance,
    trace_back,
    weigh_cells,
)

BASE_WEIGHT = 2
"""Weight of a cell with enough room; the costs below are multiples of half of it."""

COST_PER_CELL = 5 * BASE_WEIGHT
"""Cost of one step along an axis with enough room."""


@dataclass(frozen=True)
class TerrainSettings:
    """Settings of terrains.

    Attributes:
        radius: metres, of the body.
        factor: cells of the map along a side of a cell of the terrain.
        margin: metres of room beside the radius that paths like to keep.
        tight_weight: of cells nearer to an obstacle than the radius; they are crossed where all else fails.
        near_weight: of cells without the margin.
        unknown_weight: added for cells never seen. All count in halves of a free cell's weight.
        border: metres of unknown around what was seen that paths may use.
    """

    radius: float
    factor: int = 2
    margin: float = 0.15
    tight_weight: int = 24
    near_weight: int = 4
    unknown_weight: int = 1
    border: float = 1.0

    def __post_init__(self) -> None:
        weights = (self.tight_weight, self.near_weight, self.unknown_weight)
        if not (self.radius > 0 and self.factor > 0 and self.margin >= 0 and self.border >= 0):
            raise InputError(
                "expected a positive radius and factor, and a margin and border (metres) of at least 0, got "
                f"{self.radius}, {self.factor}, {self.margin} and {self.border}"
            )
        if min(weights) < 0 or max(weights) > 100 or min(weights[:2]) < BASE_WEIGHT:
            raise InputError(
                f"expected tight and near weights within {BASE_WEIGHT}..100 and an unknown weight within "
                f"0..100, got {weights}"
            )


@dataclass(frozen=True, eq=False)
class Terrain:
    """The known part of one layer of a map, as a body of some radius finds it.

    Attributes:
        grid: where its cells lie; a map without any seen cell gives a grid of unknown ones.
        states: (A, B) uint8, unknown, free or occupied.
        clearance: (A, B) float32 cells to the nearest occupied one.
        weights: (A, B) uint8, cost of a cell; 0 where it is closed.
        settings: how it was made.
    """

    grid: MapGrid
    states: UInt8[np.ndarray, "a b"]
    clearance: Float32[np.ndarray, "a b"]
    weights: UInt8[np.ndarray, "a b"]
    settings: TerrainSettings


@dataclass(frozen=True, eq=False)
class Reach:
    """The cheapest paths from one cell to all others.

    Attributes:
        start: (row, column) that was flooded from.
        costs: (A, B) int32; -1 where no path leads. COST_PER_CELL for a step with enough room.
        parents: (A, B) int8, which neighbour a path comes from.
    """

    start: tuple[int, int]
    costs: Int32[np.ndarray, "a b"]
    parents: Int8[np.ndarray, "a b"]

    def path_to(self, row: int, column: int) -> Int64[np.ndarray, "p 2"]:
        """(P, 2) cells from the start to (row, column), both included; (0, 2) where no path leads."""
        if self.costs[row, column] < 0:
            return np.zeros((0, 2), np.int64)
        path = np.zeros((self.costs.size, 2), np.int64)
        count = trace_back(self.parents, *self.start, row, column, path)
        return np.ascontiguousarray(path[:count][::-1])


@dataclass(frozen=True, eq=False)
class Frontiers:
    """Groups of free cells that border on unknown ones.

    Attributes:
        cells: (F, 2) row and column of the cell of each group that is cheapest to reach.
        costs: (F,) int32, as of Reach.
        sizes: (F,) int64, cells.
        middles: (F, 2) float64, mean row and column.
    """

    cells: Int64[np.ndarray, "f 2"]
    costs: Int32[np.ndarray, "f"]
    sizes: Int64[np.ndarray, "f"]
    middles: Float[np.ndarray, "f 2"]


def build_terrain(
    scores: Int8[np.ndarray, "r c"],
    grid: MapGrid,
    settings: TerrainSettings,
    bumps: Float[np.ndarray, "k 3"] | None = None,
    around: Float[np.ndarray, "3"] | None = None,
    box: Int64[np.ndarray, "4"] | None = None,
) -> Terrain:
    """The terrain of one layer of an occupancy map.

    Args:
        scores: (R, C) int8 evidence, as of OccupancyMaps.
        grid: where its cells lie; up must be "-z".
        settings: how.
        bumps: (K, 3) metres, places that proved to be blocked whatever the map says.
        around: (3,) metres, a place to include, such as the body's.
        box: (4,) first row, last row + 1, first column and last column + 1 outside which nothing was seen, as
            of OccupancyMaps; None looks everywhere.

    Raises InputError for a grid of another size, another direction up, or places that are not finite.
    """
    if grid.up != "-z":
        raise InputError(f"expected a map with -z up to plan on, got {grid.up}")
    if scores.shape != (grid.rows, grid.columns):
        raise InputError(f"expected scores of {grid.rows} x {grid.columns} cells, got {scores.shape}")
    top, bottom, left, right = known_box(
        scores, np.array([0, grid.rows, 0, grid.columns]) if box is None else box
    )
    if around is not None:
        row, column = grid.cells_of(around).tolist()
        top, bottom = min(top, row), max(bottom, row + 1)
        left, right = min(left, column), max(right, column + 1)
    if top >= bottom:
        top, bottom, left, right = 0, 1, 0, 1
    factor = settings.factor
    border = int(np.ceil(settings.border / (grid.cell * factor))) + 1
    first_row, first_column = (top // factor - border) * factor, (left // factor - border) * factor
    rows, columns = -(-bottom // factor) + border, -(-right // factor) + border
    shape = (rows - first_row // factor, columns - first_column // factor)
    corner = (grid.corner[0] + first_column * grid.cell, grid.corner[1] + first_row * grid.cell)
    coarse = MapGrid(shape[0], shape[1], grid.cell * factor, corner)
    states = np.zeros(shape, np.uint8)
    coarsen(scores, first_row, first_column, factor, states)
    if bumps is not None and len(bumps):
        cells = coarse.cells_of(bumps)
        cells = cells[coarse.contains(cells)]
        states[cells[:, 0], cells[:, 1]] = 2
    clearance = np.zeros(shape, np.float32)
    spread_clearance(states, clearance)
    weights = np.zeros(shape, np.uint8)
    narrow = settings.radius / coarse.cell + 0.4
    wide = narrow + settings.margin / coarse.cell
    weigh_cells(
        states,
        clearance,
        narrow,
        wide,
        settings.tight_weight,
        settings.near_weight,
        settings.unknown_weight,
        weights,
    )
    return Terrain(coarse, states, clearance, weights, settings)


def flood_terrain(terrain: Terrain, start: tuple[int, int], cross_unknown: bool = True) -> Reach:
    """The cheapest paths from the cell `start` to all others.

    Args:
        terrain: where.
        start: (row, column), open whatever stands there.
        cross_unknown: whether paths may lead through what was never seen (optimistic).

    The cells along the border of the terrain are closed. Raises InputError for a start on them, or off it.
    """
    rows, columns = terrain.states.shape
    if not (0 < start[0] < rows - 1 and 0 < start[1] < columns - 1):
        raise InputError(f"expected a start inside the terrain of {rows} x {columns} cells, got {start}")
    weights = terrain.weights.copy()
    if not cross_unknown:
        weights[terrain.states == UNKNOWN] = 0
    weights[[0, -1]] = 0
    weights[:, [0, -1]] = 0
    one = terrain.settings
    greatest = 7 * (max(one.tight_weight, one.near_weight) + one.unknown_weight)
    costs, parents = np.full(rows * columns, FAR, np.int32), np.zeros(rows * columns, np.int8)
    flood(
        weights.reshape(-1),
        columns,
        int(start[0]) * columns + int(start[1]),
        np.full(1 << greatest.bit_length(), -1, np.int32),
        costs,
        parents,
        np.zeros(8 * rows * columns + 1, np.int32),
        np.zeros(8 * rows * columns + 1, np.int32),
    )
    costs[costs == FAR] = -1
    shape = (rows, columns)
    return Reach((int(start[0]), int(start[1])), costs.reshape(shape), parents.reshape(shape))


def find_frontiers(
    terrain: Terrain,
    reach: Reach,
    min_cells: int = 1,
    barred: Bool[np.ndarray, "a b"] | None = None,
) -> Frontiers:
    """The frontiers that can be reached.

    Args:
        terrain: what is known.
        reach: of the body.
        min_cells: smaller groups are left out.
        barred: (A, B) bool, cells that count as no frontier.
    """
    shape = terrain.states.shape
    marks = np.zeros(shape, np.uint8)
    nowhere = np.zeros(shape, bool) if barred is None else barred
    count = mark_frontiers(terrain.states, reach.costs, nowhere, marks)
    cells, sizes = np.zeros((count, 2), np.int64), np.zeros(count, np.int64)
    middles = np.zeros((count, 2))
    groups = gather_frontiers(marks, reach.costs, np.zeros(count + 1, np.int64), cells, sizes, middles)
    large = np.flatnonzero(sizes[:groups] >= min_cells)
    chosen = cells[large]
    return Frontiers(chosen, reach.costs[chosen[:, 0], chosen[:, 1]], sizes[large], middles[large])


def choose_nearest(frontiers: Frontiers) -> int:
    """Index of the frontier that is cheapest to reach; -1 where there is none."""
    return int(np.argmin(frontiers.costs)) if len(frontiers.costs) else -1
