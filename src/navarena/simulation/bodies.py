"""The poses of N bodies."""

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
        triangles: (N,) int32, of the navmesh, under each body; -1 = not known yet.
        start_positions, start_yaws: (N, 3) and (N,) float64, pose at the last placement; the
            frame of gps and compass.
    """

    positions: Float[np.ndarray, "n 3"]
    yaws: Float[np.ndarray, "n"]
    tilts: Float[np.ndarray, "n"]
    collided: Bool[np.ndarray, "n"]
    moved: Bool[np.ndarray, "n"]
    triangles: Int32[np.ndarray, "n"]
    start_positions: Float[np.ndarray, "n 3"]
    start_yaws: Float[np.ndarray, "n"]

    def __init__(self, count: int) -> None:
        self.positions = np.zeros((count, 3))
        self.yaws = np.zeros(count)
        self.tilts = np.zeros(count)
        self.collided = np.zeros(count, bool)
        self.moved = np.zeros(count, bool)
        self.triangles = np.full(count, -1, np.int32)
        self.start_positions = np.zeros((count, 3))
        self.start_yaws = np.zeros(count)

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
        self.positions[slots] = self.start_positions[slots] = positions
        self.yaws[slots] = self.start_yaws[slots] = yaws
        self.tilts[slots] = tilts
        self.triangles[slots] = -1
        self.collided[slots] = False
        self.moved[slots] = False
