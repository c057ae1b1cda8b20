"""Paired comparison of two agents on the same episodes: mean difference, interval and permutation test.

The interval is that of the mean difference (see `statistics`). The permutation test asks how often a
difference at least as large, of either sign, comes out when the agents' names are swapped at random. Whole
scenes are swapped, because episodes in one scene resemble each other; with fewer than MIN_SCENES_TO_SWAP
scenes that test could not say much, and single episodes are swapped instead. Up to EXACT_UNITS scenes
or episodes that differ every swap is tried, beyond that PERMUTATIONS random ones.

Episodes in which either value is infinite have no difference: they are left out and counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError
from navarena.metrics.statistics import (
    CONFIDENCE,
    DRAWS_AT_ONCE,
    MIN_UNITS,
    NO_SPREAD,
    OVER_EPISODES,
    OVER_SCENES,
    RESAMPLES,
    ROUNDING,
    TOO_FEW,
    UNBOUNDED,
    Estimate,
    estimate_mean,
    estimate_weighted,
    make_units,
    percentile_interval,
)

PERMUTATIONS = 10_000
EXACT_UNITS = 13
"""2 ** 13 swaps are fewer than PERMUTATIONS."""

MIN_SCENES_TO_SWAP = 10
"""With as many scenes the least p of a two-sided test is 0.002."""

BY_SCENES, BY_EPISODES, NO_TEST = "swaps of scenes", "swaps of episodes", "none"


@dataclass(frozen=True)
class PairedComparison:
    """The second agent against the first, by one metric.

    Attributes:
        first, second: means over the episodes in which both are finite; infinite when there are none.
        difference: second minus first, its interval, n and method.
        p_value: of the permutation test; None when nothing could be compared.
        p_method: what was swapped.
        wins, ties, losses: episodes in which the second is better, equal and worse; None for a metric
            that has no better side.
    """

    first: float
    second: float
    difference: Estimate
    p_value: float | None
    p_method: str
    wins: int | None
    ties: int | None
    losses: int | None


def compare_paired(
    first: Float[np.ndarray, "n"],
    second: Float[np.ndarray, "n"],
    scenes: Sequence[str],
    better: Literal["higher", "lower"] | None,
    generator: np.random.Generator,
    two_levels: bool = False,
    bounds: tuple[float, float] = UNBOUNDED,
    weights: Float[np.ndarray, "n"] | None = None,
) -> PairedComparison:
    """Compare two agents on the same N episodes.

    Args:
        first: (N,) float64 values of the first agent; infinity allowed, NaN not (InputError).
        second: (N,) float64, of the second.
        scenes: scene id of each episode.
        better: which side is better; None when neither is.
        generator: source of resamples and swaps.
        two_levels: see statistics.estimate_mean.
        bounds: least and greatest value of either agent.
        weights: (N,) of finite values, for weighted means as of statistics.estimate_weighted; None for equal
            ones.

    Wins, ties and losses count infinite values, too: they are the worst where lower is better.
    """
    first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if not first.size or first.shape != second.shape or len(scenes) != first.size:
        raise InputError(
            f"expected as many values of both agents as scenes, and at least one, got {first.size}, "
            f"{second.size} and {len(scenes)}"
        )
    both = np.isfinite(first) & np.isfinite(second)
    if np.isnan(first).any() or np.isnan(second).any():
        raise InputError("expected numbers to compare, got NaN")
    wins = ties = losses = None
    if better is not None:
        ahead = second > first if better == "higher" else second < first
        ties = int((second == first).sum())
        wins = int(ahead.sum())
        losses = first.size - wins - ties
    if not both.any():
        nothing = Estimate(float("inf"), None, None, first.size, first.size)
        return PairedComparison(float("inf"), float("inf"), nothing, None, NO_TEST, wins, ties, losses)
    changes = _subtract(second, first)
    estimate = estimate_difference(first, second, scenes, generator, two_levels, bounds, weights)
    weights = np.ones(first.size) if weights is None else weights
    units, method = _units((changes * weights)[both], np.asarray(scenes)[both])
    p_value = permutation_test(units, generator)
    before, after = (float(np.average(values[both], weights=weights[both])) for values in (first, second))
    return PairedComparison(before, after, estimate, p_value, method, wins, ties, losses)


def estimate_difference(
    first: Float[np.ndarray, "n"],
    second: Float[np.ndarray, "n"],
    scenes: Sequence[str] | Int[np.ndarray, "n"],
    generator: np.random.Generator,
    two_levels: bool = False,
    bounds: tuple[float, float] = UNBOUNDED,
    weights: Float[np.ndarray, "n"] | None = None,
) -> Estimate:
    """The mean of second minus first over N episodes, with its interval.

    Args:
        first: (N,) float64 values of one agent.
        second: (N,) float64 values of the other.
        scenes: scene id of each episode, or its place among the sorted ids.
        generator: of the bootstrap; see compare_paired, as for the next three.
        two_levels: whether episodes are drawn within scenes, too.
        bounds: between which values lie.
        weights: (N,) float64 of the episodes; None weighs all alike.
    """
    changes, width = _subtract(second, first), bounds[1] - bounds[0]
    if weights is None:
        return estimate_mean(changes, scenes, generator, two_levels, (-width, width))
    return estimate_weighted(changes, weights, scenes, generator, (-width, width))


def estimate_relative_drop(
    clean: Float[np.ndarray, "m n"],
    noisy: Float[np.ndarray, "m n"],
    weights: Float[np.ndarray, "m n"],
    scenes: Sequence[str],
    generator: np.random.Generator,
) -> Estimate | None:
    """The mean relative drop over M kinds, with a bootstrap interval of both runs on the same N episodes.

    Scenes are resampled, or episodes where there are fewer than MIN_SCENES. No interval with fewer than
    MIN_UNITS of them, where all resamples agree, and where one leaves nothing to lose in one of the kinds;
    None where the clean run has nothing to lose. n counts parts.

    Args:
        clean: (M, N) float64, finite: mean score of the parts of each kind in each episode.
        noisy: (M, N) float64, the same under noise.
        weights: (M, N) float64: how many parts of each kind each episode has, at least one of each kind.
        scenes: scene id of each episode.
        generator: source of the resamples.

    Raises InputError for other shapes, values that are not finite, and kinds without parts.
    """
    shape = np.shape(weights)
    if np.shape(clean) != shape or np.shape(noisy) != shape or len(scenes) != shape[1]:
        raise InputError(
            f"expected scores of one shape, and as many scenes as columns, got {np.shape(clean)}, "
            f"{np.shape(noisy)}, {shape} and {len(scenes)}"
        )
    if not (np.isfinite(clean).all() and np.isfinite(noisy).all()) or not (np.sum(weights, 1) > 0).all():
        raise InputError("expected finite scores, and parts of every kind")
    clusters, by_scene = make_units(scenes)
    count = int(clusters.max()) + 1
    before = np.stack([np.bincount(clusters, row, count) for row in weights * clean])
    after = np.stack([np.bincount(clusters, row, count) for row in weights * noisy])
    if not (before.sum(1) > 0).all():
        return None
    mean = float((1 - after.sum(1) / before.sum(1)).mean())
    n = round(float(np.sum(weights)))
    if count < MIN_UNITS:
        return Estimate(mean, None, None, n, 0, TOO_FEW)
    drops, chunk = np.zeros(RESAMPLES), max(1, DRAWS_AT_ONCE // before.size)
    for start in range(0, RESAMPLES, chunk):
        end = min(start + chunk, RESAMPLES)
        drawn = generator.integers(0, count, (end - start, count))
        first, second = before[:, drawn].sum(-1), after[:, drawn].sum(-1)
        if not (first > 0).all():
            return Estimate(mean, None, None, n, 0, TOO_FEW)
        drops[start:end] = (1 - second / first).mean(0)
    low, high = percentile_interval(drops, CONFIDENCE)
    if high - low <= ROUNDING:
        return Estimate(mean, None, None, n, 0, NO_SPREAD)
    return Estimate(mean, low, high, n, 0, OVER_SCENES if by_scene else OVER_EPISODES)


def _subtract(second: Float[np.ndarray, "n"], first: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """(N,) second minus first; infinite where either is."""
    both = np.isfinite(first) & np.isfinite(second)
    return np.where(both, second - np.where(both, first, 0.0), np.inf)


def permutation_test(units: Float[np.ndarray, "u"], generator: np.random.Generator) -> float:
    """Two-sided p-value of the sum of (U,) differences of any unit under random signs.

    Exact up to EXACT_UNITS that differ from 0, else by PERMUTATIONS draws, the observed one counted in.
    Raises InputError for differences that are not finite.
    """
    if not np.isfinite(units).all():
        raise InputError("expected finite differences to swap, got NaN or infinity; leave those out")
    moved = units[units != 0.0]
    if not moved.size:
        return 1.0
    least = abs(moved.sum()) - ROUNDING * np.abs(moved).sum()
    if moved.size <= EXACT_UNITS:
        bits = np.arange(2**moved.size)[:, None] >> np.arange(moved.size)
        sums = (1.0 - 2.0 * (bits & 1)) @ moved
        return float((np.abs(sums) >= least).mean())
    beyond, chunk = 0, max(1, DRAWS_AT_ONCE // moved.size)
    for start in range(0, PERMUTATIONS, chunk):
        count = min(chunk, PERMUTATIONS - start)
        signs = 1.0 - 2.0 * generator.integers(0, 2, (count, moved.size))
        beyond += int((np.abs(signs @ moved) >= least).sum())
    return (1 + beyond) / (1 + PERMUTATIONS)


def _units(changes: Float[np.ndarray, "n"], scenes: np.ndarray) -> tuple[Float[np.ndarray, "u"], str]:
    """Units of permutation: sums over scenes, or single episodes."""
    names, labels = np.unique(scenes, return_inverse=True)
    if len(names) < MIN_SCENES_TO_SWAP:
        return changes, BY_EPISODES
    return np.bincount(labels, changes), BY_SCENES
