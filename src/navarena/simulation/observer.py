"""Fills preallocated arrays with what the sensors of N bodies observe; only what is asked for."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import InputError, unknown_name
from navarena.core.threads import run_over_rows
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.camera_rig import CameraRig, make_renderer
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

    Attributes:
        specs: name -> shape, type and bounds.
        extras: what is drawn into the images besides the scenes.
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
    ) -> None:
        self._embodiment, self._bodies, self._threads = embodiment, bodies, threads
        found = [source for sensor in sensors for source in find_sources(embodiment, sensor, own)]
        self._sources = list({source.name: source for source in found}.values())
        self.specs = {source.name: spec_of(source, embodiment) for source in self._sources}
        if unknown := [name for name in buffers if name not in self.specs]:
            raise unknown_name("observation to give a buffer for", unknown[0], list(self.specs))
        given = {name: self.specs[name].make_array(len(bodies), buffers[name]) for name in buffers}
        self._rigs = self._make_rigs(channels, given)
        self._pipeline = pipeline
        self.extras: ExtraObjects | None = None
        self._renderer: Renderer | None = None
        self._renderer_version = -1
        self._arrays = {source.name: self._allocate(source, given) for source in self._sources}
        self._stale = np.ones(len(bodies), bool)

    def _make_rigs(self, channels: Sequence[str], given: Mapping[str, np.ndarray]) -> dict[int, CameraRig]:
        """One rig for each camera whose images are wanted; empty without images.

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
        return {
            k: CameraRig(cameras[k], images, slots, self._threads, buffers.get(k, {}))
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
        Raises InputError for a channel that was not asked for.
        """
        rig = self._rigs.get(self._first_camera(channel))
        if rig is None or channel not in rig.images:
            raise InputError(
                f"expected {channel!r} among the images that are taken; ask for it by `channels`"
            )
        return rig.camera, rig.images[channel]

    def _allocate(self, source: ObservationSource, given: Mapping[str, np.ndarray]) -> np.ndarray:
        spec = self.specs[source.name]
        if isinstance(source.sensor, ImageSensor) and source.sensor.is_raw:
            images = self._rigs[source.camera].images[source.sensor.channel]
            return images.reshape(len(self._bodies), *spec.shape)
        return spec.make_array(len(self._bodies), given.get(source.name))

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

    def observe(self, slot_worlds: SlotWorlds) -> dict[str, np.ndarray]:
        """Name -> (N, ...) of everything asked for as of now; dtypes and units as in `specs`."""
        if not self._stale.any():
            return self._arrays
        if self._rigs and slot_worlds.worlds:
            renderer = self._require_renderer(slot_worlds)
            for rig in self._rigs.values():
                rig.render(renderer, slot_worlds, self._bodies, self._stale, self.extras)
                if self._pipeline is not None:
                    for channel, images in rig.images.items():
                        self._pipeline.change_images(rig.key(channel), images, self._stale)
        for source in self._sources:
            self._fill(source)
        self._stale[:] = False
        return self._arrays

    def _require_renderer(self, slot_worlds: SlotWorlds) -> Renderer:
        """The renderer of the present worlds; raises SceneError for missing labels."""
        if self._renderer is None or self._renderer_version != slot_worlds.version:
            for rig in self._rigs.values():
                rig.require_labels(slot_worlds)
            self._renderer = make_renderer(slot_worlds, self._threads)
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
            run_over_rows(
                lambda share, first, last: sensor.develop(image[first:last], out[first:last]),
                np.flatnonzero(self._stale),
                self._threads,
            )
