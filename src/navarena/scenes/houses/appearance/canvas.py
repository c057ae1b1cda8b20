"""Integer images and seamless noise, from which texture tiles are drawn alike on every machine."""

import numpy as np
from jaxtyping import Int

SIZE_PX = 128

LEVELS = 1024
"""Noise values lie in [0, LEVELS)."""

Image = np.ndarray
"""(SIZE_PX, SIZE_PX, 3) int64, sRGB."""

Mask = np.ndarray
"""(SIZE_PX, SIZE_PX) bool."""

Color = tuple[int, int, int]


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


def grid() -> tuple[np.ndarray, np.ndarray]:
    """(x, y) pixel coordinates, y downwards."""
    y, x = np.mgrid[0:SIZE_PX, 0:SIZE_PX]
    return x, y


def filled(color: Color) -> Image:
    """A tile of one colour."""
    return np.tile(np.array(color, np.int64), (SIZE_PX, SIZE_PX, 1))


def paint(image: Image, mask: Mask, color: Color) -> None:
    """Colour the pixels of `mask`."""
    image[mask] = color


def disc(x0: int, y0: int, radius: int) -> Mask:
    """The pixels nearer to (x0, y0) than `radius`."""
    x, y = grid()
    return np.asarray((x - x0) ** 2 + (y - y0) ** 2 < radius * radius)


def sky(top: Color, horizon: Color, rows: int) -> Image:
    """A vertical gradient from `top` to `horizon` over `rows` pixels."""
    y = np.minimum(grid()[1], rows)[:, :, None]
    return (np.array(top) * (rows - y) + np.array(horizon) * y) // rows


def ridge(base: int, swing: int, salt: int, cells: int) -> Mask:
    """Everything below a hilly line."""
    _, y = grid()
    line = base - smooth_noise(SIZE_PX, cells, 1, salt)[:1] * swing // LEVELS
    return np.asarray(y > line)


def textured(image: Image, strength: int, salt: int) -> Image:
    """The image, a little uneven."""
    return image + (layered_noise(SIZE_PX, 16, 16, 3, salt)[:, :, None] - LEVELS // 2) * strength // LEVELS
