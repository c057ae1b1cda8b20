"""Linear probes: how much of what images show can be read from features by one linear layer."""

import numpy as np
from jaxtyping import Bool, Float, UInt8

GRID = 4
"""Cells along a side of an image, in each of which histograms are taken."""

BINS = 8
"""Of each histogram."""


def describe_by_histograms(images: UInt8[np.ndarray, "n h w 3"]) -> Float[np.ndarray, "n d"]:
    """(N, D) float32 histograms: the baseline for probes of learned features.

    For each of GRID x GRID cells, shares of the pixels in BINS bins of red, green and blue, and of the
    directions of brightness gradients weighted by their length.

    Args:
        images: (N, H, W, 3) uint8.
    """
    values = images.astype(np.float32)
    down, across = np.gradient(values.mean(3), axis=(1, 2))
    length, direction = np.hypot(down, across), np.arctan2(down, across) % np.pi
    turned = np.minimum((direction * (BINS / np.pi)).astype(np.int64), BINS - 1)
    binned = (images.astype(np.int64) * BINS) >> 8
    count, height, width = length.shape
    rows, columns = (np.arange(side) * GRID // side for side in (height, width))
    cells = rows[:, None] * GRID + columns[None]
    owner = np.arange(count)[:, None, None] * GRID**2 + cells
    parts = []
    for bins, weight in [*((binned[..., k], None) for k in range(3)), (turned, length)]:
        index = (owner * BINS + bins).reshape(-1)
        flat = None if weight is None else weight.reshape(-1).astype(np.float64)
        counts = np.bincount(index, flat, minlength=count * GRID**2 * BINS).reshape(-1, BINS)
        parts.append((counts / np.maximum(counts.sum(1, keepdims=True), 1e-9)).reshape(count, -1))
    return np.concatenate(parts, 1).astype(np.float32)


def fit_probe(
    features: Float[np.ndarray, "n d"], present: Bool[np.ndarray, "n c"], penalty: float = 0.1
) -> Float[np.ndarray, "d1 c"]:
    """(D + 1, C) float64 weights of ridge regression to +1 and -1; the last row is added.

    Args:
        features: (N, D), brought to mean 0 and deviation 1 first.
        present: (N, C) bool, the labels to predict.
        penalty: of the squared weights, for each of the N rows.
    """
    mean, deviation = features.mean(0, dtype=np.float64), features.std(0, dtype=np.float64) + 1e-6
    scaled = (features - mean) / deviation
    wanted = np.where(present, 1.0, -1.0)
    middle = wanted.mean(0)
    gram = scaled.T @ scaled
    gram[np.diag_indices_from(gram)] += penalty * len(scaled)
    slopes = np.linalg.solve(gram, scaled.T @ (wanted - middle)) / deviation[:, None]
    return np.concatenate((slopes, (middle - mean @ slopes)[None]))


def score_probe(
    weights: Float[np.ndarray, "d1 c"], features: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, "n c"]:
    """(N, C) float64 values of `features` (N, D) by `weights` (D + 1, C) of `fit_probe`; more is likelier."""
    return features.astype(np.float64) @ weights[:-1] + weights[-1]


def average_precision(scores: Float[np.ndarray, "n"], present: Bool[np.ndarray, "n"]) -> float:
    """Mean over what is `present` (N,) bool of the precision down to it, by falling `scores` (N,).

    NaN where nothing is present. Equal scores keep their order.
    """
    if not present.any():
        return float("nan")
    found = present[np.argsort(-scores, kind="stable")]
    precision = np.cumsum(found) / np.arange(1, len(found) + 1)
    return float(precision[found].mean())
