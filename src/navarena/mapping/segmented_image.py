"""Images in which things are marked, as instance memory reads them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, Int32, Int64, UInt8

from navarena.core.errors import InputError
from navarena.core.geometry import focal_length
from navarena.mapping.image_checks import require_poses


@dataclass(frozen=True, eq=False)
class SegmentedImage:
    """What one look shows.

    Attributes:
        segments: (H, W) int32, number of the segment at each pixel; 0 or less is none.
        categories: segment -> category, "" where nobody knows; segments that are missing are overlooked.
        rgb: (H, W, 3) uint8.
        depth: (H, W) float32; metres are offset + scale * depth. NaN is unknown.
        pose: (4, 4) world_from_camera, metres, in the frame of the memory.
        hfov: radians, of the camera.
        depth_range: (nearest, farthest) metres, exclusive, between which depths are told apart.
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
        nearest, farthest = self.depth_range
        if not 0 <= nearest < farthest:
            raise InputError(f"expected 0 <= nearest < farthest (metres), got {nearest} and {farthest}")
        if not 0 < self.hfov < math.pi:
            raise InputError(f"expected an hfov within 0 to pi radians, got {self.hfov}")


def look_beyond(image: SegmentedImage, box: Int64[np.ndarray, "4"]) -> Float[np.ndarray, "3"]:
    """(3,) metres: where a thing without known depth in `box` lies at least, on the ray of its middle."""
    height, width = image.segments.shape
    focal = focal_length(width, image.hfov)
    row, column = (box[0] + box[1]) / 2, (box[2] + box[3]) / 2
    metres = image.offset + image.scale * float(image.depth[int(row), int(column)])
    nearest, farthest = image.depth_range
    away = nearest if metres <= nearest or not math.isfinite(farthest) else farthest
    own = np.array(
        [(column + 0.5 - width / 2) / focal * away, (height / 2 - row - 0.5) / focal * away, -away]
    )
    return np.asarray(image.pose[:3, :3] @ own + image.pose[:3, 3])
