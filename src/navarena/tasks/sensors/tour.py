"""Sensors of the place in a tour."""

import numpy as np

from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.task import Phase, TaskState

MAX_EPISODES = 2**31 - 1
"""Of a tour, as a bound of the observation."""


class PhaseSensor(GoalSensor):
    """() int64: who moves the body: 0 agent, 1 oracle to the goal, 2 oracle to the next start."""

    name = "phase"

    def spec(self) -> ObservationSpec:
        return ObservationSpec((), np.int64, 0, int(max(Phase)))

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        out[:] = state.phase


class TourPosition(GoalSensor):
    """() int64: how many episodes of the tour came before; 0 outside tours."""

    name = "tour_position"

    def spec(self) -> ObservationSpec:
        return ObservationSpec((), np.int64, 0, MAX_EPISODES)

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        out[:] = state.tour_position
