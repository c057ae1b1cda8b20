"""`modular-goat-gt`: remembers every object it sees, matches goals with them, and explores until one fits."""

from collections.abc import Mapping

import numpy as np

from navarena.agents.agent import Boundary, Start
from navarena.agents.encoders import ImageMatcher, make_encoder
from navarena.agents.explorers.explorer import Aim
from navarena.agents.explorers.goal_finders import GoalFinder
from navarena.agents.explorers.mapping_agent import MappingAgent
from navarena.agents.explorers.sightings import DepthView
from navarena.agents.goat.goal_matching import GoalMatcher
from navarena.agents.goat.goal_query import read_goal, require_goal_sensors
from navarena.agents.goat.instance_aims import aim_at, stay_at
from navarena.agents.goat.search import USUAL_SEARCH, Search, SearchSettings
from navarena.core.errors import InputError
from navarena.mapping import InstanceMemory, InstanceSettings, SegmentedImage
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.goat import GoatState
from navarena.tasks.task import Task, require_state

MEMORY = InstanceSettings(views=4, crop_px=192)
"""Of the agent: crops large enough for keypoints."""

OVERLOOKED = frozenset(("floor", "ceiling", "wall"))
"""Structure that is no goal and distinguishes no place."""


class InstanceFinder(GoalFinder):
    """Finds the goals of GOAT-Bench in an instance memory with true labels, one for each body.

    Args:
        task: of GOAT-Bench; raises InputError for another.
        settings: when an object is taken for the goal.
    """

    def __init__(self, task: Task, settings: SearchSettings) -> None:
        self.sensors = ("rgb", "instance", *require_goal_sensors(task))
        self.memory = InstanceMemory(1, MEMORY)
        self._settings = settings
        self._words, self._images = make_encoder("words"), ImageMatcher()
        self._searches: dict[int, Search] = {}
        self._categories: dict[int, Mapping[int, str]] = {}
        self._batch: NavigationBatch | None = None

    def attach(self, batch: NavigationBatch) -> None:
        """Keep the batch, to read what ids in instance images mean."""
        self._batch = batch
        self.memory = InstanceMemory(batch.slots, MEMORY)

    def begin(self, start: Start) -> None:
        before = self._searches.get(start.slot)
        age = 0 if before is None or start.boundary >= Boundary.EPISODE else before.age
        matcher = GoalMatcher(self._words, self._images)
        self._searches[start.slot] = Search(matcher, self._settings, age)
        if start.boundary >= Boundary.EPISODE:
            self.memory.reset([start.slot])
            world = self._require_batch().simulator.slot_worlds.world(start.slot)
            objects = () if world is None else world.scene.objects
            self._categories[start.slot] = {
                one.object_id: one.category for one in objects if one.category not in OVERLOOKED
            }

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView, is_explored: bool
    ) -> Aim | None:
        self.memory.observe(slot, self._segment(slot, observations, view))
        search = self._searches[slot]
        if search.goal is None:
            goal = read_goal(observations, self._category_of_goal(slot))
            if goal is None:
                return None
            search.begin(goal)
        if search.is_hopeless:
            return stay_at(view.pose)
        choice = search.choose(self.memory.instances(slot), view.pose[:3, 3], is_explored)
        return aim_at(choice.instances, choice.is_sure)

    def _segment(self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView) -> SegmentedImage:
        """The images of one body, with its objects marked by their true ids."""
        return SegmentedImage(
            observations["instance"][..., 0],
            self._categories[slot],
            observations["rgb"],
            view.depth,
            view.pose,
            view.camera.hfov,
            view.depth_range,
            view.scale,
            view.offset,
            is_tracked=True,
        )

    def _category_of_goal(self, slot: int) -> str:
        """The category of the current goal, whatever its modality."""
        batch = self._require_batch()
        progress = require_state(batch.state, GoatState, batch.task, "modular agents").progress_of(slot)
        return progress.subtasks[progress.current].category

    def _require_batch(self) -> NavigationBatch:
        if self._batch is None:
            raise InputError("expected the agent to be attached to a batch, got a start before attach")
        return self._batch


class ModularGoatAgent(MappingAgent):
    """Modular GOAT with true labels (the paper's "GT-Sem"), for `goat-v1` and its single skills.

    It keeps an occupancy map and an instance memory for the whole lifelong episode. A goal given by its
    category is any remembered object of it; one described in words the object whose colour and surroundings,
    as they were seen, are most like the text (encoder `words`); one shown in an image the object with the
    view that matches best (keypoints and histograms). Where nothing fits it explores from frontier to
    frontier. Instance images, what their ids mean, and the category of goals shown in images (the
    paper filters by it) are privileged.

    Args:
        task: of GOAT-Bench; raises InputError for another.
        seed: of the run.
        settings: when an object is taken for the goal.
    """

    privileged = True
    privileged_inputs: tuple[str, ...] = (
        "instance images",
        "categories of the scene's objects",
        "category of the goal",
    )

    def __init__(self, task: Task, seed: int = 0, settings: SearchSettings = USUAL_SEARCH) -> None:
        super().__init__(task, InstanceFinder(task, settings), seed)
