"""Goals as vectors: what an encoder makes of a name, a description or an image."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float32, Int64

from navarena.core.errors import InputError
from navarena.episodes.encoding.catalog import find_encoder
from navarena.episodes.encoding.encoder import GoalEncoder, GoalQuery
from navarena.simulation.sensors.pose import FAR
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.sensors.lifelong_goal import FINISHED, MODALITY_IDS, ImageGoalSensor, LifelongGoalState

_MODALITIES = {number: name for name, number in MODALITY_IDS.items()}


@dataclass(frozen=True)
class GoalVector(GoalSensor[LifelongGoalState]):
    """(D,) float32: the goal as a vector; 0 when none is left.

    `goal_vector:ENCODER` names a goal encoder, with its weights where it has some, such as
    `goal_vector:open-clip:FOLDER`. A goal is encoded once, when it is first looked at, and kept on disk: a
    second run of the same episodes encodes none. Its vector has the length that the network gives it
    (goat_bench/task/sensors.py).

    Args:
        encoder: name of the encoder, or the encoder itself.
    """

    encoder: str | GoalEncoder = ""
    _images: ImageGoalSensor = field(default_factory=ImageGoalSensor, repr=False, compare=False)
    _kept: dict[int, tuple[int, Float32[np.ndarray, "d"]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    name = "goal_vector"
    takes_argument = "encoder"
    state_type = LifelongGoalState

    def __post_init__(self) -> None:
        if self.encoder:
            called = self.encoder if isinstance(self.encoder, str) else self.encoder.name
            object.__setattr__(self, "name", f"{type(self).name}:{called}")

    @property
    def loaded_encoder(self) -> GoalEncoder:
        """The encoder; raises InputError and FileError as `find_encoder`."""
        if not isinstance(self.encoder, str):
            return self.encoder
        if not self.encoder:
            raise InputError(
                "expected an encoder of goals, got none; write it behind the sensor, as goal_vector:words"
            )
        return find_encoder(self.encoder)

    @property
    def model_sha256(self) -> str:
        return self.loaded_encoder.model_sha256

    def spec(self) -> ObservationSpec:
        return ObservationSpec((self.loaded_encoder.dimension,), np.float32, -FAR, FAR)

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
                goal = GoalQuery(_MODALITIES[modality], *words, image)
                kept = self._kept[slot] = number, self.loaded_encoder.encode_raw(goal)
            out[slot] = kept[1]
