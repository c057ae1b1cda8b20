"""Which goal objects of MultiON a body sees, as labels of what recognises them in its images."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.elementary import arctan2
from navarena.mapping.feature_map import nearest_seen_class
from navarena.metrics.multi_goal import SEEN_ANGLE, SEEN_DISTANCE
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.protocols.goal_objects import INSTANCE_OFFSET
from navarena.tasks.protocols.multi_on import MultiOnState
from navarena.tasks.sensors.goal_sensor import GoalSensor

CLASSES = 8
"""Of goals; the number of none."""


def locate_goals(
    simulator: Simulator, state: MultiOnState, slot: int
) -> tuple[Float[np.ndarray, "g"], Float[np.ndarray, "g"]]:
    """(G,) metres to each goal object in the plan, and (G,) radians from straight ahead, left positive."""
    away = state.goals[slot][:, [0, 2]] - simulator.positions[slot, [0, 2]]
    sine, cosine = math.sin(simulator.yaws[slot]), math.cos(simulator.yaws[slot])
    ahead, left = -sine * away[:, 0] - cosine * away[:, 1], sine * away[:, 1] - cosine * away[:, 0]
    return np.hypot(away[:, 0], away[:, 1]), arctan2(left, ahead)


def find_shown(
    image: np.ndarray, state: MultiOnState, slot: int, near: Bool[np.ndarray, "g"]
) -> Bool[np.ndarray, "g"]:
    """(G,) bool: which of the `near` (G,) goals of a slot an instance image (H, W) shows by any pixel."""
    shown = np.zeros(len(near), bool)
    for number in np.flatnonzero(near).tolist():
        shown[number] = bool((image == INSTANCE_OFFSET + state.classes[slot][number]).any())
    return shown


@dataclass(frozen=True)
class NearestSeenClass(GoalSensor[MultiOnState]):
    """(1,) int64: the class of the nearest goal object in view, 8 for none; found goals count, too.

    In view: within 79 degrees and nearer than `reach`, in the plan, and any of its pixels is in the image.
    The label of ObjRecogMap's classifier (Wani et al. 2020), for training alone.

    Args:
        reach: metres; 2.5 in the paper's text, 5 in its appendix.
    """

    reach: float = 2.5

    name = "nearest_seen_class"
    state_type = MultiOnState
    privileged = True
    channels: ClassVar[tuple[str, ...]] = ("instance",)

    def spec(self) -> ObservationSpec:
        return ObservationSpec((1,), np.int64, 0, CLASSES)

    def observe(self, simulator: Simulator, state: MultiOnState, out: np.ndarray) -> None:
        _, images = simulator.observer.image("instance")
        out[:, 0] = CLASSES
        for slot, classes in enumerate(state.classes):
            distances, bearings = locate_goals(simulator, state, slot)
            near: Bool[np.ndarray, g] = distances < self.reach
            if near.any():
                shown = find_shown(images[slot], state, slot, near)
                found = nearest_seen_class(distances, bearings, shown, classes, self.reach, SEEN_ANGLE)
                out[slot, 0] = found if found >= 0 else CLASSES


@dataclass(frozen=True)
class NearestSeenClassOfAppendix(NearestSeenClass):
    """(1,) int64: nearest_seen_class within the 5 m of the paper's appendix."""

    reach: float = 5.0

    name = "nearest_seen_class_5m"


class SeenGoals(GoalSensor[MultiOnState]):
    """(8,) uint8: of each class, 1 while a goal object of it is in view.

    Within 79 degrees and 5 m, and any of its pixels is in the image: what the analysis of backtracking calls
    seen, step by step.
    """

    name = "seen_goals"
    state_type = MultiOnState
    privileged: ClassVar[bool] = True
    channels: ClassVar[tuple[str, ...]] = ("instance",)

    def spec(self) -> ObservationSpec:
        return ObservationSpec((CLASSES,), np.uint8, 0, 1)

    def observe(self, simulator: Simulator, state: MultiOnState, out: np.ndarray) -> None:
        _, images = simulator.observer.image("instance")
        out[:] = 0
        for slot, classes in enumerate(state.classes):
            distances, bearings = locate_goals(simulator, state, slot)
            near = (distances <= SEEN_DISTANCE) & (np.abs(bearings) <= SEEN_ANGLE / 2)
            out[slot, classes[find_shown(images[slot], state, slot, near)]] = 1
