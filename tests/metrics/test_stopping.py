"""Whether the agent knew that it had arrived: hand-computed tables."""

import numpy as np
import pytest

from navarena.metrics import (
    MultiGoalTrajectory,
    Trajectory,
    min_distance,
    near_steps,
    oracle_success,
    stopped,
)

INF = float("inf")


def make_record(distances, stop):
    steps = len(distances) - 1
    return Trajectory(
        positions=np.zeros((steps + 1, 3)),
        yaws=np.zeros(steps + 1),
        actions=np.zeros(steps, np.int64),
        collided=np.zeros(steps, bool),
        distance_to_goal=np.array(distances, float),
        start_distance=float(distances[0]),
        stopped=stop,
        success_distance=0.2,
    )


TABLE = [
    # name, distances, stopped | stopped, least, near steps, oracle success
    ("stops at the goal", [2, 0.1, 0.1], True, 1, 0.1, 1, 1),
    ("passes the goal", [2, 0.1, 0.0, 1], False, 0, 0.0, 2, 1),
    ("passes the goal, stops later", [2, 0.1, 1, 1], True, 1, 0.1, 1, 1),
    ("touches the border only", [2, 0.2, 0.2], True, 1, 0.2, 0, 0),
    ("arrives by the last step", [2, 0.1], False, 0, 0.1, 0, 1),
    ("never near", [2, 1, 1], True, 1, 1.0, 0, 0),
    ("no way", [INF, INF], True, 1, INF, 0, 0),
    ("no step", [0.1], False, 0, 0.1, 0, 1),
]


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_table(row):
    _, distances, stop, *expected = row
    record = make_record(distances, stop)
    got = [metric(record) for metric in (stopped, min_distance, near_steps, oracle_success)]
    assert got == expected


@pytest.mark.parametrize(
    ("found_after", "distances", "expected"),
    [
        ([1, 3], [1, 0.1, 1, 0.1], 1),  # found both
        ([1], [1, 0.1, 1, 0.1], 1),  # came to the second, said nothing
        ([2], [1, 0.1, 1, 1], 0),  # was near the first only
        ([], [1, 0.1, 0.1, 0.1], 0),  # one declaration would not have been enough
    ],
)
def test_several_goals(found_after, distances, expected):
    record = MultiGoalTrajectory(
        **vars(make_record(distances, True)) | {"start_distance": 2.0},
        legs=np.array([1.0, 1.0]),
        found_after=np.array(found_after, np.int64),
    )
    assert oracle_success(record) == expected
