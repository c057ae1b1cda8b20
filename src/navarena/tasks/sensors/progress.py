"""How far the goal is, and what share of the way to it is done, for losses that predict it."""

from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from navarena.core.errors import InputError
from navarena.simulation.sensors.pose import FAR
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.task import TaskState


class Progress(GoalSensor):
    """(1,) float32: (D - d) / D, where d is the geodesic distance to the goal and D that at the start.

    Negative where the body is farther away than at the start; 0 where there is no path, or D is 0. The target
    of the progress monitor of VLN-CE (sensors.py 52-85).

    Raises InputError at the start of an episode of several goals, to which D does not belong.
    """

    name = "progress"
    privileged: ClassVar[bool] = True

    def spec(self) -> ObservationSpec:
        return ObservationSpec((1,), np.float32, -FAR, 1.0)

    def begin(self, simulator: Simulator, state: TaskState, slots: Int64[np.ndarray, "k"]) -> None:
        for slot in slots.tolist():
            if (goals := state.goal_count(slot)) > 1:
                raise InputError(
                    f"expected episodes of one goal for {self.name!r}, got one of {goals}; leave it out"
                )

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        whole, left = state.start_distance, state.distance
        known = np.isfinite(whole) & np.isfinite(left) & (whole > 0)
        out[:, 0] = 0.0
        out[known, 0] = (whole[known] - left[known]) / whole[known]


class GoalDistance(GoalSensor):
    """(1,) float32: metres of the shortest path to the current goal; -1 where there is none."""

    name = "goal_distance"
    privileged: ClassVar[bool] = True

    def spec(self) -> ObservationSpec:
        return ObservationSpec((1,), np.float32, -1.0, FAR)

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        out[:, 0] = np.where(np.isfinite(state.distance), state.distance, -1.0)
