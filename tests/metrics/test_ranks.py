"""Agreement of ranks: hand tables, SciPy's tau, and a slow resampling."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.metrics.ranks import kendall_tau, share_in_order, tau_of_halves, tau_of_repetitions


def dice(*name):
    return make_generator("test", "ranks", *name)


@pytest.mark.parametrize(
    ("first", "second", "tau"),
    [
        ([1, 2, 3], [10, 20, 30], 1.0),
        ([1, 2, 3], [3, 2, 1], -1.0),
        ([1, 2, 3], [2, 1, 3], 1 / 3),  # two pairs agree, one does not
        ([1, 1, 2], [1, 2, 3], 2 / np.sqrt(2 * 3)),  # one tie
        ([1, 1, 1], [1, 2, 3], None),
        ([1, 2], [5, 5], None),
    ],
)
def test_tau_by_hand(first, second, tau):
    found = kendall_tau(np.array(first, float), np.array(second, float))
    assert found is None if tau is None else found == pytest.approx(tau)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_tau_agrees_with_scipy(pairs):
    first, second = np.array(pairs, float).T
    expected = stats.kendalltau(first, second).statistic
    found = kendall_tau(first, second)
    assert (found is None) == bool(np.isnan(expected))
    if found is not None:
        assert found == pytest.approx(expected)


def test_tau_needs_two_agents():
    with pytest.raises(InputError, match="expected two scores or more of the same agents"):
        kendall_tau(np.array([1.0]), np.array([1.0]))
    with pytest.raises(InputError, match="got NaN"):
        kendall_tau(np.array([1.0, np.nan]), np.array([1.0, 2.0]))


def test_repetitions_by_hand():
    """Means of three agents in three repetitions: 1 2 3, 1 2 3 and 2 1 3: tau 1, 1/3 and 1/3."""
    means = np.array([[1, 1, 2], [2, 2, 1], [3, 3, 3]], float)
    values = means[:, :, None] + np.array([-1.0, 1.0])
    assert tau_of_repetitions(values) == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)
    assert tau_of_repetitions(np.zeros((2, 2, 3))) is None


def test_halves_agree_where_every_episode_does_and_not_where_none_does():
    sure = np.arange(3.0)[:, None, None] + np.zeros((3, 2, 9))
    assert tau_of_halves(sure, dice()) == 1.0
    chance = dice("noise").normal(size=(6, 2, 40))
    assert abs(tau_of_halves(chance, dice())) < 0.5
    alternating = np.array([[[0.0, 1.0]], [[1.0, 0.0]]])  # one episode each way: halves always disagree
    assert tau_of_halves(alternating, dice()) == -1.0
    with pytest.raises(InputError, match="at least 2 episodes to halve"):
        tau_of_halves(np.zeros((2, 2, 1)), dice())


def test_studies_of_one_episode_by_hand():
    """Agent 1 beats agent 0 in three cells of four, and has the higher mean: three studies in four say so."""
    values = np.array([[[0.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 0.0]], [[1.0, 1.0], [1.0, 0.0]]])
    kept = share_in_order(values, 1, dice(), 20_000)
    assert kept[:2] == pytest.approx([0.75, 0.75], abs=0.02) and np.isnan(kept[2])


def test_studies_agree_with_a_slow_resampling():
    values = dice("values").normal(size=(4, 2, 6)) + np.arange(4.0)[:, None, None] / 4
    found = share_in_order(values, 5, dice("fast"), 20_000)
    slow = dice("slow")
    hits = np.zeros(6)
    for _ in range(4000):
        cells = [(int(slow.integers(2)), int(slow.integers(6))) for _ in range(5)]
        for p, (i, j) in enumerate(itertools.combinations(range(4), 2)):
            seen = sum(values[i, k, n] - values[j, k, n] for k, n in cells)
            hits[p] += np.sign(seen) == np.sign(values[i].mean() - values[j].mean())
    assert np.abs(found - hits / 4000).max() < 0.04


def test_a_tie_in_a_study_is_not_in_order():
    values = np.array([[[0.0, 0.0]], [[0.0, 1.0]]])
    assert share_in_order(values, 1, dice(), 20_000)[0] == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("values", [np.zeros((1, 2, 3)), np.full((2, 2, 2), np.inf)])
def test_bad_values_are_refused(values):
    with pytest.raises(InputError, match="expected finite values \\(agents, repetitions, episodes\\)"):
        share_in_order(values, 5, dice())


def test_bad_counts_are_refused():
    with pytest.raises(InputError, match="at least 1 episode and 1 study, got 0 and 10"):
        share_in_order(np.zeros((2, 2, 2)), 0, dice(), 10)
