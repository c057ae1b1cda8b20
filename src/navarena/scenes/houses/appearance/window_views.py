"""Images of the view outside windows, larger than other tiles because viewers stand close to them.

Drawn with integers at twice their size, then halved, so that outlines are smooth. Row 0 is the top.
"""

from collections.abc import Callable, Mapping

import numpy as np

from navarena.scenes.houses.appearance.canvas import LEVELS, Color, hashed, layered_noise

VIEW_PX = 512
DRAWN_PX = 2 * VIEW_PX

View = np.ndarray
"""(DRAWN_PX, DRAWN_PX, 3) int64, sRGB."""


def _grid() -> tuple[np.ndarray, np.ndarray]:
    """(x, y) pixel coordinates at the drawn size, y downwards."""
    y, x = np.mgrid[0:DRAWN_PX, 0:DRAWN_PX]
    return x, y


def _noise(cells_x: int, cells_y: int, octaves: int, salt: int) -> np.ndarray:
    """(DRAWN_PX, DRAWN_PX) noise in [0, LEVELS), equal over two by two pixels."""
    return layered_noise(VIEW_PX, cells_x, cells_y, octaves, salt).repeat(2, 0).repeat(2, 1)


def _sky(top: Color, horizon: Color, rows: int, salt: int) -> View:
    """A gradient with clouds whose rims are soft."""
    _, y = _grid()
    share = np.minimum(y, rows)[:, :, None]
    image = (np.array(top) * (rows - share) + np.array(horizon) * share) // rows
    cloud = np.clip((_noise(4, 8, 6, salt) - 520) * 4, 0, 900)
    return _mixed(image, (250, 251, 252), cloud * np.maximum(rows - y, 0) // rows)


def _mixed(image: View, color: Color, share: np.ndarray) -> View:
    """The image with `share` of LEVELS of a colour in each pixel."""
    weight = share[:, :, None]
    return (image * (LEVELS - weight) + np.array(color) * weight) // LEVELS


def _fill(image: View, mask: np.ndarray, color: Color, light: np.ndarray | int = LEVELS) -> None:
    """Colour the pixels of `mask`, `light` of LEVELS of it."""
    shaded = np.array(color) * np.broadcast_to(light, mask.shape)[mask][:, None] // LEVELS
    image[mask] = np.minimum(shaded, 255)


def _skyline(base: int, swing: int, cells: int, salt: int) -> np.ndarray:
    """Everything below a line of hills or tree tops, with a fine uneven rim."""
    _, y = _grid()
    coarse = _noise(cells, 1, 1, salt)[:1] * swing // LEVELS
    fine = _noise(4 * cells, 1, 3, salt + 1)[:1] * swing // (3 * LEVELS)
    return np.asarray(y > base - coarse - fine)


def _tree(image: View, x0: int, foot: int, radius: int, color: Color, salt: int) -> None:
    """A trunk and a crown of leaves, lit from the upper left."""
    x, y = _grid()
    middle = foot - 2 * radius
    _fill(image, (np.abs(x - x0) < radius // 9) & (y > middle) & (y < foot), (104, 82, 62))
    leaves = _noise(32, 32, 4, salt)
    far = (x - x0) ** 2 + (y - middle) ** 2
    rim = radius * radius * (640 + leaves * 3 // 4) // LEVELS
    light = 760 + leaves * 300 // LEVELS + (x0 - x + middle - y) * 150 // radius
    _fill(image, far < rim, color, light)


def _garden() -> View:
    """Sky, wooded hills, a hedge, trees and a lawn."""
    _, y = _grid()
    image = _sky((150, 194, 236), (228, 238, 246), 640, 201)
    leaves = _noise(64, 64, 3, 209)
    _fill(image, _skyline(610, 220, 4, 203), (158, 184, 182), 900 + leaves // 10)
    _fill(image, _skyline(680, 150, 8, 205), (124, 158, 118), 800 + leaves // 4)
    _fill(image, _skyline(760, 90, 16, 211), (92, 134, 82), 680 + leaves // 2)
    lawn = _noise(16, 64, 4, 207)
    _fill(image, y > 780, (146, 180, 108), 780 + lawn // 5 + (y - 780) * 80 // 244)
    _tree(image, 190, 860, 130, (98, 146, 80), 221)
    _tree(image, 800, 910, 170, (112, 156, 84), 231)
    return image


def _street() -> View:
    """Sky, a row of houses with windows and doors, pavement and road."""
    x, y = _grid()
    image = _sky((164, 202, 236), (232, 238, 242), 560, 211)
    number = x // 256
    eaves = 300 + hashed(number, number, 211) * 230 // LEVELS
    fronts = ((206, 176, 150), (188, 134, 112), (222, 212, 196), (166, 172, 178))
    uneven = 960 + _noise(64, 64, 3, 213) // 12
    u = x % 256
    for k, color in enumerate(fronts):
        own = number == k
        slope = np.abs(u - 128) * 70 // 128
        _fill(image, own & (y > eaves - 80 + slope) & (y <= eaves), (136, 92, 78), uneven - (y // 6 % 2) * 60)
        _fill(image, own & (y > eaves), color, uneven)
    wall = (y > eaves) & (y < 930)
    row, column = (y - eaves) % 150, u % 84
    storeys = wall & (y - eaves < (930 - eaves) // 150 * 150) & (u > 4) & (u < 252)
    frame = storeys & (column > 20) & (column < 64) & (row > 38) & (row < 116)
    glass = frame & (column > 24) & (column < 60) & (row > 42) & (row < 112)
    glass &= (np.abs(column - 42) > 1) & (np.abs(row - 66) > 1)
    _fill(image, frame, (240, 238, 232))
    _fill(image, glass, (112, 132, 152), 820 + (x + y) % 300)
    _fill(image, storeys & (column > 16) & (column < 68) & (row > 116) & (row < 122), (196, 192, 184))
    _fill(image, wall & (u < 5), (128, 122, 116))
    _fill(image, wall & (y > eaves) & (y < eaves + 10), (214, 208, 200))
    door = wall & (y > 830) & (np.abs(u - 128) < 26)
    _fill(image, door, (92, 72, 62))
    _fill(image, door & (y > 846) & (y < 920) & (np.abs(np.abs(u - 128) - 12) < 8), (112, 90, 78))
    _fill(image, y >= 930, (190, 188, 182), uneven - (x % 64 < 2) * 80)
    _fill(image, y > 968, (126, 128, 132), uneven)
    _tree(image, 262, 950, 84, (104, 144, 88), 241)
    _tree(image, 774, 950, 84, (110, 150, 90), 251)
    return image


def _halved(image: View) -> np.ndarray:
    """(VIEW_PX, VIEW_PX, 3) means of two by two pixels."""
    return (image[0::2, 0::2] + image[1::2, 0::2] + image[0::2, 1::2] + image[1::2, 1::2]) // 4


WINDOW_VIEWS: Mapping[str, Callable[[], np.ndarray]] = {
    "garden": lambda: _halved(_garden()),
    "street": lambda: _halved(_street()),
}
