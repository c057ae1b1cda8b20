"""Terrain, floods, frontiers, steering and stands on maps drawn as text."""

import heapq
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.core.geometry import forward_from_yaw
from navarena.mapping import (
    MapGrid,
    SteeringSettings,
    TerrainSettings,
    build_terrain,
    choose_nearest,
    find_frontiers,
    find_viewing_cell,
    flood_terrain,
    steer,
)
from navarena.mapping.terrain import COST_PER_CELL

MARKS = {".": -5, "#": 5, " ": 0}
SLIM = TerrainSettings(radius=0.01, factor=1, margin=0.0, border=0.1)
STEPS = SteeringSettings()


def draw(rows, cell=0.1):
    """Evidence and grid of a drawing: "." free, "#" occupied, " " unknown."""
    width = max(map(len, rows))
    scores = np.array([[MARKS[mark] for mark in row.ljust(width)] for row in rows], np.int8)
    return scores, MapGrid(len(rows), width, cell, (0.0, 0.0))


def at(terrain, row, column, cell=0.1):
    """Cell of the terrain in which the middle of a drawn cell lies."""
    return tuple(terrain.grid.cells_of(np.array([(column + 0.5) * cell, 0, (row + 0.5) * cell])).tolist())


ROOM = [
    "##########",
    "#........#",
    "#.######.#",
    "#.#....#.#",
    "#.#.####.#",
    "#........#",
    "##########",
]


def test_terrain_is_the_drawing_with_a_border():
    scores, grid = draw(ROOM)
    terrain = build_terrain(scores, grid, SLIM)
    assert terrain.states.shape == (7 + 4, 10 + 4) and not terrain.states[:2].any()
    assert (terrain.states[2:-2, 2:-2] == np.where(scores > 0, 2, 1)).all()
    assert np.allclose(terrain.grid.corner, -0.2)
    coarse = build_terrain(scores, grid, TerrainSettings(0.01, factor=2, margin=0.0, border=0.0))
    assert coarse.states[1:-1, 1:-1].tolist()[0] == [2, 2, 2, 2, 2]


@pytest.mark.parametrize("around", [None, np.array([0.05, 0.0, 0.95])])
@pytest.mark.parametrize("box", [(2, 9, 1, 11), (3, 8, 2, 10), (0, 12, 0, 12), (3, 8, 1, 12), (12, 0, 12, 0)])
def test_a_generous_box_around_what_was_seen_changes_nothing(box, around):
    scores = np.zeros((12, 12), np.int8)
    if box[0] < box[1]:
        scores[3:8, 2:10] = np.random.default_rng(3).integers(-2, 3, (5, 8))
    grid = MapGrid(12, 12, 0.1, (0, 0))
    expected = build_terrain(scores, grid, SLIM, None, around)
    terrain = build_terrain(scores, grid, SLIM, None, around, np.array(box))
    assert terrain.grid == expected.grid and np.array_equal(terrain.weights, expected.weights)


def test_blocks_are_occupied_free_or_unknown():
    scores, grid = draw(["..#.. ", ".... .", "      "])
    terrain = build_terrain(scores, grid, TerrainSettings(0.01, factor=2, margin=0.0, border=0.0))
    assert terrain.states[1:-1, 1:-1].tolist() == [[1, 2, 1]]


def test_bumps_close_cells_and_an_empty_map_has_a_terrain():
    scores, grid = draw(["....", "...."])
    terrain = build_terrain(scores, grid, SLIM, np.array([[0.25, 0, 0.05], [99.0, 0, 99.0]]))
    assert terrain.weights[at(terrain, 0, 2)] == 0 and (terrain.weights == 0).sum() == 1
    nothing = build_terrain(
        np.zeros((5, 5), np.int8), MapGrid(5, 5, 0.1, (0, 0)), SLIM, None, np.array([0.25, 0, 0.25])
    )
    assert (
        not nothing.states.any() and len(find_frontiers(nothing, flood_terrain(nothing, (2, 2))).costs) == 0
    )


def test_clearance_and_weights_by_hand():
    scores, grid = draw(["#......"] * 7)
    terrain = build_terrain(scores, grid, TerrainSettings(radius=0.2, factor=1, margin=0.2, border=0.1))
    row = [terrain.weights[at(terrain, 3, column)] for column in range(7)]
    assert row == [0, 24, 24, 4, 4, 2, 2]  # 0.1 and 0.2 m are tight for a radius of 0.2 m and half a cell
    assert terrain.clearance[at(terrain, 3, 4)] == 4


