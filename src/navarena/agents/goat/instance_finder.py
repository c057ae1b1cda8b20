"""Finds goals in an instance memory that a perception module fills."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from jaxtyping import Int32, UInt8

from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.explorer import Aim
from navarena.agents.explorers.goal_finders import GoalFinder
from navarena.agents.explorers.sightings import DepthView
from navarena.agents.goat.goal_matching import Matcher
from navarena.agents.goat.goal_query import read_goal, require_goal_sensors
from navarena.agents.goat.instance_aims import aim_at, stay_at
from navarena.agents.goat.search import Search, SearchSettings
from navarena.mapping import InstanceMemory, InstanceSettings, SegmentedImage
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.task import Task

MEMORY = InstanceSettings(views=4, crop_px=192, far_apart=1.5)
"""Of modular agents: crops large enough for keypoints, and what lies beyond the depth range."""


class Perception(ABC):
    """Interface of perception modules: they segment objects in images and match them with goals.

    Attributes:
        sensors: what it looks at, beside depth and pose.
    """

    sensors: tuple[str, ...] = ("rgb",)

    def attach(self, batch: NavigationBatch) -> None:  # noqa: B027 - a hook: only privileged ones need it
        """Called once before the first episode."""

    def begin(self, slot: int) -> None:  # noqa: B027 - a hook: most remember nothing
        """An episode begins in `slot`."""

    @abstractmethod
    def segment(self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView) -> SegmentedImage:
        """The images of the body in `slot`, with objects marked.

        Args:
            slot: of the batch.
            observations: sensor -> (...) array of one environment, in the dtypes and units of its sensors.
            view: the depth image, its camera and its pose.
        """

    @abstractmethod
    def make_matcher(self) -> Matcher:
        """The matcher of one body's instances with its goals."""

    def category_of_goal(self, slot: int) -> str:
        """The category of the current goal, whatever its modality, where it is known; else empty."""
        return ""


def make_segmented_image(
    view: DepthView,
    rgb: UInt8[np.ndarray, "h w 3"],
    segments: Int32[np.ndarray, "h w"],
    categories: Mapping[int, str],
    is_tracked: bool = False,
) -> SegmentedImage:
    """The segmented image of a depth image.

    Args:
        view: the depth image, its camera and its pose.
        rgb: (H, W, 3) uint8 of the same camera.
        segments: (H, W) int32, number of the segment at each pixel; 0 or less is none.
        categories: segment -> category, "" where nobody knows.
        is_tracked: whether segments keep their numbers from image to image.
    """
    return SegmentedImage(
        segments,
        categories,
        rgb,
        view.depth,
        view.pose,
        view.camera.hfov,
        view.depth_range,
        view.scale,
        view.offset,
        is_tracked,
    )


class InstanceFinder(GoalFinder):
    """Finds the goals of GOAT-Bench in an instance memory, one for each body.

    Args:
        task: of GOAT-Bench; raises InputError for another.
        perception: marks and matches.
        settings: when an object is taken for the goal.
    """

    def __init__(self, task: Task, perception: Perception, settings: SearchSettings) -> None:
        self.sensors = tuple(dict.fromkeys((*perception.sensors, *require_goal_sensors(task))))
        self.memory = InstanceMemory(1, MEMORY)
        self._perception, self._settings = perception, settings
        self._searches: dict[int, Search] = {}

    def attach(self, batch: NavigationBatch) -> None:
        """Make room for the bodies of the batch."""
        self._perception.attach(batch)
        self.memory = InstanceMemory(batch.slots, MEMORY)

    def begin(self, start: Start) -> None:
        before = self._searches.get(start.slot)
        age = 0 if before is None or start.boundary >= Boundary.EPISODE else before.age
        self._searches[start.slot] = Search(self._perception.make_matcher(), self._settings, age)
        if start.boundary >= Boundary.EPISODE:
            self.memory.reset([start.slot])
            self._perception.begin(start.slot)

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView, is_explored: bool
    ) -> Aim | None:
        self.memory.observe(slot, self._perception.segment(slot, observations, view))
        search = self._searches[slot]
        if search.goal is None:
            goal = read_goal(observations, self._perception.category_of_goal(slot))
            if goal is None:
                return None
            search.begin(goal)
        if search.is_hopeless:
            return stay_at(view.pose)
        choice = search.choose(self.memory.instances(slot), view.pose[:3, 3], is_explored)
        return aim_at(choice.instances, choice.is_sure)
