"""Means over many episodes with confidence intervals.

A rate (a metric of zeros and ones) gets Wilson's interval. Any other mean gets a percentile bootstrap over
whole scenes, because episodes in one scene resemble each other, or over episodes where there are fewer than
MIN_SCENES scenes; the method says which.

A percentile bootstrap is too narrow where few units (scenes or episodes) are drawn (Hesterberg 2015, "What
Teachers Should Know About the Bootstrap"): over n normal values it covers the mean as often as a t variable
with n - 1 degrees of freedom lies within z sqrt((n - 1) / n), which is 85 % for 5, 90 % for 10 and 94 % for
30. With fewer than MIN_UNITS units:

* a score in [0, 1] of fewer than MIN_UNITS values gets Wilson's interval, too, with its mean for the rate: no
  variable in [0, 1] with the mean m has a variance above m (1 - m) (Bhatia and Davis 2000). A t interval
  knows nothing of failures that did not happen: over 10 values of which one in ten is 0 and the others are
  close to 1, it covers the mean in 66 % of samples, Wilson's in 99 %;
* everything else gets Student's t over the units, cut to the range of possible values; over scenes with the
  cluster-robust variance of a ratio and one degree of freedom less than scenes (Cochran 1977, section 6.13;
  Cameron and Miller 2015).

Degenerate cases:

* no value: InputError; one value of an unbounded metric: no interval;
* infinite values (the goal cannot be reached): left out of the mean and counted apart; a mean of nothing but
  infinities is infinite, without interval;
* units without any spread in a metric from a to b: at most a share u of all episodes, the upper end of
  Wilson's interval of 0 in n, is otherwise: (1 - u) mean + u a to (1 - u) mean + u b, if a and b are finite.
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
"""Below, episodes are the units instead of scenes."""

MIN_UNITS = 30
"""Below, a percentile bootstrap is too narrow."""

DRAWS_AT_ONCE = 2_000_000

WILSON = "Wilson"
OVER_SCENES = "bootstrap over scenes"
OVER_EPISODES = "bootstrap over episodes"
OVER_BOTH = "bootstrap over scenes and episodes"
T_OVER_SCENES = "t over scenes"
T_OVER_EPISODES = "t over episodes"
ALL_EQUAL = "Wilson, all values equal"
SQUARE_AND_ADD = "square-and-add of two intervals"
NO_INTERVAL = "none"
TOO_FEW = "none: n too small"
NO_SPREAD = "none: all values equal"

UNBOUNDED = (-math.inf, math.inf)
ROUNDING = 1e-12


@dataclass(frozen=True)
class Estimate:
    """A mean with its sample size and interval.

    Attributes:
        mean: over the finite values; infinite when there are none.
        low, high: the interval at CONFIDENCE; None when it cannot be known.
        n: how many values were given, infinite ones included.
        infinite: how many of them are infinite.
        method: how the interval was made, such as WILSON or OVER_SCENES, or why there is none.
    """

    mean: float
    low: float | None
    high: float | None
    n: int
    infinite: int = 0
    method: str = NO_INTERVAL


def why_missing(method: str) -> str:
    """Reason why a mean has no interval, from the method of its Estimate; empty if unknown."""
    return method.removeprefix("none: ") if method in (TOO_FEW, NO_SPREAD) else ""


def wilson_interval(successes: float, n: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval of a rate (Wilson 1927), within [0, 1].

    For the mean of n scores in [0, 1] instead of a rate, `successes` is their sum.

    Raises InputError unless n >= 1 and 0 <= successes <= n, and for another confidence than one in (0, 1).
    """
    _require_confidence(confidence)
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


def _require_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise InputError(f"expected a confidence above 0 and below 1, such as 0.95, got {confidence}")


