"""Mixtures of corruptions: each episode has one row of them, drawn by its own name."""

from collections.abc import Sequence
from dataclasses import dataclass

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.corruptions.catalog import join_corruptions
from navarena.corruptions.corruption import (
    CameraCorruption,
    Corruption,
    GoalCorruption,
    InstructionCorruption,
    MotionCorruption,
)
from navarena.corruptions.suites import CLEAN_NAME

JOIN = "+"
"""Stands between the corruptions of a row, as in "spatter:5+motion_drift"."""

OF_WHOLE_BATCHES = (CameraCorruption, GoalCorruption, InstructionCorruption)
"""Corruptions that all episodes of a batch have, or none."""


@dataclass(frozen=True)
class Mixture:
    """Rows of corruptions, all equally likely; which one an episode has depends on nothing but the episode.

    Attributes:
        corruptions: text -> corruption, those of all rows together.
        rows: the texts of each row.
    """

    corruptions: dict[str, Corruption]
    rows: tuple[frozenset[str], ...]

    def choose(self, episode: tuple[str, str]) -> frozenset[str]:
        """The texts of the row of an episode, which is given by its scene's name and its id."""
        written = [JOIN.join(sorted(row)) for row in self.rows]
        return self.rows[make_generator("corruption mixture", *written, *episode).integers(len(self.rows))]


def make_mixture(own: Sequence[str], always: Sequence[str], rows: Sequence[str]) -> Mixture:
    """The mixture of `rows`, each "clean", a corruption or several of them, joined by "+".

    Args:
        own: corruptions of the protocol itself, as of join_corruptions.
        always: that come before those of each row.
        rows: at least one.

    Raises UnknownNameError and InputError for bad texts, and InputError for corruptions that change a whole
    batch: of cameras, of goals and instructions, and of motion that stays when it is blocked.
    """
    texts = [() if row == CLEAN_NAME else tuple(row.split(JOIN)) for row in rows]
    found = [join_corruptions(own, (*always, *row)) for row in texts]
    mixed = {text: one for row in found for text, one in row.items()}
    fixed = join_corruptions(own, always)
    for text, one in mixed.items():
        stays = isinstance(one, MotionCorruption) and one.stays_when_blocked
        if text not in fixed and (stays or isinstance(one, OF_WHOLE_BATCHES)):
            raise InputError(
                f"expected corruptions of images, motion and poses in a mixture, got {text!r}, which changes "
                "all episodes of a batch; hold it out, or train with it alone (corruptions)"
            )
    return Mixture(mixed, tuple(frozenset(row) for row in found))
