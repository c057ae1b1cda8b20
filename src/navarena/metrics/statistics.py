"""Means over many episodes with confidence intervals.

A rate (a metric of zeros and ones) gets Wilson's interval; any other mean gets a bootstrap
over whole scenes, because episodes in one scene resemble each other. Degenerate cases:

* no value: InputError;
* infinite values (the goal cannot be reached): left out of the mean and counted apart;
  a mean of nothing but infinities is infinite, without interval;
* one finite value: its mean is known, its spread is not: no interval (Wilson's still exists);
* all values equal: the bootstrap interval has no width;
* fewer than MIN_SCENES scenes: episodes are resampled instead of scenes, and the method says so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError

CONFIDENCE = 0.95
RESAMPLES = 10_000
MIN_SCENES = 5
_DRAWS_AT_ONCE = 2_000_000

WILSON = "Wilson"
OVER_SCENES = "bootstrap over scenes"
OVER_EPISODES = "bootstrap over episodes"
OVER_BOTH = "bootstrap over scenes and episodes"
SQUARE_AND_ADD = "square-and-add of two intervals"
NO_INTERVAL = "none"


@dataclass(frozen=True)
class Estimate:
    """A mean, what it rests on, and its interval.

    Attributes:
        mean: over the finite values; infinite when there are none.
        low, high: the interval at CONFIDENCE; None when it cannot be known.
        n: how many values were given, infinite ones included.
        infinite: how many of them are infinite.
        method: how the interval was made, such as WILSON, OVER_SCENES or NO_INTERVAL.
    """

    mean: float
    low: float | None
    high: float | None
    n: int
    infinite: int = 0
    method: str = NO_INTERVAL


def wilson_interval(successes: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval of a rate (Wilson 1927), within [0, 1].

    Raises InputError unless n >= 1 and 0 <= successes <= n.
    """
    if n < 1 or not 0 <= successes <= n:
        raise InputError(f"expected 0 <= successes <= n and n >= 1, got {successes} of {n}")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate = successes / n
    scale = 1 + z * z / n
    middle = (rate + z * z / (2 * n)) / scale
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / scale
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == n else min(1.0, middle + half)
    return low, high


