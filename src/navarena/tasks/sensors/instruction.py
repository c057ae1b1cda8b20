"""Goals that are given by an instruction."""

from dataclasses import dataclass

import numpy as np

from navarena.core.errors import InputError
from navarena.episodes.language.vocabulary import MAX_TOKENS
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.task import TaskState

MAX_LETTERS = 1024
"""Letters of an instruction as an observation; longer ones are refused, not cut."""

TEXT = np.dtype(f"<U{MAX_LETTERS}")

LARGEST_VOCABULARY = 2**20


class InstructionState(TaskState):
    """State of tasks whose goals are given by an instruction.

    Attributes:
        instruction: (N,) texts of the current episodes; empty while it is hidden.
        tokens: (N, MAX_TOKENS) int32, their encodings, padded with 0.
        references: for each slot (M, 3) float64 metres: the described path, as metrics compare with it.
        navmeshes: for each slot that of its scene; None before.
    """

    protocols = "whose goals are given by an instruction"

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.references = [np.zeros((1, 3))] * slots
        self.navmeshes: list[NavMesh | None] = [None] * slots
        self.instruction = np.zeros(slots, TEXT)
        self.tokens = np.zeros((slots, MAX_TOKENS), np.int32)

    def show_instruction(self, slot: int, text: str, tokens: np.ndarray) -> None:
        """Show the agent of `slot` a text and its `tokens` (T,) int32, cut to MAX_TOKENS.

        Raises InputError when the text has more than MAX_LETTERS letters.
        """
        if len(text) > MAX_LETTERS:
            raise InputError(
                f"expected an instruction of at most {MAX_LETTERS} letters, got {len(text)}: {text[:80]!r} "
                "...; shorten it, or drop its episode"
            )
        self.instruction[slot] = text
        self.tokens[slot] = 0
        kept = tokens[:MAX_TOKENS]
        self.tokens[slot, : len(kept)] = kept

    def clear_instruction(self, slot: int) -> None:
        """Show the agent of `slot` no instruction."""
        self.instruction[slot] = ""
        self.tokens[slot] = 0


class Instruction(GoalSensor[InstructionState]):
    """() text: what to do."""

    name = "instruction"
    state_type = InstructionState

    def spec(self) -> ObservationSpec:
        return ObservationSpec((), TEXT, 0, 0, "letters")

    def observe(self, simulator: Simulator, state: InstructionState, out: np.ndarray) -> None:
        out[:] = state.instruction


@dataclass(frozen=True)
class InstructionTokens(GoalSensor[InstructionState]):
    """(200,) int32: the instruction as numbers of words, padded with 0 (VLN-CE, spec ivln_goat 3.1).

    Args:
        words: how many the vocabulary has.
    """

    words: int = LARGEST_VOCABULARY

    name = "instruction_tokens"
    state_type = InstructionState

    def spec(self) -> ObservationSpec:
        return ObservationSpec((MAX_TOKENS,), np.int32, 0, self.words - 1)

    def observe(self, simulator: Simulator, state: InstructionState, out: np.ndarray) -> None:
        out[:] = state.tokens
