"""Intervals against published values, a plain reference, and their degenerate cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.metrics import bootstrap_interval, estimate_mean, estimate_rate, wilson_interval
from navarena.metrics.statistics import NO_INTERVAL, OVER_EPISODES, OVER_SCENES, WILSON

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
    ("one value", [3.0], ["a"], 3.0, None, None, 0, NO_INTERVAL),
    ("all equal, few scenes", [2.0, 2.0, 2.0], ["a", "b", "b"], 2.0, 2.0, 2.0, 0, OVER_EPISODES),
    ("all equal, many scenes", [2.0] * 6, list("abcdef"), 2.0, 2.0, 2.0, 0, OVER_SCENES),
    ("one finite", [INF, 4.0], ["a", "b"], 4.0, None, None, 1, NO_INTERVAL),
    ("infinite left out", [INF, 4.0, 4.0], ["a", "b", "c"], 4.0, 4.0, 4.0, 1, OVER_EPISODES),
    ("only infinite", [INF, INF], ["a", "b"], INF, None, None, 2, NO_INTERVAL),
]


@pytest.mark.parametrize("row", DEGENERATE, ids=[row[0] for row in DEGENERATE])
def test_degenerate_means(row):
    _, values, scenes, mean, low, high, infinite, method = row
    got = estimate_mean(np.array(values), scenes, make_generator("d"))
    assert (got.mean, got.low, got.high, got.n) == (mean, low, high, len(values))
    assert (got.infinite, got.method) == (infinite, method)


def test_means_refuse_nothing_and_nan():
    with pytest.raises(InputError, match="at least one episode"):
        estimate_mean(np.zeros(0), [], make_generator("d"))
    with pytest.raises(InputError, match="got NaN in row 1"):
        estimate_mean(np.array([0.0, np.nan]), ["a", "b"], make_generator("d"))


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
