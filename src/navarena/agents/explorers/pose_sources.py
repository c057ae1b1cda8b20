"""How an agent that maps knows where it is: told by sensors, or reckoned from its actions and from depth."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64

from navarena.mapping import ScanOdometry, ScanSettings
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera
from navarena.simulation.camera_pose import world_from_camera

USUAL_SCANS = ScanSettings()


class PoseSource(ABC):
    """Says where bodies are, each in the frame of its episode's start: x to the right, z backward.

    Attributes:
        sensors: what it observes, beside depth.
    """

    sensors: tuple[str, ...] = ()

    @abstractmethod
    def feel(
        self,
        observations: Mapping[str, np.ndarray],
        depths: Float32[np.ndarray, "n h w"],
        begun: Sequence[int],
        active: Bool[np.ndarray, "n"],
        bodies: Bodies,
    ) -> None:
        """Place `bodies` where the `active` ones feel that they are; called once before each action.

        Args:
            observations: name -> (N, ...).
            depths: (N, H, W) float32, of the depth camera, in the protocol's unit.
            begun: slots in which an episode has begun since the last call.
            active: (N,) bool.
            bodies: N of them; positions in metres and yaws in radians are written.
        """

    def note(self, actions: Int64[np.ndarray, "n"]) -> None:  # noqa: B027 - a hook: sensors need none
        """The actions (N,) that the agent chose."""


class ToldPoses(PoseSource):
    """By `gps` and `compass`."""

    sensors = ("gps", "compass")

    def feel(
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


class ReckonedPoses(PoseSource):
    """By what each action should do, and by matching each depth image with those before it.

    Args:
        camera: the depth camera.
        motions: (A, 3) what each action of the protocol should do: metres ahead, metres to the right, radians
            to the left.
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

    def feel(
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
        poses = self._odometry.update(depths, self._expected, frames, active, *self._depth_scale)
        bodies.positions[:, 0], bodies.positions[:, 2] = poses[:, 0], poses[:, 1]
        bodies.yaws[:] = poses[:, 2]

    def note(self, actions: Int64[np.ndarray, "n"]) -> None:
        """See PoseSource."""
        self._expected = self._motions[actions]