def require_resamples(resamples: int) -> None:
    """Raise InputError for a number of resamples below 1."""
    if resamples < 1:
        raise InputError(f"expected at least one resample, got {resamples}; {RESAMPLES} are usual")


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

    Raises InputError for no values, values that are not finite, labels of another length, no resamples, or a
    confidence out of (0, 1).
    """
    _require_confidence(confidence)
    require_resamples(resamples)
    values = np.asarray(values, np.float64)
    if values.size == 0 or values.shape != np.shape(clusters):
        raise InputError(
            f"expected at least one value and one cluster label per value, "
            f"got {values.shape} values and {np.shape(clusters)} labels"
        )
    if not np.isfinite(values).all():
        raise InputError("expected finite values for a bootstrap, got NaN or infinity; leave those out")
    if np.ptp(values) == 0.0:
        return float(values[0]), float(values[0])
    _, index = np.unique(clusters, return_inverse=True)
    counts = np.bincount(index).astype(np.float64)
    if not two_levels:
        means = _resample(np.bincount(index, values), counts, generator, resamples)
        return percentile_interval(means, confidence)
    means = np.zeros(resamples)
    ordered = values[np.argsort(index, kind="stable")]
    offsets = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    chunk = max(1, DRAWS_AT_ONCE // values.size)
    for first in range(0, resamples, chunk):
        last = min(first + chunk, resamples)
        drawn = generator.integers(0, len(counts), (last - first, len(counts)))
        within = _redraw_within(ordered, offsets, counts, drawn, generator)
        means[first:last] = within / counts[drawn].sum(1)
    return percentile_interval(means, confidence)


def _redraw_within(
    ordered: Float[np.ndarray, "n"],
    offsets: Int[np.ndarray, "c"],
    counts: Float[np.ndarray, "c"],
    drawn: Int[np.ndarray, "r c"],
    generator: np.random.Generator,
) -> Float[np.ndarray, "r"]:
    """(R,) sums of values resampled with replacement within each of the `drawn` clusters.

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
    bounds: tuple[float, float] = UNBOUNDED,
) -> Estimate:
    """Mean of (N,) values with its interval; the module's docstring has the methods and the edge cases.

    Args:
        values: (N,) float64; infinity allowed, NaN not (InputError).
        scenes: scene id of each value, or its place among the sorted ids.
        generator: source of the resamples.
        two_levels: whether a bootstrap over scenes resamples episodes within them, too.
        bounds: least and greatest possible value. Ends that the values pass do not count.
    """
    values = np.asarray(values, np.float64)
    if values.size == 0 or values.shape != (len(scenes),):
        raise InputError(
            f"expected at least one episode and one scene per value, "
            f"got values of shape {values.shape} and {len(scenes)} scenes"
        )
    if np.isnan(values).any():
        raise InputError(f"expected numbers for a mean, got NaN in row {int(np.argmax(np.isnan(values)))}")
    finite = np.isfinite(values)
    n, infinite = values.size, int(values.size - finite.sum())
    if infinite == n:
        return Estimate(float(values[0]), None, None, n, infinite)
    kept = values[finite]
    places = np.asarray(scenes)[finite]
    found = _find_interval(kept, np.ones(kept.size), places, generator, two_levels, bounds)
    return Estimate(math.fsum(kept) / kept.size, *found[:2], n, infinite, found[2])


