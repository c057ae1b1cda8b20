"""A small integer canvas: what the picture tiles are painted with."""

import numpy as np

from navarena.scenes.houses.noise import LEVELS, layered_noise, smooth_noise

SIZE_PX = 128

Image = np.ndarray
"""(SIZE_PX, SIZE_PX, 3) int64, sRGB."""

Mask = np.ndarray
"""(SIZE_PX, SIZE_PX) bool."""

Color = tuple[int, int, int]


def grid() -> tuple[np.ndarray, np.ndarray]:
    """(x, y) pixel coordinates, y downwards."""
    y, x = np.mgrid[0:SIZE_PX, 0:SIZE_PX]
    return x, y


def filled(color: Color) -> Image:
    """One colour all over."""
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
