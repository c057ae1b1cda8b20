"""Images of materials as textures: RGB, sides of powers of two."""

import math
from typing import Any

import numpy as np
from jaxtyping import UInt8

from navarena.core.errors import FileError
from navarena.scenes.formats.part import color_bytes

MAX_TEXTURE_SIDE = 4096
"""Pixels; larger images are made smaller."""


def rgb_image(image: Any, name: str) -> UInt8[np.ndarray, "h w 3"]:
    """The pixels (H, W, 3), uint8 sRGB, of a Pillow image; raises FileError when its file is damaged.

    Transparency is dropped: surfaces are solid.
    """
    try:
        if image.mode.startswith("I"):  # 16 bits of grey, which Pillow would cut off at 255
            grey = np.asarray(image).astype(np.uint16).reshape(-1, 1)
            return color_bytes(np.repeat(grey, 3, 1)).reshape(image.height, image.width, 3)
        return np.array(image.convert("RGB"))
    except (OSError, ValueError, SyntaxError) as error:
        raise FileError(f"the image of material {name!r} cannot be read: {error}") from error


def fit_texture(image: UInt8[np.ndarray, "h w 3"]) -> UInt8[np.ndarray, "h2 w2 3"]:
    """`image` (H, W, 3), each side resized to the nearest power of two of at most MAX_TEXTURE_SIDE pixels."""
    from PIL import Image

    height, width = (_nearest_power(side) for side in image.shape[:2])
    if (height, width) == image.shape[:2]:
        return np.ascontiguousarray(image)
    resized = Image.fromarray(image).resize((width, height), Image.Resampling.LANCZOS)
    return np.array(resized)


def _nearest_power(side: int) -> int:
    return min(1 << max(0, round(math.log2(side))), MAX_TEXTURE_SIDE)
