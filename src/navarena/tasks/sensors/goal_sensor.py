"""Interface of goal sensors."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from navarena.simulation.sensors.sensor import ObservationSpec, Sensor
from navarena.simulation.simulator import Simulator
from navarena.tasks.task import TaskState


class GoalSensor(Sensor):
    """Looks at the bodies and at what the task knows of their goals.

    Attributes:
        follows: names of sensors of the pose from which it derives, and with which it is corrupted.
        channels: images of the first camera that it looks at, too (see Observer.image).
    """

    follows: ClassVar[tuple[str, ...]] = ()
    channels: ClassVar[tuple[str, ...]] = ()

    def begin(self, simulator: Simulator, state: TaskState, slots: Int64[np.ndarray, "k"]) -> None:
        """New episodes begin in `slots` (K,) indices; the bodies stand at their starts."""

    @abstractmethod
    def spec(self) -> ObservationSpec:
        """Shape, type and bounds."""

    @abstractmethod
    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        """Write the observations of all slots into `out` (N, ...)."""
