"""Paired comparison, training seeds, variance: against tables, published code and plain references."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.metrics.paired import (
    BY_EPISODES,
    BY_SCENES,
    NO_TEST,
    compare_paired,
    permutation_test,
)
from navarena.metrics.repetitions import (
    SEEDS_AND_SCENES,
    estimate_interquartile_mean,
    estimate_over_seeds,
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
    split_variance,
)
from navarena.metrics.statistics import (
    NO_SPREAD,
    OVER_BOTH,
    OVER_EPISODES,
    T_OVER_EPISODES,
    TOO_FEW,
    bootstrap_interval,
    estimate_mean,
)

INF = float("inf")


def dice(*name):
    return make_generator("test", "comparisons", *name)


def test_a_permutation_test_by_hand():
    """Differences 1, 2, 3: of eight sign patterns only +++ and --- reach 6."""
    assert permutation_test(np.array([1.0, 2.0, 3.0]), dice()) == 2 / 8
    assert permutation_test(np.array([1.0, -1.0]), dice()) == 1.0
    assert permutation_test(np.zeros(5), dice()) == 1.0
    assert permutation_test(np.array([0.0, 4.0, 0.0]), dice()) == 1.0  # one unit says nothing
    with pytest.raises(InputError, match="finite differences"):
        permutation_test(np.array([1.0, np.nan]), dice())


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=9))
def test_exact_permutations_agree_with_a_plain_loop(numbers):
    sums = [
        abs(sum(s * x for s, x in zip(signs, numbers, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(numbers))
    ]
    expected = np.mean([total >= abs(sum(numbers)) for total in sums])
    assert permutation_test(np.array(numbers, float), dice()) == pytest.approx(expected)


def test_random_permutations_agree_with_scipy():
    units = dice("units").normal(0.25, 1.0, 40)
    found = stats.permutation_test(
        (units,), np.sum, permutation_type="samples", n_resamples=20_000, vectorized=False,
        rng=np.random.Generator(np.random.PCG64(1)),
    ).pvalue  # fmt: skip
    assert permutation_test(units, dice("draws")) == pytest.approx(found, abs=0.02)


def test_compare_paired_by_hand():
    first = np.array([0.0, 1.0, 0.0, 0.5])
    second = np.array([1.0, 1.0, 0.0, 0.25])
    result = compare_paired(first, second, ["a", "a", "b", "b"], "higher", dice())
    assert (result.first, result.second) == (0.375, 0.5625)
    assert (result.difference.mean, result.difference.n) == (0.1875, 4)
    assert result.difference.method == T_OVER_EPISODES and result.p_method == BY_EPISODES
    assert result.p_value == 1.0  # of 1 and -0.25 every pattern of signs reaches 0.75
    assert (result.wins, result.ties, result.losses) == (1, 2, 1)
    lower = compare_paired(first, second, ["a"] * 4, "lower", dice())
    assert (lower.wins, lower.ties, lower.losses) == (1, 2, 1)
    neutral = compare_paired(first, second, ["a"] * 4, None, dice())
    assert neutral.wins is neutral.ties is neutral.losses is None


def test_ties_leave_a_difference_open():
    """Four ties: z^2 / (4 + z^2) = 0.49 of all episodes may differ, by at most 1."""
    result = compare_paired(np.ones(4), np.ones(4), ["a"] * 4, "higher", dice(), bounds=(0.0, 1.0))
    assert (result.difference.low, result.difference.high) == pytest.approx((-0.48989, 0.48989), abs=1e-5)
    lengths = compare_paired(np.ones(4), np.ones(4), ["a"] * 4, "lower", dice(), bounds=(0.0, INF))
    assert (lengths.difference.low, lengths.difference.method) == (None, NO_SPREAD)


def test_scenes_are_swapped_whole_when_there_are_enough():
    scenes = [f"s{k}" for k in range(12) for _ in range(3)]
    second = np.repeat(np.arange(12) % 3 - 0.5, 3)
    result = compare_paired(np.zeros(36), second, scenes, "higher", dice())
    assert result.p_method == BY_SCENES
    assert result.p_value == permutation_test(3 * (np.arange(12) % 3 - 0.5), dice())


def test_infinite_values_are_counted_apart():
    result = compare_paired(np.array([1.0, INF, 2.0]), np.array([0.5, 1.0, INF]), ["a"] * 3, "lower", dice())
    assert (result.difference.mean, result.difference.n, result.difference.infinite) == (-0.5, 3, 2)
    assert (result.wins, result.ties, result.losses) == (2, 0, 1)
    nothing = compare_paired(np.array([INF]), np.array([INF]), ["a"], "lower", dice())
    assert (nothing.p_value, nothing.p_method, nothing.ties) == (None, NO_TEST, 1)
    with pytest.raises(InputError, match="NaN"):
        compare_paired(np.array([np.nan]), np.array([1.0]), ["a"], None, dice())
    with pytest.raises(InputError, match="as many values"):
        compare_paired(np.zeros(2), np.zeros(2), ["a"], None, dice())


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=12), st.randoms())
def test_exchanging_the_agents_exchanges_the_signs(pairs, shuffler):
    first, second = np.array(pairs).T
    scenes = [f"s{k % 3}" for k in range(len(pairs))]
    there = compare_paired(first, second, scenes, "higher", dice())
    back = compare_paired(second, first, scenes, "higher", dice())
    assert there.difference.mean == pytest.approx(-back.difference.mean)
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert there.p_value == back.p_value
    order = list(range(len(pairs)))
    shuffler.shuffle(order)
    again = compare_paired(first[order], second[order], [scenes[k] for k in order], "higher", dice())
    assert again.difference.mean == pytest.approx(there.difference.mean)
    assert again.p_value == pytest.approx(there.p_value)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=40))
def test_interquartile_mean_is_that_of_scipy(numbers):
    assert interquartile_mean(np.array(numbers)) == pytest.approx(stats.trim_mean(numbers, 0.25))


def test_seeds():
    scores = np.array([[0.0, 0.5, 1.0, 0.2], [0.1, 0.6, 0.9, 0.3], [0.2, 0.4, 0.8, 0.4]])
    with pytest.raises(InputError, match="at least one resample, got 0"):
        estimate_interquartile_mean(scores, dice(), resamples=0)
    few = estimate_interquartile_mean(scores, dice())
    assert few.mean == pytest.approx(np.sort(scores, axis=None)[3:9].mean())
    assert (few.low, few.method, few.n) == (None, TOO_FEW, 12)
    estimate = estimate_interquartile_mean(np.tile(scores, 3), dice())
    assert estimate.low < estimate.mean < estimate.high and estimate.n == 36
    assert estimate_interquartile_mean(np.tile(scores[:2], 4), dice()).method == TOO_FEW  # two seeds
    same = estimate_interquartile_mean(np.repeat(np.tile(scores[:1], 3), 3, axis=0), dice())
    assert (same.low, same.method) == (None, NO_SPREAD)
    thresholds = np.array([-1.0, 0.0, 0.2, 0.95, 1.0])
    assert performance_profile(scores, thresholds) * 12 == pytest.approx([12, 11, 8, 1, 0])
    assert probability_of_improvement(np.array([[0.0, 1.0]]), np.array([[1.0, 1.0], [0.0, 0.0]])) == 0.5
    with pytest.raises(InputError, match="same scenes, got 2 and 4"):
        probability_of_improvement(np.zeros((1, 2)), scores)
    with pytest.raises(InputError, match="finite scores"):
        interquartile_mean(np.array([]))


def test_variance_by_hand():
    """Two episodes, two runs: means 0.5 and 2.5; within them 1, 3 -> variances 0.5 and 0.5."""
    split = split_variance(np.array([[0.0, 2.0], [1.0, 3.0]]))
    assert (split.mean, split.agent, split.episode) == (1.5, 0.5, 2.0 - 0.25)
    assert split.standard_error == pytest.approx(np.sqrt(1.75 / 2 + 0.5 / 4))
    assert split.single_error == pytest.approx(np.sqrt(2.25 / 2))
    assert split.spread == pytest.approx(np.sqrt(0.5))
    assert split.agent_share == pytest.approx(0.5 / 2.25)
    constant = split_variance(np.ones((3, 4)))
    assert (constant.agent, constant.episode, constant.agent_share) == (0.0, 0.0, None)
    for wrong in (np.zeros((1, 5)), np.zeros((5, 1))):
        with pytest.raises(InputError, match="at least 2 repetitions"):
            split_variance(wrong)
    with pytest.raises(InputError, match="finite"):
        split_variance(np.full((2, 2), INF))


def test_variance_parts_are_recovered():
    generator = dice("variance")
    values = generator.normal(0, 2.0, 2000) + generator.normal(0, 1.0, (8, 2000))
    split = split_variance(values)
    assert split.agent == pytest.approx(1.0, rel=0.05) and split.episode == pytest.approx(4.0, rel=0.1)


def slow_two_levels(values, clusters, generator, resamples):
    """The same, one resample at a time, by concatenation; other draws."""
    members = [values[clusters == label] for label in np.unique(clusters)]
    means = []
    for _ in range(resamples):
        drawn = [members[k] for k in generator.integers(0, len(members), len(members))]
        again = [scene[generator.integers(0, len(scene), len(scene))] for scene in drawn]
        means.append(np.concatenate(again).mean())
    return np.quantile(means, [0.025, 0.975])


def test_two_levels_agree_with_a_plain_loop():
    generator = dice("two levels")
    clusters = np.repeat(np.arange(8), [1, 2, 9, 4, 4, 7, 3, 5])
    values = generator.random(35) + 0.2 * clusters
    got = bootstrap_interval(values, clusters, dice("a"), 20_000, two_levels=True)
    assert got == pytest.approx(slow_two_levels(values, clusters, dice("b"), 4_000), abs=0.03)


def test_two_levels_see_the_episodes_of_equal_scenes():
    """Scenes of equal sums: drawing whole scenes sees no spread at all."""
    values, scenes = np.tile([0.0, 1.0], 30), [f"s{k // 2}" for k in range(60)]
    one = estimate_mean(values, scenes, dice())
    both = estimate_mean(values, scenes, dice(), two_levels=True)
    assert (one.low, one.method) == (None, NO_SPREAD)
    assert both.low < 0.5 < both.high and both.method == OVER_BOTH
    few = estimate_mean(values, [f"s{k // 20}" for k in range(60)], dice(), two_levels=True)
    assert few.method == OVER_EPISODES  # three scenes are too few


SCENES = [f"s{k % 40}" for k in range(120)]


def test_an_interval_over_seeds_agrees_with_a_plain_loop():
    """Each resample: shares of scenes, then of the seeds of each method, with the means by hand."""
    draws = np.random.default_rng(3)
    first, second = draws.uniform(0, 0.6, (3, 120)), draws.uniform(0.2, 1, (4, 120))
    found = estimate_over_seeds([(-1.0, first), (1.0, second)], SCENES, dice("loop"), (-1, 1), 500)
    names = sorted(set(SCENES))
    drawn, differences = dice("loop"), np.zeros(500)
    of_scenes = drawn.multinomial(40, np.full(40, 1 / 40), 500)
    for weight, values in ((-1, first), (1, second)):
        count = len(values)
        of_seeds = drawn.multinomial(count, np.full(count, 1 / count), 500)
        for k in range(500):
            shares = [1 / 40 + np.sqrt(40 / 39) * (n / 40 - 1 / 40) for n in of_scenes[k]]
            per_episode = [shares[names.index(scene)] for scene in SCENES]
            means = [np.average(row, weights=per_episode) for row in values]
            wide = np.sqrt(count / (count - 1))
            differences[k] += weight * sum(
                (1 / count + wide * (n / count - 1 / count)) * mean
                for n, mean in zip(of_seeds[k], means, strict=True)
            )
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(differences, [0.025, 0.975])))
    assert found.mean == pytest.approx(second.mean() - first.mean())
    assert (found.n, found.method) == (120, SEEDS_AND_SCENES)


def test_seeds_widen_an_interval_as_much_as_they_differ():
    """Nothing but eight seeds differs: +- 1.96 standard errors of their mean, within 10 %."""
    seeds = np.linspace(0.2, 0.9, 8)
    found = estimate_over_seeds(
        [(1.0, np.repeat(seeds[:, None], 120, 1))], SCENES, dice("seeds"), (-np.inf, np.inf)
    )
    error = 1.96 * seeds.std(ddof=1) / np.sqrt(8)
    assert (found.high - found.low) / 2 == pytest.approx(error, rel=0.1)
    equal = np.tile(np.random.default_rng(0).uniform(0, 1, 120), (3, 1))
    over_scenes = bootstrap_interval(equal[0], np.unique(SCENES, return_inverse=True)[1], dice("scenes"))
    found = estimate_over_seeds([(1.0, equal)], SCENES, dice("equal"), (0, 1))
    assert found.high - found.low == pytest.approx(over_scenes[1] - over_scenes[0], rel=0.05)


def test_when_seeds_are_not_resampled():
    values = np.random.default_rng(0).uniform(0, 1, (3, 120))
    assert estimate_over_seeds([(1.0, values[:2])], SCENES, dice(), (0, 1)) is None
    assert estimate_over_seeds([(1.0, values), (-1.0, values[:1])], SCENES, dice(), (-1, 1)) is None
    few = [f"s{k % 29}" for k in range(120)]
    assert estimate_over_seeds([(1.0, values)], few, dice(), (0, 1)) is None
    endless = values.copy()
    endless[1, 5] = INF
    assert estimate_over_seeds([(1.0, endless)], SCENES, dice(), (0, 1)) is None
    assert estimate_over_seeds([(1.0, np.full((3, 120), 0.1))], SCENES, dice(), (0, 1)) is None


def test_an_interval_over_seeds_is_cut_to_what_is_possible():
    wide = np.repeat([[0.0], [1.0], [1.0]], 120, 1)
    cut = estimate_over_seeds([(1.0, wide)], SCENES, dice(), (0.5, 0.75))
    assert (cut.mean, cut.low, cut.high) == (pytest.approx(2 / 3), 0.5, 0.75)
