"""Cutting episodes at wrong FOUND calls, and sectors of sight, by hand."""

import math

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.metrics import MultiGoalTrajectory
from navarena.metrics.multi_goal import cut_at_budget, is_in_sector, seen_before_turn, wrong_calls

FOUND, GO = 0, 1


def make_track(actions, found_after, legs=(4.0, 4.0, 4.0), stopped=False):
    steps = len(actions)
    positions = np.zeros((steps + 1, 3))
    positions[1:, 0] = np.cumsum(np.array(actions) == GO)
    return MultiGoalTrajectory(
        positions=positions,
        yaws=np.zeros(steps + 1),
        actions=np.array(actions, np.int64),
        collided=np.zeros(steps, bool),
        distance_to_goal=np.arange(steps + 1.0),
        start_distance=float(sum(legs)),
        stopped=stopped,
        success_distance=1.5,
        legs=np.array(legs),
        found_after=np.array(found_after, np.int64),
    )


def test_cut_at_the_first_call_beyond_the_budget():
    #             1   2      3      4   5      6      7
    track = make_track([GO, FOUND, FOUND, GO, FOUND, FOUND, GO], [3, 6])
    assert wrong_calls(track, FOUND).tolist() == [2, 5]
    assert cut_at_budget(track, FOUND, 2) is track
    none = cut_at_budget(track, FOUND, 0)
    assert len(none.actions) == 2 and none.stopped and none.found_after.tolist() == []
    assert none.positions[:, 0].tolist() == [0, 1, 1] and none.distance_to_goal.tolist() == [0, 1, 2]
    one = cut_at_budget(track, FOUND, 1)
    assert len(one.actions) == len(one.collided) == 5 and one.found_after.tolist() == [3]
    with pytest.raises(InputError, match="budget of at least 0"):
        cut_at_budget(track, FOUND, -1)


def test_sector():
    here = np.array([1.0, 0.0, 1.0])

    def sees(bearing, distance, yaw=0.0):
        """A goal `bearing` degrees to the left of the body's heading, at another height."""
        angle = yaw + math.radians(bearing)
        goal = here + [-distance * math.sin(angle), 2.0, -distance * math.cos(angle)]
        return bool(is_in_sector(here, yaw, goal[None])[0])

    for yaw in (0.0, 1.0, -3.0):
        assert sees(0, 4.99, yaw) and not sees(0, 5.01, yaw)
        assert sees(39.4, 1, yaw) and sees(-39.4, 1, yaw)
        assert not sees(39.6, 1, yaw) and not sees(-39.6, 1, yaw) and not sees(180, 1, yaw)
    assert is_in_sector(here, 0.5, np.array([here, here + [9, 0, 0]])).tolist() == [True, False]


def test_seen_before_turn():
    track = make_track([GO, FOUND, GO, GO, FOUND], [2, 5])
    seen = np.zeros((6, 3), bool)
    assert seen_before_turn(track, seen).tolist() == [False, False]
    seen[1, 1] = True  # before the first FOUND took effect
    seen[5, 2] = True  # only after the second
    assert seen_before_turn(track, seen).tolist() == [True, False]
    seen[4, 2] = True
    assert seen_before_turn(track, seen).tolist() == [True, True]
    assert seen_before_turn(make_track([GO], []), np.ones((2, 3), bool)).tolist() == []
    whole = make_track([FOUND, FOUND, FOUND], [1, 2, 3], stopped=True)
    assert seen_before_turn(whole, np.ones((4, 3), bool)).tolist() == [True, True]
    with pytest.raises(InputError, match=r"sightings of shape \(2, 3\)"):
        seen_before_turn(make_track([GO], []), np.ones((2, 2), bool))
