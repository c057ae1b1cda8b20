"""Input and stored views of instance memory: segmented images, and crops of the objects in them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Float32, Int32, Int64, UInt8

from navarena.core.errors import InputError
from navarena.core.geometry import focal_length
from navarena.mapping.image_checks import require_poses

ASIDE, WIDTH = 0.7, 0.1
"""Metres, and share of the distance, by which what was seen from afar may lie beside its ray."""


@dataclass(frozen=True, eq=False)
class SegmentedImage:
    """One segmented image with depth and pose.

    Attributes:
        segments: (H, W) int32, number of the segment at each pixel; 0 or less is none.
        categories: segment -> category, "" where nobody knows; segments that are missing are overlooked.
        rgb: (H, W, 3) uint8.
        depth: (H, W) float32; metres are offset + scale * depth. NaN is unknown.
        pose: (4, 4) world_from_camera, metres, in the frame of the memory.
        hfov: radians, of the camera.
        depth_range: (nearest, farthest) metres, exclusive, between which depths are exact.
        scale, offset: metres per unit of depth, metres at 0.
        is_tracked: whether segments keep their numbers from image to image, as instance labels do;
            then nothing else decides what belongs together.
    """

    segments: Int32[np.ndarray, "h w"]
    categories: Mapping[int, str]
    rgb: UInt8[np.ndarray, "_ _ 3"]
    depth: Float32[np.ndarray, "_ _"]
    pose: Float[np.ndarray, "4 4"]
    hfov: float
    depth_range: tuple[float, float] = (0.0, math.inf)
    scale: float = 1.0
    offset: float = 0.0
    is_tracked: bool = False

    def __post_init__(self) -> None:
        shape = self.segments.shape
        if self.rgb.shape != (*shape, 3) or self.depth.shape != shape:
            raise InputError(
                f"expected colours and depths for segments of {shape[0]} x {shape[1]} pixels, got "
                f"{self.rgb.shape} and {self.depth.shape}"
            )
        require_poses(np.asarray(self.pose)[None], 1)
        min_range, max_range = self.depth_range
        if not 0 <= min_range < max_range:
            raise InputError(f"expected 0 <= min_range < max_range (metres), got {min_range} and {max_range}")
        if not 0 < self.hfov < math.pi:
            raise InputError(f"expected an hfov within 0 to pi radians, got {self.hfov}")


def look_beyond(image: SegmentedImage, box: Int64[np.ndarray, "4"]) -> Float[np.ndarray, "3"]:
    """(3,) metres: where an object without known depth in `box` lies at least, on the ray of its middle."""
    height, width = image.segments.shape
    focal = focal_length(width, image.hfov)
    row, column = (box[0] + box[1]) / 2, (box[2] + box[3]) / 2
    metres = image.offset + image.scale * float(image.depth[int(row), int(column)])
    min_range, max_range = image.depth_range
    away = min_range if metres <= min_range or not math.isfinite(max_range) else max_range
    own = np.array(
        [(column + 0.5 - width / 2) / focal * away, (height / 2 - row - 0.5) / focal * away, -away]
    )
    return np.asarray(image.pose[:3, :3] @ own + image.pose[:3, 3])


def is_far(image: SegmentedImage, box: Int64[np.ndarray, "4"]) -> bool:
    """Whether the pixel in the middle of `box` (4,), pixels, lies beyond the depth range."""
    depth = float(image.depth[int(box[0] + box[1]) // 2, int(box[2] + box[3]) // 2])
    return image.offset + image.scale * depth >= image.depth_range[1]


def is_in_direction(
    middle: Float[np.ndarray, "3"], camera: Float[np.ndarray, "3"], beyond: Float[np.ndarray, "3"]
) -> bool:
    """Whether what lies at `middle` may be what was seen from `camera`, at `beyond` at least; (3,) metres."""
    ray = beyond - camera
    reach = float(np.linalg.norm(ray))
    along = float((middle - camera) @ ray) / reach
    across = float(np.linalg.norm(middle - camera - along / reach * ray))
    return along > reach - ASIDE and across < max(ASIDE, WIDTH * along)


@dataclass(eq=False)
class InstanceView:
    """One view of an object.

    Attributes:
        crop: (A, B, 3) uint8, the object with a margin around it; shrunk where it was larger.
        pose: (4, 4) world_from_camera, metres, in the frame of the memory.
        sector: from which side it was seen, 0 to the number of sectors - 1.
        quality: pixels of the object in the whole image; half of them where the image cuts it off.
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
    image: UInt8[np.ndarray, "h w 3"], box: tuple[int, int, int, int], margin: float, max_px: int
) -> UInt8[np.ndarray, "a b 3"]:
    """A part of an image, at most `max_px` long.

    Args:
        image: (H, W, 3) uint8.
        box: first and last row, first and last column.
        margin: added on each side, in parts of the longer side.
        max_px: longer parts are shrunk by a whole factor, by means of squares of pixels.
    """
    top, bottom, left, right = box
    more = math.ceil(margin * max(bottom - top + 1, right - left + 1))
    part = image[max(0, top - more) : bottom + 1 + more, max(0, left - more) : right + 1 + more]
    factor = math.ceil(max(part.shape[:2]) / max_px)
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

    The middle of sector 0 is direction +z of the object; sectors are counted towards +x.
    """
    bearing = math.atan2(pose[0, 3] - middle[0], pose[2, 3] - middle[2])
    return math.floor(bearing / math.tau * sectors + 0.5) % sectors


def is_cut(box: tuple[int, int, int, int], shape: tuple[int, int], stride: int) -> bool:
    """Whether what lies in `box` (rows, columns) reaches the border of an image of `shape` (pixels)."""
    top, bottom, left, right = box
    return top == 0 or left == 0 or bottom + stride >= shape[0] or right + stride >= shape[1]
