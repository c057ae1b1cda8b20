"""Images brought to another size, as networks want them."""

from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from navarena.simulation.body import Camera
from navarena.simulation.sensors.images import Depth, DepthType
from navarena.simulation.sensors.sensor import ImageSensor, ObservationSpec

FARTHEST = 10.0
"""Metres to which depth is clipped."""


def resize(image: np.ndarray, width_px: int, height_px: int) -> np.ndarray:
    """An image (H, W, 3) uint8 or (H, W) float32 at another size; the aspect is not kept.

    Pillow's bilinear filter, whose support grows when images shrink: what torchvision and RobustNav use. An
    image that has the size is returned itself, as the filter would.
    """
    if image.shape[:2] == (height_px, width_px):
        return image
    return np.asarray(Image.fromarray(image).resize((width_px, height_px), Image.Resampling.BILINEAR))


@dataclass(frozen=True)
class ResizedRgb(ImageSensor):
    """(H, W, 3) uint8 sRGB bytes, resized after corruptions.

    Args:
        width_px, height_px: of the observation.
    """

    width_px: int
    height_px: int

    name = "rgb"
    channel = "rgb"

    def spec(self, camera: Camera) -> ObservationSpec:
        return ObservationSpec((self.height_px, self.width_px, 3), np.uint8, 0, 255)

    def develop(self, image: np.ndarray, out: np.ndarray) -> None:
        for one, small in zip(image, out):
            small[:] = resize(one, self.width_px, self.height_px)


@dataclass(frozen=True)
class ResizedDepth(ImageSensor):
    """(H, W, 1) float32 metres along the optical axis, within 0 to 10, resized.

    Args:
        width_px, height_px: of the observation.
        dtype: of the array, as of Depth.
    """

    width_px: int
    height_px: int
    dtype: DepthType = "float32"

    name = "depth"
    channel = "depth"

    def spec(self, camera: Camera) -> ObservationSpec:
        size = replace(camera, width_px=self.width_px, height_px=self.height_px)
        return self._unsized.spec(size)

    def develop(self, image: np.ndarray, out: np.ndarray) -> None:
        for one, small in zip(image, out):
            self._unsized.develop(resize(one, self.width_px, self.height_px), small)

    @property
    def _unsized(self) -> Depth:
        """The sensor for the resized image."""
        return Depth(0.0, FARTHEST, normalize=False, dtype=self.dtype)
