"""The poses of N bodies."""

from copy import copy

import numpy as np
from jaxtyping import Bool, Float, Int32, Int64


class Bodies:
    """State of N bodies, each array with N first; rows are written in place.

    Attributes:
        positions: (N, 3) float64 metres, world frame: the foot points.
        yaws: (N,) float64 radians, within [-pi, pi).
        tilts: (N,) float64 radians, upwards, of the cameras.
        collided: (N,) bool, whether the last step was cut short.
        moved: (N,) bool, whether the last step changed the position.
        unseen: (N,) bool, which have acted or been placed since the sensors of the task last looked at them.
        triangles: (N,) int32, of the navmesh, under each body; -1 = not known yet.
        start_positions, start_yaws: (N, 3) and (N,) float64, pose at the last placement; the
            frame of gps and compass.
        last_positions, last_yaws: (N, 3) and (N,) float64, pose before the last step.
        estimated_positions, estimated_yaws: (N, 3) and (N,) float64, the estimated poses, which gps and
            compass observe. They are the true poses until `separate_estimates` gives them arrays of
            their own.
        camera_positions, camera_yaws, camera_tilts: (N, 3), (N,) and (N,) float64, the poses from which
            images are taken. They are the true ones until `separate_cameras` gives them arrays of their own.
        motion_errors: (N, 3) float64, added to the odometry: metres ahead, metres to the right,
            radians to the left.
    """

    positions: Float[np.ndarray, "n 3"]
    yaws: Float[np.ndarray, "n"]
    tilts: Float[np.ndarray, "n"]
    collided: Bool[np.ndarray, "n"]
    moved: Bool[np.ndarray, "n"]
    unseen: Bool[np.ndarray, "n"]
    triangles: Int32[np.ndarray, "n"]
    start_positions: Float[np.ndarray, "n 3"]
    start_yaws: Float[np.ndarray, "n"]
    last_positions: Float[np.ndarray, "n 3"]
    last_yaws: Float[np.ndarray, "n"]
    estimated_positions: Float[np.ndarray, "n 3"]
    estimated_yaws: Float[np.ndarray, "n"]
    camera_positions: Float[np.ndarray, "n 3"]
    camera_yaws: Float[np.ndarray, "n"]
    camera_tilts: Float[np.ndarray, "n"]
    motion_errors: Float[np.ndarray, "n 3"]

    def __init__(self, count: int) -> None:
        self.positions = np.zeros((count, 3))
        self.yaws = np.zeros(count)
        self.tilts = np.zeros(count)
        self.collided = np.zeros(count, bool)
        self.moved = np.zeros(count, bool)
        self.unseen = np.zeros(count, bool)
        self.triangles = np.full(count, -1, np.int32)
        self.start_positions = np.zeros((count, 3))
        self.start_yaws = np.zeros(count)
        self.last_positions = np.zeros((count, 3))
        self.last_yaws = np.zeros(count)
        self.estimated_positions, self.estimated_yaws = self.positions, self.yaws
        self.camera_positions, self.camera_yaws, self.camera_tilts = self.positions, self.yaws, self.tilts
        self.motion_errors = np.zeros((count, 3))

    def __len__(self) -> int:
        return len(self.yaws)

    def place(
        self,
        slots: Int64[np.ndarray, "k"],
        positions: Float[np.ndarray, "k 3"],
        yaws: Float[np.ndarray, "k"],
        tilts: Float[np.ndarray, "k"] | float = 0.0,
    ) -> None:
        """Put the bodies `slots` (K,) at poses, without a collision; a new start frame."""
        self.positions[slots] = self.start_positions[slots] = self.last_positions[slots] = positions
        self.yaws[slots] = self.start_yaws[slots] = self.last_yaws[slots] = yaws
        self.estimated_positions[slots], self.estimated_yaws[slots] = positions, self.yaws[slots]
        self.motion_errors[slots] = 0.0
        self.tilts[slots] = tilts
        self.camera_positions[slots], self.camera_yaws[slots] = positions, self.yaws[slots]
        self.camera_tilts[slots] = self.tilts[slots]
        self.triangles[slots] = -1
        self.collided[slots] = False
        self.moved[slots] = False
        self.unseen[slots] = True

    def save_row(self, slot: int) -> dict[str, np.ndarray]:
        """Copies of the row `slot` of each array, by its name; for `restore_row`."""
        return {name: array[slot : slot + 1].copy() for name, array in vars(self).items()}

    def restore_row(self, slot: int, saved: dict[str, np.ndarray]) -> None:
        """Write rows that `save_row` copied back."""
        for name, row in saved.items():
            getattr(self, name)[slot] = row[0]

    def begin_step(self) -> None:
        """Remember the poses, from which odometry gives the motion of a step, however it is made."""
        self.last_positions[:], self.last_yaws[:] = self.positions, self.yaws

    def as_estimated(self) -> "Bodies":
        """The same bodies with their estimated poses in the place of the true ones; arrays are shared."""
        believed = copy(self)
        believed.positions, believed.yaws = self.estimated_positions, self.estimated_yaws
        return believed

    def separate_estimates(self) -> None:
        """Give the estimated poses arrays of their own, so that they can differ from the true ones."""
        self.estimated_positions, self.estimated_yaws = self.positions.copy(), self.yaws.copy()

    def separate_cameras(self) -> None:
        """Give the poses of cameras arrays of their own, so that images can be those of earlier steps."""
        self.camera_positions, self.camera_yaws = self.positions.copy(), self.yaws.copy()
        self.camera_tilts = self.tilts.copy()
