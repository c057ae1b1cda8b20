"""Statistics of several runs: training seeds of one method, and repetitions with one agent.

Training seeds follow the protocol of Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the
Statistical Precipice", with scenes in the place of that paper's tasks. Scores form a matrix (K, S): seed by
scene, each the mean of a run over the episodes of a scene.

Means and differences of methods with MIN_SEEDS seeds or more are resampled over seeds and scenes at once, so
that they hold for the method and not for its checkpoints alone. A bootstrap over K seeds has (K - 1) / K of
the variance of their mean, which is much too little for three; the drawn shares of seeds, and of scenes,
therefore depart from equal ones by sqrt(K / (K - 1)) times as much (Rao and Wu 1988, "Resampling Inference
With Complex Survey Data").

Repetitions of the same N episodes, K times, split the variance of a mean into that of the episodes and that
of the agent's random choices. Values are modelled as x_kn = mean + episode_n + agent_kn; the two variances
are estimated by one-way analysis of variance with random effects:

    agent    mean over episodes of the sample variance within an episode
    episode  (sample variance of the episodes' means) - agent / K, at least 0
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError
from navarena.metrics.statistics import (
    CONFIDENCE,
    DRAWS_AT_ONCE,
    MIN_UNITS,
    NO_SPREAD,
    RESAMPLES,
    ROUNDING,
    TOO_FEW,
    Estimate,
    estimate_weighted,
    percentile_interval,
    require_resamples,
)

OVER_SEEDS = "bootstrap over seeds, within scenes"
MIN_SEEDS = 3
"""Two drawn from two repeat one of them half of the time: their interval is far too narrow."""

SEEDS_AND_SCENES = "bootstrap over seeds and scenes"

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

    No interval for fewer than MIN_SEEDS seeds or MIN_UNITS scores, and where no seed differs from another. n
    counts scores. Raises InputError for no scores or resamples, and for scores that are not finite.
    """
    require_resamples(resamples)
    scores = np.asarray(scores, np.float64)
    _require_scores(scores)
    seeds, scenes = scores.shape
    mean = interquartile_mean(scores)
    if seeds < MIN_SEEDS or scores.size < MIN_UNITS:
        return Estimate(mean, None, None, scores.size, 0, TOO_FEW)
    if not np.ptp(scores, axis=0).any():
        return Estimate(mean, None, None, scores.size, 0, NO_SPREAD)
    cut = int(TRIMMED * scores.size)
    means = np.zeros(resamples)
    chunk = max(1, DRAWS_AT_ONCE // scores.size)
    for first in range(0, resamples, chunk):
        last = min(first + chunk, resamples)
        drawn = generator.integers(0, seeds, (last - first, seeds, scenes))
        drawn_scores = np.sort(scores[drawn, np.arange(scenes)].reshape(last - first, -1), axis=1)
        means[first:last] = drawn_scores[:, cut : scores.size - cut].mean(1)
    low, high = percentile_interval(means, CONFIDENCE)
    return Estimate(mean, low, high, scores.size, 0, OVER_SEEDS)


def estimate_over_seeds(
    methods: Sequence[tuple[float, Float[np.ndarray, "k n"]]],
    scenes: Sequence[str] | Int[np.ndarray, "n"],
    generator: np.random.Generator,
    bounds: tuple[float, float],
    resamples: int = RESAMPLES,
    weights: Float[np.ndarray, "n"] | None = None,
) -> Estimate | None:
    """Weighted sum of methods' means over their seeds and N episodes, resampled over seeds and scenes.

    None where a method has fewer than MIN_SEEDS seeds, where there are fewer than MIN_UNITS scenes, for
    values that are not finite, and where none differs: see estimate_mean for those.

    Args:
        methods: for each its weight, such as -1 and 1 for a difference, and its (K, N) values.
        scenes: scene of each episode, a label.
        generator: source of the draws.
        bounds: least and greatest possible value of the sum, to which the interval is cut.
        resamples: how many.
        weights: (N,) above 0, of the episodes in each mean; equal ones by default.
    """
    labels = np.unique(np.asarray(scenes), return_inverse=True)[1]
    counts = np.ones(len(labels)) if weights is None else np.asarray(weights, np.float64)
    units = int(labels.max()) + 1
    known = all(len(values) >= MIN_SEEDS and np.isfinite(values).all() for _, values in methods)
    if not known or units < MIN_UNITS:
        return None
    sizes = np.bincount(labels, counts)
    shares = _draw_shares(units, generator, resamples)
    means, mean = np.zeros(resamples), 0.0
    for weight, values in methods:
        sums = np.stack([np.bincount(labels, one * counts) for one in np.asarray(values, np.float64)], 1)
        of_seeds = (shares @ sums) / (shares @ sizes)[:, None]
        means += weight * (_draw_shares(len(values), generator, resamples) * of_seeds).sum(1)
        mean += weight * float(np.average(np.mean(values, axis=0), weights=counts))
    low, high = np.clip(np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]), *bounds)
    if high - low <= ROUNDING:
        return None
    return Estimate(mean, float(low), float(high), len(labels), 0, SEEDS_AND_SCENES)