def estimate_weighted(
    values: Float[np.ndarray, "n"],
    weights: Float[np.ndarray, "n"],
    scenes: Sequence[str],
    generator: np.random.Generator,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """Weighted mean score over parts of episodes, such as sub-tasks.

    The interval is that of estimate_mean, with the effective number of episodes (sum of the weights, squared,
    over the sum of their squares; Kish 1965) in Wilson's. n counts parts.

    Args:
        values: (N,) float64 within `bounds`: the mean over the parts of each episode.
        weights: (N,) float64, how many parts it has; episodes with 0 say nothing.
        scenes: scene id of each episode.
        generator: source of the resamples.
        bounds: least and greatest value.

    Raises InputError where no episode has a part, for weights below 0, and for what is not finite.
    """
    kept = (every := np.asarray(weights, np.float64)) > 0
    if np.shape(values) != kept.shape or kept.shape != (len(scenes),) or not kept.any():
        raise InputError(
            f"expected at least one weight above 0, and a value and a scene for each, got {int(kept.sum())} "
            f"above 0 in weights of shape {kept.shape}, values of shape {np.shape(values)} and "
            f"{len(scenes)} scenes"
        )
    counts, scores = every[kept], np.asarray(values, np.float64)[kept]
    if not (np.isfinite(scores).all() and np.isfinite(every).all() and every.min() >= 0):
        raise InputError("expected finite values to pool, weights of at least 0, got others; leave them out")
    mean = math.fsum(scores * counts) / math.fsum(counts)
    found = _find_interval(scores, counts, np.asarray(scenes)[kept], generator, False, bounds)
    return Estimate(mean, *found[:2], round(float(counts.sum())), 0, found[2])


def _find_interval(
    values: Float[np.ndarray, "n"],
    weights: Float[np.ndarray, "n"],
    scenes: np.ndarray,
    generator: np.random.Generator,
    two_levels: bool,
    bounds: tuple[float, float],
) -> tuple[float | None, float | None, str]:
    """Low, high and method of the interval of a weighted mean of finite values, weights above 0."""
    least = bounds[0] if values.min() >= bounds[0] else -math.inf
    most = bounds[1] if values.max() <= bounds[1] else math.inf
    mean = float(values @ weights / weights.sum())
    size = float(weights.sum() ** 2 / (weights @ weights))
    if (least, most) == (0.0, 1.0) and values.size < MIN_UNITS and np.ptp(values) > 0.0:
        return *wilson_interval(min(mean, 1.0) * size, size), WILSON
    clusters, by_scene = make_units(scenes)
    sums, sizes = np.bincount(clusters, values * weights), np.bincount(clusters, weights)
    if len(sums) == 1 and most - least == math.inf:
        return None, None, TOO_FEW
    if len(sums) < MIN_UNITS:
        half = _half_width(sums, sizes)
        low, high = max(least, mean - half), min(most, mean + half)
        method = T_OVER_SCENES if by_scene else T_OVER_EPISODES
    elif two_levels and by_scene:
        low, high = bootstrap_interval(values, clusters, generator, two_levels=True)
        method = OVER_BOTH
    else:
        low, high = percentile_interval(_resample(sums, sizes, generator, RESAMPLES), CONFIDENCE)
        method = OVER_SCENES if by_scene else OVER_EPISODES
    if high - low > ROUNDING * max(1.0, abs(mean)):
        return low, high, method
    if most - least == math.inf:
        return None, None, NO_SPREAD
    _, unseen = wilson_interval(0, size)
    return mean - unseen * (mean - least), mean + unseen * (most - mean), ALL_EQUAL


def make_units(scenes: Sequence[str] | np.ndarray) -> tuple[Int[np.ndarray, "n"], bool]:
    """(N,) numbers of the resampling units of N episodes, and whether units are scenes."""
    _, labels = np.unique(np.asarray(scenes), return_inverse=True)
    if labels.max() + 1 >= MIN_SCENES:
        return labels, True
    return np.arange(len(scenes)), False


def _half_width(sums: Float[np.ndarray, "u"], sizes: Float[np.ndarray, "u"]) -> float:
    """Half of Student's t interval of sum(sums) / sum(sizes) over (U,) units; 0 for one unit."""
    from scipy.special import stdtrit

    units, whole = len(sums), float(sizes.sum())
    if units == 1:
        return 0.0
    rests = sums - float(sums.sum()) / whole * sizes
    error = math.sqrt(units / (units - 1) * float(rests @ rests)) / whole
    return float(stdtrit(units - 1, 0.5 + CONFIDENCE / 2)) * error


def _resample(
    sums: Float[np.ndarray, "u"],
    sizes: Float[np.ndarray, "u"],
    generator: np.random.Generator,
    resamples: int,
) -> Float[np.ndarray, "r"]:
    """(R,) bootstrap means over the units, drawn with replacement."""
    means = np.zeros(resamples)
    chunk = max(1, DRAWS_AT_ONCE // len(sums))
    for first in range(0, resamples, chunk):
        last = min(first + chunk, resamples)
        drawn = generator.integers(0, len(sums), (last - first, len(sums)))
        means[first:last] = sums[drawn].sum(1) / sizes[drawn].sum(1)
    return means


def percentile_interval(means: Float[np.ndarray, "r"], confidence: float) -> tuple[float, float]:
    """The ends between which the middle share `confidence` of resampled `means` (R,) lies."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


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
