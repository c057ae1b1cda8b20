"""Paths of straight pieces."""

import math

import numpy as np
from jaxtyping import Float


def resample(path: Float[np.ndarray, "k 3"], spacing: float) -> Float[np.ndarray, "n 3"]:
    """(N, 3) points at equal distances along a path of corners (K, 3), both ends included.

    Args:
        path: metres; a path of length 0 gives its one place once.
        spacing: metres, the most between two points.
    """
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    return divide(path, math.ceil(along[-1] / spacing) + 1)


def divide(path: Float[np.ndarray, "k 3"], count: int) -> Float[np.ndarray, "n 3"]:
    """(count, 3) points at equal distances along a path of corners (K, 3), metres, both ends included."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    at = np.linspace(0.0, along[-1], count)
    return np.stack([np.interp(at, along, path[:, axis]) for axis in range(3)], 1)
