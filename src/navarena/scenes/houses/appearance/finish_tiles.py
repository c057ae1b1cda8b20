"""Base tiles of all finishes: light greys that a material's colour multiplies.

Tiles wrap around at all borders. They are drawn with integers only, once per process, and
are shared by all houses.
"""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from jaxtyping import UInt8

from navarena.scenes.houses.appearance.canvas import LEVELS, grain, hashed, layered_noise, smooth_noise
from navarena.scenes.houses.appearance.image_tiles import IMAGE_TILES

TILE_PX = 128

Grey = np.ndarray
"""(n, n) int64, 0 to 255."""


@cache
def base_tile(name: str) -> UInt8[np.ndarray, "n n 3"]:
    """The tile called `name`, (n, n, 3) sRGB bytes with n 128, 256 or 512; read-only, drawn once."""
    draw = GREY_TILES.get(name)
    if draw is not None:
        image = np.repeat(np.clip(draw(), 0, 255)[:, :, None], 3, axis=2).astype(np.uint8)
    else:
        image = np.clip(IMAGE_TILES[name](), 0, 255).astype(np.uint8)
    image.setflags(write=False)
    _DRAWN[id(image)] = name, image
    return image


_DRAWN: dict[int, tuple[str, UInt8[np.ndarray, "n n 3"]]] = {}
"""Name and tile by the identity of the tile; tiles live as long as the process."""


def tile_names() -> list[str]:
    """The names of all tiles."""
    return sorted([*GREY_TILES, *IMAGE_TILES])


def drawn_tile_name(image: np.ndarray) -> str | None:
    """The name of a (n, n, 3) tile that `base_tile` gave out, None for any other image of sRGB bytes."""
    found = _DRAWN.get(id(image))
    return found[0] if found is not None and found[1] is image else None


def _pixels(size: int = TILE_PX) -> tuple[Grey, Grey]:
    y, x = np.mgrid[0:size, 0:size]
    return x, y


def _mottle() -> Grey:
    return 236 + layered_noise(TILE_PX, 4, 4, 4, 11) * 19 // LEVELS


