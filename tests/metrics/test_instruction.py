"""Numbers of instruction following, by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.metrics.alignment import euclidean_costs
from navarena.metrics.instruction import (
    coverage_length_score,
    ndtw,
    oracle_success,
    path_spl,
    path_success,
    score_path,
)
from navarena.metrics.tours import tour_ndtw


def points(*xs):
    return np.array([(x, 0.0, 0.0) for x in xs], float)


def score(walked, reference, **options):
    costs = euclidean_costs(points(*walked), points(*reference))
    length = lambda xs: float(np.abs(np.diff(xs)).sum())  # noqa: E731
    start = abs(reference[-1] - reference[0])
    return score_path(costs, costs[:, -1], length(walked), length(reference), start, **options)


def test_a_perfect_walk():
    result = score((0, 4, 8), (0, 4, 8))
    assert (result.length, result.path_steps, result.navigation_error) == (8.0, 2, 0.0)
    assert (result.success, result.oracle_success, result.spl) == (1, 1, 1)
    assert (result.ndtw, result.sdtw, result.cls) == (1, 1, 1)


def test_an_early_stop():
    result = score((0, 4), (0, 4, 8))
    assert (result.navigation_error, result.success, result.oracle_success) == (4.0, 0, 0)
    assert result.ndtw == pytest.approx(np.exp(-4 / 9)) and result.sdtw == result.spl == 0
    coverage = (1 + 1 + np.exp(-4 / 3)) / 3
    expected = coverage * 8
    assert result.cls == pytest.approx(coverage * expected / (expected + abs(expected - 4)))


def test_an_overshoot_counts_for_the_oracle_only():
    result = score((0, 4, 8, 12), (0, 4, 8))
    assert (result.navigation_error, result.oracle_error) == (4.0, 0.0)
    assert (result.success, result.oracle_success, result.path_steps) == (0, 1, 3)


def test_three_metres_are_too_far():
    assert path_success(np.array([3.0])) == 0 and path_success(np.array([2.999])) == 1
    assert oracle_success(np.array([3.0, 9.0])) == 0 and path_success(np.array([0.0]), stopped=False) == 0


@pytest.mark.parametrize(
    ("length", "reference", "least", "expected"),
    [
        (10, 8, 0, 0.8),
        (5, 8, 0, 1.0),
        (0, 0, 0, 1.0),
        (1, 0, 0, 0.0),
        (0, 0, 0.01, 0.0),
        (1, np.inf, 0, 0.0),
    ],
)
def test_spl_by_hand(length, reference, least, expected):
    assert path_spl(1.0, length, reference, least) == expected and path_spl(0.0, 1.0, 1.0) == 0


def test_both_readings_of_spl():
    """A described path of 16 m where 8 m would do, walked exactly."""
    walked = reference = (0, 4, 8, 4, 8)
    assert score(walked, reference).spl == 0.5, "official: relative to the shortest path"
    assert score(walked, reference, spl_reference="path").spl == 1.0, "IVLN: relative to the path"


def test_nothing_to_walk():
    result = score((5,), (5,))
    assert (result.path_steps, result.length, result.cls, result.ndtw, result.spl) == (0, 0, 1, 1, 1)
    assert coverage_length_score(np.zeros((1, 1)), 1.0, 0.0) == 0


def test_unreachable_goal():
    costs = np.full((2, 2), np.inf)
    result = score_path(costs, costs[:, -1], 1.0, 1.0, np.inf)
    assert (
        result.success == result.spl == result.ndtw == result.sdtw == 0 and result.navigation_error == np.inf
    )


def test_bad_input():
    with pytest.raises(InputError, match="distances to the goal"):
        score_path(np.zeros((2, 2)), np.full(2, -1.0), 0.0, 0.0, 0.0)
    with pytest.raises(InputError, match="at least 0 m"):
        score_path(np.full((1, 1), np.nan), np.zeros(1), 0.0, 0.0, 0.0)
    for length in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="finite lengths of at least 0 m"):
            coverage_length_score(np.ones((1, 1)), length, 2.0)
    for score in (ndtw, lambda costs, threshold: coverage_length_score(costs, 1.0, 1.0, threshold)):
        for threshold in (0.0, np.nan):
            with pytest.raises(InputError, match="a threshold above 0 m"):
                score(np.ones((1, 1)), threshold)
    with pytest.raises(InputError, match="a threshold above 0 m"):
        tour_ndtw([np.ones((1, 1))], threshold=0.0)


walks = st.lists(st.integers(-9, 9), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(walks, walks)
def test_scores_lie_between_nought_and_one(walked, reference):
    result = score(tuple(walked), tuple(reference))
    for value in (result.success, result.spl, result.ndtw, result.sdtw, result.cls, result.oracle_success):
        assert 0 <= value <= 1
    assert result.success <= result.oracle_success and result.oracle_error <= result.navigation_error
    assert result.sdtw <= result.ndtw == ndtw(euclidean_costs(points(*walked), points(*reference)))
