"""Spectators: observers of running episodes that do not change them."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import Batch
from navarena.evaluation.records.journal import Row


@runtime_checkable
class Spectator(Protocol):
    """Looks on in the process that runs the episodes; nothing that it does may change the batch."""

    def look(
        self, batch: Batch, observations: Mapping[str, np.ndarray], episodes: Mapping[int, Episode]
    ) -> None:
        """Called with the agent's observations before it acts.

        Args:
            batch: in which the episodes run.
            observations: name -> (N, ...) of the dtype and unit of that sensor; rewritten by the next step.
            episodes: slot -> the episode that runs in it.
        """
        ...

    def note(self, row: Row) -> None:
        """Called when an episode has ended and its row is on the disk."""
        ...


class Nobody:
    """The spectator of a run at which nobody looks."""

    def look(
        self, batch: Batch, observations: Mapping[str, np.ndarray], episodes: Mapping[int, Episode]
    ) -> None:
        """Look away: observations (N, ...) of any dtype."""

    def note(self, row: Row) -> None:
        """Forget the row."""


NOBODY = Nobody()
"""It keeps nothing, so that one is enough."""
