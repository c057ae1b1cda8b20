"""`modular-goat-gt`: remembers every thing it sees, matches goals with them, and explores until one fits."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from navarena.agents.agent import Boundary, Start
from navarena.agents.encoders import ImageMatcher, make_encoder
from navarena.agents.explorers.explorer import Aim
from navarena.agents.explorers.mapping_agent import MappingAgent
from navarena.agents.goat.approach import aim_at, stay_at
from navarena.agents.goat.goal_matching import GoalMatcher
from navarena.agents.goat.search import USUAL_SEARCH, Search, SearchSettings
from navarena.agents.goat.told_goals import read_goal, require_goal_sensors
from navarena.core.errors import InputError
from navarena.mapping import InstanceMemory, InstanceSettings, SegmentedImage
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.goat import require_state
from navarena.tasks.task import Task

MEMORY = InstanceSettings(views=4, crop_px=192)
"""Of the agent: crops large enough for keypoints."""

OVERLOOKED = frozenset(("floor", "ceiling", "wall"))
"""Structure that is no goal and tells no place apart."""


class ModularGoatAgent(MappingAgent):
    """Modular GOAT with true labels (the paper's "GT-Sem"), for `goat-v1` and its single skills.

    It keeps an occupancy map and an instance memory for the whole lifelong episode. A goal told by its
    category is any remembered thing of it; one described in words the thing whose colour and surroundings,
    as they were seen, are most like the text (encoder `words`); one shown in an image the thing with the
    view that matches best (keypoints and histograms). Where nothing fits it explores from frontier to
    frontier. Instance images, what their ids mean, and the category of goals shown in images (the
    paper filters by it) are privileged.

    Args:
        task: of GOAT-Bench; raises InputError for another.
        seed: of the run.
        settings: when a thing is taken for the goal.
    """

    privileged = True
    privileged_inputs: tuple[str, ...] = (
        "instance images",
        "categories of the scene's objects",
        "category of the goal",
    )

    def __init__(self, task: Task, seed: int = 0, settings: SearchSettings = USUAL_SEARCH) -> None:
        super().__init__(task, seed)
        self.sensors = (*self.sensors, "rgb", "instance", *require_goal_sensors(task))
        self._settings = settings
        self._words, self._images = make_encoder("words"), ImageMatcher()
        self._memory = InstanceMemory(1, MEMORY)
        self._searches: dict[int, Search] = {}
        self._categories: dict[int, Mapping[int, str]] = {}
        self._batch: NavigationBatch | None = None

    def attach(self, batch: NavigationBatch) -> None:
        """Keep the batch, to read what ids in instance images mean."""
        self._batch = batch
        self._memory = InstanceMemory(batch.slots, MEMORY)

    def begin(self, start: Start) -> None:
        before = self._searches.get(start.slot)
        age = 0 if before is None or start.boundary >= Boundary.EPISODE else before.age
        matcher = GoalMatcher(self._words, self._images)
        self._searches[start.slot] = Search(matcher, self._settings, age)
        if start.boundary >= Boundary.EPISODE:
            self._memory.reset([start.slot])
            world = self._require_batch().simulator.stage.world(start.slot)
            things = () if world is None else world.scene.objects
            self._categories[start.slot] = {
                one.object_id: one.category for one in things if one.category not in OVERLOOKED
            }

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], pose: Float[np.ndarray, "4 4"]
    ) -> Aim | None:
        self._memory.observe(slot, self._see(slot, observations, pose))
        search = self._searches[slot]
        if search.goal is None:
            goal = read_goal(observations, self._category_of_goal(slot))
            if goal is None:
                return None
            search.begin(goal)
        if search.is_hopeless:
            return stay_at(pose)
        choice = search.choose(self._memory.instances(slot), pose[:3, 3], self._explorers[slot].is_done)
        return aim_at(choice.things, choice.is_sure)

    def _see(
        self, slot: int, observations: Mapping[str, np.ndarray], pose: Float[np.ndarray, "4 4"]
    ) -> SegmentedImage:
        """What the body sees now: things by their true ids."""
        scale, offset = self.depth_scale
        return SegmentedImage(
            observations["instance"][..., 0],
            self._categories[slot],
            observations["rgb"],
            observations["depth"][..., 0],
            pose,
            self.camera.hfov,
            self.depth_range,
            scale,
            offset,
            is_tracked=True,
        )

    def _category_of_goal(self, slot: int) -> str:
        """The category of the current goal, however it is told."""
        course = require_state(self._require_batch().state).course(slot)
        return course.subtasks[course.current].category

    def _require_batch(self) -> NavigationBatch:
        if self._batch is None:
            raise InputError("expected the agent to be attached to a batch, got a start before attach")
        return self._batch
