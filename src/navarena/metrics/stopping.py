"""Whether an agent knew that it had arrived (the analysis of RobustNav, Chattopadhyay et al. 2021).

A pose is near the goal when a declaration there would succeed. With several goals, near means near the
goal that was current.

Edge cases: without a way to the goal no pose is near, and the least distance is infinite.
"""

import numpy as np
from jaxtyping import Bool

from navarena.metrics.subtasks import LifelongTrajectory
from navarena.metrics.trajectory import Trajectory


def stopped(trajectory: Trajectory) -> float:
    """1.0 if a declaration of the agent ended the episode, else 0.0."""
    return float(trajectory.stopped)


def min_distance(trajectory: Trajectory) -> float:
    """Least geodesic distance to the (current) goal at any pose, metres."""
    return float(np.min(trajectory.distance_to_goal))


def near_steps(trajectory: Trajectory) -> float:
    """How many actions the agent chose at poses near the goal; all but a final declaration are missed."""
    return float(np.count_nonzero(_near(trajectory)[:-1]))


def oracle_success(trajectory: Trajectory) -> float:
    """1.0 if the episode succeeded, or would have with a declaration at the best pose, else 0.0.

    With several goals only the last declaration is given away: all others must have been found.
    """
    if trajectory.succeeded:
        return 1.0
    near = _near(trajectory)
    if (
        isinstance(trajectory, LifelongTrajectory)
        and not trajectory.reached[: trajectory.goal_count - 1].all()
    ):
        return 0.0
    if trajectory.goal_count > 1:
        found = trajectory.goal_end_steps
        near = near[int(found[-1]) if len(found) else 0 :]
        return float(len(found) == trajectory.goal_count - 1 and bool(near.any()))
    return float(near.any())


def _near(trajectory: Trajectory) -> Bool[np.ndarray, "k1"]:
    """(K + 1,) bool: strictly nearer than the success distance, as `trajectory.is_within`."""
    return np.asarray(trajectory.distance_to_goal) < trajectory.success_distance
