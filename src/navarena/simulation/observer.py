"""Fills preallocated arrays with what the sensors of N bodies observe; only what is asked for."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import InputError
from navarena.core.threads import run_over_rows
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.cameraman import Cameraman, make_renderer
from navarena.simulation.readings import OwnSensor, Reading, find_readings, spec_of
from navarena.simulation.rendering.engine import Renderer
from navarena.simulation.rendering.views import ExtraObjects
from navarena.simulation.sensors.sensor import BodySensor, CameraSensor, ImageSensor, Sensor
from navarena.simulation.stage import Stage

Retouch = Callable[[str, np.ndarray, np.ndarray], object]
"""Changes images in place, before sensors read them: called with the key of a camera's channel (such as
"depth" or "left_rgb"), the array that Cameraman.images holds for it, and (N,) bool, the rows that have just
been taken. The others keep what they were changed to before."""


class Observer:
    """The observations of N bodies.

    Args:
        embodiment: whose cameras are meant.
        bodies: that are observed.
        sensors: names or sensors.
        threads: for rendering.
        own: the protocol's own versions of sensors.
        retouch: changes the images that a camera has taken; None leaves them.
        channels: images to take besides those of the sensors, by the first camera that can.

    Attributes:
        specs: name -> shape, type and bounds.
    """

    def __init__(
        self,
        embodiment: Embodiment,
        bodies: Bodies,
        sensors: Sequence[str | Sensor],
        threads: int | None,
        own: OwnSensor,
        retouch: Retouch | None = None,
        channels: Sequence[str] = (),
    ) -> None:
        self._embodiment, self._bodies, self._threads = embodiment, bodies, threads
        found = [reading for sensor in sensors for reading in find_readings(embodiment, sensor, own)]
        self._readings = list({reading.name: reading for reading in found}.values())
        self.specs = {reading.name: spec_of(reading, embodiment) for reading in self._readings}
        self._crew = self._make_crew(channels)
        self._retouch = retouch
        self._extras: ExtraObjects | None = None
        self._renderer: Renderer | None = None
        self._renderer_version = -1
        self._arrays = {reading.name: self._allocate(reading) for reading in self._readings}
        self._stale = np.ones(len(bodies), bool)

    def _make_crew(self, channels: Sequence[str]) -> dict[int, Cameraman]:
        """One cameraman for each camera whose images are wanted; empty without images."""
        wanted: dict[int, set[str]] = {}
        for reading in self._readings:
            if isinstance(reading.sensor, ImageSensor):
                wanted.setdefault(reading.camera, set()).add(reading.sensor.channel)
        for channel in channels:
            wanted.setdefault(self._first_camera(channel), set()).add(channel)
        cameras, slots = self._embodiment.cameras, len(self._bodies)
        return {k: Cameraman(cameras[k], images, slots, self._threads) for k, images in wanted.items()}

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
        cameraman = self._crew.get(self._first_camera(channel))
        if cameraman is None or channel not in cameraman.images:
            raise InputError(
                f"expected {channel!r} among the images that are taken; ask for it by `channels`"
            )
        return cameraman.camera, cameraman.images[channel]

    def _allocate(self, reading: Reading) -> np.ndarray:
        spec = self.specs[reading.name]
        shape = (len(self._bodies), *spec.shape)
        if isinstance(reading.sensor, ImageSensor) and reading.sensor.is_raw:
            return self._crew[reading.camera].images[reading.sensor.channel].reshape(shape)
        return np.zeros(shape, spec.dtype)

    def expire(self, rows: Bool[np.ndarray, "n"] | Int64[np.ndarray, "k"] | None = None) -> None:
        """The bodies `rows` (all by default) have acted: what they observed is no longer true.

        The images of other rows are kept, so that slots whose episodes have ended cost nothing.
        """
        self._stale[slice(None) if rows is None else rows] = True

    def show(self, extras: ExtraObjects | None) -> None:
        """Draw `extras` into the images from now on; their view_index counts slots."""
        self._extras = extras
        self.expire()

    def world_from_camera(self, camera: Camera) -> Float[np.ndarray, "n 4 4"]:
        """(N, 4, 4) float64 poses of `camera` on the bodies."""
        return world_from_camera(self._bodies, camera)

    def observe(self, stage: Stage) -> dict[str, np.ndarray]:
        """Name -> (N, ...) of everything asked for as of now; dtypes and units as in `specs`."""
        if not self._stale.any():
            return self._arrays
        self._take_images(stage)
        for reading in self._readings:
            self._fill(reading)
        self._stale[:] = False
        return self._arrays

    def _take_images(self, stage: Stage) -> None:
        if not self._crew or not stage.worlds:
            return
        if self._renderer is None or self._renderer_version != stage.version:
            for cameraman in self._crew.values():
                cameraman.require_meaning(stage)
            self._renderer = make_renderer(stage, self._threads)
            self._renderer_version = stage.version
        for cameraman in self._crew.values():
            poses = self.world_from_camera(cameraman.camera)
            cameraman.shoot(self._renderer, stage, poses, self._stale, self._extras)
            if self._retouch is not None:
                name = cameraman.camera.name
                for channel, images in cameraman.images.items():
                    self._retouch(f"{name}_{channel}" if name else channel, images, self._stale)

    def _fill(self, reading: Reading) -> None:
        sensor, out = reading.sensor, self._arrays[reading.name]
        if isinstance(sensor, BodySensor):
            sensor.observe(self._bodies, out)
        elif isinstance(sensor, CameraSensor):
            camera = self._embodiment.cameras[reading.camera]
            sensor.observe(camera, self.world_from_camera(camera), out)
        elif isinstance(sensor, ImageSensor) and not sensor.is_raw:
            image = self._crew[reading.camera].images[sensor.channel]
            run_over_rows(
                lambda share, first, last: sensor.develop(image[first:last], out[first:last]),
                np.flatnonzero(self._stale),
                self._threads,
            )
