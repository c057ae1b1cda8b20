"""Camera rigs: one camera of each of N bodies, rendered in one call."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool

from navarena.core.errors import SceneError
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera
from navarena.simulation.camera_pose import world_from_image
from navarena.simulation.device_images import ImageDevice
from navarena.simulation.rendering.engine import Renderer
from navarena.simulation.rendering.views import ExtraObjects, Frames, Views
from navarena.simulation.rendering.warp.renderer import DeviceFrames
from navarena.simulation.slot_worlds import SlotWorlds

"""Channels that only a scene with labelled objects can fill."""


class CameraRig:
    """One camera of each of N bodies and its preallocated images.

    Args:
        camera: whose images are taken.
        channels: which ("rgb", "depth", "semantic", "instance").
        slots: N.
        threads: to render with; None for all.
        buffers: channel -> an array (N, ...) of the caller, into which it is rendered.
        device: where images stay; None for arrays of NumPy.

    Attributes:
        images: channel -> (N, H, W[, 3]) array of NumPy, or of the device; each `render` rewrites the rows
            that it is asked for.
    """

    def __init__(
        self,
        camera: Camera,
        channels: Iterable[str],
        slots: int,
        threads: int | None,
        buffers: Mapping[str, np.ndarray],
        device: ImageDevice | None = None,
    ) -> None:
        self.camera = camera
        self.channels = frozenset(channels)
        self._threads = threads
        self._frames: Frames | DeviceFrames
        if device is None:
            size = (slots, camera.height_px, camera.width_px)
            frames = Frames.allocate(slots, camera, [one for one in self.channels if one not in buffers])
            given = {name: buffers[name].reshape(size + (3,) * (name == "rgb")) for name in buffers}
            self._frames = replace(frames, **given)
        else:
            self._frames = DeviceFrames.allocate(slots, camera, device.warp_device, sorted(self.channels))
        self.images: dict[str, Any] = {
            channel: getattr(self._frames, channel) for channel in sorted(self.channels)
        }

    def use_buffer(self, channel: str, array: np.ndarray) -> None:
        """Render `channel` into the array (N, ...) of the caller from now on."""
        array = array.reshape(self.images[channel].shape)
        self._frames = replace(self._frames, **{channel: array})
        self.images[channel] = array

    def key(self, channel: str) -> str:
        """Name of the observation of `channel`, such as "depth" or "left_rgb"."""
        return f"{self.camera.name}_{channel}" if self.camera.name else channel

    def require_labels(self, slot_worlds: SlotWorlds) -> None:
        """Raise SceneError when categories are asked of a scene without labels.

        Its instances are the pieces of its mesh.
        """
        for world in slot_worlds.worlds:
            if "semantic" in self.channels and not world.scene.has_semantics:
                raise SceneError(
                    f"expected labelled objects for the observation {self.key('semantic')!r}, got scene "
                    f"{world.scene_id!r} without semantics; leave this sensor out, use 'instance' (pieces of "
                    "the mesh), or give a mesh whose objects have names"
                )

    def render(
        self,
        renderer: Renderer,
        slot_worlds: SlotWorlds,
        bodies: Bodies,
        rows: Bool[np.ndarray, "n"],
        extras: ExtraObjects | None = None,
    ) -> None:
        """Render the cameras of `bodies` (N) in the slots `rows` (N,) into `images`.

        Those of other slots, and of slots that were never placed, stay as they are.
        """
        poses = world_from_image(bodies, self.camera)
        views = Views(
            camera=self.camera,
            scene_index=np.where(rows, slot_worlds.row, -1).astype(np.int32),
            position=np.ascontiguousarray(poses[:, :3, 3]),
            rotation=np.ascontiguousarray(poses[:, :3, :3]),
        )
        renderer.render(views, self._frames, extras)  # type: ignore[arg-type]  # Warp's renderer takes both
