"""Turning, actions and seconds: hand-computed tables, and what must hold for any walk."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.metrics import (
    BodyRates,
    MultiGoalTrajectory,
    ShortestPath,
    Trajectory,
    action_spl,
    measure_path,
    path_length,
    ppl,
    ppl_code,
    progress,
    rotation,
    seconds,
    soft_spl,
    spl,
    success,
    time_spl,
)

INF = float("inf")
RATES = BodyRates(step=0.5, turn=math.pi / 6, walk_speed=0.5, turn_speed=math.pi / 3)
"""A second for each metre and a half, three for half a turn: easy to add by hand."""


def make_walk(xs, yaws, start_distance, way=0.0, left=0.0, stopped=True, **others):
    """A walk along x with the given yaws; `way` radians are the least that must be turned."""
    steps = len(xs) - 1
    positions = np.zeros((steps + 1, 3))
    positions[:, 0] = xs
    distances = np.maximum(start_distance - np.abs(positions[:, 0]), 0.0)
    distances[-1] = left
    return Trajectory(
        **{
            "positions": positions,
            "yaws": np.array(yaws, float),
            "actions": np.zeros(steps, np.int64),
            "collided": np.zeros(steps, bool),
            "distance_to_goal": distances,
            "start_distance": start_distance,
            "stopped": stopped,
            "success_distance": 0.2,
            "rates": RATES,
            "shortest": ShortestPath(start_distance, way, 0.0),
        }
        | others
    )


TABLE = [
    # name, xs, yaws, d_0, way, left, stopped | rotation, seconds, action_spl, time_spl
    ("straight", [0, 0.5, 1, 1], [0, 0, 0, 0], 1.0, 0.0, 0, True, 0, 2, 1, 1),
    ("looks round first", [0, 0, 0, 1, 1], [0, math.pi / 2, 0, 0, 0], 1.0, 0.0, 0, True, math.pi, 5, 0.75,
     0.4),
    ("must turn anyway", [0, 0, 1, 1], [0, math.pi / 3, math.pi / 3, math.pi / 3], 1.0, math.pi / 3, 0, True,
     math.pi / 3, 3, 1, 1),
    ("twice the way", [0, -0.5, 0, 1, 1], [0, 0, 0, 0, 0], 1.0, 0.0, 0, True, 0, 4, 0.75, 0.5),
    ("stops too early", [0, 0.5, 0.5], [0, 0, 0], 1.0, 0.0, 0.5, True, 0, 1, 0, 0),
    ("never stops", [0, 1], [0, 0], 1.0, 0.0, 0, False, 0, 2, 0, 0),
    ("across the back", [0, 0], [3.0, -3.0], 0.0, 0.0, 0, True, 2 * math.pi - 6,
     3 * (2 * math.pi - 6) / math.pi, 1, 0),
    ("born on the goal", [0, 0], [0, 0], 0.0, 0.0, 0, True, 0, 0, 1, 1),
]  # fmt: skip


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_table(row):
    _, xs, yaws, start, way, left, stopped, *expected = row
    walk = make_walk(xs, yaws, start, way, left, stopped)
    assert [metric(walk) for metric in (rotation, seconds, action_spl, time_spl)] == pytest.approx(expected)


def test_every_declaration_of_several_goals_is_an_action():
    plain = make_walk([0, 0.5, 0.5, 1, 1], np.zeros(5), 1.0)
    tour = MultiGoalTrajectory(**vars(plain), legs=np.array([0.5, 0.5]), found_after=np.array([2, 4]))
    assert action_spl(plain) == 0.75  # two steps and a declaration would do, four actions were taken
    assert action_spl(tour) == 1.0


def test_unreachable_goals_score_nothing_and_missing_parts_are_told():
    nowhere = make_walk([0, 1], [0, 0], INF, left=INF, shortest=None, distance_to_goal=np.full(2, INF))
    assert (action_spl(nowhere), time_spl(nowhere)) == (0.0, 0.0)
    walk = make_walk([0, 1], [0, 0], 1.0, rates=None)
    for metric in (seconds, action_spl, time_spl):
        with pytest.raises(InputError, match="rates of its body"):
            metric(walk)
    with pytest.raises(InputError, match="shortest path"):
        time_spl(make_walk([0, 1], [0, 0], 1.0, shortest=None))
    with pytest.raises(InputError, match="positive turn_speed"):
        BodyRates(0.25, 0.5, 0.7, 0.0)


def test_measure_way():
    ahead_then_left = np.array([[0.0, 0, 0], [0, 0, -2], [-1, 1, -2]])
    way = measure_path(ahead_then_left, yaw=-math.pi / 4)
    assert way.length == pytest.approx(2 + math.sqrt(2))
    assert way.rotation == pytest.approx(math.pi / 4 + math.pi / 2)
    assert way.climb == 1.0
    assert measure_path(np.array([[1.0, 2, 3]]), 0.3) == ShortestPath(0.0, 0.0, 0.0)
    upright = measure_path(np.array([[0.0, 0, 0], [0, 1, 0]]), 0.3)  # a drop has no direction in the plan
    assert (upright.length, upright.rotation) == (1.0, 0.0)
    with pytest.raises(InputError, match="at least one point"):
        measure_path(np.zeros((0, 3)), 0.0)


@st.composite
def walks(draw):
    """Walks in the plan whose d_0 is no longer than the straight line needs."""
    steps = draw(st.integers(0, 6))
    numbers = st.floats(-3, 3, allow_nan=False).map(lambda x: round(x, 3))
    positions = np.array([[draw(numbers), 0.0, draw(numbers)] for _ in range(steps + 1)])
    yaws = np.array([draw(st.floats(-3.1, 3.1)) for _ in range(steps + 1)])
    start = draw(st.integers(0, 10_000_000)) * 1e-6  # metres; half of the least number of all is 0
    return Trajectory(
        positions=positions,
        yaws=yaws,
        actions=np.zeros(steps, np.int64),
        collided=np.zeros(steps, bool),
        distance_to_goal=np.array([draw(st.floats(0.0, 0.4)) for _ in range(steps + 1)]),
        start_distance=start,
        stopped=draw(st.booleans()),
        success_distance=0.2,
        rates=RATES,
        shortest=ShortestPath(start, draw(st.floats(0.0, 6.0)), 0.0),
    )


SCORES = (success, spl, soft_spl, action_spl, time_spl, progress, ppl, ppl_code)


@settings(max_examples=60, deadline=None)
@given(walks())
def test_scores_are_bounded_by_success(walk):
    for score in (spl, action_spl, time_spl, ppl, ppl_code):
        assert 0.0 <= score(walk) <= success(walk)
    assert ppl(walk) == ppl_code(walk) == spl(walk)  # one goal


@settings(max_examples=60, deadline=None)
@given(walks(), st.floats(0.1, 10.0))
def test_scores_do_not_know_the_unit_of_length(walk, factor):
    way = walk.shortest
    scaled = Trajectory(
        **vars(walk)
        | {
            "positions": walk.positions * factor,
            "distance_to_goal": walk.distance_to_goal * factor,
            "start_distance": walk.start_distance * factor,
            "success_distance": walk.success_distance * factor,
            "rates": BodyRates(RATES.step * factor, RATES.turn, RATES.walk_speed * factor, RATES.turn_speed),
            "shortest": ShortestPath(way.length * factor, way.rotation, way.climb * factor),
        }
    )
    if np.any(np.isclose(walk.distance_to_goal, walk.success_distance)):
        return  # rounding may move a pose across the border
    assert [score(scaled) for score in SCORES] == pytest.approx([score(walk) for score in SCORES], abs=1e-9)
    assert path_length(scaled) == pytest.approx(factor * path_length(walk))
    assert seconds(scaled) == pytest.approx(seconds(walk))


@settings(max_examples=60, deadline=None)
@given(walks(), st.integers(0, 6))
def test_a_step_that_changes_nothing_costs_an_action_only(walk, where):
    row = min(where, len(walk.actions))

    def doubled(values):
        return np.insert(values, row, values[row], axis=0)

    longer = Trajectory(
        **vars(walk)
        | {
            "positions": doubled(walk.positions),
            "yaws": doubled(walk.yaws),
            "distance_to_goal": doubled(walk.distance_to_goal),
            "actions": np.insert(walk.actions, row, 0),
            "collided": np.insert(walk.collided, row, False),
        }
    )
    for metric in (success, spl, soft_spl, time_spl, rotation, seconds, path_length):
        assert metric(longer) == pytest.approx(metric(walk))
    assert action_spl(longer) <= action_spl(walk)


@settings(max_examples=40, deadline=None)
@given(walks())
def test_a_walk_and_its_mirror_image_score_the_same(walk):
    mirrored = Trajectory(**vars(walk) | {"positions": walk.positions * [-1, 1, 1], "yaws": -walk.yaws})
    assert [score(mirrored) for score in SCORES] == pytest.approx([score(walk) for score in SCORES])
    assert rotation(mirrored) == pytest.approx(rotation(walk))
