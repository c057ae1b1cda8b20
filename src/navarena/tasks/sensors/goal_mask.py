"""Where in the image the goal is, for losses that predict it."""

from abc import abstractmethod
from collections.abc import Collection
from typing import ClassVar

import numpy as np

from navarena.core.errors import InputError
from navarena.simulation.body import Embodiment
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.task import TaskState


class SceneGoalState(TaskState):
    """State of tasks whose goals are objects of the scene: ObjectNav and GOAT-Bench."""

    protocols = "whose goals are objects of the scene"

    @abstractmethod
    def current_ids(self, slot: int) -> Collection[int]:
        """Ids of the objects that fulfil the current goal of `slot`; none where the scene has no labels."""


class GoalMask(GoalSensor[SceneGoalState]):
    """(H, W, 1) uint8: 1 where a pixel shows an object that fulfils the current goal.

    Of the size of the images of the first camera that takes depth. The target of the auxiliary loss
    `goal_mask`, for training alone.
    """

    name = "goal_mask"
    state_type = SceneGoalState
    privileged = True
    channels: ClassVar[tuple[str, ...]] = ("instance",)

    def spec(self) -> ObservationSpec:
        raise InputError("expected a body that takes images for goal_mask, got none; use spec_on")

    def spec_on(self, body: Embodiment) -> ObservationSpec:
        camera = next((one for one in body.cameras if "depth" in one.channels), None)
        if camera is None:
            raise InputError(f"expected a camera of {body.name!r} that takes depth, got none")
        return ObservationSpec((camera.height_px, camera.width_px, 1), np.uint8, 0, 1)

    def observe(self, simulator: Simulator, state: SceneGoalState, out: np.ndarray) -> None:
        _, images = simulator.observer.image("instance")
        for slot, image in enumerate(images):
            out[slot, :, :, 0] = np.isin(image, np.fromiter(state.current_ids(slot), np.int64))
