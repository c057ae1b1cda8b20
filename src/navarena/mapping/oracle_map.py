"""MultiON's oracle maps: the global grid, its drawing, and the window that networks see.

Facts are those of the paper (Wani et al. 2020) and its code (saimwani/multiON, multinav_mp3d.yaml and
the maps' reader), as far as they are known. Rows fall with +x and columns grow with +z: +x is up in
the image. In the window the body looks down, and what is on its right lies on the left.
"""

from typing import Literal

import numpy as np
from jaxtyping import Float, Int64, Shaped, UInt8

from navarena.core.errors import InputError
from navarena.mapping.egocentric import crop_turned
from navarena.mapping.map_grid import MapGrid
from navarena.simulation.navmesh.navmesh import NavMesh

LEAST, MOST = -120.3241 - 1e-6, 120.0399 + 1e-6
"""Metres, bounds of x and of z of every map (code)."""

CELLS = 300
"""Cells along a side (paper, section 4.2; code)."""

WINDOW = 50
"""Cells along a side of the egocentric window (code)."""

OUTSIDE, BLOCKED, NAVIGABLE = 0, 1, 2
"""Values of the occupancy channel."""


def oracle_grid(cells: int = CELLS) -> MapGrid:
    """The grid of an oracle map: 300 cells of 0.801 m, or another number within the same bounds."""
    return MapGrid(cells, cells, (MOST - LEAST) / cells, (MOST, LEAST), "+x")


def draw_occupancy(navmesh: NavMesh, grid: MapGrid, height: float) -> UInt8[np.ndarray, "r c"]:
    """(R, C) uint8: 2 navigable, 1 not, 0 outside the building.

    A cell is navigable when its corner (lowest row and column) is, at world y `height` metres, half a
    metre up or down (code). The building is the rectangle around the navigable cells, one cell wider.
    The original drew one map for each scene, at the height of whichever episode came first; here each
    start height has its own.
    """
    cells = np.moveaxis(np.indices((grid.rows, grid.columns)), 0, -1)
    corners = grid.centers_of(cells, height) - (grid.centers_of(np.array([0, 0])) - _corner(grid))
    low, high = navmesh.vertices.min(0) - grid.cell, navmesh.vertices.max(0) + grid.cell
    near = ((corners[..., [0, 2]] > low[[0, 2]]) & (corners[..., [0, 2]] < high[[0, 2]])).all(-1)
    out = np.zeros((grid.rows, grid.columns), np.uint8)
    if not near.any():
        return out
    is_floor = np.zeros_like(near)
    is_floor[near] = navmesh.is_navigable(np.ascontiguousarray(corners[near]))
    rows, columns = np.flatnonzero(is_floor.any(1)), np.flatnonzero(is_floor.any(0))
    if len(rows):
        inside = (slice(max(0, rows[0] - 1), rows[-1] + 2), slice(max(0, columns[0] - 1), columns[-1] + 2))
        out[inside] = BLOCKED
        out[is_floor] = NAVIGABLE
    return out


def _corner(grid: MapGrid) -> Float[np.ndarray, "3"]:
    return np.array([grid.corner[0], 0.0, grid.corner[1]])


def paint_goals(
    grid: MapGrid,
    positions: Float[np.ndarray, "g 3"],
    classes: Int64[np.ndarray, "g"],
    block: int = 3,
    first: int = 1,
) -> UInt8[np.ndarray, "r c"]:
    """(R, C) uint8: class + `first` in the cells of the goals, 0 elsewhere.

    Args:
        grid: where the cells lie.
        positions: (G, 3) metres; one off the map paints what of its block lies on it.
        classes: (G,) ids.
        block: cells along a side of what each goal paints: 3 (code) or 1 (paper). Later goals paint over
            earlier ones.
        first: the value of class 0: 1 for oracle maps, 2 for those that are revealed (code).

    Raises InputError for an even block, classes that do not fit into a byte, and positions not finite.
    """
    if block < 1 or block % 2 == 0:
        raise InputError(f"expected an odd number of cells that a goal paints, got {block}")
    if len(classes) != len(positions) or not all(0 <= one + first <= 255 for one in classes.tolist()):
        raise InputError(
            f"expected a class within {-first}..{255 - first} for each of {len(positions)} goals, got "
            f"{classes.tolist()}"
        )
    out = np.zeros((grid.rows, grid.columns), np.uint8)
    half = block // 2
    for (row, column), kind in zip(grid.cells_of(positions).tolist(), classes.tolist()):
        rows = slice(max(0, row - half), max(0, row + half + 1))
        out[rows, max(0, column - half) : max(0, column + half + 1)] = kind + first
    return out


def crop_oracle(
    maps: Shaped[np.ndarray, "n r c k"],
    grid: MapGrid,
    positions: Float[np.ndarray, "n 3"],
    yaws: Float[np.ndarray, "n"],
    window: int = WINDOW,
) -> Shaped[np.ndarray, "n w w k"]:
    """(N, W, W, K) windows of maps (N, R, C, K) around bodies, turned so that they look down (code).

    The code cuts 80 x 80 cells from 40 before the body's cell on, turns them by 90 degrees less the heading,
    nearest cell, and keeps the middle: so the body stands half a cell before the middle. Cells off the
    map are 0.

    Args:
        maps: of any dtype.
        grid: where their cells lie.
        positions: (N, 3) metres, world frame.
        yaws: (N,) radians, world frame.
        window: W, cells.
    """
    centers = grid.cells_of(positions) - 0.5
    return crop_turned(maps, centers, np.pi - grid.heading_of(yaws), (window, window))


Channels = Literal["both", "occupancy", "objects"]
"""Which channels a network sees: occupancy first, then objects."""


def choose_channels(
    occupancy: UInt8[np.ndarray, "r c"], objects: UInt8[np.ndarray, "r c"], channels: Channels
) -> UInt8[np.ndarray, "r c k"]:
    """(R, C, K) uint8: the values of the chosen channels, K = 2 for "both"."""
    chosen = {"both": [occupancy, objects], "occupancy": [occupancy], "objects": [objects]}
    return np.stack(chosen[channels], -1)