def estimate_weighted_seeds(
    values: Float[np.ndarray, "k n"],
    weights: Float[np.ndarray, "n"],
    scenes: Sequence[str],
    generator: np.random.Generator,
) -> Estimate:
    """Weighted mean score of a method over its K seeds and the parts of N episodes, such as sub-tasks.

    As estimate_weighted, of each episode's mean over the seeds, with an interval over the seeds, too, where
    estimate_over_seeds has one. n counts parts.

    Args:
        values: (K, N) float64 within 0 to 1: the mean over the parts of each episode, by seed.
        weights: (N,) float64, how many parts it has; episodes with 0 say nothing.
        scenes: scene id of each episode.
        generator: source of the resamples.

    Raises InputError as estimate_weighted does.
    """
    kept = np.asarray(weights) > 0
    chosen = [scene for scene, keep in zip(scenes, kept, strict=True) if keep]
    found = None
    if len(values) >= MIN_SEEDS and kept.any():
        found = estimate_over_seeds(
            [(1.0, values[:, kept])], chosen, generator, (0.0, 1.0), weights=np.asarray(weights)[kept]
        )
    if found is None:
        return estimate_weighted(np.mean(values, axis=0), weights, scenes, generator)
    return replace(found, n=round(float(np.sum(weights))))


def _draw_shares(
    units: int, generator: np.random.Generator, resamples: int
) -> Float[np.ndarray, "resamples units"]:
    """(resamples, units) shares of a bootstrap over units, departing from equal ones as the module says."""
    counts = generator.multinomial(units, np.full(units, 1 / units), resamples)
    return (1 + math.sqrt(units / (units - 1)) * (counts - 1)) / units


def performance_profile(
    scores: Float[np.ndarray, "k s"], thresholds: Float[np.ndarray, "t"]
) -> Float[np.ndarray, "t"]:
    """(T,) share of all scores that are above each threshold, strictly."""
    ordered = np.sort(np.asarray(scores, np.float64), axis=None)
    _require_scores(ordered)
    return 1.0 - np.searchsorted(ordered, np.asarray(thresholds), side="right") / ordered.size


def probability_of_improvement(first: Float[np.ndarray, "k s"], second: Float[np.ndarray, "l t"]) -> float:
    """Probability that a seed of the second method beats one of the first in a scene, averaged over scenes.

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


@dataclass(frozen=True)
class VarianceSplit:
    """Variance between and within episodes, and their share in the error of a mean.

    Attributes:
        mean: over everything.
        episode: variance between episodes.
        agent: variance between repetitions of one episode.
        standard_error: of the mean over these N episodes and K repetitions.
        single_error: of a mean over N episodes run once.
        spread: sample standard deviation of the K means: what a reader of K single runs sees.
        n, repeats: N and K.
    """

    mean: float
    episode: float
    agent: float
    standard_error: float
    single_error: float
    spread: float
    n: int
    repeats: int

    @property
    def agent_share(self) -> float | None:
        """Share of an episode's variance that is the agent's, in [0, 1]; None without any variance."""
        total = self.agent + self.episode
        return self.agent / total if total > 0.0 else None


def split_variance(values: Float[np.ndarray, "k n"]) -> VarianceSplit:
    """Split the variance of (K, N) values: K repetitions of N episodes, K and N at least 2.

    Raises InputError for fewer, and for values that are not finite.
    """
    values = require_repetitions(values)
    repeats, n = values.shape
    agent = float(values.var(0, ddof=1).mean())
    episode = max(0.0, float(values.mean(0).var(ddof=1)) - agent / repeats)
    return VarianceSplit(
        mean=float(values.mean()),
        episode=episode,
        agent=agent,
        standard_error=math.sqrt(episode / n + agent / (n * repeats)),
        single_error=math.sqrt((episode + agent) / n),
        spread=float(values.mean(1).std(ddof=1)),
        n=n,
        repeats=repeats,
    )


def require_repetitions(values: Float[np.ndarray, "k n"]) -> Float[np.ndarray, "k n"]:
    """(K, N) float64 `values`: K repetitions of N episodes, both at least 2, all finite; else InputError."""
    values = np.asarray(values, np.float64)
    if values.ndim != 2 or min(values.shape) < 2:
        raise InputError(f"expected at least 2 repetitions of 2 episodes, got values of shape {values.shape}")
    if not np.isfinite(values).all():
        raise InputError("expected finite values, got infinity or NaN; leave those episodes out")
    return values