def _wood() -> Grey:
    """Fibres and rings along u."""
    rings = (layered_noise(TILE_PX, 2, 8, 3, 21) * 9 + _pixels()[1] * LEVELS // 16) % LEVELS
    rings = np.minimum(rings, LEVELS - rings)
    fibres = layered_noise(TILE_PX, 4, 64, 2, 23)
    return 205 + rings * 50 // LEVELS + fibres * 26 // LEVELS


def _planks() -> Grey:
    """Eight staggered boards across v, each with its own tone."""
    size = 256
    x, y = _pixels(size)
    row = y // 32
    shifted = (x + hashed(row, row, 5) * size // LEVELS) % size
    tone = hashed(row, shifted // 128, 31) * 38 // LEVELS
    fibres = layered_noise(size, 4, 128, 2, 33) * 22 // LEVELS
    rings = layered_noise(size, 4, 32, 3, 35) * 20 // LEVELS
    gap = (y % 32 == 0) | (shifted % 128 == 0)
    return np.where(gap, 150, 188 + tone + fibres + rings)


def _parquet() -> Grey:
    """Square fields of five slats, turned from field to field."""
    size = 256
    x, y = _pixels(size)
    field_x, field_y = x // 64, y // 64
    turned = (field_x + field_y) % 2 == 1
    across = np.where(turned, x % 64, y % 64)
    slat = across * 5 // 64
    tone = hashed(field_x * 8 + slat, field_y, 41) * 44 // LEVELS
    fibres = np.where(turned, layered_noise(size, 128, 8, 2, 43), layered_noise(size, 8, 128, 2, 43))
    gap = (across * 5 % 64 < 5) | (np.where(turned, y % 64, x % 64) == 0)
    return np.where(gap, 158, 190 + tone + fibres * 24 // LEVELS)


def _tiles() -> Grey:
    """Four by four tiles with joints."""
    x, y = _pixels()
    tone = hashed(x // 32, y // 32, 51) * 10 // LEVELS
    edge = np.minimum(np.minimum(x % 32, 31 - x % 32), np.minimum(y % 32, 31 - y % 32))
    body = 232 + tone + layered_noise(TILE_PX, 8, 8, 3, 53) * 12 // LEVELS
    return np.where(edge < 1, 186, np.where(edge < 2, body - 10, body))


def _checker() -> Grey:
    """Four by four tiles, light and dark."""
    x, y = _pixels()
    dark = (x // 32 + y // 32) % 2 == 1
    edge = np.minimum(np.minimum(x % 32, 31 - x % 32), np.minimum(y % 32, 31 - y % 32))
    body = np.where(dark, 128, 236) + layered_noise(TILE_PX, 4, 4, 4, 57) * 18 // LEVELS
    return np.where(edge < 1, 176, body)


def _bricks(rows: int, joint: int, spread: int, salt: int) -> Grey:
    x, y = _pixels()
    height = TILE_PX // rows
    row = y // height
    shifted = (x + row % 2 * height) % TILE_PX
    column = shifted // (2 * height)
    tone = hashed(column, row, salt) * spread // LEVELS
    gap = (y % height < 1 + (rows < 12)) | (shifted % (2 * height) < 1 + (rows < 12))
    return np.where(gap, joint, 255 - spread - 14 + tone + grain(TILE_PX, salt + 1) * 14 // LEVELS)


def _carpet() -> Grey:
    return 200 + grain(TILE_PX, 61) * 34 // LEVELS + layered_noise(TILE_PX, 8, 8, 3, 63) * 20 // LEVELS


def _weave() -> Grey:
    """Over and under threads of two pixels, uneven."""
    x, y = _pixels()
    over = (x // 2 + y // 2) % 2 == 0
    thread = np.where(over, x % 2, y % 2)
    uneven = layered_noise(TILE_PX, 32, 32, 2, 67) * 24 // LEVELS
    return 206 + np.where(over, 14, 0) + thread * 8 + uneven


def _leather() -> Grey:
    return (
        214
        + layered_noise(TILE_PX, 32, 32, 2, 71) * 24 // LEVELS
        + layered_noise(TILE_PX, 4, 4, 2, 73) * 16 // LEVELS
    )


def _brushed() -> Grey:
    return (
        216
        + layered_noise(TILE_PX, 2, 128, 1, 77) * 26 // LEVELS
        + layered_noise(TILE_PX, 4, 4, 2, 79) * 12 // LEVELS
    )


def _marble() -> Grey:
    x, y = _pixels()
    wave = (layered_noise(TILE_PX, 4, 4, 4, 81) * 5 + (x + y) * LEVELS // 64) % LEVELS
    vein = np.abs(2 * wave - LEVELS)
    return np.where(vein < 90, 196 + vein // 3, 226 + layered_noise(TILE_PX, 4, 4, 3, 83) * 26 // LEVELS)


def _granite() -> Grey:
    speck = smooth_noise(TILE_PX, 64, 64, 87) + grain(TILE_PX, 89) // 2
    return np.where(speck > 1150, 255, 190 + speck * 44 // LEVELS)


def _stripes() -> Grey:
    """Eight broad stripes with pin stripes between."""
    x, _ = _pixels()
    at = x % 32
    stripe = np.where(at < 14, 250, np.where((at > 19) & (at < 22), 218, 234))
    return stripe + layered_noise(TILE_PX, 16, 16, 2, 91) * 5 // LEVELS


def _leaves() -> Grey:
    """A wallpaper of small sprigs on a lattice."""
    x, y = _pixels()
    u, v = x % 32 - 16, (y + (x // 32) % 2 * 16) % 32 - 16
    left, right = (u + 5) * (u + 5) * 3 + (v - u) * (v - u), (u - 5) * (u - 5) * 3 + (v + u) * (v + u)
    stem = (np.abs(u) < 1) & (np.abs(v) < 10)
    sprig = (left < 60) | (right < 60) | stem
    return np.where(sprig, 216, 245) + layered_noise(TILE_PX, 16, 16, 2, 93) * 6 // LEVELS


def _plaid() -> Grey:
    x, y = _pixels()
    across, down = np.where(x % 64 < 26, 46, 0), np.where(y % 64 < 26, 46, 0)
    fine = np.where((x % 64 == 44) | (y % 64 == 44), 60, 0)
    return 252 - across - down - fine - (x + y) % 2 * 8


def _dots() -> Grey:
    """Staggered dots."""
    x, y = _pixels()
    u, v = x % 32 - 16, (y + x // 32 % 2 * 16) % 32 - 16
    return np.where(u * u + v * v < 49, 150, 246) - (x + y) % 2 * 4


def _flowers() -> Grey:
    """Five-petalled flowers on a lattice."""
    x, y = _pixels()
    u, v = x % 64 - 32, (y + x // 64 % 2 * 32) % 64 - 32
    petals = np.zeros(x.shape, bool)
    for dx, dy in ((0, -11), (10, -3), (6, 9), (-6, 9), (-10, -3)):
        petals |= (u - dx) * (u - dx) + (v - dy) * (v - dy) < 42
    return np.where(u * u + v * v < 26, 236, np.where(petals, 158, 244)) - (x + y) % 2 * 4


def _zigzag() -> Grey:
    """Chevrons."""
    x, y = _pixels()
    wave = np.abs(x % 32 - 16)
    return np.where((y + wave) % 32 < 12, 164, 246) - (x + y) % 2 * 4


def _bands() -> Grey:
    """Two rings around a vessel."""
    _, y = _pixels()
    return np.where((y % 64 > 18) & (y % 64 < 34), 140, 250)


def _foliage() -> Grey:
    return 150 + layered_noise(TILE_PX, 16, 8, 3, 97) * 105 // LEVELS


def _mirror() -> Grey:
    """A bright surface with two slanting gleams."""
    x, y = _pixels()
    slant = (x + y) % TILE_PX
    return 226 + np.where((slant > 40) & (slant < 56), 20, 0) + np.where((slant > 62) & (slant < 66), 14, 0)


GREY_TILES: Mapping[str, Callable[[], Grey]] = {
    "mottle": _mottle,
    "wood": _wood,
    "planks": _planks,
    "parquet": _parquet,
    "tiles": _tiles,
    "checker": _checker,
    "bricks": lambda: _bricks(8, 214, 60, 101),
    "bricks_small": lambda: _bricks(8, 200, 14, 103),
    "carpet": _carpet,
    "weave": _weave,
    "leather": _leather,
    "brushed": _brushed,
    "marble": _marble,
    "granite": _granite,
    "stripes": _stripes,
    "leaves": _leaves,
    "plaid": _plaid,
    "dots": _dots,
    "flowers": _flowers,
    "zigzag": _zigzag,
    "bands": _bands,
    "foliage": _foliage,
    "mirror": _mirror,
}
