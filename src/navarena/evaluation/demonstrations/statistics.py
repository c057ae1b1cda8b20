"""Statistics of columns, of an episode and of many: as training normalises by them."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Shaped

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
"""Name -> share of the values that are not above it."""

SAMPLED_SIDE = 32
"""Rows and columns of pixels, about, that are looked at in each image."""

Summary = dict[str, list[float]]
"""min, max, mean, std, the quantiles: one number for each component; count: one number in all."""


def sample_pixels(image: Shaped[np.ndarray, "h w *c"]) -> Shaped[np.ndarray, "_ _ *c"]:
    """Every k-th pixel of `image` (H, W, ...), any dtype, both ways: a copy of about SAMPLED_SIDE squared."""
    step = max(1, min(image.shape[:2]) // SAMPLED_SIDE)
    return image[::step, ::step].copy()


def summarise(values: Shaped[np.ndarray, "n c"], frames: int) -> Summary:
    """Statistics of `values` (N, C), any numbers, over the first dimension; `frames` is their count."""
    numbers = values.astype(np.float64)
    found = {
        "min": numbers.min(0),
        "max": numbers.max(0),
        "mean": numbers.mean(0),
        "std": numbers.std(0),
        **dict(zip(QUANTILES, np.quantile(numbers, list(QUANTILES.values()), axis=0))),
    }
    return {name: one.tolist() for name, one in found.items()} | {"count": [float(frames)]}


def combine(parts: Sequence[Mapping[str, Sequence[float]]]) -> Summary:
    """Statistics of all values together; quantiles are means of those of the parts, weighted by frames.

    Args:
        parts: at least one summary, of equal components.
    """
    counts = np.array([one["count"][0] for one in parts])
    shares = (counts / counts.sum())[:, None]
    stacked = {name: np.array([one[name] for one in parts]) for name in parts[0] if name != "count"}
    mean = (shares * stacked["mean"]).sum(0)
    variance = (shares * (stacked["std"] ** 2 + (stacked["mean"] - mean) ** 2)).sum(0)
    found = {
        "min": stacked["min"].min(0),
        "max": stacked["max"].max(0),
        "mean": mean,
        "std": np.sqrt(variance),
        **{name: (shares * stacked[name]).sum(0) for name in QUANTILES},
    }
    return {name: one.tolist() for name, one in found.items()} | {"count": [float(counts.sum())]}
