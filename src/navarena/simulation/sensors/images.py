"""Sensors that look through a camera."""

# mypy: disable-error-code="no-untyped-def"

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from navarena.core.errors import InputError
from navarena.core.kernels import kernel
from navarena.simulation.body import Camera
from navarena.simulation.sensors.sensor import ImageSensor, ObservationSpec

DepthType = Literal["float32", "float16", "uint8"]
"""Of depth observations."""

INT32_MAX = int(np.iinfo(np.int32).max)


@kernel(fastmath=True)
def clip_and_scale(metres, min_range, scale, limit, out):
    """Write (metres - min_range) * scale, clipped to [0, limit]; flat float32 arrays and numbers."""
    for i in range(metres.size):
        out[i] = min(max((metres[i] - min_range) * scale, np.float32(0)), limit)


@kernel(fastmath=True)
def clip_to_bytes(metres, min_range, scale, out):
    """Write (metres - min_range) * scale into uint8, rounded and clipped; flat arrays, float32 numbers."""
    for i in range(metres.size):
        value = min(max((metres[i] - min_range) * scale, np.float32(0)), np.float32(255))
        out[i] = np.uint8(np.int32(value + np.float32(0.5)))


class Rgb(ImageSensor):
    """(H, W, 3) uint8 sRGB bytes."""

    name = "rgb"
    channel = "rgb"
    is_raw = True

    def spec(self, camera: Camera) -> ObservationSpec:
        return ObservationSpec((camera.height_px, camera.width_px, 3), np.uint8, 0, 255)

    def develop(self, image: np.ndarray, out: np.ndarray) -> None:
        out[:] = image


@dataclass(frozen=True)
class Depth(ImageSensor):
    """(H, W, 1) float32: distance along the optical axis, clipped to [min_range, max_range].

    Where nothing was hit the frame holds 0, which clips to `min_range` (as in Habitat).

    Args:
        min_range, max_range: metres.
        normalize: whether (d - min_range) / (max_range - min_range) is returned instead of metres.
        dtype: of the array; uint8 holds that ratio times 255, rounded, whatever `normalize` says.
    """

    min_range: float = 0.0
    max_range: float = 10.0
    normalize: bool = True
    dtype: DepthType = "float32"

    name = "depth"
    channel = "depth"

    def __post_init__(self) -> None:
        if not 0 <= self.min_range < self.max_range:
            raise InputError(
                f"expected 0 <= min_range < max_range (metres) of the depth sensor, got {self.min_range} "
                f"and {self.max_range}"
            )

    def spec(self, camera: Camera) -> ObservationSpec:
        shape = (camera.height_px, camera.width_px, 1)
        if self.dtype == "uint8":
            return ObservationSpec(shape, np.uint8, 0, 255)
        if self.normalize:
            return ObservationSpec(shape, np.dtype(self.dtype), 0.0, 1.0)
        return ObservationSpec(shape, np.dtype(self.dtype), self.min_range, self.max_range, "metres")

    def develop(self, image: np.ndarray, out: np.ndarray) -> None:
        flat_out, flat = out.reshape(-1), image.reshape(-1)
        if self.dtype == "uint8":
            scale = 255 / (self.max_range - self.min_range)
            clip_to_bytes(flat, np.float32(self.min_range), np.float32(scale), flat_out)
            return
        if self.dtype == "float16":
            exact = np.zeros(out.shape, np.float32)
            replace(self, dtype="float32").develop(image, exact)
            out[:] = exact
            return
        if self.normalize:
            scale = 1 / (self.max_range - self.min_range)
            clip_and_scale(flat, np.float32(self.min_range), np.float32(scale), np.float32(1), flat_out)
        else:
            np.clip(flat, np.float32(self.min_range), np.float32(self.max_range), out=flat_out)


class _Ids(ImageSensor):
    """(H, W, 1) int32 ids, as rendered."""

    is_raw = True

    def spec(self, camera: Camera) -> ObservationSpec:
        return ObservationSpec((camera.height_px, camera.width_px, 1), np.int32, 0, INT32_MAX)

    def develop(self, image: np.ndarray, out: np.ndarray) -> None:
        out[..., 0] = image


class Semantic(_Ids):
    """(H, W, 1) int32 category ids: index into Scene.categories plus 1; 0 is nothing."""

    name = "semantic"
    privileged = True
    channel = "semantic"


class Instance(_Ids):
    """(H, W, 1) int32 object ids (SceneObject.object_id); 0 is nothing."""

    name = "instance"
    privileged = True
    channel = "instance"
