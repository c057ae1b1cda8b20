"""Goals that are given as the id of a class: ObjectNav and MultiON."""

from dataclasses import dataclass

import numpy as np

from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.task import TaskState


class ClassGoalState(TaskState):
    """State of tasks whose goals have classes.

    Attributes:
        goal_class: (N,) int64, the class id that the agent observes.
    """

    protocols = "whose goals have classes"

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.goal_class = np.zeros(slots, np.int64)


@dataclass(frozen=True)
class MultiObjectGoal(GoalSensor[ClassGoalState]):
    """(1,) int64: class id of the current goal of several (multiON's `multiobjectgoal`).

    Args:
        classes: how many there are.
    """

    classes: int = 8

    name = "multiobjectgoal"
    state_type = ClassGoalState

    def spec(self) -> ObservationSpec:
        return ObservationSpec((1,), np.int64, 0, self.classes - 1)

    def observe(self, simulator: Simulator, state: ClassGoalState, out: np.ndarray) -> None:
        out[:, 0] = state.goal_class


@dataclass(frozen=True)
class OneHotMultiObjectGoal(GoalSensor[ClassGoalState]):
    """(K,) float32: 1 at the class id of the current goal of several, else 0 (the paper's form).

    Args:
        classes: K.
    """

    classes: int = 8

    name = "multiobjectgoal"
    state_type = ClassGoalState

    def spec(self) -> ObservationSpec:
        return ObservationSpec((self.classes,), np.float32, 0.0, 1.0)

    def observe(self, simulator: Simulator, state: ClassGoalState, out: np.ndarray) -> None:
        out[:] = np.arange(self.classes) == state.goal_class[:, None]


@dataclass(frozen=True)
class ObjectGoalSensor(GoalSensor[ClassGoalState]):
    """(1,) int64: category id of the goal (Habitat's `objectgoal`).

    Args:
        categories: how many there are; 21 in the challenges of 2020 and 2021.
    """

    categories: int = 21

    name = "objectgoal"
    state_type = ClassGoalState

    def spec(self) -> ObservationSpec:
        return ObservationSpec((1,), np.int64, 0, self.categories - 1)

    def observe(self, simulator: Simulator, state: ClassGoalState, out: np.ndarray) -> None:
        out[:, 0] = state.goal_class
