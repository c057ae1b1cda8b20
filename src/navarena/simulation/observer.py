"""Fills preallocated arrays with the requested observations of N bodies."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import InputError, require_name, unknown_name
from navarena.core.threads import run_over_rows
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.camera_rig import CameraRig
from navarena.simulation.device_images import ON_CPU, ImageDevice, RenderDevice
from navarena.simulation.observation_sources import ObservationSource, OwnSensor, find_sources, spec_of
from navarena.simulation.pipeline import SimulationPipeline
from navarena.simulation.rendering.engine import Renderer
from navarena.simulation.rendering.views import ExtraObjects
from navarena.simulation.sensors.sensor import BodySensor, CameraSensor, ImageSensor, Sensor
from navarena.simulation.slot_worlds import SlotWorlds


class Observer:
    """The observations of N bodies.

    Args:
        embodiment: whose cameras are meant.
        bodies: that are observed.
        sensors: names or sensors.
        threads: for rendering.
        own: the protocol's own versions of sensors.
        pipeline: changes the images that a camera has taken; None leaves them.
        channels: images to take besides those of the sensors, by the first camera that can.
        buffers: name -> an array (N, ...) of the caller, into which the observation is written.
        device: where images are drawn.

    Attributes:
        specs: name -> shape, type and bounds.
        extras: what is drawn into the images besides the scenes.
        estimate_poses: called when images have been taken, before sensors read them and the estimated poses,
            which it may change.
    """

    def __init__(
        self,
        embodiment: Embodiment,
        bodies: Bodies,
        sensors: Sequence[str | Sensor],
        threads: int | None,
        own: OwnSensor,
        pipeline: SimulationPipeline | None = None,
        channels: Sequence[str] = (),
        buffers: Mapping[str, np.ndarray] = MappingProxyType({}),
        device: RenderDevice = ON_CPU,
    ) -> None:
        self._embodiment, self._bodies, self._threads = embodiment, bodies, threads
        found = [source for sensor in sensors for source in find_sources(embodiment, sensor, own)]
        self._sources = list({source.name: source for source in found}.values())
        self.specs = {source.name: spec_of(source, embodiment) for source in self._sources}
        if unknown := [name for name in buffers if name not in self.specs]:
            raise unknown_name("observation to give a buffer for", unknown[0], list(self.specs))
        given = {name: self.specs[name].make_array(len(bodies), buffers[name]) for name in buffers}
        self._device = ImageDevice(device, threads)
        self._pipeline = pipeline
        if self._device.keeps_images:
            self._require_kept(given)
        self._rigs = self._make_rigs(channels, given)
        self.extras: ExtraObjects | None = None
        self.estimate_poses: Callable[[], None] = lambda: None
        self._renderer: Renderer | None = None
        self._renderer_version = -1
        self._arrays: dict[str, Any] = {one.name: self._allocate(one, given) for one in self._sources}
        self._stale = np.ones(len(bodies), bool)

    def _require_kept(self, given: Mapping[str, np.ndarray]) -> None:
        """Raise InputError unless all images can stay on the device."""
        for source in self._sources:
            if isinstance(source.sensor, ImageSensor):
                self._device.require_sensor(source.sensor)
                if source.name in given:
                    raise InputError(f"expected no buffer for {source.name!r}, which stays on the device")
        if self._pipeline is not None:
            self._device.require_corruptions(self._pipeline.find_image_corruptions())

    def _make_rigs(self, channels: Sequence[str], given: Mapping[str, np.ndarray]) -> dict[int, CameraRig]:
        """One rig for each camera with requested images.

        Raw images are rendered into the arrays that are `given` for them.
        """
        wanted: dict[int, set[str]] = {}
        buffers: dict[int, dict[str, np.ndarray]] = {}
        for source in self._sources:
            if isinstance(source.sensor, ImageSensor):
                wanted.setdefault(source.camera, set()).add(source.sensor.channel)
                if source.sensor.is_raw and source.name in given:
                    own = buffers.setdefault(source.camera, {})
                    if source.sensor.channel in own:
                        raise InputError(f"expected one buffer for the images of {source.name!r}, got two")
                    own[source.sensor.channel] = given[source.name]
        for channel in channels:
            wanted.setdefault(self._first_camera(channel), set()).add(channel)
        cameras, slots = self._embodiment.cameras, len(self._bodies)
        device = self._device if self._device.keeps_images else None
        return {
            k: CameraRig(cameras[k], images, slots, self._threads, buffers.get(k, {}), device)
            for k, images in wanted.items()
        }

    def _first_camera(self, channel: str) -> int:
        """Index of the first camera that takes a channel; raises InputError when none does."""
        for index, camera in enumerate(self._embodiment.cameras):
            if channel in camera.channels:
                return index
        raise InputError(f"expected a camera of {self._embodiment.name!r} that takes {channel!r}, got none")

    def image(self, channel: str) -> tuple[Camera, np.ndarray]:
        """The first camera that takes `channel`, and its images (N, H, W) or (N, H, W, 3).

        They are those of the last `observe`, as rendered: depth in metres, neither clipped nor scaled.
        Images that stay on a device are copied from there.
        Raises InputError for a channel that was not asked for.
        """
        rig = self._rigs.get(self._first_camera(channel))
        if rig is None or channel not in rig.images:
            raise InputError(
                f"expected {channel!r} among the images that are taken; ask for it by `channels`"
            )
        images = rig.images[channel]
        return rig.camera, images.numpy() if self._device.keeps_images else images

    def _allocate(self, source: ObservationSource, given: Mapping[str, np.ndarray]) -> Any:
        spec = self.specs[source.name]
        if isinstance(source.sensor, ImageSensor) and source.sensor.is_raw:
            images = self._rigs[source.camera].images[source.sensor.channel]
            return images.reshape((len(self._bodies), *spec.shape))
        if isinstance(source.sensor, ImageSensor) and self._device.keeps_images:
            return self._device.make_array((len(self._bodies), *spec.shape), spec.dtype)
        return spec.make_array(len(self._bodies), given.get(source.name))

    def use_buffers(self, given: Mapping[str, np.ndarray]) -> None:
        """Write the observations named in `given` into these arrays (N, ...) from now on.

        What is not out of date is copied into them. Raises UnknownNameError for an observation that nobody
        asked for, InputError for an array that does not fit its spec; then nothing has changed.
        """
        sources = {source.name: source for source in self._sources}
        for name, array in given.items():
            require_name("observation to give a buffer for", name, sources)
            self.specs[name].make_array(len(self._bodies), array)
        for name, array in given.items():
            source = sources[name]
            array[~self._stale] = self._arrays[name][~self._stale]
            self._arrays[name] = array
            if isinstance(source.sensor, ImageSensor) and source.sensor.is_raw:
                self._rigs[source.camera].use_buffer(source.sensor.channel, array)

    def expire(self, rows: Bool[np.ndarray, "n"] | Int64[np.ndarray, "k"] | None = None) -> None:
        """The bodies `rows` (all by default) have acted: their observations are out of date.

        The images of other rows are kept, so that slots whose episodes have ended cost nothing.
        """
        self._stale[slice(None) if rows is None else rows] = True

    def show(self, extras: ExtraObjects | None) -> None:
        """Draw `extras` into the images from now on; their view_index counts slots."""
        self.extras = extras
        self.expire()

    def world_from_camera(self, camera: Camera) -> Float[np.ndarray, "n 4 4"]:
        """(N, 4, 4) float64 poses of `camera` on the bodies."""
        return world_from_camera(self._bodies, camera)

    def observe(self, slot_worlds: SlotWorlds) -> dict[str, Any]:
        """Name -> (N, ...) of all requested observations; dtypes and units as in `specs`."""
        if not self._stale.any():
            return self._arrays
        if self._rigs and slot_worlds.worlds:
            renderer = self._require_renderer(slot_worlds)
            for rig in self._rigs.values():
                rig.render(renderer, slot_worlds, self._bodies, self._stale, self.extras)
                for channel, images in rig.images.items():
                    self._change_images(rig.key(channel), images)
        self.estimate_poses()
        for source in self._sources:
            self._fill(source)
        self._stale[:] = False
        return self._arrays

    def _change_images(self, name: str, images: Any) -> None:
        """Corrupt the rendered images in place."""
        if self._pipeline is None:
            return
        if not self._device.keeps_images:
            self._pipeline.change_images(name, images, self._stale)
            return
        for corruption in self._pipeline.find_image_corruptions(name):
            self._device.corrupt(corruption, images, self._stale)

    def _require_renderer(self, slot_worlds: SlotWorlds) -> Renderer:
        """The renderer of the present worlds; raises SceneError for missing labels."""
        if self._renderer is None or self._renderer_version != slot_worlds.version:
            for rig in self._rigs.values():
                rig.require_labels(slot_worlds)
            self._renderer = self._device.make_renderer([one.render_mesh for one in slot_worlds.worlds])
            self._renderer_version = slot_worlds.version
        return self._renderer

    def _fill(self, source: ObservationSource) -> None:
        sensor, out = source.sensor, self._arrays[source.name]
        if isinstance(sensor, BodySensor):
            sensor.observe(self._bodies, out)
        elif isinstance(sensor, CameraSensor):
            camera = self._embodiment.cameras[source.camera]
            sensor.observe(camera, self.world_from_camera(camera), out)
        elif isinstance(sensor, ImageSensor) and not sensor.is_raw:
            image = self._rigs[source.camera].images[sensor.channel]
            if self._device.keeps_images:
                self._device.develop(sensor, image, out, self._stale)
                return
            run_over_rows(
                lambda share, first, last: sensor.develop(image[first:last], out[first:last]),
                self._stale.nonzero()[0],
                self._threads,
            )
