"""Images that stay on a device: allocated, developed for sensors, and corrupted there."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool

from navarena.core.errors import InputError
from navarena.core.render_devices import CPU, find_device, find_warp, require_device_name
from navarena.corruptions.corruption import Corruption
from navarena.simulation.rendering.engine import Renderer, VisibilityRenderer
from navarena.simulation.rendering.render_mesh import RenderMesh
from navarena.simulation.rendering.warp.renderer import WarpRenderer, make_zeros
from navarena.simulation.rendering.warp.residency import ResidentScenes
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.sensor import ImageSensor


@dataclass(frozen=True)
class RenderDevice:
    """The device that draws images, and whether they stay on it.

    Attributes:
        name: "cpu" for the CPU's own engine; "cuda" or "cuda:1" for NVIDIA Warp on a GPU; "warp-cpu" for the
            same kernels on the CPU, which is for tests.
        keeps_images: whether observations that are images are arrays of the device, which speak DLPack;
            otherwise they are copied into NumPy's arrays.

    Raises UnknownNameError for another name.
    """

    name: str = CPU
    keeps_images: bool = False

    def __post_init__(self) -> None:
        require_device_name(self.name)

    @property
    def is_cpu(self) -> bool:
        """Whether the CPU's own engine draws."""
        return self.name == CPU


ON_CPU = RenderDevice()
"""The CPU's own engine."""


class ImageDevice:
    """The renderers of one simulator, and processing of images that stay on their device.

    Args:
        device: where.
        threads: for rendering on the CPU.
    """

    def __init__(self, device: RenderDevice, threads: int | None) -> None:
        self.keeps_images = device.keeps_images and not device.is_cpu
        self._device, self._threads = device, threads

    @cached_property
    def warp_device(self) -> Any:
        """Warp's device; raises as find_device does."""
        return find_device(self._device.name)

    @cached_property
    def _scenes(self) -> ResidentScenes:
        return ResidentScenes(self.warp_device)

    def make_renderer(self, meshes: Sequence[RenderMesh]) -> Renderer:
        """The renderer of `meshes`; those that were drawn on the device before are still there."""
        if self._device.is_cpu:
            return VisibilityRenderer(meshes, threads=self._threads)
        return WarpRenderer(meshes, self._scenes)

    def make_array(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Zeros on the device; raises InputError where memory is too small."""
        return make_zeros(shape, find_warp().dtype_from_numpy(np.dtype(dtype)), self.warp_device)

    def require_sensor(self, sensor: ImageSensor) -> None:
        """Raise InputError unless the images of `sensor` can stay on the device."""
        if not (sensor.is_raw or type(sensor) is Depth):
            raise InputError(
                f"expected rgb, depth, semantic or instance as images on {self._device.name!r}, got "
                f"{type(sensor).__name__} for {sensor.name!r}; choose other sensors, or device='cpu'"
            )

    def develop(self, sensor: ImageSensor, image: Any, out: Any, rows: Bool[np.ndarray, "n"]) -> None:
        """As ImageSensor.develop on the device, for the `rows` (N,) bool of image (N, H, W) and out."""
        from navarena.simulation.rendering.warp import pixels

        assert isinstance(sensor, Depth)
        low, high = sensor.min_range, sensor.max_range
        numbers = (low, 1 / (high - low), 0.0, 1.0) if sensor.normalize else (0.0, 1.0, low, high)
        kernel = pixels.clip_depth_to_halves if sensor.dtype == "float16" else pixels.clip_depth
        if sensor.dtype == "uint8":
            kernel, numbers = pixels.clip_depth_to_bytes, (low, 255 / (high - low), 0.0, 255.0)
        self._launch(kernel, rows, image.shape[1:], [image, *numbers, out])

    def require_corruptions(self, corruptions: Sequence[Corruption]) -> None:
        """Raise InputError unless all image corruptions have kernels for the device."""
        from navarena.simulation.device_corruptions import require_kernels

        require_kernels(corruptions)

    def corrupt(self, corruption: Corruption, images: Any, rows: Bool[np.ndarray, "n"]) -> None:
        """Corrupt the `rows` (N,) bool of `images` (N, H, W, 3) uint8 or (N, H, W) float32 metres."""
        from navarena.simulation.device_corruptions import find_kernel

        kernel, arguments = find_kernel(corruption)
        moved = [
            find_warp().array(one, device=self.warp_device) if isinstance(one, np.ndarray) else one
            for one in arguments
        ]
        self._launch(kernel, rows, images.shape[1:3], [*moved, images])

    def _launch(
        self, kernel: Any, rows: Bool[np.ndarray, "n"], size: Sequence[int], inputs: list[Any]
    ) -> None:
        """Run a kernel over the pixels of the images in `rows` (N,) bool."""
        warp, chosen = find_warp(), np.flatnonzero(rows).astype(np.int32)
        if len(chosen):
            moved = warp.array(chosen, device=self.warp_device)
            warp.launch(kernel, (len(chosen), *size), inputs=[moved, *inputs], device=self.warp_device)
