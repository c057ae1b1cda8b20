"""Seamless noise from integers alone, so that every machine draws the same tiles."""

import numpy as np
from jaxtyping import Int

LEVELS = 1024
"""Noise values lie in [0, LEVELS)."""


def hashed(x: Int[np.ndarray, "..."], y: Int[np.ndarray, "..."], salt: int) -> Int[np.ndarray, "..."]:
    """(...) int64, scrambled integers in [0, LEVELS), for lattice points (x, y)."""
    value = (
        x.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        ^ y.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
        ^ np.uint64(salt * 0x165667B19E3779F9 % 2**64)
    )
    value ^= value >> np.uint64(29)
    value *= np.uint64(0xBF58476D1CE4E5B9)
    value ^= value >> np.uint64(32)
    return (value % np.uint64(LEVELS)).astype(np.int64)


def grain(size: int, salt: int) -> Int[np.ndarray, "n n"]:
    """Independent noise per pixel, (size, size)."""
    y, x = np.mgrid[0:size, 0:size]
    return hashed(x, y, salt)


def smooth_noise(size: int, cells_x: int, cells_y: int, salt: int) -> Int[np.ndarray, "n n"]:
    """Value noise on a wrapping lattice of `cells_x` by `cells_y`, (size, size) in [0, LEVELS).

    Both counts must divide `size` (a power of two). Blending is in fixed point.
    """
    step_x, step_y = size // cells_x, size // cells_y
    y, x = np.mgrid[0:size, 0:size]
    left, top = x // step_x, y // step_y
    right, bottom = (left + 1) % cells_x, (top + 1) % cells_y
    u, v = _eased(x % step_x, step_x), _eased(y % step_y, step_y)
    upper = hashed(left, top, salt) * (LEVELS - u) + hashed(right, top, salt) * u
    lower = hashed(left, bottom, salt) * (LEVELS - u) + hashed(right, bottom, salt) * u
    return (upper * (LEVELS - v) + lower * v) // (LEVELS * LEVELS)


def _eased(offset: Int[np.ndarray, "..."], step: int) -> Int[np.ndarray, "..."]:
    """3 t^2 - 2 t^3 of t = offset / step, in [0, LEVELS]."""
    return offset * offset * (3 * step - 2 * offset) * LEVELS // (step * step * step)


def layered_noise(size: int, cells_x: int, cells_y: int, octaves: int, salt: int) -> Int[np.ndarray, "n n"]:
    """(size, size) int64 in [0, LEVELS): octaves of smooth noise, each twice as fine and half as strong."""
    total = np.zeros((size, size), np.int64)
    weights = 0
    for k in range(octaves):
        weight = 1 << (octaves - 1 - k)
        total += weight * smooth_noise(size, min(size, cells_x << k), min(size, cells_y << k), salt + 31 * k)
        weights += weight
    return total // weights