def dijkstra(terrain, start, cross_unknown):
    """The plain reference of `flood_terrain`."""
    rows, columns = terrain.weights.shape
    opened = terrain.weights.astype(int)
    if not cross_unknown:
        opened[terrain.states == 0] = 0
    opened[[0, -1]] = opened[:, [0, -1]] = 0
    costs = {start: 0}
    heap = [(0, start)]
    while heap:
        cost, (r, c) = heapq.heappop(heap)
        if cost > costs[r, c]:
            continue
        for dr in (-1, 0, 1):
            for dc in (-1, 0, 1):
                near = (r + dr, c + dc)
                if (dr, dc) == (0, 0) or not opened[near]:
                    continue
                if dr and dc and not (opened[r + dr, c] and opened[r, c + dc]):
                    continue
                total = cost + (7 if dr and dc else 5) * opened[near]
                if total < costs.get(near, 1 << 30):
                    costs[near] = total
                    heapq.heappush(heap, (total, near))
    out = np.full((rows, columns), -1)
    for (r, c), cost in costs.items():
        out[r, c] = cost
    return out


@given(seed=st.integers(0, 10**6), cross_unknown=st.booleans())
@settings(max_examples=25, deadline=None)
def test_floods_equal_a_plain_search(seed, cross_unknown):
    generator = np.random.default_rng(seed)
    scores = generator.choice([-5, -5, -5, 0, 5], (14, 17)).astype(np.int8)
    terrain = build_terrain(scores, MapGrid(14, 17, 0.1, (0, 0)), TerrainSettings(0.1, factor=1, border=0.2))
    start = (int(generator.integers(3, 14)), int(generator.integers(3, 17)))
    reach = flood_terrain(terrain, start, cross_unknown)
    assert np.array_equal(reach.costs, dijkstra(terrain, start, cross_unknown))
    for row, column in np.argwhere(reach.costs >= 0)[::7]:
        path = reach.path_to(int(row), int(column))
        assert tuple(path[0]) == start and tuple(path[-1]) == (row, column)
        steps = np.abs(np.diff(path, axis=0))
        lengths = np.where(steps.sum(1) == 2, 7, 5)
        assert (steps.max(1) == 1).all() if len(steps) else True
        assert (lengths * terrain.weights[path[1:, 0], path[1:, 1]]).sum() == reach.costs[row, column]


def test_paths_lead_around_walls_and_through_the_unknown():
    scores, grid = draw(ROOM)
    terrain = build_terrain(scores, grid, SLIM)
    reach = flood_terrain(terrain, at(terrain, 1, 1))
    assert reach.costs[at(terrain, 1, 8)] == 7 * COST_PER_CELL
    assert reach.costs[at(terrain, 3, 6)] == (4 + 2 + 2 + 3) * COST_PER_CELL  # in by the only door
    assert len(reach.path_to(*at(terrain, 0, 0))) == 0
    open_scores, open_grid = draw([".  ."])
    open_terrain = build_terrain(open_scores, open_grid, SLIM)
    far, start = at(open_terrain, 0, 3), at(open_terrain, 0, 0)
    assert flood_terrain(open_terrain, start).costs[far] > 0
    assert flood_terrain(open_terrain, start, cross_unknown=False).costs[far] == -1


def test_starts_off_the_terrain_and_other_maps_are_refused():
    scores, grid = draw(ROOM)
    terrain = build_terrain(scores, grid, SLIM)
    for start in ((0, 3), (99, 3)):
        with pytest.raises(InputError, match="start inside the terrain"):
            flood_terrain(terrain, start)
    with pytest.raises(InputError, match="-z up"):
        build_terrain(scores, MapGrid(7, 10, 0.1, (0, 0), "+x"), SLIM)
    with pytest.raises(InputError, match="positive radius"):
        TerrainSettings(0.0)


FRONTIER_MAP = [
    "#########",
    "#.......#",
    "#.......#",
    "#.###...#",
    "#. ##    ",
    "#. #     ",
    "####     ",
]


def test_frontiers_by_hand():
    scores, grid = draw(FRONTIER_MAP)
    terrain = build_terrain(scores, grid, SLIM)
    reach = flood_terrain(terrain, at(terrain, 1, 1), cross_unknown=False)
    frontiers = find_frontiers(terrain, reach)
    assert sorted(frontiers.sizes.tolist()) == [2, 3]
    left, right = np.argsort(frontiers.sizes)
    assert tuple(frontiers.cells[left]) == at(terrain, 4, 1)
    assert frontiers.costs[left] == 3 * COST_PER_CELL
    assert tuple(frontiers.cells[right]) == at(terrain, 3, 5)
    assert np.allclose(frontiers.middles[right], np.array(at(terrain, 3, 6)))
    assert choose_nearest(frontiers) == left
    assert find_frontiers(terrain, reach, min_cells=3).sizes.tolist() == [3]
    barred = np.zeros(terrain.states.shape, bool)
    barred[at(terrain, 4, 1)] = barred[at(terrain, 5, 1)] = True
    assert find_frontiers(terrain, reach, barred=barred).sizes.tolist() == [3]
    nothing = find_frontiers(terrain, reach, min_cells=9)
    assert choose_nearest(nothing) == -1


