"""Intervals against published values, a plain reference, and their degenerate cases."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.metrics import bootstrap_interval, estimate_mean, estimate_rate, wilson_interval
from navarena.metrics.statistics import (
    ALL_EQUAL,
    MIN_UNITS,
    NO_INTERVAL,
    NO_SPREAD,
    OVER_EPISODES,
    OVER_SCENES,
    T_OVER_EPISODES,
    T_OVER_SCENES,
    TOO_FEW,
    WILSON,
    estimate_weighted,
)

INF = float("inf")

# Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3
NEWCOMBE = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0, 0.1611),
    (1, 29, 0.0061, 0.1718),
]


@pytest.mark.parametrize(("successes", "n", "low", "high"), NEWCOMBE)
def test_wilson_agrees_with_newcombe(successes, n, low, high):
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_wilson_at_its_ends():
    assert wilson_interval(0, 10)[0] == 0.0
    assert wilson_interval(10, 10)[1] == 1.0
    low, high = wilson_interval(1, 1)
    assert (low, high) == (pytest.approx(0.2065, abs=1e-4), 1.0)
    for wrong in [(0, 0), (3, 2), (-1, 2)]:
        with pytest.raises(InputError, match="expected 0 <= successes <= n"):
            wilson_interval(*wrong)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_its_rate(pair):
    successes, n = pair
    low, high = wilson_interval(successes, n)
    assert 0.0 <= low <= successes / n <= high <= 1.0


def slow_bootstrap(values, clusters, generator, resamples):
    """The same draws, one resample at a time, concatenating the values themselves."""
    members = [values[clusters == label] for label in np.unique(clusters)]
    means = []
    for _ in range(resamples):
        drawn = generator.integers(0, len(members), len(members))
        means.append(np.concatenate([members[k] for k in drawn]).mean())
    return np.quantile(means, [0.025, 0.975])


def test_bootstrap_agrees_with_the_plain_reference():
    generator = make_generator("test", "bootstrap")
    clusters = generator.integers(0, 9, 60)
    values = generator.random(60) + 0.1 * clusters
    fast = bootstrap_interval(values, clusters, make_generator("draws"), 400)
    slow = slow_bootstrap(values, clusters, make_generator("draws"), 400)
    assert fast == pytest.approx(tuple(slow), abs=1e-12)


def test_bootstrap_is_repeatable_and_depends_on_the_seed_alone():
    values, clusters = np.arange(40.0), np.arange(40) // 4
    first = bootstrap_interval(values, clusters, make_generator("a"))
    assert first == bootstrap_interval(values, clusters, make_generator("a"))
    assert first != bootstrap_interval(values, clusters, make_generator("b"))
    assert first[0] < values.mean() < first[1]


def test_clusters_widen_the_interval():
    values = np.repeat([0.0, 1.0] * 5, 20)
    scenes = np.repeat(np.arange(10), 20)
    wide = bootstrap_interval(values, scenes, make_generator("w"))
    narrow = bootstrap_interval(values, np.arange(200), make_generator("w"))
    assert wide[1] - wide[0] > 3 * (narrow[1] - narrow[0])


def test_bootstrap_refuses_what_it_cannot_use():
    with pytest.raises(InputError, match="at least one value"):
        bootstrap_interval(np.zeros(0), np.zeros(0, int), make_generator("x"))
    with pytest.raises(InputError, match="finite values"):
        bootstrap_interval(np.array([1.0, INF]), np.zeros(2, int), make_generator("x"))
    with pytest.raises(InputError, match="at least one resample, got 0"):
        bootstrap_interval(np.arange(2.0), np.arange(2), make_generator("x"), resamples=0)
    for confidence in (0.0, 1.0, float("nan")):
        with pytest.raises(InputError, match="confidence above 0 and below 1, such as 0.95, got"):
            bootstrap_interval(np.arange(2.0), np.arange(2), make_generator("x"), confidence=confidence)
        with pytest.raises(InputError, match="confidence above 0 and below 1"):
            wilson_interval(1, 2, confidence)


def test_rates():
    estimate = estimate_rate(np.array([1.0, 0.0, 1.0, 1.0]))
    assert (estimate.mean, estimate.n, estimate.method) == (0.75, 4, WILSON)
    assert (estimate.low, estimate.high) == wilson_interval(3, 4)
    with pytest.raises(InputError, match="at least one episode"):
        estimate_rate(np.zeros(0))
    with pytest.raises(InputError, match=r"only 0 and 1 in a rate, got 0\.5"):
        estimate_rate(np.array([1.0, 0.5]))


DEGENERATE = [
    # name, values, scenes | mean, low, high, infinite, method
    ("one value", [3.0], ["a"], 3.0, None, None, 0, TOO_FEW),
    ("all equal, few scenes", [2.0, 2.0, 2.0], ["a", "b", "b"], 2.0, None, None, 0, NO_SPREAD),
    ("all equal, many scenes", [2.0] * 40, [f"s{k}" for k in range(40)], 2.0, None, None, 0, NO_SPREAD),
    ("equal scenes", [0.0, 2.0] * 6, [f"s{k // 2}" for k in range(12)], 1.0, None, None, 0, NO_SPREAD),
    ("one finite", [INF, 4.0], ["a", "b"], 4.0, None, None, 1, TOO_FEW),
    ("infinite left out", [INF, 4.0, 4.0], ["a", "b", "c"], 4.0, None, None, 1, NO_SPREAD),
    ("only infinite", [INF, INF], ["a", "b"], INF, None, None, 2, NO_INTERVAL),
]


@pytest.mark.parametrize("row", DEGENERATE, ids=[row[0] for row in DEGENERATE])
def test_degenerate_means(row):
    _, values, scenes, mean, low, high, infinite, method = row
    got = estimate_mean(np.array(values), scenes, make_generator("d"))
    assert (got.mean, got.low, got.high, got.n) == (mean, low, high, len(values))
    assert (got.infinite, got.method) == (infinite, method)


# values, scenes, bounds | low, high, method; by hand with z = 1.959964, z^2 = 3.841459
FEW = [
    # two episodes that both end at 1: 1 / (1 + z^2 / 2), as of two successes in two
    ("two perfect scores", [1.0, 1.0], "ab", (0.0, 1.0), 0.342380, 1.0, ALL_EQUAL),
    # Wilson's for 1 of 2: 0.5 +- z sqrt(1/8 + z^2/16) / (1 + z^2/2)
    ("two scores", [0.2, 0.8], "ab", (0.0, 1.0), 0.094531, 0.905469, WILSON),
    # u = z^2 / (4 + z^2) = 0.489890: 0.5 - 0.5 u, 0.5 + 0.5 u
    ("four equal scores", [0.5] * 4, "abcd", (0.0, 1.0), 0.255055, 0.744945, ALL_EQUAL),
    # standard error 1.290994 / 2, t(3) = 3.182446
    ("four lengths", [1.0, 2.0, 3.0, 4.0], "abca", (0.0, INF), 0.445739, 4.554261, T_OVER_EPISODES),
    # squares 4 + 1 + 0.25 + 12.25: standard error sqrt(17.5 / 3) / 2; 2.5 - 3.843169 is cut
    ("cut at 0", [0.5, 1.5, 2.0, 6.0], "abca", (0.0, INF), 0.0, 6.343169, T_OVER_EPISODES),
    # rests -1, -0.5, 1.5, 0.5, -0.5 of five scenes: sqrt(5 / 4 * 4) / 6, t(4) = 2.776445
    ("scenes", [1.0, 3.0, 2.0, 4.0, 3.0, 2.0], "aabcde", (0.0, INF), 1.465281, 3.534719, T_OVER_SCENES),
    ("four ties", [0.0] * 4, "abcd", (-1.0, 1.0), -0.489890, 0.489890, ALL_EQUAL),
    # standard error 0.25, t(3) = 3.182446; cut at 1
    ("one win of four", [1.0, 0.0, 0.0, 0.0], "abcd", (-1.0, 1.0), -0.545612, 1.0, T_OVER_EPISODES),
    # u = z^2 / (1 + z^2) = 0.793450: 1 - 2 u
    ("one win of one", [1.0], "a", (-1.0, 1.0), -0.586900, 1.0, ALL_EQUAL),
]


@pytest.mark.parametrize("row", FEW, ids=[row[0] for row in FEW])
def test_intervals_of_few_values_by_hand(row):
    _, values, scenes, bounds, low, high, method = row
    got = estimate_mean(np.array(values), list(scenes), make_generator("f"), bounds=bounds)
    assert (got.low, got.high) == pytest.approx((low, high), abs=2e-6)
    assert (got.method, got.n) == (method, len(values))


def test_a_bootstrap_needs_enough_units():
    values = np.linspace(0.0, 1.0, MIN_UNITS)
    for count, scenes, method in (
        (MIN_UNITS, ["a"] * MIN_UNITS, OVER_EPISODES),
        (MIN_UNITS, [f"s{k}" for k in range(MIN_UNITS)], OVER_SCENES),
        (MIN_UNITS - 1, ["a"] * (MIN_UNITS - 1), WILSON),
        (MIN_UNITS, [f"s{k // 2}" for k in range(MIN_UNITS)], T_OVER_SCENES),
    ):
        got = estimate_mean(values[:count], scenes, make_generator("u"), bounds=(0.0, 1.0))
        assert got.method == method
        assert 0.0 <= got.low < got.mean < got.high <= 1.0


def test_parts_of_few_episodes_by_hand():
    """Weights 1 and 3: a mean of 0.25, and (1 + 3)^2 / (1 + 9) = 1.6 episodes of equal weight."""
    got = estimate_weighted(np.array([1.0, 0.0]), np.array([1.0, 3.0]), ["a", "b"], make_generator("w"))
    assert (got.mean, got.n, got.method) == (0.25, 4, WILSON)
    assert (got.low, got.high) == pytest.approx(wilson_interval(0.4, 1.6))
    # 0.426490 -+ 0.404372, from (0.25 + z^2 / 3.2) and z sqrt(0.1875 / 1.6 + z^2 / 10.24) over 1 + z^2 / 1.6
    assert wilson_interval(0.4, 1.6) == pytest.approx((0.022118, 0.830862), abs=1e-6)
    for weights in ([1.0, -1.0], [1.0, np.nan], [1.0, np.inf]):
        with pytest.raises(InputError, match="weights of at least 0"):
            estimate_weighted(np.array([1.0, 0.0]), np.array(weights), ["a", "b"], make_generator("w"))


def test_few_scores_with_rare_failures_are_covered():
    """Ten scores near 0.93, one in ten of them 0: a bootstrap covers their mean in 64 % of samples."""
    generator = make_generator("rare failures")
    truth, covered = 0.9 * 20 / 21.5, 0
    for _ in range(400):
        scores = np.where(generator.random(10) < 0.1, 0.0, generator.beta(20, 1.5, 10))
        got = estimate_mean(scores, ["a"] * 10, generator, bounds=(0.0, 1.0))
        covered += got.low <= truth <= got.high
    assert covered >= 0.95 * 400


def test_means_refuse_nothing_and_nan():
    with pytest.raises(InputError, match="at least one episode"):
        estimate_mean(np.zeros(0), [], make_generator("d"))
    with pytest.raises(InputError, match="got NaN in row 1"):
        estimate_mean(np.array([0.0, np.nan]), ["a", "b"], make_generator("d"))
    table = np.ones((2, 1))
    for estimate, values in ((estimate_mean, [table]), (estimate_weighted, [table, table])):
        unchecked = inspect.unwrap(estimate)  # the checks of types are on in tests alone
        with pytest.raises(InputError, match=r"values of shape \(2, 1\) and 2 scenes"):
            unchecked(*values, ["a", "b"], make_generator("d"))


def test_coverage_of_the_scene_bootstrap():
    """About 95 % of intervals cover the truth when scenes differ (40 scenes, 200 trials)."""
    generator = make_generator("coverage")
    covered = 0
    for _ in range(200):
        effects = generator.normal(0.0, 1.0, 40)
        values = np.repeat(effects, 5) + generator.normal(0.0, 0.5, 200)
        low, high = bootstrap_interval(values, np.repeat(np.arange(40), 5), generator, 400)
        covered += low <= 0.0 <= high
    assert 0.88 <= covered / 200 <= 0.99