def bootstrap_interval(
    values: Float[np.ndarray, "n"],
    clusters: Int[np.ndarray, "n"],
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    two_levels: bool = False,
) -> tuple[float, float]:
    """Percentile interval of the mean when whole clusters are drawn with replacement.

    A resample draws as many clusters as there are and divides the sum of their values by
    their number of values (cluster sums: the cost does not grow with n). On two levels, the values
    within each drawn cluster are drawn again, with replacement.

    Args:
        values: (N,) float64, finite, N >= 1.
        clusters: (N,) integer label of the cluster (scene) of each value.
        generator: source of the draws; equal generators give equal intervals.
        resamples: number of resampled means.
        confidence: probability that the interval should cover, such as 0.95.
        two_levels: whether values are resampled within the clusters, too.

    Raises InputError for no values, values that are not finite, or labels of another length.
    """
    values = np.asarray(values, np.float64)
    if values.size == 0 or values.shape != np.shape(clusters):
        raise InputError(
            f"expected at least one value and one cluster label per value, "
            f"got {values.shape} values and {np.shape(clusters)} labels"
        )
    if not np.isfinite(values).all():
        raise InputError("expected finite values for a bootstrap, got NaN or infinity; leave those out")
    _, index = np.unique(clusters, return_inverse=True)
    sums = np.bincount(index, values)
    counts = np.bincount(index).astype(np.float64)
    if np.ptp(values) == 0.0:
        return float(values[0]), float(values[0])
    means = np.zeros(resamples)
    ordered = values[np.argsort(index, kind="stable")]
    offsets = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    chunk = max(1, _DRAWS_AT_ONCE // (values.size if two_levels else len(sums)))
    for first in range(0, resamples, chunk):
        last = min(first + chunk, resamples)
        drawn = generator.integers(0, len(sums), (last - first, len(sums)))
        sizes = counts[drawn].sum(1)
        if two_levels:
            means[first:last] = _redraw_within(ordered, offsets, counts, drawn, generator) / sizes
        else:
            means[first:last] = sums[drawn].sum(1) / sizes
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


def _redraw_within(
    ordered: Float[np.ndarray, "n"],
    offsets: Int[np.ndarray, "c"],
    counts: Float[np.ndarray, "c"],
    drawn: Int[np.ndarray, "r c"],
    generator: np.random.Generator,
) -> Float[np.ndarray, "r"]:
    """(R,) sums of values that are drawn anew, with replacement, within each of the `drawn` clusters.

    `ordered` values lie cluster by cluster, each from its offset on.
    """
    sizes = counts[drawn].astype(np.int64)
    lengths = np.repeat(sizes.ravel(), sizes.ravel())
    begins = np.repeat(offsets[drawn].ravel(), sizes.ravel())
    picked = begins + (generator.random(len(lengths)) * lengths).astype(np.int64)
    ends = np.cumsum(sizes.sum(1))
    return np.add.reduceat(ordered[picked], np.concatenate([[0], ends[:-1]]))


def estimate_rate(values: Float[np.ndarray, "n"]) -> Estimate:
    """Mean of (N,) zeros and ones with Wilson's interval; InputError for none or for other values."""
    values = np.asarray(values, np.float64)
    if values.size == 0:
        raise InputError("expected at least one episode for a rate, got none")
    wrong = values[(values != 0.0) & (values != 1.0)]
    if wrong.size:
        raise InputError(f"expected only 0 and 1 in a rate, got {wrong[0]}")
    successes = int(values.sum())
    low, high = wilson_interval(successes, values.size)
    return Estimate(successes / values.size, low, high, values.size, 0, WILSON)


def estimate_mean(
    values: Float[np.ndarray, "n"],
    scenes: Sequence[str] | Int[np.ndarray, "n"],
    generator: np.random.Generator,
    two_levels: bool = False,
) -> Estimate:
    """Mean of (N,) values with a bootstrap interval over scenes; the module's docstring has the edge cases.

    Args:
        values: (N,) float64; infinity allowed, NaN not (InputError).
        scenes: scene id of each value, or its place among the sorted ids.
        generator: source of the resamples.
        two_levels: whether episodes are resampled within the scenes, too.
    """
    values = np.asarray(values, np.float64)
    if values.size == 0 or len(scenes) != values.size:
        raise InputError(
            f"expected at least one episode and one scene per value, "
            f"got {values.size} values and {len(scenes)} scenes"
        )
    if np.isnan(values).any():
        raise InputError(f"expected numbers for a mean, got NaN in row {int(np.argmax(np.isnan(values)))}")
    finite = np.isfinite(values)
    n, infinite = values.size, int(values.size - finite.sum())
    if infinite == n:
        return Estimate(float(values[0]), None, None, n, infinite)
    kept = values[finite]
    mean = math.fsum(kept) / kept.size
    if kept.size == 1:
        return Estimate(mean, None, None, n, infinite)
    _, labels = np.unique(np.asarray(scenes)[finite], return_inverse=True)
    by_scene = labels.max() + 1 >= MIN_SCENES
    clusters = labels if by_scene else np.arange(kept.size)
    low, high = bootstrap_interval(kept, clusters, generator, two_levels=two_levels and bool(by_scene))
    method = OVER_EPISODES if not by_scene else OVER_BOTH if two_levels else OVER_SCENES
    return Estimate(mean, low, high, n, infinite, method)


def estimate_weighted(
    values: Float[np.ndarray, "n"],
    weights: Float[np.ndarray, "n"],
    scenes: Sequence[str],
    generator: np.random.Generator,
) -> Estimate:
    """Mean of the parts of episodes, such as sub-tasks, pooled: each value stands for as many as its weight.

    The interval resamples whole scenes, or episodes where there are fewer than MIN_SCENES. n counts
    parts.

    Args:
        values: (N,) float64, finite: the mean over the parts of each episode.
        weights: (N,) float64, how many parts it has; episodes with 0 say nothing.
        scenes: scene id of each episode.
        generator: source of the resamples.

    Raises InputError where no episode has a part, and for values that are not finite.
    """
    kept = np.asarray(weights) > 0
    if len(scenes) != kept.size or not kept.any():
        raise InputError(f"expected at least one weight above 0 and a scene for each, got {int(kept.sum())}")
    counts = np.asarray(weights, np.float64)[kept]
    sums = np.asarray(values, np.float64)[kept] * counts
    if not np.isfinite(sums).all():
        raise InputError("expected finite values to pool, got NaN or infinity; leave those out")
    n = round(float(counts.sum()))
    mean = math.fsum(sums) / math.fsum(counts)
    if counts.size == 1:
        return Estimate(mean, None, None, n)
    _, labels = np.unique(np.asarray(scenes)[kept], return_inverse=True)
    by_scene = bool(labels.max() + 1 >= MIN_SCENES)
    clusters = labels if by_scene else np.arange(counts.size)
    totals, sizes = np.bincount(clusters, sums), np.bincount(clusters, counts)
    means = np.zeros(RESAMPLES)
    chunk = max(1, _DRAWS_AT_ONCE // len(totals))
    for first in range(0, RESAMPLES, chunk):
        last = min(first + chunk, RESAMPLES)
        drawn = generator.integers(0, len(totals), (last - first, len(totals)))
        means[first:last] = totals[drawn].sum(1) / sizes[drawn].sum(1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Estimate(mean, float(low), float(high), n, 0, OVER_SCENES if by_scene else OVER_EPISODES)


def subtract_estimates(first: Estimate, second: Estimate) -> Estimate:
    """First minus second of two independent samples, with the interval that follows from theirs.

    Each side of the interval adds the distances of the two means from their own bounds in squares (the
    "square-and-add" of Newcombe 1998, method 10, and Zou and Donner 2008). n is the lesser of the two; no
    interval where either has none.
    """
    mean, n = first.mean - second.mean, min(first.n, second.n)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Estimate(mean, None, None, n)
    low = mean - math.hypot(first.mean - first.low, second.high - second.mean)
    high = mean + math.hypot(first.high - first.mean, second.mean - second.low)
    return Estimate(mean, low, high, n, 0, SQUARE_AND_ADD)


def estimate_relative_drop(
    clean: Float[np.ndarray, "m n"],
    noisy: Float[np.ndarray, "m n"],
    weights: Float[np.ndarray, "m n"],
    scenes: list[str],
    generator: np.random.Generator,
) -> Estimate | None:
    """The mean relative drop over M kinds, with a bootstrap interval of both runs on the same N episodes.

    Scenes are resampled, or episodes where there are fewer than MIN_SCENES. No interval where a resample
    leaves nothing to lose in one of the kinds; None where the clean run has nothing to lose. n counts
    parts.

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
    _, labels = np.unique(np.asarray(scenes), return_inverse=True)
    by_scene = bool(labels.max() + 1 >= MIN_SCENES)
    clusters = labels if by_scene else np.arange(len(scenes))
    count = int(clusters.max()) + 1
    before = np.stack([np.bincount(clusters, row, count) for row in weights * clean])
    after = np.stack([np.bincount(clusters, row, count) for row in weights * noisy])
    if not (before.sum(1) > 0).all():
        return None
    mean = float((1 - after.sum(1) / before.sum(1)).mean())
    n = round(float(np.sum(weights)))
    drawn = generator.integers(0, count, (RESAMPLES, count))
    first, second = before[:, drawn].sum(-1), after[:, drawn].sum(-1)
    if count == 1 or not (first > 0).all():
        return Estimate(mean, None, None, n)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile((1 - second / first).mean(0), [tail, 1 - tail])
    return Estimate(mean, float(low), float(high), n, 0, OVER_SCENES if by_scene else OVER_EPISODES)
