"""Needed episodes and the variance of a single run: hand tables, and samples of known variance."""

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.metrics.repetitions import split_variance
from navarena.metrics.study_size import needed_episodes, single_variance


def test_the_variance_of_a_single_run_by_hand():
    """Episodes 0, 2 and 1, 3: means 0.5, 2.5 (sample variance 2), within each 0.5; 2 + 0.5 / 2."""
    values = np.array([[0.0, 2.0], [1.0, 3.0]])
    assert single_variance(values) == 2.25
    split = split_variance(values)
    assert split.episode + split.agent == 2.25


def test_it_is_not_cut_where_the_episodes_part_is():
    """Equal means 0.5 of both episodes: the cut split says 0 + 0.5, without bias it is 0 + 0.25."""
    values = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert split_variance(values).episode == 0.0 and split_variance(values).agent == 0.5
    assert single_variance(values) == 0.25


def test_it_is_unbiased():
    dice = make_generator("test", "study size")
    samples = dice.normal(0.0, 2.0, (4000, 1, 5)) + dice.normal(0.0, 1.0, (4000, 3, 5))
    found = np.array([single_variance(values) for values in samples])
    assert abs(found.mean() - 5.0) < 5 * found.std() / np.sqrt(len(found))


@pytest.mark.parametrize("shape", [(1, 5), (5, 1)])
def test_it_needs_repetitions_of_episodes(shape):
    with pytest.raises(InputError, match="expected at least 2 repetitions of 2 episodes"):
        single_variance(np.zeros(shape))


@pytest.mark.parametrize(
    ("variance", "difference", "needed"),
    [
        (1.0, 1.0, 8),  # (1.959964 + 0.841621)^2 = 7.8489
        (0.25, 0.05, 785),  # 7.8489 * 100
        (0.25, 0.02, 4906),  # 7.8489 * 625 = 4905.5
        (0.0, 0.02, 2),
        (1e-9, 1.0, 2),
    ],
)
def test_needed_episodes_by_hand(variance, difference, needed):
    assert needed_episodes(variance, difference) == needed


def test_another_level_and_power():
    """z(0.995) = 2.575829, z(0.9) = 1.281552: 14.8793 * 4."""
    assert needed_episodes(1.0, 0.5, confidence=0.99, power=0.9) == 60


def test_as_many_episodes_find_the_difference_as_often_as_they_should():
    n = needed_episodes(1.0, 0.2)
    dice = make_generator("test", "power")
    means = dice.normal(0.2, 1.0, (4000, n)).mean(1)
    assert abs((np.abs(means) > 1.959964 / np.sqrt(n)).mean() - 0.8) < 0.03


@pytest.mark.parametrize(("variance", "difference"), [(-0.1, 0.1), (1.0, 0.0), (np.inf, 0.1), (np.nan, 0.1)])
def test_other_numbers_are_refused(variance, difference):
    with pytest.raises(InputError, match="expected a variance of at least 0 and a difference above 0"):
        needed_episodes(variance, difference)
