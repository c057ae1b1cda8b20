"""The renderer of NVIDIA Warp: N views of any scenes in one launch, on a GPU or on the CPU."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from navarena.core.errors import InputError, require_name
from navarena.core.render_devices import find_warp
from navarena.simulation.body import Camera
from navarena.simulation.rendering.engine import SHADINGS, pack_cameras
from navarena.simulation.rendering.extra_objects import NO_EXTRAS, pack_extras
from navarena.simulation.rendering.render_mesh import RenderMesh
from navarena.simulation.rendering.views import OUTPUTS, ExtraObjects, Frames, Views, require_consistent
from navarena.simulation.rendering.warp.residency import ResidentScenes

MAX_PIXELS = 2**31 - 1
"""Of one call: threads of a launch are counted in 32 bits."""


@dataclass(frozen=True, eq=False)
class DeviceFrames:
    """Output arrays of N views on a device of Warp; shapes and types as of `Frames`.

    They speak DLPack: `torch.from_dlpack(frames.rgb)` shares their memory.
    """

    rgb: Any = None
    depth: Any = None
    instance: Any = None
    semantic: Any = None

    @classmethod
    def allocate(
        cls, count: int, camera: Camera, device: Any, outputs: Sequence[str] = OUTPUTS
    ) -> "DeviceFrames":
        """Zeroed arrays for `count` views through `camera`; raises InputError where memory is too small."""
        warp = find_warp()
        require_pixels(count, camera.height_px, camera.width_px)
        kinds = {"rgb": warp.uint8, "depth": warp.float32, "instance": warp.int32, "semantic": warp.int32}
        size = (count, camera.height_px, camera.width_px)
        made = {
            name: make_zeros((*size, 3) if name == "rgb" else size, kinds[name], device) for name in outputs
        }
        return cls(**made)

    def arrays(self) -> tuple[Any, ...]:
        """rgb, depth, instance, semantic; None for what is not wanted."""
        return self.rgb, self.depth, self.instance, self.semantic


def require_pixels(count: int, height: int, width: int) -> None:
    """Raise InputError unless `count` images of this size can be drawn in one call."""
    if min(height, width) < 1 or count * height * width > MAX_PIXELS:
        raise InputError(
            f"expected images of at least one pixel and at most {MAX_PIXELS:,} pixels in one call, got "
            f"{count} images of {width} x {height}; choose another image size or fewer environments"
        )


def make_zeros(shape: tuple[int, ...], kind: Any, device: Any) -> Any:
    """A device array of zeros; raises InputError where memory does not suffice."""
    try:
        return find_warp().zeros(shape, dtype=kind, device=device)
    except (RuntimeError, MemoryError) as error:  # Warp says the former on a GPU
        raise InputError(
            f"expected room for images {shape} on {device.alias}, got none; choose smaller images or fewer "
            "environments"
        ) from error


class WarpRenderer:
    """Draws by ray casting on a device of Warp; see Renderer. The same bits for any batch.

    Args:
        meshes: the scenes; `Views.scene_index` counts them.
        scenes: where their arrays are kept, over the lives of many renderers.
    """

    def __init__(self, meshes: Sequence[RenderMesh], scenes: ResidentScenes) -> None:
        self._meshes, self._scenes = tuple(meshes), scenes
        self._copies = not scenes.device.is_cpu
        self._visible: Any = None
        self._depth: Any = None

    def render(
        self,
        views: Views,
        frames: Frames | DeviceFrames,
        extras: ExtraObjects | None = None,
        shading: str = "textured",
    ) -> None:
        """See Renderer.render; frames may be on the device, too.

        Work on a GPU is queued on Warp's stream: whoever takes device arrays by DLPack or `numpy()` waits for
        it. Into NumPy's arrays the images are copied from there.
        """
        require_name("shading", shading, SHADINGS)
        host = frames if isinstance(frames, Frames) else Frames()
        require_consistent(views, host, len(self._meshes))
        if isinstance(frames, DeviceFrames):
            self._draw(views, frames, extras, shading)
            return
        warp, device = find_warp(), self._scenes.device
        wanted = {name: array for name, array in zip(OUTPUTS, frames.arrays()) if array is not None}
        if not self._copies:
            self._draw(views, DeviceFrames(**_sharing(warp, wanted, device)), extras, shading)
            return
        staged = DeviceFrames.allocate(len(views), views.camera, device, tuple(wanted))
        self._draw(views, staged, extras, shading)
        for name, array in wanted.items():
            array[views.drawn] = getattr(staged, name).numpy()[views.drawn]

    def _draw(self, views: Views, frames: DeviceFrames, extras: ExtraObjects | None, shading: str) -> None:
        """Draw into arrays on the device; what is None there costs nothing."""
        from navarena.simulation.rendering.warp.shading import shade
        from navarena.simulation.rendering.warp.visibility import find_visible

        drawn = views.drawn
        if not len(drawn):
            return
        warp, device = find_warp(), self._scenes.device
        height, width = views.camera.height_px, views.camera.width_px
        require_pixels(len(views), height, width)
        cameras = pack_cameras(views)
        templates = () if extras is None else extras.templates
        packed = pack_extras(NO_EXTRAS if extras is None else extras, len(views), len(self._meshes))
        table = self._scenes.table((*self._meshes, *templates))
        self._require_scratch((len(views), height, width))
        depth = self._depth if frames.depth is None else frames.depth

        def move(array: np.ndarray, kind: Any) -> Any:
            return warp.array(array, dtype=kind, device=device)

        common = [
            table,
            move(drawn.astype(np.int32), warp.int32),
            move(np.asarray(views.scene_index, np.int32), warp.int32),
            move(cameras, warp.float32),
        ]
        extra = [
            move(packed.offset, warp.int32),
            move(packed.mesh, warp.int32),
            move(packed.cameras(views, cameras), warp.float32),
        ]
        find_visible([*common, *extra], self._visible, depth, device)
        if frames.rgb is None and frames.instance is None and frames.semantic is None:
            return
        warp.launch(
            shade,
            dim=(len(drawn), height, width),
            inputs=[*common, move(packed.words, warp.int32), self._visible, depth, SHADINGS[shading]],
            outputs=[frames.rgb, frames.instance, frames.semantic],
            device=device,
        )

    def _require_scratch(self, size: tuple[int, int, int]) -> None:
        """Arrays for what is visible, and for depth where nobody wants it."""
        if self._visible is None or self._visible.shape != size:
            warp, device = find_warp(), self._scenes.device
            self._visible = make_zeros(size, warp.int32, device)
            self._depth = make_zeros(size, warp.float32, device)


def _sharing(warp: Any, arrays: dict[str, np.ndarray], device: Any) -> dict[str, Any]:
    """Warp's CPU arrays over the memory of NumPy's."""
    kinds = {
        np.dtype(np.uint8): warp.uint8,
        np.dtype(np.float32): warp.float32,
        np.dtype(np.int32): warp.int32,
    }
    return {
        name: warp.array(array, dtype=kinds[array.dtype], device=device, copy=False)
        for name, array in arrays.items()
    }
