"""Corruptions of the estimated poses and motions of N bodies."""

# mypy: disable-error-code="no-untyped-def"

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.kernels import kernel
from navarena.corruptions.corruption import PoseCorruption
from navarena.simulation.bodies import Bodies
from navarena.simulation.corruption.draws import EpisodeDraws, EpisodeKey
from navarena.simulation.sensors.pose import relative_motions

POSE, MOTION = ("gps", "compass"), ("odometry",)


class PoseStage:
    """Corruptions of gps and compass, and of odometry, in the order in which they are applied.

    Args:
        draws: of each corruption; those of other kinds are left out.
        slots: N.
    """

    def __init__(self, draws: Sequence[EpisodeDraws], slots: int) -> None:
        found = [(one, one.corruption) for one in draws if isinstance(one.corruption, PoseCorruption)]
        self._of_poses = [_Step(*one, slots) for one in found if one[1].sensors == POSE]
        self._of_motions = [_Step(*one, slots) for one in found if one[1].sensors == MOTION]

    @property
    def last_estimates(self) -> list[Float[np.ndarray, "n 3"]]:
        """(N, 3) [metres, metres, radians] for each corruption: its last estimates."""
        return [one.last for one in (*self._of_poses, *self._of_motions)]

    @last_estimates.setter
    def last_estimates(self, values: list[Float[np.ndarray, "n 3"]]) -> None:
        for one, last in zip((*self._of_poses, *self._of_motions), values, strict=True):
            one.last = last

    def begin(self, slot: int, episode: EpisodeKey) -> None:
        """Draw for an episode."""
        for one in (*self._of_poses, *self._of_motions):
            one.draws.begin(slot, episode)

    def update(
        self, bodies: Bodies, steps: Int64[np.ndarray, "n"], slots: Int64[np.ndarray, "k"], starting: bool
    ) -> None:
        """Estimate the poses of the bodies `slots` (K,): once at the start and once after each step.

        steps: (N,) counts of steps of the episodes.
        """
        if self._of_poses:
            self._update_poses(bodies, steps, slots, starting)
        if self._of_motions:
            self._update_motions(bodies, steps, slots, starting)

    def _update_poses(
        self, bodies: Bodies, steps: Int64[np.ndarray, "n"], slots: Int64[np.ndarray, "k"], starting: bool
    ) -> None:
        if bodies.estimated_positions is bodies.positions:
            bodies.separate_estimates()
        poses = np.zeros((len(bodies), 3))
        zeros = np.zeros_like(poses)
        relative_motions(
            bodies.positions, bodies.yaws, bodies.start_positions, bodies.start_yaws, zeros, poses
        )
        for one in self._of_poses:
            poses = one.corrupt(poses, steps, slots, starting)
        positions, yaws = bodies.positions.copy(), bodies.yaws.copy()
        world_poses(poses, bodies.start_positions, bodies.start_yaws, positions, yaws)
        bodies.estimated_positions[slots], bodies.estimated_yaws[slots] = positions[slots], yaws[slots]

    def _update_motions(
        self, bodies: Bodies, steps: Int64[np.ndarray, "n"], slots: Int64[np.ndarray, "k"], starting: bool
    ) -> None:
        true = np.zeros((len(bodies), 3))
        zeros = np.zeros_like(true)
        relative_motions(bodies.positions, bodies.yaws, bodies.last_positions, bodies.last_yaws, zeros, true)
        motions = true
        for one in self._of_motions:
            motions = one.corrupt(motions, steps, slots, starting)
        bodies.motion_errors[slots] = (motions - true)[slots]


class _Step:
    """One corruption of a sequence, with its draws and last estimates."""

    def __init__(self, draws: EpisodeDraws, corruption: PoseCorruption, slots: int) -> None:
        self.draws, self._corruption = draws, corruption
        self.last = np.zeros((slots, 3))

    def corrupt(
        self,
        poses: Float[np.ndarray, "n 3"],
        steps: Int64[np.ndarray, "n"],
        slots: Int64[np.ndarray, "k"],
        starting: bool,
    ) -> Float[np.ndarray, "n 3"]:
        """Corrupted `poses` (N, 3); only the rows `slots` mean something, and are remembered."""
        if starting:
            self.last[slots] = poses[slots]
        corrupted = self._corruption.corrupt(poses, self.last, self.draws.rows(steps, slots))
        corrupted = np.where(self.draws.active[:, None], corrupted, poses)
        self.last[slots] = corrupted[slots]
        return corrupted


@kernel
def world_poses(poses, start_positions, start_yaws, positions, yaws):
    """Write x and z of `positions` (N, 3) and `yaws` (N,) of `poses` (N, 3) in the frames of the starts.

    A pose is [ahead m, right m, left-turn rad]; yaws come out within [-pi, pi).
    """
    for i in range(poses.shape[0]):
        sine, cosine = math.sin(start_yaws[i]), math.cos(start_yaws[i])
        positions[i, 0] = start_positions[i, 0] - sine * poses[i, 0] + cosine * poses[i, 1]
        positions[i, 2] = start_positions[i, 2] - cosine * poses[i, 0] - sine * poses[i, 1]
        yaws[i] = (start_yaws[i] + poses[i, 2] + math.pi) % (2 * math.pi) - math.pi
