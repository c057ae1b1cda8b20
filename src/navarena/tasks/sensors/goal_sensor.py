"""Interface of goal sensors."""

from abc import abstractmethod
from collections.abc import Collection
from typing import Any, ClassVar, Generic, cast

import numpy as np
from jaxtyping import Int64

from navarena.core.errors import InputError
from navarena.simulation.body import Embodiment
from navarena.simulation.sensors.sensor import ObservationSpec, Sensor
from navarena.simulation.simulator import Simulator
from navarena.tasks.task import State, TaskState


class GoalSensor(Sensor, Generic[State]):
    """Looks at the bodies and at what the task knows of their goals.

    Attributes:
        follows: names of sensors of the pose from which it derives, and with which it is corrupted.
        is_map: whether it is drawn and read at the poses of Simulator.mapped_bodies.
        channels: images of the first camera that it looks at, too (see Observer.image).
        implied_by: names of sensors that tell as much; it is privileged in protocols that offer none of them.
            Empty for sensors whose `privileged` holds in all protocols.
        takes_argument: its argument that a text behind its name gives, as in "semantic_predicted:DIR"; the
            observation is then called by both. Empty for sensors without.
        state_type: what the task must remember; a batch refuses the sensor for other protocols.
    """

    follows: ClassVar[tuple[str, ...]] = ()
    is_map: ClassVar[bool] = False
    channels: ClassVar[tuple[str, ...]] = ()
    implied_by: ClassVar[tuple[str, ...]] = ()
    takes_argument: ClassVar[str] = ""
    state_type: type[State] = cast(Any, TaskState)

    def begin(self, simulator: Simulator, state: State, slots: Int64[np.ndarray, "k"]) -> None:
        """New episodes begin in `slots` (K,) indices; the bodies stand at their starts."""

    @property
    def model_sha256(self) -> str:
        """Hash of the weights by which it computes, 64 hex digits; empty without any."""
        return ""

    def is_privileged(self, offered: Collection[str]) -> bool:
        """Whether it shows more than a protocol whose own sensors are `offered`, names."""
        return self.privileged or (bool(self.implied_by) and not set(self.implied_by) & set(offered))

    @abstractmethod
    def spec(self) -> ObservationSpec:
        """Shape, type and bounds."""

    def spec_on(self, body: Embodiment) -> ObservationSpec:
        """The same on a `body`, for sensors whose shape is that of its images."""
        return self.spec()

    @abstractmethod
    def observe(self, simulator: Simulator, state: State, out: np.ndarray) -> None:
        """Write the observations of all slots into `out` (N, ...)."""


class PixelSensor(GoalSensor[State]):
    """A goal sensor with one whole number for every pixel of the first camera that takes depth.

    Attributes:
        dtype: of the numbers.
    """

    dtype: ClassVar[type[np.generic]] = np.uint8

    @abstractmethod
    def find_highest(self) -> int:
        """The highest number; 0 is the lowest."""

    def spec(self) -> ObservationSpec:
        raise InputError(f"expected a body that takes images for {self.name}, got none; use spec_on")

    def spec_on(self, body: Embodiment) -> ObservationSpec:
        camera = next((one for one in body.cameras if "depth" in one.channels), None)
        if camera is None:
            raise InputError(f"expected a camera of {body.name!r} that takes depth, got none")
        shape = camera.height_px, camera.width_px, 1
        return ObservationSpec(shape, self.dtype, 0, self.find_highest())
