"""`modular-goat-gt`: Modular GOAT with true labels and categories of goals, the paper's "GT-Sem"."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from navarena.agents.agent import Agent
from navarena.agents.encoders import MatcherName, make_encoder, make_matcher
from navarena.agents.explorers.mapping_agent import MappingAgent
from navarena.agents.explorers.sightings import DepthView
from navarena.agents.goat.goal_matching import GoalMatcher
from navarena.agents.goat.instance_finder import InstanceFinder, Perception, make_segmented_image
from navarena.agents.goat.search import USUAL_SEARCH, SearchSettings
from navarena.agents.options import read_agent_options
from navarena.core.errors import InputError
from navarena.mapping import SegmentedImage
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.goat import GoatState
from navarena.tasks.task import Task, require_state

OVERLOOKED = frozenset(("floor", "ceiling", "wall"))
"""Structure that is no goal and distinguishes no place."""


@dataclass(frozen=True)
class TrueGoatOptions:
    """Options of `modular-goat-gt?NAME=VALUE`.

    Attributes:
        matcher: whose keypoints of images are compared, "sift" or the learned ones of "xfeat" (extra xfeat).
    """

    matcher: MatcherName = "sift"


class TrueLabels(Perception):
    """Objects as the simulator marks them, and the category of every goal; privileged.

    Args:
        matcher: whose keypoints are compared; raises MissingExtraError where it is not installed.
    """

    sensors = ("rgb", "instance")

    def __init__(self, matcher: MatcherName = "sift") -> None:
        self._words, self._images = make_encoder("words"), make_matcher(matcher)
        self._categories: dict[int, Mapping[int, str]] = {}
        self._batch: NavigationBatch | None = None

    def attach(self, batch: NavigationBatch) -> None:
        """Keep the batch, to read what ids in instance images mean."""
        self._batch = batch

    def begin(self, slot: int) -> None:
        world = self._require_batch().simulator.slot_worlds.world(slot)
        objects = () if world is None else world.scene.objects
        self._categories[slot] = {
            one.object_id: one.category for one in objects if one.category not in OVERLOOKED
        }

    def segment(self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView) -> SegmentedImage:
        """The images of one body, with its objects marked by their true ids."""
        segments = observations["instance"][..., 0]
        return make_segmented_image(
            view, observations["rgb"], segments, self._categories[slot], is_tracked=True
        )

    def make_matcher(self) -> GoalMatcher:
        return GoalMatcher(self._words, self._images)

    def category_of_goal(self, slot: int) -> str:
        batch = self._require_batch()
        progress = require_state(batch.state, GoatState, batch.task, "modular agents").progress_of(slot)
        return progress.subtasks[progress.current].category

    def _require_batch(self) -> NavigationBatch:
        if self._batch is None:
            raise InputError("expected the agent to be attached to a batch, got a start before attach")
        return self._batch


class ModularGoatGtAgent(MappingAgent):
    """Modular GOAT with true labels (the paper's "GT-Sem"), for `goat-v1` and its single skills.

    It keeps an occupancy map and an instance memory for the whole lifelong episode. A goal given by its
    category is any remembered object of it; one described in words the object whose colour and surroundings,
    as they were seen, are most like the text (encoder `words`); one shown in an image the object with the
    view that matches best (keypoints and histograms). Where nothing fits it explores from frontier to
    frontier. Instance images, what their ids mean, and the category of goals shown in images (the
    paper filters by it) are privileged. modular-goat-gt?matcher=xfeat compares learned keypoints.

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

    options: ClassVar[TrueGoatOptions] = TrueGoatOptions()

    @classmethod
    def with_options(cls, text: str) -> type[Agent]:
        options = read_agent_options(TrueGoatOptions, text, "modular-goat-gt")
        return type("ModularGoatGtAgent", (cls,), {"options": options, "__doc__": cls.__doc__})

    def __init__(self, task: Task, seed: int = 0, settings: SearchSettings = USUAL_SEARCH) -> None:
        super().__init__(task, InstanceFinder(task, TrueLabels(self.options.matcher), settings), seed)
