"""Mixing of teacher and learner: who decides in which slot of a rollout, as DAgger does."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Int64

from navarena.learning.settings import ImitationSettings


class TeacherMix:
    """Draws who decides: the teacher for a share of episodes or steps, the learner elsewhere.

    With a share of 1 this is behaviour cloning (teacher forcing), with less DAgger: the learner leads, the
    teacher labels.

    Args:
        settings: share, kind of mixing and veto.
        declaration: index of the action by which an episode ends.
        slots: N.
        generator: of the draws.

    Attributes:
        led: (N,) bool, slots whose episode the teacher leads (of "episode"), or in which it decides now.
    """

    def __init__(
        self, settings: ImitationSettings, declaration: int, slots: int, generator: np.random.Generator
    ) -> None:
        self._settings, self._declaration, self._generator = settings, declaration, generator
        self.led = np.zeros(slots, bool)

    def begin(self, chosen: Bool[np.ndarray, "n"], done: float) -> None:
        """Draw teacher or learner for episodes beginning in the `chosen` (N,) slots; `done`: see Schedule."""
        share = self._settings.teacher_share.at(done)
        if self._settings.mixing == "episode":
            self.led = np.where(chosen, self._generator.random(len(chosen)) < share, self.led)

    def choose(
        self, own: Int64[np.ndarray, "n"], labels: Int64[np.ndarray, "n"], done: float
    ) -> Int64[np.ndarray, "n"]:
        """(N,) indices of actions to take, of the learner's `own` (N,) and the teacher's `labels` (N,)."""
        settings = self._settings
        if settings.mixing == "step":
            self.led = self._generator.random(len(own)) < settings.teacher_share.at(done)
        taken = np.where(self.led, labels, own)
        wrong = (taken == self._declaration) & (labels != self._declaration)
        vetoed = self._generator.random(len(own)) < settings.veto
        return np.where(wrong & vetoed, labels, taken)

    def save_state(self) -> dict[str, Any]:
        """Plain values for `restore_state`; the generator is its owner's to save."""
        return {"led": self.led.tolist()}

    def restore_state(self, saved: dict[str, Any]) -> None:
        """Restore the state `saved`."""
        self.led = np.array(saved["led"], bool)
