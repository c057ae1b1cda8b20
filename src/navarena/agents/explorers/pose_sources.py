"""Pose sources of mapping agents: sensors of the pose, or odometry from actions and depth."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64

from navarena.core.geometry import ACROSS, ALONG, TURN, wrap_angle
from navarena.mapping import ScanOdometry, ScanSettings
from navarena.mapping.scan_odometry import compose
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.motion import movement_table
from navarena.tasks.task import Task

USUAL_SCANS = ScanSettings()

PREDICTED_TRUST = 0.1
"""Trust in scans of predicted depth: in 30 episodes of `test` without noise success was 57 % with it, and
40 % with 3."""


def nominal_motions(task: Task) -> Float[np.ndarray, "a 3"]:
    """(A, 3) what each action of `task` should do: metres ahead and to the right, radians to the left."""
    return movement_table(task.embodiment, task.actions)[:, [ALONG, ACROSS, TURN]]


class PoseSource(ABC):
    """Estimates the poses of bodies, each in the frame of its episode's start: x to the right, z backward.

    Attributes:
        sensors: what it observes, beside depth.
    """

    sensors: tuple[str, ...] = ()

    @abstractmethod
    def update(
        self,
        observations: Mapping[str, np.ndarray],
        depths: Float32[np.ndarray, "n h w"],
        begun: Sequence[int],
        active: Bool[np.ndarray, "n"],
        bodies: Bodies,
    ) -> None:
        """Write the estimated poses of the `active` ones into `bodies`; called once before each action.

        Args:
            observations: name -> (N, ...).
            depths: (N, H, W) float32, of the depth camera, in the protocol's unit.
            begun: slots in which an episode has begun since the last call.
            active: (N,) bool.
            bodies: N of them; positions in metres and yaws in radians are written.
        """

    def note(  # noqa: B027 - a hook: sensors need none
        self, actions: Int64[np.ndarray, "n"], active: Bool[np.ndarray, "n"]
    ) -> None:
        """The actions (N,) that were chosen for the `active` (N,) bodies; the others did not act."""

    def doubt_depth(self) -> None:  # noqa: B027 - a hook: sensors need none
        """Expect depth that is predicted, not measured."""


class SensorPoses(PoseSource):
    """Poses from `gps` and `compass`."""

    sensors = ("gps", "compass")

    def update(
        self,
        observations: Mapping[str, np.ndarray],
        depths: Float32[np.ndarray, "n h w"],
        begun: Sequence[int],
        active: Bool[np.ndarray, "n"],
        bodies: Bodies,
    ) -> None:
        """See PoseSource; bodies that are not active are placed, too."""
        bodies.positions[:, 0] = observations["gps"][:, 1]
        bodies.positions[:, 2] = -observations["gps"][:, 0]
        bodies.yaws[:] = observations["compass"][:, 0]


class FilteredPoses(SensorPoses):
    """Poses from `gps` and `compass`, filtered where their errors jump to and fro.

    What the actions should have done is subtracted from what the sensors say they did. Independent errors of
    each estimate make what is left change its sign from step to step: its correlation with itself a step
    later is -1/2. Motions that really differ from the commands, and errors that grow slowly, do not. Only in
    the first case commands and sensors are weighed against one another (a Kalman filter with the variance
    that was found); else the sensors are believed.

    Args:
        motions: (A, 3) of the protocol's actions, as of `nominal_motions`.
    """

    def __init__(self, motions: Float[np.ndarray, "a 3"]) -> None:
        self._motions = motions
        self._reset(0)

    def update(
        self,
        observations: Mapping[str, np.ndarray],
        depths: Float32[np.ndarray, "n h w"],
        begun: Sequence[int],
        active: Bool[np.ndarray, "n"],
        bodies: Bodies,
    ) -> None:
        """See PoseSource."""
        super().update(observations, depths, begun, active, bodies)
        count = len(active)
        if len(self._poses) != count:
            self._reset(count)
        self._is_new[list(begun)] = True
        raw = np.stack([bodies.positions[:, 0], bodies.positions[:, 2], bodies.yaws], 1)
        images = depths[:, SPARSE // 2 :: SPARSE, SPARSE // 2 :: SPARSE].copy()
        for row in np.flatnonzero(active).tolist():
            self._filter(row, raw[row], images[row])
        bodies.positions[:, 0], bodies.positions[:, 2] = self._poses[:, 0], self._poses[:, 1]
        bodies.yaws[:] = self._poses[:, 2]

    def note(self, actions: Int64[np.ndarray, "n"], active: Bool[np.ndarray, "n"]) -> None:
        """See PoseSource."""
        self._expected[active] = self._motions[actions[active]]

    def _reset(self, count: int) -> None:
        """Memory of `count` bodies."""
        self._poses, self._raw, self._expected = (np.zeros((count, 3)) for _ in range(3))
        self._is_new = np.ones(count, bool)
        self._variances = np.zeros((count, 2))
        self._before: list[Float[np.ndarray, 3] | None] = [None] * count
        self._sums = np.zeros((count, 2, 2))
        self._pairs = np.zeros(count, np.int64)
        self._images: list[np.ndarray] = [np.zeros((0, 0))] * count

    def _filter(self, row: int, raw: Float[np.ndarray, "3"], image: Float32[np.ndarray, "a b"]) -> None:
        """The pose of one body after the estimate `raw` and a sparse depth `image`."""
        last, self._images[row] = self._images[row], image
        if self._is_new[row]:
            self._is_new[row], self._before[row], self._pairs[row] = False, None, 0
            self._poses[row], self._raw[row] = raw, raw
            self._sums[row], self._variances[row] = 0.0, 0.0
            return
        expected = self._expected[row]
        if expected[:2].any() and np.nanmean(np.abs(image - last)) < UNMOVED:
            expected = np.zeros(3)
        predicted = compose(self._poses[row], expected)
        rest = raw - self._raw[row] - (predicted - self._poses[row])
        rest[2] = wrap_angle(rest[2])
        self._raw[row] = raw
        self._learn(row, rest)
        off = raw - predicted
        off[2] = wrap_angle(off[2])
        for axes, kind in ((slice(0, 2), 0), (slice(2, 3), 1)):
            noise = self._noise(row, kind)
            self._variances[row, kind] += FLOORS[kind] ** 2
            gain = self._variances[row, kind] / (self._variances[row, kind] + noise) if noise > 0 else 1.0
            self._variances[row, kind] = (1 - gain) * self._variances[row, kind] if noise > 0 else 0.0
            predicted[axes] += gain * off[axes]
        predicted[2] = wrap_angle(predicted[2])
        self._poses[row] = predicted

    def _learn(self, row: int, rest: Float[np.ndarray, "3"]) -> None:
        """Update the variances and covariances of positions and yaws with the residual (3,) of a motion."""
        before = self._before[row]
        if before is not None:
            products = np.stack([rest * rest, rest * before])
            self._sums[row] += np.stack([products[:, :2].mean(1), products[:, 2]])
            self._pairs[row] += 1
        self._before[row] = rest

    def _noise(self, row: int, kind: int) -> float:
        """The variance of each estimate of places (kind 0) or yaws (kind 1); 0 where it is believed."""
        if self._pairs[row] < FEWEST_PAIRS:
            return 0.0
        variance, covariance = (self._sums[row, kind] / self._pairs[row]).tolist()
        jumps = -covariance > ALTERNATING * variance and variance > 2 * FLOORS[kind] ** 2
        return variance / 2 if jumps else 0.0


SPARSE = 16
"""Every which pixel of depth images is compared with the one before."""

UNMOVED = 2e-3
"""Mean difference of depth images (metres, or shares of the range) below which a body has not moved."""

FEWEST_PAIRS = 6
"""Successive motions from which on errors are judged."""

ALTERNATING = 0.25
"""Of the variance, by which the covariance of successive errors must be negative to count as noise."""

FLOORS = (0.02, np.radians(0.3))
"""Metres, radians: standard deviation of each motion from the commanded one, for the filter."""


class OdometryPoses(PoseSource):
    """Odometry: poses from the actions' nominal motions and from scan matching of depth images.

    Where depth is predicted from colours, `walked` (N,) among the observations says by how many metres each
    body walked ahead since the image before, as its colours show; it is NaN where they show nothing.

    Args:
        camera: the depth camera.
        motions: (A, 3) of the protocol's actions, as of `nominal_motions`.
        depth_scale: (metres per unit, metres at 0) of depth.
        settings: of the matching.
    """

    def __init__(
        self,
        camera: Camera,
        motions: Float[np.ndarray, "a 3"],
        depth_scale: tuple[float, float],
        settings: ScanSettings = USUAL_SCANS,
    ) -> None:
        self._camera, self._motions, self._settings = camera, motions, settings
        self._depth_scale = depth_scale
        self._odometry: ScanOdometry | None = None
        self._expected = np.zeros((0, 3))

    def update(
        self,
        observations: Mapping[str, np.ndarray],
        depths: Float32[np.ndarray, "n h w"],
        begun: Sequence[int],
        active: Bool[np.ndarray, "n"],
        bodies: Bodies,
    ) -> None:
        """See PoseSource."""
        count = len(active)
        if self._odometry is None or len(self._odometry.poses) != count:
            self._odometry = ScanOdometry(count, self._camera, self._settings)
            self._expected = np.zeros((count, 3))
        self._odometry.reset(begun)
        frames = world_from_camera(Bodies(count), self._camera)
        expected = self._expected
        if "walked" in observations:
            walked = observations["walked"]
            expected = expected.copy()
            expected[:, 0] = np.where(np.isfinite(walked), walked, expected[:, 0])
        poses = self._odometry.update(depths, expected, frames, active, *self._depth_scale)
        bodies.positions[:, 0], bodies.positions[:, 2] = poses[:, 0], poses[:, 1]
        bodies.yaws[:] = poses[:, 2]

    def note(self, actions: Int64[np.ndarray, "n"], active: Bool[np.ndarray, "n"]) -> None:
        """See PoseSource."""
        self._expected[active] = self._motions[actions[active]]

    def doubt_depth(self) -> None:
        """Hardly trust scans any more: see PREDICTED_TRUST."""
        self._settings = replace(self._settings, trust=PREDICTED_TRUST)
