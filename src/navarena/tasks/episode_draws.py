"""What corruptions draw for whole episodes, in N slots."""

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.seeding import make_generator, scene_name
from navarena.corruptions.corruption import MotionCorruption, PoseCorruption
from navarena.episodes.episode import Episode


class EpisodeDraws:
    """The numbers of one corruption: a row for each step of the episode in each slot.

    They are named by the corruption, its place in the order, the scene and (unless it is drawn for the
    whole scene) the episode, so they depend on neither slots nor batches.

    Args:
        text: as write_corruption writes it.
        place: in the order of corruptions.
        corruption: what draws.
        slots: N.
        steps: rows of an episode; a step beyond the last one reads that again from the first.
    """

    def __init__(
        self, text: str, place: int, corruption: MotionCorruption | PoseCorruption, slots: int, steps: int
    ) -> None:
        self.corruption = corruption
        self._name = ("corruption", text, place, "episode")
        self._slots, self._steps = slots, steps
        self._everyone = np.arange(slots)
        self._table: Float[np.ndarray, "n t d"] = np.zeros((slots, steps, 0))

    def begin(self, slot: int, episode: Episode) -> None:
        """Draw for an episode that begins in `slot`."""
        own = () if self.corruption.per == "scene" else (episode.episode_id,)
        drawn = self.corruption.draw(
            make_generator(*self._name, scene_name(episode.scene_id), *own), self._steps
        )
        if self._table.shape[2] != drawn.shape[1]:
            self._table = np.zeros((self._slots, *drawn.shape))
        self._table[slot] = drawn

    def rows(self, steps: Int64[np.ndarray, "n"]) -> Float[np.ndarray, "n d"]:
        """(N, D): the row of each slot for the step after `steps` (N,) steps; zeros before any episode."""
        rows: Float[np.ndarray, "n d"] = self._table[self._everyone, steps % self._steps]
        return rows
