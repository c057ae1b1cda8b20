"""The frontier agents: explore until they see their goal, then go there.

`frontier` observes its pose, `frontier-odometry` estimates it, `frontier-rgb` recognises cylinders by colour,
and `explore-only` never stops: its curves of coverage are drawn by `trace_coverage`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.explorer import Aim
from navarena.agents.explorers.goal_finders import (
    GoalFinder,
    NoGoalFinder,
    PointFinder,
    make_cylinder_finder,
    make_goal_finder,
)
from navarena.agents.explorers.mapping_agent import MappingAgent
from navarena.agents.explorers.pose_sources import OdometryPoses, PoseSource, nominal_motions
from navarena.agents.explorers.sightings import DepthView
from navarena.agents.explorers.visible_goals import VisibleFinder
from navarena.core.errors import InputError
from navarena.core.geometry import forward_from_yaw
from navarena.episodes.episode import Episode
from navarena.mapping.coverage import Coverage, ReachableFloor, find_reachable_floor
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.object_nav_robothor import ObjectNavRobothor
from navarena.tasks.task import Task

POINT_SENSORS = frozenset(("pointgoal", "pointgoal_with_gps_compass"))
"""Sensors of protocols whose goal is a point."""


def is_point_goal(task: Task) -> bool:
    """Whether the goal of `task` is a point, whose place is observed."""
    return not POINT_SENSORS.isdisjoint(task.sensors)


class FrontierAgent(MappingAgent):
    """Explores from frontier to frontier, and goes to the goal as soon as its place is known.

    In PointNav it always knows. In ObjectNav and MultiON the semantic image shows it (ground truth, so
    it is privileged); what it saw of later goals it remembers. It maps by depth, gps and compass.
    """

    privileged = True
    privileged_inputs: tuple[str, ...] = ("semantic images", "names of the scene's categories")
    worker_episodes = 50

    def __init__(self, task: Task, seed: int = 0) -> None:
        super().__init__(task, self.make_finder(task), seed)

    @classmethod
    def inputs_in(cls, task: Task, inputs: tuple[str, ...]) -> tuple[str, ...]:
        """Those of MappingAgent; no labels where the goal is a point."""
        return super().inputs_in(task, () if is_point_goal(task) else inputs)

    def make_finder(self, task: Task) -> GoalFinder:
        """The goal finder for the agent's task."""
        return VisibleFinder(task) if isinstance(task, ObjectNavRobothor) else make_goal_finder(task)


class FrontierRgbAgent(FrontierAgent):
    """Frontier agent for MultiON that recognises cylinders by colour and shape: no privileged input."""

    privileged = False
    privileged_inputs = ()

    def make_finder(self, task: Task) -> GoalFinder:
        """The goal finder that recognises MultiON's cylinders."""
        return make_cylinder_finder(task)


class ExploreOnlyAgent(MappingAgent):
    """Explores from frontier to frontier, and never calls STOP: for curves of coverage."""

    def __init__(self, task: Task, seed: int = 0) -> None:
        super().__init__(task, NoGoalFinder(), seed)


SURE_SHARE = 0.6
"""Of the success distance: so near to where it believes the goal to be the agent goes, since it may err."""

MIN_STEPS = 0.8
"""Steps within which it must go at least, or it might walk to and fro over the goal."""


class OdometricFrontierAgent(FrontierAgent):
    """The frontier agent without gps and compass.

    It estimates its pose from the actions that it took and by matching each depth image with those before it
    (`navarena.mapping.ScanOdometry`), and goes to the point that it observes at the start (`pointgoal`). It
    observes depth, the goal, and what FrontierAgent looks at in ObjectNav and MultiON. Errors grow with the
    path; it does not notice stairs.
    """

    @classmethod
    def inputs_in(cls, task: Task, inputs: tuple[str, ...]) -> tuple[str, ...]:
        """No labels where the goal is a point, and never the pose, which it estimates."""
        return () if is_point_goal(task) else inputs

    def make_pose_source(self) -> PoseSource:
        """Odometry with the nominal motions of the embodiment."""
        return OdometryPoses(self.camera, nominal_motions(self.task), self.depth_scale)

    def make_finder(self, task: Task) -> GoalFinder:
        """Finder of the start's point goal if the protocol has one; else that of FrontierAgent."""
        if is_point_goal(task):
            sure = max(SURE_SHARE * task.success_distance, task.embodiment.forward_step * MIN_STEPS)
            return StartPointFinder(min(sure, task.success_distance))
        return make_goal_finder(task)


class StartPointFinder(PointFinder):
    """PointNav whose goal is given once, from the start pose."""

    sensors = ("pointgoal",)

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView, is_explored: bool
    ) -> Aim | None:
        distance, bearing = observations["pointgoal"].tolist()
        return self.aim_at(distance * forward_from_yaw(bearing))


def trace_coverage(
    agent: MappingAgent, episodes: Sequence[Episode], steps: int, worlds: WorldCache | None = None
) -> Float[np.ndarray, "e t"]:
    """(E, steps + 1) share of the reachable floor of the start's storey that was seen, after every step.

    Args:
        agent: that explores, such as `explore-only`; its task says what a step is.
        episodes: whose starts are taken, all at once; where one ends early, its curve stays level.
        steps: actions of each.
        worlds: to take the scenes from; None opens them.

    Raises InputError for no episode.
    """
    if not episodes:
        raise InputError("expected at least one episode to start from, got none")
    count = len(episodes)
    batch = NavigationBatch(agent.task, count, 1, agent.sensors, worlds)
    agent.attach(batch)
    batch.start(range(count), episodes)
    agent.reset([Start(k, one.episode_id, one.scene_id, Boundary.SCENE) for k, one in enumerate(episodes)])
    floors = [_floor_of(batch, k, one) for k, one in enumerate(episodes)]
    own = [int(np.argmin(np.abs(floor.heights))) for floor in floors]
    coverage = Coverage(floors)
    curves = np.zeros((count, steps + 1))
    for step in range(steps + 1):
        running = batch.running.copy()
        actions = agent.act(batch.observations, running)
        coverage.note(agent.maps)
        curves[:, step] = [coverage.shares(k)[own[k]] for k in range(count)]
        if step < steps and running.any():
            batch.step(np.where(running, actions, 0), running)
    return curves


def _floor_of(batch: NavigationBatch, slot: int, episode: Episode) -> ReachableFloor:
    """The reachable floor of the body in a slot, in the frame of its start."""
    start = np.array(episode.start_position)
    return find_reachable_floor(batch.simulator.navmesh(slot), start).seen_from(start, episode.start_yaw)
