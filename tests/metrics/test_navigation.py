"""Hand-computed tables of every metric, edges included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError, UnknownNameError
from navarena.metrics import (
    Metric,
    Trajectory,
    choose_metrics,
    collisions,
    compute_metrics,
    distance_to_goal,
    get_metric,
    is_within,
    num_actions,
    path_length,
    soft_spl,
    spl,
    success,
)

INF = float("inf")


def make_trajectory(xs, distances, start_distance, stopped=True, collided=None, success_distance=0.2):
    """A walk along x with the given distances to the goal after each step."""
    steps = len(xs) - 1
    positions = np.zeros((steps + 1, 3))
    positions[:, 0] = xs
    return Trajectory(
        positions=positions,
        yaws=np.zeros(steps + 1),
        actions=np.zeros(steps, np.int64),
        collided=np.zeros(steps, bool) if collided is None else np.array(collided),
        distance_to_goal=np.array(distances, float),
        start_distance=start_distance,
        stopped=stopped,
        success_distance=success_distance,
    )


TABLE = [
    # name, xs, distances, d_0, stopped | success, spl, soft_spl, d_T, p
    ("straight to the goal", [0, 1, 2], [2, 1, 0], 2.0, True, 1, 1.0, 1.0, 0.0, 2.0),
    ("twice the way", [0, -1, 2], [2, 3, 0], 2.0, True, 1, 0.5, 0.5, 0.0, 4.0),
    ("stops within the radius", [0, 1.9], [2, 0.1], 2.0, True, 1, 1.0, 0.95, 0.1, 1.9),
    ("stops exactly on the radius", [0, 1.8], [2, 0.2], 2.0, True, 0, 0.0, 0.9, 0.2, 1.8),
    ("at the goal without STOP", [0, 2], [2, 0], 2.0, False, 0, 0.0, 1.0, 0.0, 2.0),
    ("stops half way", [0, 1], [2, 1], 2.0, True, 0, 0.0, 0.5, 1.0, 1.0),
    ("walks away", [0, -2], [2, 4], 2.0, True, 0, 0.0, 0.0, 4.0, 2.0),
    ("never moved, far", [0, 0], [2, 2], 2.0, True, 0, 0.0, 0.0, 2.0, 0.0),
    ("never acted", [0], [2], 2.0, False, 0, 0.0, 0.0, 2.0, 0.0),
    ("born on the goal, stops", [0, 0], [0, 0], 0.0, True, 1, 1.0, 1.0, 0.0, 0.0),
    ("born on the goal, walks around", [0, 1, 0], [0, 1, 0], 0.0, True, 1, 0.0, 0.0, 0.0, 2.0),
    ("born on the goal, never stops", [0, 0], [0, 0], 0.0, False, 0, 0.0, 1.0, 0.0, 0.0),
    ("born near the goal, stops", [0, 0], [0.1, 0.1], 0.1, True, 1, 1.0, 0.0, 0.1, 0.0),
    ("unreachable goal", [0, 1], [INF, INF], INF, True, 0, 0.0, 0.0, INF, 1.0),
    ("walks off the mesh", [0, 1], [2, INF], 2.0, True, 0, 0.0, 0.0, INF, 1.0),
    ("reachable only later", [0, 1], [INF, 0.1], INF, True, 1, 0.0, 0.0, 0.1, 1.0),
]


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_table(row):
    _, xs, distances, start, stopped, *expected = row
    trajectory = make_trajectory(xs, distances, start, stopped)
    got = [metric(trajectory) for metric in (success, spl, soft_spl, distance_to_goal, path_length)]
    assert got == pytest.approx(expected)


def test_counts():
    trajectory = make_trajectory([0, 1, 1, 1, 2], [2, 1, 1, 1, 0], 2.0, collided=[False, True, True, False])
    assert collisions(trajectory) == 2.0
    assert num_actions(trajectory) == 4.0
    empty = make_trajectory([0], [2], 2.0)
    assert collisions(empty) == 0.0
    assert num_actions(empty) == 0.0


def test_path_length_is_three_dimensional():
    trajectory = make_trajectory([0, 3], [5, 0], 5.0)
    trajectory.positions[1] = (3.0, 4.0, 0.0)
    assert path_length(trajectory) == 5.0


def test_success_is_strict():
    assert is_within(0.19999, 0.2)
    assert not is_within(0.2, 0.2)
    assert not is_within(INF, 0.2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"distances": [2, np.nan]}, "expected distance_to_goal of at least 0 m.*got nan after step 1"),
        ({"distances": [2, -1]}, "got -1.0 after step 1"),
        ({"start": np.nan}, "expected start_distance of at least 0 m.*got nan$"),
        ({"xs": [0, np.nan]}, "expected finite positions in a trajectory, got .*after step 1"),
        ({"xs": [0, INF]}, "expected finite positions"),
    ],
)
def test_broken_records_are_refused(change, message):
    given = {"xs": [0, 1], "distances": [2, 1], "start": 2.0, "collided": None} | change
    with pytest.raises(InputError, match=message):
        make_trajectory(given["xs"], given["distances"], given["start"], collided=given["collided"])


def test_lengths_must_agree():
    message = r"expected positions of shape \(2, 3\) for 1 actions, got \(3, 3\)"
    with pytest.raises(InputError, match=message):
        Trajectory(
            positions=np.zeros((3, 3)),
            yaws=np.zeros(3),
            actions=np.zeros(1, np.int64),
            collided=np.zeros(1, bool),
            distance_to_goal=np.zeros(3),
            start_distance=1.0,
            stopped=True,
            success_distance=0.2,
        )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-50, 50), st.floats(0, 50)), min_size=1, max_size=20),
    st.one_of(st.floats(0, 50), st.just(INF)),
    st.booleans(),
)
def test_scores_stay_in_their_ranges(steps, start, stopped):
    xs, distances = zip(*steps, strict=True)
    trajectory = make_trajectory(list(xs), list(distances), start, stopped)
    assert success(trajectory) in (0.0, 1.0)
    assert 0.0 <= spl(trajectory) <= success(trajectory)
    assert 0.0 <= soft_spl(trajectory) <= 1.0
    assert path_length(trajectory) >= abs(xs[-1] - xs[0]) - 1e-9


def test_failed_episodes_get_no_score_but_keep_what_was_walked():
    trajectory = make_trajectory([0, 2], [2, 0], 2.0, stopped=True)
    names = ("success", "spl", "soft_spl", "distance_to_goal", "path_length")
    assert compute_metrics(names, trajectory) == {
        "success": 1.0,
        "spl": 1.0,
        "soft_spl": 1.0,
        "distance_to_goal": 0.0,
        "path_length": 2.0,
    }
    failed = compute_metrics(names, trajectory, failed=True)
    assert failed == {
        "success": 0.0,
        "spl": 0.0,
        "soft_spl": 0.0,
        "distance_to_goal": 0.0,
        "path_length": 2.0,
    }


def test_catalog_names_agree_and_unknown_ones_are_answered():
    for name in (
        "success",
        "spl",
        "soft_spl",
        "distance_to_goal",
        "path_length",
        "collisions",
        "num_actions",
    ):
        assert get_metric(name).name == name
    with pytest.raises(UnknownNameError, match="Did you mean 'soft_spl'"):
        get_metric("softspl")


def test_a_metric_may_not_return_nan():
    broken = Metric("broken", "Broken", lambda trajectory: float("nan"))
    with pytest.raises(InputError, match="metric 'broken', got NaN"):
        broken(make_trajectory([0], [1], 1.0))
    text = Metric("text", "Text", lambda trajectory: "many")
    with pytest.raises(InputError, match="expected a number from the metric 'text', got 'many'"):
        text(make_trajectory([0], [1], 1.0))


def test_a_metric_of_another_record_says_what_is_missing():
    legs = Metric("legs", "Legs", lambda trajectory: len(trajectory.legs))
    with pytest.raises(InputError, match=r"'legs' of a Trajectory.*line \d+\); ask for it on a protocol"):
        legs(make_trajectory([0, 1], [1, 0], 1.0))


def test_further_metrics_are_chosen_once_and_by_name():
    chosen = choose_metrics(("spl", "success", "seconds"), ("ppl", "spl", "seconds"))
    assert chosen == ("spl", "success", "seconds", "ppl")
    with pytest.raises(UnknownNameError, match="soft_spl"):
        choose_metrics(("spl",), ("soft_slp",))
    with pytest.raises(InputError, match="single episodes, got 't_sr'.*leave it out of --metrics"):
        choose_metrics(("spl",), ("t_sr",))
