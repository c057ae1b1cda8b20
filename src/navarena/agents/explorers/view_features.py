"""Features of views: a few numbers by which a place is recognised, without learning."""

import math

import numpy as np
from jaxtyping import Float32, Real, UInt8

BLOCKS = 8
"""Blocks along each side of an image whose means are its feature."""


def describe_view(
    rgb: UInt8[np.ndarray, "h w 3"], depth: Float32[np.ndarray, "h w"]
) -> Float32[np.ndarray, "d"]:
    """(D,) of length 1: the means of BLOCKS x BLOCKS parts of an image and of its depths, each less its mean.

    Unknown depths count as 0.
    """
    parts = []
    known = np.nan_to_num(depth, nan=0.0, posinf=0.0, neginf=0.0)
    for image in (rgb, known[..., None]):
        means = _block_means(image)
        vector = (means - means.mean((0, 1))).reshape(-1)
        parts.append(vector / max(float(np.linalg.norm(vector)), 1e-6))
    return np.asarray(np.concatenate(parts) / math.sqrt(2), np.float32)


def _block_means(image: Real[np.ndarray, "h w c"]) -> Float32[np.ndarray, "b b c"]:
    """(BLOCKS, BLOCKS, C) means of the parts of an image, each read at 4 x 4 pixels."""
    height, width = image.shape[:2]
    rows, columns = ((np.arange(4 * BLOCKS) + 0.5) * side // (4 * BLOCKS) for side in (height, width))
    chosen = image[rows.astype(int)[:, None], columns.astype(int)]
    return np.asarray(chosen.reshape(BLOCKS, 4, BLOCKS, 4, -1).mean((1, 3)), np.float32)
