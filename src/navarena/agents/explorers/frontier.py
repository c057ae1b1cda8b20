"""`frontier`: explores until it sees its goal, then goes there. `explore-only`: never goes anywhere else."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float

from navarena.agents.agent import Start
from navarena.agents.explorers.explorer import Aim
from navarena.agents.explorers.goal_finders import GoalFinder, make_cylinder_finder, make_goal_finder
from navarena.agents.explorers.mapping_agent import MappingAgent
from navarena.agents.explorers.sightings import View
from navarena.agents.explorers.visible_goals import VisibleFinder
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.object_nav_robothor import ObjectNavRobothor
from navarena.tasks.task import Task


class FrontierAgent(MappingAgent):
    """Explores from frontier to frontier; goes to the goal as soon as it knows where that is.

    In PointNav it always knows. In ObjectNav and MultiON the semantic image shows it (ground truth, so
    it is privileged); what it saw of later goals it remembers. It maps by depth, gps and compass.
    """

    privileged = True
    privileged_inputs: tuple[str, ...] = ("semantic images", "names of the scene's categories")
    worker_episodes = 50

    def __init__(self, task: Task, seed: int = 0) -> None:
        super().__init__(task, seed)
        self._finder = self.make_finder(task)
        self.sensors = tuple(dict.fromkeys([*self.sensors, *self._finder.sensors]))

    def make_finder(self, task: Task) -> GoalFinder:
        """What tells the agent where its goal is."""
        return VisibleFinder(task) if isinstance(task, ObjectNavRobothor) else make_goal_finder(task)

    def attach(self, batch: NavigationBatch) -> None:
        """Keep the batch, to read the names of the categories in its scenes."""
        self._finder.attach(batch)

    def begin(self, start: Start) -> None:
        self._finder.begin(start)

    def look(
        self, slot: int, observations: Mapping[str, np.ndarray], pose: Float[np.ndarray, "4 4"]
    ) -> Bool[np.ndarray, "h w"] | None:
        depth = observations["depth"][..., 0]
        view = View(depth, *self.depth_scale, self.depth_range, self.camera, pose)
        return self._finder.look(slot, observations, view)

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], pose: Float[np.ndarray, "4 4"]
    ) -> Aim | None:
        return self._finder.aim(slot, observations, pose)

    def is_reached(self, slot: int) -> bool:
        return self._finder.is_reached(slot)

    def elevation(self, slot: int, pose: Float[np.ndarray, "4 4"]) -> float:
        return self._finder.elevation(slot, pose)

    def arrive(self, slot: int, pose: Float[np.ndarray, "4 4"]) -> str:
        return self._finder.arrive(slot, pose)


class FrontierRgbAgent(FrontierAgent):
    """The same for MultiON's cylinders, which it recognises by colour and shape: no privileged input."""

    privileged = False
    privileged_inputs = ()

    def make_finder(self, task: Task) -> GoalFinder:
        """What recognises the cylinders."""
        return make_cylinder_finder(task)


class ExploreOnlyAgent(MappingAgent):
    """Explores from frontier to frontier, and never declares anything: for curves of coverage."""

    def begin(self, start: Start) -> None:
        pass

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], pose: Float[np.ndarray, "4 4"]
    ) -> Aim | None:
        return None
