"""Images of things, as instance memory keeps them: a crop, the pose it was taken from, a feature slot."""

import math
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Float32, UInt8


@dataclass(eq=False)
class InstanceView:
    """One view of a thing.

    Attributes:
        crop: (A, B, 3) uint8, the thing with a margin around it; shrunk where it was larger.
        pose: (4, 4) world_from_camera, metres, in the frame of the memory.
        sector: from which side it was seen, 0 to the number of sectors - 1.
        quality: pixels of the thing in the whole image; half of them where the image cuts it off.
        color: (3,) float64 sRGB, 0 to 255: medians of its pixels.
        moment: number of the observation, counted for each agent.
        feature: (F,) float32 unit length, whatever an encoder made of the crop; None before.
    """

    crop: UInt8[np.ndarray, "a b 3"]
    pose: Float[np.ndarray, "4 4"]
    sector: int
    quality: float
    color: Float[np.ndarray, "3"]
    moment: int
    feature: Float32[np.ndarray, "f"] | None = field(default=None)


def cut_out(
    image: UInt8[np.ndarray, "h w 3"], box: tuple[int, int, int, int], margin: float, most_px: int
) -> UInt8[np.ndarray, "a b 3"]:
    """A part of an image, at most `most_px` long.

    Args:
        image: (H, W, 3) uint8.
        box: first and last row, first and last column.
        margin: added on each side, in parts of the longer side.
        most_px: longer parts are shrunk by a whole factor, by means of squares of pixels.
    """
    top, bottom, left, right = box
    more = math.ceil(margin * max(bottom - top + 1, right - left + 1))
    part = image[max(0, top - more) : bottom + 1 + more, max(0, left - more) : right + 1 + more]
    factor = math.ceil(max(part.shape[:2]) / most_px)
    rows, columns = part.shape[0] // factor, part.shape[1] // factor
    if factor == 1 or not rows or not columns:
        return part.copy()
    sums = np.zeros((rows, columns, 3), np.int32)
    for i in range(factor):
        for j in range(factor):
            sums += part[i : rows * factor : factor, j : columns * factor : factor]
    return np.asarray((sums / factor**2).round().astype(np.uint8))


def sector_of(pose: Float[np.ndarray, "4 4"], middle: Float[np.ndarray, "3"], sectors: int) -> int:
    """From which of `sectors` equal sides a camera at `pose` (4, 4) metres sees what lies at `middle` (3,).

    The middle of sector 0 is direction +z of the thing; sectors are counted towards +x.
    """
    bearing = math.atan2(pose[0, 3] - middle[0], pose[2, 3] - middle[2])
    return math.floor(bearing / math.tau * sectors + 0.5) % sectors


def is_cut(box: tuple[int, int, int, int], shape: tuple[int, int], stride: int) -> bool:
    """Whether what lies in `box` (rows, columns) reaches the border of an image of `shape` (pixels)."""
    top, bottom, left, right = box
    return top == 0 or left == 0 or bottom + stride >= shape[0] or right + stride >= shape[1]
