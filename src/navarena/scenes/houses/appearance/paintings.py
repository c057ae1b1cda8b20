"""The paintings that hang on the walls. Drawn with integers only."""

from collections.abc import Callable, Mapping

import numpy as np

from navarena.scenes.houses.appearance.canvas import (
    SIZE_PX,
    Image,
    disc,
    filled,
    grid,
    paint,
    ridge,
    sky,
    textured,
)


def _art_hills() -> Image:
    """A landscape at sunset."""
    image = sky((92, 120, 168), (244, 196, 140), 80)
    paint(image, disc(88, 56, 12), (252, 232, 180))
    paint(image, ridge(86, 36, 221, 4), (112, 104, 140))
    paint(image, ridge(102, 30, 223, 8), (74, 92, 96))
    paint(image, ridge(118, 18, 225, 4), (58, 78, 58))
    return textured(image, 24, 227)


def _art_shapes() -> Image:
    """Flat shapes in warm colours."""
    image = filled((238, 228, 210))
    x, y = grid()
    paint(image, (x > 18) & (x < 66) & (y > 28) & (y < 104), (206, 106, 74))
    paint(image, disc(84, 48, 26), (226, 176, 84))
    paint(image, (x > 54) & (y > 78) & (x + y < 196) & (y < 112), (62, 98, 106))
    paint(image, np.abs(x - y // 2 - 30) < 2, (48, 44, 42))
    return textured(image, 14, 231)


def _art_circles() -> Image:
    """Rings in cool colours."""
    image = filled((30, 46, 72))
    for k, color in enumerate(
        ((70, 122, 150), (150, 190, 190), (232, 220, 180), (214, 128, 82), (120, 52, 60))
    ):
        paint(image, disc(64 + 3 * k, 66 - 4 * k, 54 - 10 * k), color)
    return textured(image, 16, 233)


def _art_bars() -> Image:
    """Upright bars, as in colour-field painting."""
    x, y = grid()
    palette = np.array([(216, 84, 66), (238, 190, 96), (90, 148, 140), (48, 66, 98), (232, 222, 204)])
    image = palette[(x * 7 // SIZE_PX * 3 + (y > 70 + x // 8)) % 5]
    return textured(image.astype(np.int64), 22, 237)


def _art_portrait() -> Image:
    """A head and shoulders before a dark ground."""
    image = filled((84, 74, 62))
    x, y = grid()
    paint(image, (x - 64) ** 2 + (y - 140) ** 2 * 1 < 52 * 52, (122, 44, 50))
    paint(image, (x - 64) ** 2 * 3 + (y - 56) ** 2 * 2 < 2 * 36 * 36, (58, 40, 32))
    paint(image, (x - 64) ** 2 * 3 + (y - 62) ** 2 * 2 < 2 * 30 * 30, (222, 180, 150))
    paint(image, (np.abs(x - 64) < 8) & (y > 84) & (y < 98), (208, 164, 136))
    return textured(image, 22, 239)


def _art_flower() -> Image:
    """A flower in a vase."""
    image = filled((206, 220, 214))
    x, y = grid()
    paint(image, y > 98, (170, 140, 108))
    paint(image, (np.abs(x - 64) < 2) & (y > 50) & (y < 92), (70, 110, 70))
    for dx, dy in ((0, -18), (17, -6), (11, 14), (-11, 14), (-17, -6)):
        paint(image, disc(64 + dx, 44 + dy, 12), (214, 92, 104))
    paint(image, disc(64, 44, 10), (244, 206, 96))
    paint(image, (np.abs(x - 64) < 13) & (y > 82) & (y < 112), (70, 104, 150))
    return textured(image, 14, 241)


def _art_sea() -> Image:
    """Waves and a sail."""
    x, y = grid()
    image = sky((150, 190, 214), (236, 226, 206), 70)
    paint(image, y > 68, (58, 110, 142))
    paint(image, (y > 74) & ((y + np.abs(x % 24 - 12) // 3) % 14 < 3), (150, 190, 204))
    paint(image, (y > 24) & (y < 72) & (x > 60) & (x < 60 + (y - 24) * 5 // 8), (246, 244, 236))
    paint(image, (y > 70) & (y < 78) & (x > 50) & (x < 98 - (y - 70)), (120, 62, 46))
    return textured(image, 18, 283)


def _art_moon() -> Image:
    """The moon over dark fir trees."""
    x, y = grid()
    image = sky((20, 28, 56), (70, 84, 120), 110)
    paint(image, disc(84, 36, 20), (244, 238, 214))
    paint(image, disc(76, 32, 18), (40, 50, 84))
    tree = np.abs(x % 26 - 13) * 4 < y - 60 - x // 26 * 5 % 17
    paint(image, tree | (y > 116), (18, 30, 34))
    return textured(image, 16, 285)


def _art_birds() -> Image:
    """Three birds on a wire before a pale ground."""
    x, y = grid()
    image = filled((226, 214, 190))
    paint(image, np.abs(y - 80 - (x - 64) * (x - 64) // 512) < 2, (60, 56, 52))
    for x0, color in ((30, (176, 70, 56)), (66, (56, 96, 120)), (98, (206, 152, 60))):
        paint(image, (x - x0) ** 2 * 2 + (y - 66) ** 2 < 170, color)
        paint(image, disc(x0 + 6, 50, 7), color)
        paint(image, (y > 64) & (y < 96) & (np.abs(x - x0 + (y - 64) // 3 + 2) < 3), color)
    return textured(image, 16, 287)


PAINTINGS: Mapping[str, Callable[[], Image]] = {
    "art_hills": _art_hills,
    "art_shapes": _art_shapes,
    "art_circles": _art_circles,
    "art_bars": _art_bars,
    "art_portrait": _art_portrait,
    "art_flower": _art_flower,
    "art_sea": _art_sea,
    "art_moon": _art_moon,
    "art_birds": _art_birds,
}
