"""Hand-computed tables of the metrics of several goals, and what must hold for any record."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.metrics import (
    METRICS,
    MultiGoalTrajectory,
    Trajectory,
    compute_metrics,
    distance_left,
    ppl,
    ppl_code,
    progress,
    raw_metrics,
    soft_spl,
    spl,
    success,
)
from navarena.metrics.multi_goal import walked_until_found

INF = float("inf")


def make_tour(xs, legs, found_after, left=0.0, actions=None):
    """A walk along x; after its last step `left` metres lead to the current goal."""
    steps = len(xs) - 1
    positions = np.zeros((steps + 1, 3))
    positions[:, 0] = xs
    return MultiGoalTrajectory(
        positions=positions,
        yaws=np.zeros(steps + 1),
        actions=np.zeros(steps, np.int64),
        collided=np.zeros(steps, bool),
        distance_to_goal=np.full(steps + 1, float(left)),
        start_distance=float(np.sum(legs)),
        stopped=True,
        success_distance=1.5,
        legs=np.array(legs, float),
        found_after=np.array(found_after, np.int64),
    )


TABLE = [
    # name, xs, legs, found_after, left | success, progress, spl, ppl, ppl_code, distance left
    ("both at once", [0, 2, 2, 5, 5], [2, 3], [2, 4], 0, 1, 1, 1, 1, 1, 0),
    ("one of two, then lost", [0, 2, 2, 6], [2, 3], [2], 1, 0, 0.5, 0, 0.5 * 2 / 6, 0.5, 1),
    ("twice the way to each", [0, 4, 4, 10, 10], [2, 3], [2, 4], 0, 1, 1, 0.5, 0.5, 0.5, 0),
    ("none", [0, 2], [2, 3], [], 4, 0, 0, 0, 0, 0, 7),
    ("none, and no step", [0], [2, 3], [], 2, 0, 0, 0, 0, 0, 5),
    ("two of three", [0, 2, 2, 3, 3, 9], [2, 1, 4], [2, 4], 4, 0, 2 / 3, 0, 2 / 3 * 3 / 9, 2 / 3, 4),
    ("shorter than the chain", [0, 1, 1, 2, 2], [2, 3], [2, 4], 0, 1, 1, 1, 1, 1, 0),
    ("born on the goal", [0, 0], [0], [1], 0, 1, 1, 1, 1, 1, 0),
    ("no way to the second", [0, 2, 2, 4], [2, INF], [2], INF, 0, 0.5, 0, 0.25, 0.5, INF),
]


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_table(row):
    _, xs, legs, found_after, left, *expected = row
    tour = make_tour(xs, legs, found_after, left)
    got = [function(tour) for function in (success, progress, spl, ppl, ppl_code, distance_left)]
    assert got == pytest.approx(expected)


def test_soft_spl_counts_what_is_left_along_the_chain():
    """5 m at the start, 3 m left, 2 m walked: 0.4 of the way, by the shortest path."""
    assert soft_spl(make_tour([0, 2, 2], [2, 3], [2], left=3)) == pytest.approx(0.4)


def test_raw_metrics_of_the_reference():
    raw = raw_metrics(make_tour([0, 2, 2, 6], [2, 3], [2], left=1))
    assert raw == {
        "success": 0.0,
        "percentage_success": 0.5,
        "geodesic_distances": [2.0, 5.0],
        "agent_path_length": 6.0,
        "subgoals_found": 1.0,
        "distance_to_curr_subgoal": 1.0,
        "agent_distances": [2.0],
        "distance_to_multi_goal": 1.0,
        "MSPL": 0.0,
        "PSPL": 0.5,
        "episode_lenth": 3.0,
    }


def test_one_goal_by_stop_reads_as_one_of_one():
    walk = Trajectory(
        np.array([[0.0, 0, 0], [4, 0, 0]]),
        np.zeros(2),
        np.zeros(1, np.int64),
        np.zeros(1, bool),
        np.array([2.0, 0.1]),
        2.0,
        True,
        0.2,
    )
    assert [function(walk) for function in (progress, ppl, ppl_code)] == [1.0, 0.5, 0.5]
    assert distance_left(walk) == 0.1


def test_failed_episodes_score_zero():
    tour = make_tour([0, 2, 2], [2, 3], [2], left=3)
    names = ("success", "progress", "spl", "ppl", "ppl_code", "distance_left")
    assert set(names) <= set(METRICS.names())
    assert list(compute_metrics(names, tour, failed=True).values()) == [0, 0, 0, 0, 0, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"legs": []}, "expected at least one goal"),
        ({"found_after": [1, 2, 3]}, "at most 2 found, got 3"),
        ({"found_after": [2, 2]}, r"rising within 1..3, got \[2, 2\]"),
        ({"found_after": [0]}, r"rising within 1..3, got \[0\]"),
        ({"found_after": [4]}, r"rising within 1..3, got \[4\]"),
    ],
)
def test_broken_records_are_refused(change, message):
    given = {"xs": [0, 1, 2, 3], "legs": [2, 3], "found_after": [1]} | change
    with pytest.raises(InputError, match=message):
        make_tour(**given)


def test_legs_must_add_up():
    tour = make_tour([0, 1], [2, 3], [])
    with pytest.raises(InputError, match="add up to the start distance 4"):
        MultiGoalTrajectory(**{**vars(tour), "start_distance": 4.0})


def lengths(low, high):
    """Metres, whole micrometres: denormal numbers, of fewer digits, change ratios when they are scaled."""
    return st.integers(low * 10**6, high * 10**6).map(lambda micrometres: micrometres / 1e6)


@st.composite
def tours(draw, most=4):
    xs = draw(st.lists(lengths(-30, 30), min_size=2, max_size=20))
    legs = draw(st.lists(lengths(0, 20), min_size=(n := draw(st.integers(1, most))), max_size=n))
    moments = draw(st.sets(st.integers(1, len(xs) - 1), max_size=n))
    return xs, legs, sorted(moments), draw(lengths(0, 30))


def test_scores_do_not_depend_on_the_unit_of_length():
    """Squares of steps of 1e-160 m are 0 in float64; the path was none then, and scores were 1."""
    xs, legs, moments = np.array([0.0, 2, 2, 6, 7]), np.array([2.0, 3]), [2]
    record, tiny = make_tour(xs, legs, moments, 1), make_tour(xs * 1e-160, legs * 1e-160, moments, 1e-160)
    assert ppl(record) == pytest.approx(0.5 * 2 / 7) and ppl_code(record) == 0.5
    assert ppl(tiny) == pytest.approx(ppl(record)) and ppl_code(tiny) == ppl_code(record)
    there = make_tour(xs, legs, [2, 4])
    small = make_tour(xs * 1e-160, legs * 1e-160, [2, 4])
    assert spl(small) == pytest.approx(spl(there)) == pytest.approx(5 / 7)
    assert walked_until_found(small) == pytest.approx([2e-160, 7e-160], rel=1e-12, abs=0)


@settings(max_examples=80, deadline=None)
@given(tours())
def test_orders_that_always_hold(tour):
    record = make_tour(*tour)
    assert 0 <= spl(record) <= success(record) <= progress(record) <= 1
    assert 0 <= ppl(record) <= ppl_code(record) + 1e-12 <= progress(record) + 1e-9
    assert spl(record) <= ppl(record) + 1e-12
    assert 0 <= soft_spl(record) <= 1


@settings(max_examples=60, deadline=None)
@given(tours(most=1))
def test_ppl_is_spl_for_one_goal(tour):
    xs, legs, moments, left = tour
    record = make_tour(xs, legs, [len(xs) - 1] if moments else [], left)
    assert ppl(record) == spl(record) == ppl_code(record)


@settings(max_examples=40, deadline=None)
@given(tours(), st.floats(0.1, 10))
def test_scale_and_repeated_steps_change_no_score(tour, scale):
    xs, legs, moments, left = tour
    record = make_tour(xs, legs, moments, left)
    larger = make_tour([x * scale for x in xs], [leg * scale for leg in legs], moments, left * scale)
    waiting = make_tour([xs[0], *xs], legs, [moment + 1 for moment in moments], left)
    for metric in (success, progress, spl, ppl, ppl_code):
        assert metric(larger) == pytest.approx(metric(record), abs=1e-9)
        assert metric(waiting) == pytest.approx(metric(record), abs=1e-9)
