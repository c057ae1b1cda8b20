"""Tiles that are pictures in their own colours: paintings, rugs, screens and views.

Each covers a face once. Row 0 is the top. Drawn with integers only.
"""

from collections.abc import Callable, Mapping

import numpy as np

from navarena.scenes.houses.noise import LEVELS, hashed, layered_noise, smooth_noise

SIZE_PX = 128

Image = np.ndarray
"""(SIZE_PX, SIZE_PX, 3) int64, sRGB."""

Mask = np.ndarray
"""(SIZE_PX, SIZE_PX) bool."""

Color = tuple[int, int, int]


def _grid() -> tuple[np.ndarray, np.ndarray]:
    """(x, y) pixel coordinates, y downwards."""
    y, x = np.mgrid[0:SIZE_PX, 0:SIZE_PX]
    return x, y


def _filled(color: Color) -> Image:
    return np.tile(np.array(color, np.int64), (SIZE_PX, SIZE_PX, 1))


def _paint(image: Image, mask: Mask, color: Color) -> None:
    image[mask] = color


def _disc(x0: int, y0: int, radius: int) -> Mask:
    x, y = _grid()
    return np.asarray((x - x0) ** 2 + (y - y0) ** 2 < radius * radius)


def _sky(top: Color, horizon: Color, rows: int) -> Image:
    """A vertical gradient from `top` to `horizon` over `rows` pixels."""
    y = np.minimum(_grid()[1], rows)[:, :, None]
    return (np.array(top) * (rows - y) + np.array(horizon) * y) // rows


def _ridge(base: int, swing: int, salt: int, cells: int) -> Mask:
    """Everything below a hilly line."""
    _, y = _grid()
    line = base - smooth_noise(SIZE_PX, cells, 1, salt)[:1] * swing // LEVELS
    return np.asarray(y > line)


