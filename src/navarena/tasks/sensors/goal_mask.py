"""Where in the image the goal is, for losses that predict it."""

from abc import abstractmethod
from collections.abc import Collection
from typing import ClassVar

import numpy as np

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
            out[slot, :, :, 0] = np.isin(image, np.fromiter(state.current_ids(slot), np.int64))
