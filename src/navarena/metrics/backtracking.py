"""Which goals of an episode had been seen before their turn came (MultiON, appendix A.4)."""

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.errors import InputError
from navarena.metrics.multi_goal import MultiGoalTrajectory

SEEN_ANGLE = np.radians(79.0)
"""Field of view (appendix A.2)."""

SEEN_DISTANCE = 5.0
"""Metres (appendix A.2)."""


def is_in_sector(
    position: Float[np.ndarray, "3"],
    yaw: float,
    goals: Float[np.ndarray, "n 3"],
    angle: float = SEEN_ANGLE,
    distance: float = SEEN_DISTANCE,
) -> Bool[np.ndarray, "n"]:
    """(N,) bool: which goals stand within `distance` metres and `angle` radians ahead, in the plan.

    A goal at the body's own place is ahead.

    Args:
        position: (3,) float64, metres, world frame.
        yaw: radians; 0 looks along -z, positive to the left.
        goals: (N, 3) float64, metres.
        angle: the whole field of view, both bounds included.
        distance: included.
    """
    away = np.asarray(goals, np.float64)[:, [0, 2]] - np.asarray(position, np.float64)[[0, 2]]
    ahead = -np.sin(yaw) * away[:, 0] - np.cos(yaw) * away[:, 1]
    beside = np.cos(yaw) * away[:, 0] - np.sin(yaw) * away[:, 1]
    bearing = np.abs(np.arctan2(beside, ahead))
    lengths = np.hypot(away[:, 0], away[:, 1])
    return np.asarray((lengths <= distance) & ((bearing <= angle / 2) | (lengths == 0)))


def seen_before_turn(
    trajectory: MultiGoalTrajectory, seen: Bool[np.ndarray, "k1 n"]
) -> Bool[np.ndarray, "m"]:
    """(M,) bool for the second goal, the third, ... up to the last whose turn came.

    Whether it was seen at any pose before the FOUND of the goal before it.

    Args:
        trajectory: of K steps and n goals, of which l were found; M is the lesser of l and n - 1.
        seen: (K + 1, n) bool: whether each pose sees each goal, in order.

    Raises InputError for `seen` of another shape.
    """
    expected = (len(trajectory.actions) + 1, len(trajectory.legs))
    if np.shape(seen) != expected:
        raise InputError(f"expected sightings of shape {expected}, got {np.shape(seen)}")
    turns = np.asarray(trajectory.found_after)[: len(trajectory.legs) - 1]
    return np.array([bool(seen[:moment, k + 1].any()) for k, moment in enumerate(turns.tolist())], bool)
