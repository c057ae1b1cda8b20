"""Where in the image the goal is, for losses that predict it."""

from abc import abstractmethod
from collections.abc import Collection
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Int32

from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_sensor import PixelSensor
from navarena.tasks.task import TaskState


class VisibleGoalState(TaskState):
    """State of tasks whose goals are objects that images show: ObjectNav, MultiON and GOAT-Bench."""

    protocols = "whose goals are objects"

    @abstractmethod
    def current_ids(self, slot: int) -> Collection[int]:
        """Ids of the objects that fulfil the current goal of `slot`; none in scenes without labels."""

    def current_category(self, slot: int) -> str:
        """The category by which the current goal of `slot` is given; empty where it is given otherwise."""
        return ""

    def current_classes(self, slot: int) -> tuple[str, ...] | None:
        """Names of classes, any of which shows the current goal of `slot`; none where no class is a goal.

        None of one goal that has no name, among others that have.
        """
        category = self.current_category(slot)
        return (category,) if category else ()


class GoalMask(PixelSensor[VisibleGoalState]):
    """(H, W, 1) uint8: 1 where a pixel shows an object that fulfils the current goal.

    Of the size of the images of the first camera that takes depth. The target of the auxiliary loss
    `goal_mask`, for training alone.
    """

    name = "goal_mask"
    state_type = VisibleGoalState
    privileged = True
    channels: ClassVar[tuple[str, ...]] = ("instance",)

    def find_highest(self) -> int:
        return 1

    def observe(self, simulator: Simulator, state: VisibleGoalState, out: np.ndarray) -> None:
        _, images = simulator.observer.image("instance")
        for slot, image in enumerate(images):
            out[slot, :, :, 0] = mark_objects(image, state.current_ids(slot))


def mark_objects(image: Int32[np.ndarray, "h w"], numbers: Collection[int]) -> Bool[np.ndarray, "h w"]:
    """(H, W) bool: which pixels of an instance image show an object of these ids."""
    marked = np.zeros(image.shape, bool)
    for number in numbers:  # a few: np.isin takes several times as long
        marked |= image == number
    return marked
