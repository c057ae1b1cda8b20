"""The goal of PointNav: relative to the start, or to the present pose."""

# mypy: disable-error-code="no-untyped-def"

import math

import numpy as np

from navarena.core.kernels import kernel
from navarena.simulation.sensors.pose import FAR
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.task import TaskState


@kernel
def polar_goals(positions, yaws, goals, out):
    """Write [distance, angle] (N, 2) of `goals` (N, 3) in the plan view of bodies at `positions`, `yaws`.

    Angle 0 is straight ahead, positive to the left; a goal at the very position has angle 0.
    """
    for i in range(positions.shape[0]):
        east = goals[i, 0] - positions[i, 0]
        south = goals[i, 2] - positions[i, 2]
        sine, cosine = math.sin(yaws[i]), math.cos(yaws[i])
        ahead = -(sine * east + cosine * south)
        right = cosine * east - sine * south
        distance = math.sqrt(east * east + south * south)
        out[i, 0] = distance
        out[i, 1] = 0.0 if distance == 0.0 else math.atan2(-right, ahead)


class PointGoal(GoalSensor):
    """(2,) float32 [metres, radians]: plan distance and bearing of the goal from the start pose.

    It stays the same for the whole episode: Habitat's PointGoalSensor in its polar, two-dimensional form.
    The bearing is 0 straight ahead and grows to the left, within [-pi, pi].
    """

    name = "pointgoal"
    implied_by = ("pointgoal", "pointgoal_with_gps_compass")

    def spec(self) -> ObservationSpec:
        return ObservationSpec((2,), np.float32, -FAR, FAR, "metres, radians")

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        bodies = simulator.bodies
        polar_goals(bodies.start_positions, bodies.start_yaws, state.goal_position, out)


class PointGoalWithGpsCompass(GoalSensor):
    """(2,) float32 [metres, radians]: plan distance and bearing of the goal from where the body is now.

    It follows from gps and compass, and is corrupted with them.
    The bearing is 0 straight ahead and grows to the left, within [-pi, pi]: the polar,
    two-dimensional form of Habitat's IntegratedPointGoalGPSAndCompassSensor.
    """

    name = "pointgoal_with_gps_compass"
    follows = ("gps", "compass")
    implied_by = ("pointgoal_with_gps_compass",)

    def spec(self) -> ObservationSpec:
        return ObservationSpec((2,), np.float32, -FAR, FAR, "metres, radians")

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        bodies = simulator.bodies
        polar_goals(bodies.estimated_positions, bodies.estimated_yaws, state.goal_position, out)
