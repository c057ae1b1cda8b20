"""Textures as one array of texels with all their mip levels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt8, UInt32

from navarena.core.errors import SceneError

TILE = 4
"""Texels per side of a tile; 16 texels of 4 bytes fill a cache line."""
WHITE = np.full((TILE, TILE, 3), 255, np.uint8)


@dataclass(frozen=True)
class TexelStore:
    """M textures in one array; texture 0 is white.

    Texels lie in tiles of 4 x 4, tiles in rows. Level l of a texture that is stored as 2^a by
    2^b texels has 2^(a-l) by 2^(b-l) and follows level l - 1; levels end when a side is 4.
    Textures with a side below 4 are stored as several repeats.

    Attributes:
        texels: (K,) uint32, red | green << 8 | blue << 16.
        offset: (M,) int64, first texel of level 0.
        log_stored: (M, 2) int64, a (width) and b (height).
        size: (M, 2) int64, width and height of one repeat.
        mean: (M, 3) float64, mean colour in 0..255.
    """

    texels: UInt32[np.ndarray, "k"]
    offset: Int[np.ndarray, "m"]
    log_stored: Int[np.ndarray, "m 2"]
    size: Int[np.ndarray, "m 2"]
    mean: Float[np.ndarray, "m 3"]


def pack_words(colors: np.ndarray) -> UInt32[np.ndarray, "..."]:
    """(..., 3) colours in 0..255, any dtype -> (...) uint32 words, rounded."""
    parts = np.clip(np.round(np.asarray(colors, np.float64)), 0, 255).astype(np.uint32)
    return np.asarray(parts[..., 0] | parts[..., 1] << 8 | parts[..., 2] << 16, np.uint32)


def build_mip_levels(texture: UInt8[np.ndarray, "h w 3"]) -> list[np.ndarray]:
    """(h, w, 3) float32 colours of each level, halved by box filter until a side is 4."""
    levels = [texture[..., :3].astype(np.float32)]
    while min(levels[-1].shape[:2]) > TILE:
        fine = levels[-1]
        levels.append((fine[0::2, 0::2] + fine[1::2, 0::2] + fine[0::2, 1::2] + fine[1::2, 1::2]) / 4)
    return levels


def pack_textures(textures: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> TexelStore:
    """The store of `textures`, each (h, w, 3) sRGB bytes; they become 1, 2, ... behind the white one.

    Raises SceneError if a side is not a power of two.
    """
    parts: list[np.ndarray] = []
    offset, stored, used = [], [], 0
    for texture in [WHITE, *textures]:
        repeated = _repeat_small(texture)
        offset.append(used)
        stored.append((repeated.shape[1], repeated.shape[0]))
        for level in build_mip_levels(repeated):
            parts.append(_tiled(pack_words(level)))
            used += parts[-1].size
    return TexelStore(
        texels=np.concatenate(parts),
        offset=np.array(offset),
        log_stored=np.frexp(stored)[1].astype(np.int64) - 1,
        size=np.array([(image.shape[1], image.shape[0]) for image in [WHITE, *textures]]),
        mean=np.array([image[..., :3].mean((0, 1), dtype=np.float64) for image in [WHITE, *textures]]),
    )


def _repeat_small(texture: UInt8[np.ndarray, "_ _ 3"]) -> UInt8[np.ndarray, "_ _ 3"]:
    """The texture, repeated until no side is below TILE."""
    height, width = texture.shape[:2]
    for side in (height, width):
        if side < 1 or side & (side - 1):
            raise SceneError(
                f"expected textures with sides that are powers of two, got {width} x {height}; "
                "resize it when the scene is imported"
            )
    return np.tile(texture, (max(1, TILE // height), max(1, TILE // width), 1))


def _tiled(words: UInt32[np.ndarray, "h w"]) -> UInt32[np.ndarray, "k"]:
    height, width = words.shape
    tiles = words.reshape(height // TILE, TILE, width // TILE, TILE).swapaxes(1, 2)
    return np.ascontiguousarray(tiles).ravel()
