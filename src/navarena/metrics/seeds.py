"""Several training seeds of one method (the protocol of Agarwal et al. 2021, "Deep Reinforcement Learning at
the Edge of the Statistical Precipice"), with the scenes in the place of that paper's tasks.

Scores form a matrix (K, S): seed by scene, each the mean of a run over the episodes of a scene.
"""

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError
from navarena.metrics.statistics import CONFIDENCE, NO_INTERVAL, RESAMPLES, Estimate

OVER_SEEDS = "bootstrap over seeds, within scenes"
TRIMMED = 0.25
"""Share of the scores that is cut off at either end of an interquartile mean."""


def interquartile_mean(scores: Float[np.ndarray, "*shape"]) -> float:
    """Mean of the middle half of all scores; InputError for none.

    floor(n / 4) scores are left out at either end, as scipy.stats.trim_mean does.
    """
    ordered = np.sort(np.asarray(scores, np.float64), axis=None)
    _require_scores(ordered)
    cut = int(TRIMMED * ordered.size)
    return float(ordered[cut : ordered.size - cut].mean())


def estimate_interquartile_mean(
    scores: Float[np.ndarray, "k s"], generator: np.random.Generator, resamples: int = RESAMPLES
) -> Estimate:
    """Interquartile mean of (K, S) scores, with a percentile interval by drawing seeds within each scene.

    One seed has no spread: no interval. n counts scores.
    """
    scores = np.asarray(scores, np.float64)
    _require_scores(scores)
    seeds, scenes = scores.shape
    mean = interquartile_mean(scores)
    if seeds == 1:
        return Estimate(mean, None, None, scores.size, 0, NO_INTERVAL)
    cut = int(TRIMMED * scores.size)
    means = np.zeros(resamples)
    chunk = max(1, 2_000_000 // scores.size)
    for first in range(0, resamples, chunk):
        last = min(first + chunk, resamples)
        drawn = generator.integers(0, seeds, (last - first, seeds, scenes))
        drawn_scores = np.sort(scores[drawn, np.arange(scenes)].reshape(last - first, -1), axis=1)
        means[first:last] = drawn_scores[:, cut : scores.size - cut].mean(1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Estimate(mean, float(low), float(high), scores.size, 0, OVER_SEEDS)


def performance_profile(
    scores: Float[np.ndarray, "k s"], thresholds: Float[np.ndarray, "t"]
) -> Float[np.ndarray, "t"]:
    """(T,) share of all scores that are above each threshold, strictly."""
    ordered = np.sort(np.asarray(scores, np.float64), axis=None)
    _require_scores(ordered)
    return 1.0 - np.searchsorted(ordered, np.asarray(thresholds), side="right") / ordered.size


def probability_of_improvement(first: Float[np.ndarray, "k s"], second: Float[np.ndarray, "l t"]) -> float:
    """How likely a seed of the second method beats one of the first in a scene, the mean over scenes.

    Ties count a half. Both have the same S scenes (InputError).
    """
    first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
    _require_scores(first)
    _require_scores(second)
    if first.shape[1] != second.shape[1]:
        raise InputError(f"expected scores of the same scenes, got {first.shape[1]} and {second.shape[1]}")
    ahead = (second[:, None] > first[None]) + 0.5 * (second[:, None] == first[None])
    return float(ahead.mean())


def _require_scores(scores: Float[np.ndarray, "*shape"]) -> None:
    if not scores.size or not np.isfinite(scores).all():
        raise InputError(f"expected finite scores, and at least one, got {scores.size} of them")
