"""Textures as one array of texels with all their mip levels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt8, UInt32

from navarena.core.errors import SceneError


@dataclass(frozen=True)
class TexelStore:
    """M textures in one array; texture 0 is a single white texel.

    Level l of a 2^a by 2^b texture has 2^(a-l) by 2^(b-l) texels and follows level l - 1;
    levels end at min(a, b).

    Attributes:
        texels: (K,) uint32, red | green << 8 | blue << 16.
        offset: (M,) int64, first texel of level 0.
        log_size: (M, 2) int64, a (width) and b (height).
        mean: (M, 3) float64, mean colour in 0..255.
    """

    texels: UInt32[np.ndarray, "k"]
    offset: Int[np.ndarray, "m"]
    log_size: Int[np.ndarray, "m 2"]
    mean: Float[np.ndarray, "m 3"]


def pack_words(colors: np.ndarray) -> UInt32[np.ndarray, "..."]:
    """(..., 3) colours in 0..255, any dtype -> (...) uint32 words, rounded."""
    parts = np.clip(np.round(np.asarray(colors, np.float64)), 0, 255).astype(np.uint32)
    return np.asarray(parts[..., 0] | parts[..., 1] << 8 | parts[..., 2] << 16, np.uint32)


def build_mip_levels(texture: UInt8[np.ndarray, "h w 3"]) -> list[UInt32[np.ndarray, "..."]]:
    """Texel words of each level, halved by box filter until one side is a single texel.

    Raises SceneError if a side is not a power of two.
    """
    for side in texture.shape[:2]:
        if side < 1 or side & (side - 1):
            raise SceneError(
                f"expected textures with sides that are powers of two, got {texture.shape[1]} x "
                f"{texture.shape[0]}; resize it when the scene is imported"
            )
    level = texture[..., :3].astype(np.float32)
    levels = [pack_words(level)]
    while min(level.shape[:2]) > 1:
        level = (level[0::2, 0::2] + level[1::2, 0::2] + level[0::2, 1::2] + level[1::2, 1::2]) / 4
        levels.append(pack_words(level))
    return levels


def pack_textures(textures: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> TexelStore:
    """The store of `textures`, which become textures 1, 2, ... behind the white texel."""
    white = np.full((1, 1, 3), 255, np.uint8)
    images = [white, *textures]
    parts: list[np.ndarray] = []
    offset, used = [], 0
    for image in images:
        offset.append(used)
        for level in build_mip_levels(image):
            parts.append(level.ravel())
            used += level.size
    return TexelStore(
        texels=np.concatenate(parts),
        offset=np.array(offset),
        log_size=np.array(
            [[image.shape[1].bit_length() - 1, image.shape[0].bit_length() - 1] for image in images]
        ),
        mean=np.array([image[..., :3].mean((0, 1), dtype=np.float64) for image in images]),
    )