def test_stands_are_near_and_in_plain_view():
    """An object in the corner of the inner room, to which no door leads from above."""
    scores, grid = draw(ROOM)
    terrain = build_terrain(scores, grid, SLIM)
    reach = flood_terrain(terrain, at(terrain, 1, 1))
    obj = np.array([[0.35, 0.5, 0.35]])
    assert find_viewing_cell(terrain, reach, obj, np.zeros(1), 0.25, 0.0) == at(terrain, 5, 3)
    assert find_viewing_cell(terrain, reach, obj, np.zeros(1), 0.05, 0.0) == at(terrain, 3, 3)
    assert find_viewing_cell(terrain, reach, obj, np.full(1, 0.28), 0.31, 0.0) == at(terrain, 3, 6)
    assert find_viewing_cell(terrain, reach, np.zeros((0, 3)), np.zeros(0), 0.3, 0.0) is None
    assert find_viewing_cell(terrain, reach, obj + 5.0, np.zeros(1), 0.3, 0.0) is None


@pytest.mark.parametrize(("beyond", "place"), [(0, (13.5, 5.5)), (0, (5.5, -1.5)), (9, (13.5, 5.5))])
def test_what_lies_off_the_terrain_does_not_hide_an_object(beyond, place):
    """The object is two cells beyond an open floor; what memory holds there says nothing."""
    terrain = build_terrain(*draw(["." * 8] * 8), SLIM)
    rows, columns = terrain.weights.shape
    memory = np.full((rows + 4, columns), beyond, np.uint8)
    memory[:rows] = terrain.weights
    memory[:rows, -3:] = beyond  # what negative columns would mean
    terrain = replace(terrain, weights=memory[:rows])
    reach = flood_terrain(terrain, (5, 5))
    point = terrain.grid.corner[0] + place[1] * 0.1, terrain.grid.corner[1] + place[0] * 0.1
    stand = find_viewing_cell(terrain, reach, np.array([[point[0], 0.5, point[1]]]), np.zeros(1), 0.35, 0.0)
    assert stand == ((10, 5) if place[0] > rows else (5, 1))


@pytest.mark.parametrize(
    ("yaw_deg", "move"), [(-90, "forward"), (-60, "right"), (0, "right"), (180, "left"), (150, "left")]
)
def test_steering_turns_towards_the_path(yaw_deg, move):
    """The path leads along +x, which is yaw -90 degrees."""
    scores, grid = draw(["." * 30] * 12)
    terrain = build_terrain(scores, grid, SLIM)
    path = flood_terrain(terrain, at(terrain, 6, 3)).path_to(*at(terrain, 6, 25))
    assert steer(terrain, path, np.array([0.35, 0, 0.65]), math.radians(yaw_deg), STEPS) == move


def test_steering_ends_and_gives_up():
    scores, grid = draw(["#####", "#.#.#", "#####"])
    terrain = build_terrain(scores, grid, SLIM)
    place = np.array([0.15, 0, 0.15])
    assert steer(terrain, np.zeros((0, 2), np.int64), place, 0.0, STEPS) == "arrived"
    assert steer(terrain, np.array([at(terrain, 1, 1)]), place, 0.0, STEPS) == "arrived"
    assert steer(terrain, np.array([at(terrain, 1, 1), at(terrain, 1, 9)]), place, 0.0, STEPS) == "blocked"


@given(yaw=st.floats(-3.1, 3.1))
@settings(max_examples=15, deadline=None)
def test_following_the_moves_arrives(yaw):
    """Around two corners of a corridor 0.8 m wide, with turns of 30 degrees and steps of 0.25 m."""
    rows = ["#" * 50] + ["#" + "." * 40 + "#########"] * 8 + ["#" * 33 + "." * 8 + "#" * 9] * 16
    rows += ["#" * 33 + "." * 16 + "#"] * 8 + ["#" * 50]
    scores, grid = draw(rows)
    terrain = build_terrain(scores, grid, TerrainSettings(0.18, factor=1))
    place, goal = np.array([0.5, 0.0, 0.5]), at(terrain, 29, 45)
    for _ in range(80):
        cell = tuple(terrain.grid.cells_of(place).tolist())
        assert terrain.weights[cell] > 0
        move = steer(terrain, flood_terrain(terrain, cell).path_to(*goal), place, yaw, STEPS)
        if move == "arrived":
            return
        if move == "forward":
            place = place + 0.25 * forward_from_yaw(yaw)
        yaw += STEPS.turn * ((move == "left") - (move == "right"))
    raise AssertionError("never arrived")
