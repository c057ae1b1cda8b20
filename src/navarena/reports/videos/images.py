"""What sensors saw, as colours."""

import colorsys
from functools import cache

import cv2
import numpy as np
from jaxtyping import Float, Int, UInt8

NEAR, FAR, NOTHING = (253, 231, 158), (30, 34, 92), (92, 32, 44)
"""Depth runs from the first of these colours to the second; the third is where nothing is seen."""

GOLDEN_RATIO = 0.618033988749895
"""Hues this far apart on the circle stay far apart, however many there are."""

CLASSES = 4096


def paint_depth(depth: Float[np.ndarray, "h w"], farthest: float) -> UInt8[np.ndarray, "h w 3"]:
    """(H, W, 3) uint8 colours of `depth`, (H, W), near is light; `farthest`, in its unit, is the darkest."""
    share = np.clip(depth / farthest, 0.0, 1.0)[..., None]
    colors = (1 - share) * np.array(NEAR) + share * np.array(FAR)
    return np.where(depth[..., None] > 0, colors, np.array(NOTHING)).astype(np.uint8)


def paint_classes(classes: Int[np.ndarray, "h w"]) -> UInt8[np.ndarray, "h w 3"]:
    """(H, W, 3) uint8 colours of `classes`, (H, W) ids: 0 is dark, every other has a colour of its own."""
    return _palette()[classes % CLASSES]


@cache
def _palette() -> UInt8[np.ndarray, "c 3"]:
    colors = np.full((CLASSES, 3), 28, np.uint8)
    for number in range(1, CLASSES):
        value = (0.92, 0.78, 0.64)[number % 3]
        rgb = colorsys.hsv_to_rgb(number * GOLDEN_RATIO % 1.0, 0.55, value)
        colors[number] = np.round(np.array(rgb) * 255)
    return colors


def fit_image(
    image: UInt8[np.ndarray, "h w 3"], width: int, height: int, background: tuple[int, int, int]
) -> UInt8[np.ndarray, "height width 3"]:
    """`image`, (H, W, 3), as large as fits `width` x `height` pixels, in the middle of `background`."""
    scale = min(width / image.shape[1], height / image.shape[0])
    size = max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = image if size == image.shape[1::-1] else cv2.resize(image, size, interpolation=how)
    out = np.full((height, width, 3), background, np.uint8)
    left, top = (width - size[0]) // 2, (height - size[1]) // 2
    out[top : top + size[1], left : left + size[0]] = small
    return out
