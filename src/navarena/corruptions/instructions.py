"""Corruptions of instructions: other wordings, missing words, landmarks that are not there."""

from collections.abc import Sequence
from typing import ClassVar

from navarena.corruptions.corruption import InstructionCorruption

REWORDED = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Share of the phrases, or of the landmarks, that are replaced, by severity."""

DROPPED = (0.05, 0.1, 0.2, 0.3, 0.5)
"""Share of the words that are missing, by severity."""


class InstructionParaphrase(InstructionCorruption):
    """Replaces phrases by others of the same meaning: turn left, take a left."""

    change = "paraphrase"
    shares: ClassVar[Sequence[float]] = REWORDED


class InstructionWordDrop(InstructionCorruption):
    """Leaves words out, but never all of them."""

    change = "word_drop"
    shares: ClassVar[Sequence[float]] = DROPPED


class InstructionLandmarkSwap(InstructionCorruption):
    """Replaces rooms by other rooms and objects by other objects, so that the instruction is wrong."""

    change = "landmark_swap"
    shares: ClassVar[Sequence[float]] = REWORDED
