"""Texture tiles that are images in their own colours: rugs, screens, dials, prints and views.

Each covers a face once. Row 0 is the top. Drawn with integers only.
"""

from collections.abc import Callable, Mapping

import numpy as np

from navarena.scenes.houses.appearance.canvas import (
    LEVELS,
    SIZE_PX,
    Image,
    disc,
    filled,
    grid,
    hashed,
    layered_noise,
    paint,
    sky,
    smooth_noise,
    textured,
)
from navarena.scenes.houses.appearance.paintings import PAINTINGS
from navarena.scenes.houses.appearance.window_views import WINDOW_VIEWS


def _border_distance() -> np.ndarray:
    x, y = grid()
    last = SIZE_PX - 1
    return np.minimum(np.minimum(x, last - x), np.minimum(y, last - y))


def _grey_rug(tones: np.ndarray, salt: int) -> Image:
    return textured(np.repeat(tones[:, :, None], 3, 2), 26, salt)


def _rug_border() -> Image:
    edge = _border_distance()
    return _grey_rug(np.where(edge < 5, 236, np.where(edge < 15, 150, np.where(edge < 18, 236, 214))), 251)


def _rug_medallion() -> Image:
    x, y = grid()
    edge = _border_distance()
    ring = np.abs(x - 64) + np.abs(y - 64)
    field = np.where(ring < 18, 240, np.where(ring < 34, 150, np.where(ring < 40, 236, 196)))
    dots = (edge > 4) & (edge < 14) & ((x + y) % 12 < 6)
    return _grey_rug(np.where(edge < 18, np.where(dots, 236, 140), field), 253)


