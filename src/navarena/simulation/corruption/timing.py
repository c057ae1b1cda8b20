"""Corruptions of when images arrive, in N slots: cameras look from where the bodies were."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int64

from navarena.corruptions.corruption import TimingCorruption
from navarena.simulation.bodies import Bodies
from navarena.simulation.corruption.draws import EpisodeDraws, EpisodeKey

POSE = 5
"""Numbers of a camera's pose: three of the position, yaw and tilt."""


class TimingStage:
    """Corruptions of timing, each of which delays the output of those before it.

    An image of an earlier step is drawn from the pose of that step: it does not matter whether anybody
    looked at it then.

    Args:
        draws: of each corruption; those of other kinds are left out.
        slots: N.
        steps: of an episode; poses beyond them get more room.

    Attributes:
        poses: (N, T, 5) float64, where the bodies were after t steps.
    """

    def __init__(self, draws: Sequence[EpisodeDraws], slots: int, steps: int) -> None:
        self._draws = [one for one in draws if isinstance(one.corruption, TimingCorruption)]
        self.poses: Float[np.ndarray, "n t 5"] = np.zeros((slots, steps * bool(self._draws), POSE))

    def begin(self, slot: int, episode: EpisodeKey) -> None:
        """Draw for an episode."""
        for one in self._draws:
            one.begin(slot, episode)

    def find_shown(
        self, steps: Int64[np.ndarray, "n"], slots: Int64[np.ndarray, "k"]
    ) -> Int64[np.ndarray, "n"]:
        """(N,) the steps whose images `slots` (K,) have in view after `steps` (N,) steps."""
        shown = steps.copy()
        for one in reversed(self._draws):
            earlier = one.rows(shown, slots)[:, 0].astype(np.int64)
            shown[slots] = np.where(one.active, earlier, shown)[slots]
        return shown

    def update(self, bodies: Bodies, steps: Int64[np.ndarray, "n"], slots: Int64[np.ndarray, "k"]) -> None:
        """Remember where the bodies `slots` (K,) are, and move their cameras to where they look from.

        It comes once at the start and once after each step; steps: (N,) counts of steps of the episodes.
        """
        if not self._draws or not len(slots):
            return
        if bodies.camera_positions is bodies.positions:
            bodies.separate_cameras()
        if steps[slots].max() >= self.poses.shape[1]:
            self.poses = np.concatenate((self.poses, np.zeros_like(self.poses)), 1)
        at = steps[slots]
        self.poses[slots, at, :3] = bodies.positions[slots]
        self.poses[slots, at, 3], self.poses[slots, at, 4] = bodies.yaws[slots], bodies.tilts[slots]
        seen = self.poses[slots, self.find_shown(steps, slots)[slots]]
        bodies.camera_positions[slots], bodies.camera_yaws[slots] = seen[:, :3], seen[:, 3]
        bodies.camera_tilts[slots] = seen[:, 4]
