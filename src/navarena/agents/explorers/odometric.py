"""`frontier-odometry`: the frontier agent where nothing tells the pose."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from navarena.agents.explorers.explorer import Aim
from navarena.agents.explorers.frontier import FrontierAgent
from navarena.agents.explorers.goal_finders import GoalFinder, PointFinder, make_goal_finder
from navarena.agents.explorers.mapping_agent import MOVES
from navarena.agents.explorers.pose_sources import PoseSource, ReckonedPoses
from navarena.core.geometry import forward_from_yaw
from navarena.tasks.task import Task

POINT_SENSORS = frozenset(("pointgoal", "pointgoal_with_gps_compass"))
"""One of them a protocol has that tells a point."""

SURE_SHARE = 0.6
"""Of the success distance: so near to where it believes the goal to be the agent goes, since it may err."""

LEAST_STEPS = 0.8
"""Steps within which it must go at least, or it might walk to and fro over the goal."""


class OdometricFrontierAgent(FrontierAgent):
    """The frontier agent without gps and compass.

    It reckons its pose from the actions that it took and by matching each depth image with those before it
    (`navarena.mapping.ScanOdometry`), and goes to the point that it was told at the start (`pointgoal`). It
    observes depth, the goal, and what FrontierAgent looks at in ObjectNav and MultiON. Errors grow with the
    way; it does not feel stairs.
    """

    @classmethod
    def inputs_beyond(cls, task: Task) -> tuple[str, ...]:
        """None: it is not told where it is."""
        return ()

    def make_pose_source(self) -> PoseSource:
        """Of what actions should do by the body's data sheet, and of depth."""
        body = self.task.embodiment
        by_move = {
            "forward": (body.forward_step, 0.0, 0.0),
            "left": (0.0, 0.0, body.turn_angle),
            "right": (0.0, 0.0, -body.turn_angle),
        }
        by_name = {MOVES[move]: motion for move, motion in by_move.items()}
        motions = np.array([by_name.get(name, (0.0, 0.0, 0.0)) for name in self.task.actions])
        return ReckonedPoses(self.camera, motions, self.depth_scale)

    def make_finder(self, task: Task) -> GoalFinder:
        """Points by what was told at the start; else as FrontierAgent."""
        if POINT_SENSORS.intersection(task.sensors):
            sure = max(SURE_SHARE * task.success_distance, task.embodiment.forward_step * LEAST_STEPS)
            return ToldPointFinder(min(sure, task.success_distance))
        return make_goal_finder(task)


class ToldPointFinder(PointFinder):
    """PointNav whose goal is told once, from the start pose."""

    sensors = ("pointgoal",)

    def aim(
        self, slot: int, observations: Mapping[str, np.ndarray], pose: Float[np.ndarray, "4 4"]
    ) -> Aim | None:
        distance, bearing = observations["pointgoal"].tolist()
        return self.aim_at(distance * forward_from_yaw(bearing))
