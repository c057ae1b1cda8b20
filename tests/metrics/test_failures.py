"""One class for each failed episode: hand-made walks, one for each rule and its border."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.metrics import LifelongTrajectory, MultiGoalTrajectory, Trajectory
from navarena.metrics.failures import MEANINGS, FailureClass, classify_failure


def make_walk(distances, stopped=False, hits=0, pacing=False):
    """A walk along x by 0.25 m each step (or to and fro), with the given distances to the goal."""
    steps = len(distances) - 1
    positions = np.zeros((steps + 1, 3))
    positions[:, 0] = 0.25 * (np.arange(steps + 1) % 4 if pacing else np.arange(steps + 1))
    collided = np.zeros(steps, bool)
    collided[:hits] = True
    return Trajectory(
        positions=positions,
        yaws=np.zeros(steps + 1),
        actions=np.ones(steps, np.int64),
        collided=collided,
        distance_to_goal=np.array(distances, float),
        start_distance=float(distances[0]),
        stopped=stopped,
        success_distance=0.2,
    )


FAR = [5.0] * 61
"""Sixty steps that lead nowhere."""

TABLE = [
    # class, walk, whether the last image shows the goal, whether an earlier one does
    ("false_stop", make_walk([5, 4, 4], stopped=True), False, True),
    ("stopped_early", make_walk([5, 4, 4], stopped=True), True, False),
    ("stopped_early", make_walk([5, 1.1, 1.1], stopped=True), False, False),
    ("false_stop", make_walk([5, 1.2, 1.2], stopped=True), False, False),
    ("not_stopped", make_walk([5, 0.1, 3]), False, True),
    ("never_saw", make_walk([5, 0.2, 3]), False, False),
    ("stuck", make_walk(FAR, pacing=True), False, True),
    ("stuck", make_walk(FAR, hits=60), False, True),
    ("saw_not_reached", make_walk(FAR, hits=34), False, True),  # 24 hits in the last 50 steps
    ("saw_not_reached", make_walk(FAR[:20], pacing=True), True, False),  # too short to be stuck
    ("out_of_steps", make_walk([5, 4.5, 4]), True, True),
    ("saw_not_reached", make_walk([5, 4.5, 4.1]), True, True),
    ("saw_not_reached", make_walk([5, 3, 4]), True, False),
    ("never_saw", make_walk(FAR), False, False),
]


@pytest.mark.parametrize("row", TABLE, ids=[f"{k}-{row[0]}" for k, row in enumerate(TABLE)])
def test_table(row):
    kind, walk, last, earlier = row
    seen = np.zeros((len(walk.actions) + 1, 1), bool)
    seen[1, 0], seen[-1, 0] = earlier, last
    assert classify_failure(walk, seen, False) == kind


def test_a_broken_episode_and_a_success():
    reached = make_walk([5, 0.1], stopped=True)
    nothing = np.zeros((2, 0), bool)
    assert classify_failure(reached, nothing, False) is None
    assert classify_failure(reached, nothing, True) is FailureClass.AGENT_BROKE


def test_points_cannot_be_seen():
    walk = make_walk([5, 5])
    assert classify_failure(walk, np.zeros((2, 0), bool), False) is FailureClass.NOT_REACHED
    with pytest.raises(InputError, match=r"shape \(2, 1\), got \(2, 2\)"):
        classify_failure(walk, np.zeros((2, 2), bool), False)


def make_tour(found_after, distances):
    return MultiGoalTrajectory(
        **vars(make_walk(distances)) | {"start_distance": 10.0},
        legs=np.array([5.0, 5.0]),
        found_after=np.array(found_after, np.int64),
    )


@pytest.mark.parametrize(
    ("views", "kind"),
    [
        ([1, 0, 0, 0, 0], "forgot"),  # seen on the way to the first goal only
        ([1, 0, 0, 1, 0], "saw_not_reached"),
        ([0, 0, 0, 0, 0], "never_saw"),
    ],
)
def test_the_second_goal_was_seen_before_it_was_current(views, kind):
    tour = make_tour([2], [5, 0.1, 5, 5, 5])
    seen = np.zeros((5, 2), bool)
    seen[:, 1] = views
    seen[:, 0] = True  # the first goal is found and over
    assert classify_failure(tour, seen, False) == kind


def test_nearness_counts_for_the_current_goal_only():
    assert classify_failure(make_tour([2], [5, 0.1, 5, 5]), np.zeros((4, 2), bool), False) == "never_saw"
    assert classify_failure(make_tour([], [5, 0.1, 5, 5]), np.zeros((4, 2), bool), False) == "not_stopped"


@pytest.mark.parametrize(
    ("reached", "declared", "distances", "kind"),
    [
        ([0, 1], [1, 1], [3, 3, 2, 0, 0], "false_stop"),  # the first was declared 3 m away
        ([0, 1], [1, 1], [1, 1, 2, 0, 0], "stopped_early"),
        ([0, 1], [0, 1], [0.1, 1, 2, 0, 0], "not_stopped"),  # its budget ended
        ([1, 0], [1, 1], [0, 0, 2, 2, 2], "false_stop"),
        ([1], [1], [0, 0, 2, 2, 2], "false_stop"),  # the second was given up by the end of the episode
        ([0, 0], [0, 0], [5, 5, 5, 5, 5], "never_saw"),
    ],
)
def test_the_first_goal_that_was_not_reached_says_why(reached, declared, distances, kind):
    walk, count = make_walk(distances, stopped=True), len(reached)
    life = LifelongTrajectory(
        **vars(replace(walk, success_distance=0.25)),
        modalities=("object", "image"),
        ended_after=np.array([2, 4][:count]),
        begun_at=np.ones(count),
        ended_at=np.ones(count),
        declared=np.array(declared, bool),
        near_view_point=np.array(reached, bool),
        near_object=np.array(reached, bool),
        reached=np.array(reached, bool),
    )
    assert classify_failure(life, np.zeros((5, 2), bool), broke=False) == kind


def test_every_class_has_words():
    assert set(MEANINGS) == set(FailureClass)