def _textured(image: Image, strength: int, salt: int) -> Image:
    return image + (layered_noise(SIZE_PX, 16, 16, 3, salt)[:, :, None] - LEVELS // 2) * strength // LEVELS


def _garden() -> Image:
    """Sky, trees and a lawn."""
    image = _sky((170, 206, 240), (232, 240, 246), 80)
    cloud = layered_noise(SIZE_PX, 4, 8, 4, 201)
    _paint(image, (cloud > 600) & (_grid()[1] < 64), (246, 248, 250))
    _paint(image, _ridge(84, 44, 203, 8), (122, 158, 108))
    _paint(image, _ridge(96, 36, 205, 16), (94, 138, 84))
    _paint(image, _grid()[1] > 100, (146, 178, 110))
    return _textured(image, 26, 207)


def _street() -> Image:
    """Sky and house fronts."""
    image = _sky((178, 208, 236), (236, 240, 242), 90)
    x, y = _grid()
    house = x // 32
    roof = 38 + hashed(house, house, 211) * 34 // LEVELS
    fronts = np.array([(206, 176, 150), (188, 134, 112), (222, 212, 196), (166, 172, 178)])
    wall = y > roof
    image[wall] = fronts[house[wall]]
    panes = wall & (x % 16 > 4) & (x % 16 < 12) & (y % 22 > 5) & (y % 22 < 17)
    _paint(image, panes & (y < 112), (120, 140, 160))
    _paint(image, y > 114, (176, 174, 170))
    return _textured(image, 12, 213)


def _art_hills() -> Image:
    """A landscape at sunset."""
    image = _sky((92, 120, 168), (244, 196, 140), 80)
    _paint(image, _disc(88, 56, 12), (252, 232, 180))
    _paint(image, _ridge(86, 36, 221, 4), (112, 104, 140))
    _paint(image, _ridge(102, 30, 223, 8), (74, 92, 96))
    _paint(image, _ridge(118, 18, 225, 4), (58, 78, 58))
    return _textured(image, 24, 227)


def _art_shapes() -> Image:
    """Flat shapes in warm colours."""
    image = _filled((238, 228, 210))
    x, y = _grid()
    _paint(image, (x > 18) & (x < 66) & (y > 28) & (y < 104), (206, 106, 74))
    _paint(image, _disc(84, 48, 26), (226, 176, 84))
    _paint(image, (x > 54) & (y > 78) & (x + y < 196) & (y < 112), (62, 98, 106))
    _paint(image, np.abs(x - y // 2 - 30) < 2, (48, 44, 42))
    return _textured(image, 14, 231)


def _art_circles() -> Image:
    """Rings in cool colours."""
    image = _filled((30, 46, 72))
    for k, color in enumerate(
        ((70, 122, 150), (150, 190, 190), (232, 220, 180), (214, 128, 82), (120, 52, 60))
    ):
        _paint(image, _disc(64 + 3 * k, 66 - 4 * k, 54 - 10 * k), color)
    return _textured(image, 16, 233)


def _art_bars() -> Image:
    """Upright bars, as in colour-field painting."""
    x, y = _grid()
    palette = np.array([(216, 84, 66), (238, 190, 96), (90, 148, 140), (48, 66, 98), (232, 222, 204)])
    image = palette[(x * 7 // SIZE_PX * 3 + (y > 70 + x // 8)) % 5]
    return _textured(image.astype(np.int64), 22, 237)


def _art_portrait() -> Image:
    """A head and shoulders before a dark ground."""
    image = _filled((84, 74, 62))
    x, y = _grid()
    _paint(image, (x - 64) ** 2 + (y - 140) ** 2 * 1 < 52 * 52, (122, 44, 50))
    _paint(image, (x - 64) ** 2 * 3 + (y - 56) ** 2 * 2 < 2 * 36 * 36, (58, 40, 32))
    _paint(image, (x - 64) ** 2 * 3 + (y - 62) ** 2 * 2 < 2 * 30 * 30, (222, 180, 150))
    _paint(image, (np.abs(x - 64) < 8) & (y > 84) & (y < 98), (208, 164, 136))
    return _textured(image, 22, 239)


def _art_flower() -> Image:
    """A flower in a vase."""
    image = _filled((206, 220, 214))
    x, y = _grid()
    _paint(image, y > 98, (170, 140, 108))
    _paint(image, (np.abs(x - 64) < 2) & (y > 50) & (y < 92), (70, 110, 70))
    for dx, dy in ((0, -18), (17, -6), (11, 14), (-11, 14), (-17, -6)):
        _paint(image, _disc(64 + dx, 44 + dy, 12), (214, 92, 104))
    _paint(image, _disc(64, 44, 10), (244, 206, 96))
    _paint(image, (np.abs(x - 64) < 13) & (y > 82) & (y < 112), (70, 104, 150))
    return _textured(image, 14, 241)


def _border_distance() -> np.ndarray:
    x, y = _grid()
    last = SIZE_PX - 1
    return np.minimum(np.minimum(x, last - x), np.minimum(y, last - y))


def _grey_rug(tones: np.ndarray, salt: int) -> Image:
    return _textured(np.repeat(tones[:, :, None], 3, 2), 26, salt)


def _rug_border() -> Image:
    edge = _border_distance()
    return _grey_rug(np.where(edge < 5, 236, np.where(edge < 15, 150, np.where(edge < 18, 236, 214))), 251)


def _rug_medallion() -> Image:
    x, y = _grid()
    edge = _border_distance()
    ring = np.abs(x - 64) + np.abs(y - 64)
    field = np.where(ring < 18, 240, np.where(ring < 34, 150, np.where(ring < 40, 236, 196)))
    dots = (edge > 4) & (edge < 14) & ((x + y) % 12 < 6)
    return _grey_rug(np.where(edge < 18, np.where(dots, 236, 140), field), 253)


def _rug_stripes() -> Image:
    x, y = _grid()
    return _grey_rug(np.where((y // 8) % 4 == 0, 140, np.where((y // 8) % 2 == 0, 236, 200)) + 0 * x, 257)


def _screen() -> Image:
    """A dark screen with a faint reflection."""
    x, y = _grid()
    return _filled((34, 38, 46)) + ((x + y) * 26 // (2 * SIZE_PX))[:, :, None]


def _burner() -> Image:
    """Four rings on a glass hob."""
    image = _filled((40, 40, 44))
    for x0, y0, radius in ((36, 36, 22), (92, 36, 16), (36, 92, 16), (92, 92, 22)):
        _paint(image, _disc(x0, y0, radius) & ~_disc(x0, y0, radius - 3), (126, 66, 58))
    return image


def _books() -> Image:
    """Spines side by side, each its own colour and height."""
    x, y = _grid()
    spine = x // 8
    reds, blues, pales = [(146, 52, 48), (196, 140, 66)], [(52, 78, 116), (70, 104, 78)], [(208, 190, 152)]
    palette = np.array([*reds, *blues, *pales, (88, 66, 98), (228, 222, 210), (60, 60, 66)])
    image = palette[hashed(spine, spine, 261) % len(palette)].astype(np.int64)
    image[x % 8 == 0] = image[x % 8 == 0] // 2
    top = hashed(spine, spine, 263) * 36 // LEVELS
    _paint(image, y < top, (52, 42, 36))
    label = (y > top + 14) & (y < top + 22) & (x % 8 > 1) & (x % 8 < 7)
    image[label] = (image[label] + 235) // 2
    return image


def _clock() -> Image:
    """A white dial at ten past ten."""
    x, y = _grid()
    image = _filled((246, 244, 238))
    far = (x - 64) ** 2 + (y - 64) ** 2
    ticks = (np.abs(x - 64) < 3) | (np.abs(y - 64) < 3)
    _paint(image, (far > 46 * 46) & (far < 56 * 56) & ticks, (50, 50, 50))
    hour = (np.abs((x - 64) * 4 - (y - 64) * 5) < 14) & (x < 65) & (y < 65) & (far < 30 * 30)
    minute = (np.abs((x - 64) * 4 + (y - 64) * 6) < 14) & (x > 63) & (y < 65) & (far < 44 * 44)
    _paint(image, hour | minute | (far < 20), (40, 40, 40))
    return image


def _fire() -> Image:
    """Flames over dark logs."""
    x, y = _grid()
    flicker = layered_noise(SIZE_PX, 8, 4, 3, 271)
    heat = y * 9 + flicker // 2 - np.abs(x - 64) * 9
    image = _filled((36, 28, 26))
    for level, color in (
        (420, (122, 44, 26)),
        (560, (214, 92, 34)),
        (720, (246, 168, 62)),
        (900, (254, 228, 140)),
    ):
        _paint(image, heat > level, color)
    _paint(image, (y > 108) & ((x + y // 4) % 40 > 6), (58, 40, 32))
    return image


PICTURE_TILES: Mapping[str, Callable[[], Image]] = {
    "art_hills": _art_hills,
    "art_shapes": _art_shapes,
    "art_circles": _art_circles,
    "art_bars": _art_bars,
    "art_portrait": _art_portrait,
    "art_flower": _art_flower,
    "rug_border": _rug_border,
    "rug_medallion": _rug_medallion,
    "rug_stripes": _rug_stripes,
    "screen": _screen,
    "burner": _burner,
    "books": _books,
    "clock": _clock,
    "fire": _fire,
    "garden": _garden,
    "street": _street,
}
