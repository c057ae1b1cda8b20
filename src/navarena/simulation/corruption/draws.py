"""Random numbers of corruptions for whole episodes, in N slots."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.seeding import make_generator
from navarena.corruptions.corruption import MotionCorruption, PoseCorruption, TimingCorruption

EpisodeKey = tuple[str, str]
"""Scene name and episode id, which name what is drawn for an episode."""


class EpisodeDraws:
    """The random numbers of one corruption: a row for each step of the episode in each slot.

    They are named by the corruption, its place in the order, the scene and (unless it is drawn for the
    whole scene) the episode, so they depend on neither slots nor batches.

    Args:
        text: as write_corruption writes it.
        place: in the order of corruptions.
        corruption: what draws.
        slots: N.
        steps: rows drawn when an episode begins; more are drawn for slots that go on beyond them.
        active: (N,) bool, slots whose episodes the corruption changes; its owner rewrites it.
    """

    def __init__(
        self,
        text: str,
        place: int,
        corruption: MotionCorruption | PoseCorruption | TimingCorruption,
        slots: int,
        steps: int,
        active: Bool[np.ndarray, "n"],
    ) -> None:
        self.corruption, self.active = corruption, active
        self._name = ("corruption", text, place, "episode")
        self._steps = steps
        self._everyone = np.arange(slots)
        self._episodes: list[EpisodeKey | None] = [None] * slots
        self._drawn = np.zeros(slots, np.int64)
        self._table: Float[np.ndarray, "n t d"] = np.zeros((slots, steps, 0))

    def begin(self, slot: int, episode: EpisodeKey) -> None:
        """Draw for an episode that begins in `slot`."""
        self._episodes[slot], self._drawn[slot] = episode, 0
        self._draw(slot, episode, self._steps)

    def save_state(self) -> tuple[object, ...]:
        """The state that changes while episodes run, as a value that can be pickled."""
        return list(self._episodes), self._drawn.copy(), self._table.copy()

    def restore_state(self, saved: tuple[Any, ...]) -> None:
        """Restore the result of `save_state`."""
        self._episodes, self._drawn, self._table = saved

    def rows(self, steps: Int64[np.ndarray, "n"], slots: Int64[np.ndarray, "k"]) -> Float[np.ndarray, "n d"]:
        """(N, D): the rows of `slots` (K,) for the step after `steps` (N,) steps; other rows mean nothing."""
        for slot in slots[steps[slots] >= self._drawn[slots]].tolist():
            episode = self._episodes[slot]
            if episode is not None:
                self._draw(slot, episode, 2 * int(steps[slot]))
        rows: Float[np.ndarray, "n d"] = self._table[
            self._everyone, np.minimum(steps, self._table.shape[1] - 1)
        ]
        return rows

    def _draw(self, slot: int, episode: EpisodeKey, steps: int) -> None:
        """Let `slot` have `steps` rows; those it has already stay as they are."""
        scene, own = episode
        names = (scene,) if self.corruption.per == "scene" else (scene, own)
        drawn = self.corruption.draw(make_generator(*self._name, *names), steps)
        slots, rows, columns = self._table.shape
        if rows < steps or columns != drawn.shape[1]:
            table = np.zeros((slots, max(rows, steps), drawn.shape[1]))
            if columns == drawn.shape[1]:
                table[:, :rows] = self._table
            self._table = table
        had = int(self._drawn[slot])
        self._table[slot, had:steps] = drawn[had:]
        self._drawn[slot] = steps
