"""Goals as vectors: what an encoder makes of a name, a description or an image."""

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, Int64, UInt8

from navarena.core.errors import InputError
from navarena.core.registry import Registry
from navarena.episodes.goals import Modality
from navarena.simulation.sensors.pose import FAR
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.sensors.lifelong_goal import FINISHED, MODALITY_IDS, ImageGoalSensor, LifelongGoalState

_MODALITIES = {number: name for name, number in MODALITY_IDS.items()}


@runtime_checkable
class GoalVectors(Protocol):
    """Interface of what makes vectors of goals.

    Attributes:
        dimension: D.
    """

    dimension: int

    def encode(
        self, modality: Modality, category: str, text: str, image: UInt8[np.ndarray, "h w 3"] | None
    ) -> Float32[np.ndarray, "d"]:
        """(D,) float32 of a goal; raises InputError for one that cannot be told."""
        ...


ENCODER = "encoder"

VECTORS = Registry(
    "maker of goal vectors",
    {ENCODER: "navarena.agents.encoders.goal_vectors:find_goal_vectors"},
    "navarena.goal_vectors",
)
"""Function of the name of a goal encoder that returns GoalVectors; imported when a goal is encoded."""


@dataclass(frozen=True)
class GoalVector(GoalSensor[LifelongGoalState]):
    """(D,) float32: the goal as a vector; 0 when none is left.

    `goal_vector:ENCODER` names a goal encoder, with its weights where it has some, such as
    `goal_vector:open-clip:FOLDER`. A goal is encoded once, when it is first looked at; its vector has the
    length that the network gives it (goat_bench/task/sensors.py).

    Args:
        encoder: name of the encoder.
    """

    encoder: str = ""
    _images: ImageGoalSensor = field(default_factory=ImageGoalSensor, repr=False, compare=False)
    _kept: dict[int, tuple[int, Float32[np.ndarray, "d"]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    name = "goal_vector"
    takes_argument = "encoder"
    state_type = LifelongGoalState

    def __post_init__(self) -> None:
        if self.encoder:
            object.__setattr__(self, "name", f"{type(self).name}:{self.encoder}")

    def _find(self) -> GoalVectors:
        if not self.encoder:
            raise InputError(
                "expected an encoder of goals, got none; write it behind the sensor, as goal_vector:words"
            )
        found: GoalVectors = VECTORS.get(ENCODER)(self.encoder)
        return found

    def spec(self) -> ObservationSpec:
        return ObservationSpec((self._find().dimension,), np.float32, -FAR, FAR)

    def begin(self, simulator: Simulator, state: LifelongGoalState, slots: Int64[np.ndarray, "k"]) -> None:
        self._images.begin(simulator, state, slots)
        for slot in slots.tolist():
            self._kept.pop(slot, None)

    def observe(self, simulator: Simulator, state: LifelongGoalState, out: np.ndarray) -> None:
        for slot, (number, modality) in enumerate(zip(state.numbers.tolist(), state.modality.tolist())):
            if modality == FINISHED:
                out[slot] = 0
                continue
            kept = self._kept.get(slot)
            if kept is None or kept[0] != number:
                image = self._images.look(simulator, state, slot)
                words = str(state.names[slot]), str(state.descriptions[slot])
                kept = self._kept[slot] = number, self._find().encode(_MODALITIES[modality], *words, image)
            out[slot] = kept[1]
