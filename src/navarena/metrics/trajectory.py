"""What a finished episode leaves behind: the only input of every metric."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int


@dataclass(frozen=True)
class Trajectory:
    """The record of one episode with K steps, filled by the task.

    Attributes:
        positions: (K + 1, 3) float64, metres, world frame; row 0 is the start.
        yaws: (K + 1,) float64, radians.
        actions: (K,) int64, index into the protocol's action list.
        collided: (K,) bool, whether the step was cut short.
        distance_to_goal: (K + 1,) float64, metres, geodesic to the (current) goal after each
            step; infinite where it cannot be reached.
        start_distance: metres, geodesic from the start to the goal.
        stopped: whether the agent ended the episode itself by STOP.
        success_distance: metres within which STOP counts, of the protocol.
    """

    positions: Float[np.ndarray, "k1 3"]
    yaws: Float[np.ndarray, "k1"]
    actions: Int[np.ndarray, "k"]
    collided: Bool[np.ndarray, "k"]
    distance_to_goal: Float[np.ndarray, "k1"]
    start_distance: float
    stopped: bool
    success_distance: float
