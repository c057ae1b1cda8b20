"""Corrupts what N bodies know of their poses and motions."""

# mypy: disable-error-code="no-untyped-def"

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.kernels import kernel
from navarena.corruptions.corruption import PoseCorruption
from navarena.episodes.episode import Episode
from navarena.simulation.bodies import Bodies
from navarena.simulation.sensors.pose import relative_motions
from navarena.tasks.episode_draws import EpisodeDraws

POSE, MOTION = ("gps", "compass"), ("odometry",)


class PoseSpoiler:
    """Corruptions of gps and compass, and of odometry, in the order in which they are applied.

    Args:
        draws: one for each corruption.
        steps: (N,) counts of steps of the episodes, which somebody else keeps.
        bodies: that know their poses.
    """

    def __init__(self, draws: Sequence[EpisodeDraws], steps: Int64[np.ndarray, "n"], bodies: Bodies) -> None:
        self._steps, self._bodies = steps, bodies
        found = [(one, one.corruption) for one in draws if isinstance(one.corruption, PoseCorruption)]
        self._of_poses = [_Chained(*one) for one in found if one[1].sensors == POSE]
        self._of_motions = [_Chained(*one) for one in found if one[1].sensors == MOTION]
        if self._of_poses:
            bodies.separate_estimates()

    def begin(self, slot: int, episode: Episode) -> None:
        """Draw for an episode."""
        for one in (*self._of_poses, *self._of_motions):
            one.draws.begin(slot, episode)

    def feel(self, slots: Int64[np.ndarray, "k"], starting: bool) -> None:
        """Let the bodies `slots` (K,) take their readings, once after each step and at the start."""
        if self._of_poses:
            self._feel_poses(slots, starting)
        if self._of_motions:
            self._feel_motions(slots, starting)

    def _feel_poses(self, slots: Int64[np.ndarray, "k"], starting: bool) -> None:
        bodies = self._bodies
        poses = np.zeros((len(bodies), 3))
        zeros = np.zeros_like(poses)
        relative_motions(
            bodies.positions, bodies.yaws, bodies.start_positions, bodies.start_yaws, zeros, poses
        )
        for one in self._of_poses:
            poses = one.corrupt(poses, self._steps, slots, starting)
        estimated_positions, estimated_yaws = bodies.positions.copy(), bodies.yaws.copy()
        world_poses(poses, bodies.start_positions, bodies.start_yaws, estimated_positions, estimated_yaws)
        bodies.estimated_positions[slots], bodies.estimated_yaws[slots] = (
            estimated_positions[slots],
            estimated_yaws[slots],
        )

    def _feel_motions(self, slots: Int64[np.ndarray, "k"], starting: bool) -> None:
        bodies = self._bodies
        true = np.zeros((len(bodies), 3))
        zeros = np.zeros_like(true)
        relative_motions(bodies.positions, bodies.yaws, bodies.last_positions, bodies.last_yaws, zeros, true)
        motions = true
        for one in self._of_motions:
            motions = one.corrupt(motions, self._steps, slots, starting)
        bodies.motion_errors[slots] = (motions - true)[slots]


class _Chained:
    """One corruption in a chain: its draws, and what it said last."""

    def __init__(self, draws: EpisodeDraws, corruption: PoseCorruption) -> None:
        self.draws, self._corruption = draws, corruption
        self._last = np.zeros((0, 3))

    def corrupt(
        self,
        poses: Float[np.ndarray, "n 3"],
        steps: Int64[np.ndarray, "n"],
        slots: Int64[np.ndarray, "k"],
        starting: bool,
    ) -> Float[np.ndarray, "n 3"]:
        """Corrupted `poses` (N, 3); only the rows `slots` mean something, and are remembered."""
        if len(self._last) != len(poses):
            self._last = np.zeros_like(poses)
        if starting:
            self._last[slots] = poses[slots]
        corrupted = self._corruption.corrupt(poses, self._last, self.draws.rows(steps))
        self._last[slots] = corrupted[slots]
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