def _rug_stripes() -> Image:
    x, y = grid()
    return _grey_rug(np.where((y // 8) % 4 == 0, 140, np.where((y // 8) % 2 == 0, 236, 200)) + 0 * x, 257)


def _screen() -> Image:
    """A dark screen with a faint reflection."""
    x, y = grid()
    return filled((34, 38, 46)) + ((x + y) * 26 // (2 * SIZE_PX))[:, :, None]


def _burner() -> Image:
    """Four rings on a glass hob."""
    image = filled((40, 40, 44))
    for x0, y0, radius in ((36, 36, 22), (92, 36, 16), (36, 92, 16), (92, 92, 22)):
        paint(image, disc(x0, y0, radius) & ~disc(x0, y0, radius - 3), (126, 66, 58))
    return image


def _books() -> Image:
    """Spines side by side, each its own colour and height."""
    x, y = grid()
    spine = x // 8
    reds, blues, pales = [(146, 52, 48), (196, 140, 66)], [(52, 78, 116), (70, 104, 78)], [(208, 190, 152)]
    palette = np.array([*reds, *blues, *pales, (88, 66, 98), (228, 222, 210), (60, 60, 66)])
    image = palette[hashed(spine, spine, 261) % len(palette)].astype(np.int64)
    image[x % 8 == 0] = image[x % 8 == 0] // 2
    top = hashed(spine, spine, 263) * 36 // LEVELS
    paint(image, y < top, (52, 42, 36))
    label = (y > top + 14) & (y < top + 22) & (x % 8 > 1) & (x % 8 < 7)
    image[label] = (image[label] + 235) // 2
    return image


def _clock() -> Image:
    """A white dial at ten past ten."""
    x, y = grid()
    image = filled((246, 244, 238))
    far = (x - 64) ** 2 + (y - 64) ** 2
    ticks = (np.abs(x - 64) < 3) | (np.abs(y - 64) < 3)
    paint(image, (far > 46 * 46) & (far < 56 * 56) & ticks, (50, 50, 50))
    hour = (np.abs((x - 64) * 4 - (y - 64) * 5) < 14) & (x < 65) & (y < 65) & (far < 30 * 30)
    minute = (np.abs((x - 64) * 4 + (y - 64) * 6) < 14) & (x > 63) & (y < 65) & (far < 44 * 44)
    paint(image, hour | minute | (far < 20), (40, 40, 40))
    return image


def _fire() -> Image:
    """Flames over dark logs."""
    x, y = grid()
    flicker = layered_noise(SIZE_PX, 8, 4, 3, 271)
    heat = y * 9 + flicker // 2 - np.abs(x - 64) * 9
    image = filled((36, 28, 26))
    for level, color in (
        (420, (122, 44, 26)),
        (560, (214, 92, 34)),
        (720, (246, 168, 62)),
        (900, (254, 228, 140)),
    ):
        paint(image, heat > level, color)
    paint(image, (y > 108) & ((x + y // 4) % 40 > 6), (58, 40, 32))
    return image


def _basketball() -> Image:
    """Seams on pebbled leather, as seen from each side."""
    x, y = grid()
    seam = (np.abs(x - 64) < 2) | (np.abs(y - 64) < 2)
    for x0 in (-24, 152):
        far = (x - x0) ** 2 + (y - 64) ** 2
        seam |= (far > 55 * 55) & (far < 59 * 59)
    return textured(np.where(seam, 60, 236)[:, :, None] + np.zeros(3, np.int64), 30, 291)


def _globe() -> Image:
    """Seas, land and a few meridians."""
    x, y = grid()
    land = layered_noise(SIZE_PX, 4, 4, 4, 293)
    image = filled((110, 160, 196))
    paint(image, land > 540, (196, 188, 128))
    paint(image, land > 640, (128, 160, 96))
    paint(image, (y < 8) | (y > 119), (240, 242, 240))
    paint(image, (x % 32 == 0) | (y % 32 == 0), (90, 130, 160))
    return image


def _water() -> Image:
    """A fish tank: plants, gravel and three fish."""
    x, y = grid()
    image = sky((104, 178, 206), (40, 104, 150), 127)
    weed = (np.abs(x % 23 - 11 - smooth_noise(SIZE_PX, 8, 8, 295) * 6 // LEVELS) < 2) & (
        y > 50 + x // 23 * 13 % 40
    )
    paint(image, weed, (50, 124, 70))
    for x0, y0, color in ((32, 44, (238, 130, 50)), (76, 66, (244, 210, 90)), (100, 30, (220, 80, 70))):
        paint(image, (x - x0) ** 2 + (y - y0) ** 2 * 4 < 100, color)
        paint(image, (x > x0 + 8) & (x < x0 + 16) & (np.abs(y - y0) < x - x0 - 7), color)
    paint(image, y > 112, (190, 170, 130))
    return textured(image, 20, 297)


def _piano_keys() -> Image:
    """Three octaves."""
    x, y = grid()
    key, rest = x * 21 // SIZE_PX, x * 21 % SIZE_PX
    image = filled((248, 246, 240))
    paint(image, rest < 21, (120, 120, 120))
    black = np.isin(key % 7, (0, 1, 3, 4, 5)) & (rest > 88)
    black |= np.isin(key % 7, (1, 2, 4, 5, 6)) & (rest < 42)
    paint(image, black & (y < 80), (24, 24, 26))
    return image


def _keys() -> Image:
    """Rows of keys."""
    x, y = grid()
    gap = ((x + y // 26 * 4) % 10 < 2) | (y % 26 < 5)
    return np.where(gap, 90, 238)[:, :, None] + np.zeros(3, np.int64)


def _chessboard() -> Image:
    x, y = grid()
    image = filled((232, 210, 172))
    paint(image, (x // 16 + y // 16) % 2 == 1, (110, 70, 46))
    return textured(image, 16, 299)


def _calendar() -> Image:
    """A month of days."""
    x, y = grid()
    image = filled((250, 248, 242))
    paint(image, y < 20, (176, 60, 54))
    day = (x % 18 > 5) & (x % 18 < 14) & (y % 20 > 8) & (y % 20 < 15) & (y > 24)
    paint(image, day & (x > 4) & (x < 126), (90, 90, 92))
    paint(image, day & (x > 108), (176, 60, 54))
    return image


def _newsprint() -> Image:
    """Columns of text, a headline and a picture."""
    x, y = grid()
    image = filled((238, 236, 228))
    line = (y % 5 < 2) & (x % 42 > 4) & (hashed(x // 3, y // 5, 301) > LEVELS // 8) & (y > 36)
    paint(image, line, (140, 138, 134))
    paint(image, (y > 10) & (y < 26) & (x > 8) & (x < 118) & (x % 13 > 2), (50, 50, 52))
    paint(image, (x > 46) & (x < 86) & (y > 44) & (y < 84), (150, 148, 142))
    return image


IMAGE_TILES: Mapping[str, Callable[[], Image]] = {
    **PAINTINGS,
    **WINDOW_VIEWS,
    "basketball": _basketball,
    "globe": _globe,
    "water": _water,
    "piano_keys": _piano_keys,
    "keys": _keys,
    "chessboard": _chessboard,
    "calendar": _calendar,
    "newsprint": _newsprint,
    "rug_border": _rug_border,
    "rug_medallion": _rug_medallion,
    "rug_stripes": _rug_stripes,
    "screen": _screen,
    "burner": _burner,
    "books": _books,
    "clock": _clock,
    "fire": _fire,
}
