"""Scores beside a described path, by hand."""

import math

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.metrics.catalog import compute_metrics
from navarena.metrics.followed_path import InstructionTrajectory, episode_cls, episode_ndtw, episode_sdtw
from navarena.metrics.trajectory import Trajectory


def record(places, reference, stopped=True, left=None):
    """A body that walked along x through `places`, and a described path along x; metres."""
    count = len(places)
    along = np.array([(x, 0.0, 0.0) for x in places], float)
    goal = reference[-1]
    distances = np.abs(np.array(places, float) - goal) if left is None else np.full(count, float(left))
    return InstructionTrajectory(
        along,
        np.zeros(count),
        np.zeros(count - 1, np.int64),
        np.zeros(count - 1, bool),
        distances,
        float(abs(reference[0] - goal)),
        stopped,
        3.0,
        np.array([(x, 0.0, 0.0) for x in reference], float),
    )


def test_a_perfect_walk():
    walk = record([0, 2, 4], [0, 2, 4])
    assert (episode_ndtw(walk), episode_sdtw(walk), episode_cls(walk)) == (1.0, 1.0, 1.0)


def test_turning_on_the_spot_adds_nothing():
    assert episode_ndtw(record([0, 0, 2, 2, 2, 4], [0, 2, 4])) == 1.0


def test_stopping_early():
    """Costs 0 to 0, 2 to 2, and 2 to 4: a DTW of 2 over 3 points at 3 m each."""
    walk = record([0, 2], [0, 2, 4])
    assert episode_ndtw(walk) == pytest.approx(math.exp(-2 / 9))
    assert episode_sdtw(walk) == pytest.approx(math.exp(-2 / 9))  # 2 m from the goal: a success
    coverage = (1 + 1 + math.exp(-2 / 3)) / 3
    expected = coverage * 4
    assert episode_cls(walk) == pytest.approx(coverage * expected / (expected + abs(expected - 2)))


def test_failure_is_no_sdtw():
    assert episode_sdtw(record([0, 2, 4], [0, 2, 4], stopped=False)) == 0.0
    assert episode_sdtw(record([0], [0, 5, 10])) == 0.0


def test_by_name():
    values = compute_metrics(("ndtw", "sdtw", "cls"), record([0, 2, 4], [0, 2, 4]))
    assert values == {"ndtw": 1.0, "sdtw": 1.0, "cls": 1.0}


def test_records_without_a_path_are_refused():
    plain = Trajectory(
        np.zeros((1, 3)), np.zeros(1), np.zeros(0, np.int64), np.zeros(0, bool), np.zeros(1), 0.0, True, 3.0
    )
    with pytest.raises(InputError, match="described path"):
        episode_ndtw(plain)


@pytest.mark.parametrize("reference", [np.zeros((0, 3)), np.full((1, 3), np.nan)])
def test_broken_paths_are_refused(reference):
    walk = record([0, 2], [0, 2])
    with pytest.raises(InputError, match="reference path"):
        InstructionTrajectory(**{**vars(walk), "reference": reference})
