"""What share of a score is lost under noise, averaged over kinds of goals (GOAT-Bench, section 7.4).

For each kind, such as goals told by category, the drop is (clean - noisy) / clean of the pooled means; the
number is the mean of the drops of the kinds.
"""

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError
from navarena.metrics.statistics import (
    CONFIDENCE,
    MIN_SCENES,
    OVER_EPISODES,
    OVER_SCENES,
    RESAMPLES,
    Estimate,
)


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
