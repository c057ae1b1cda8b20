"""Success and SPL as the code of RobustNav computes them (allenai/robustnav; spec section 3.3)."""

import numpy as np

from navarena.metrics.navigation import success
from navarena.metrics.seen_goal import SeenGoalTrajectory
from navarena.metrics.trajectory import Trajectory


def travelled(trajectory: Trajectory) -> float:
    """Metres in the plan view, as the code counts them.

    The displacement of the first action is left out, and at End the last displacement before it is counted
    again.
    """
    plan = np.asarray(trajectory.positions, np.float64)[:, ::2]
    steps = np.hypot(*np.diff(plan, axis=0).T)
    if not trajectory.stopped:
        return float(steps[1:].sum())
    before_end = steps[:-1]
    return float(before_end[1:].sum() + before_end[-1:].sum())


def leaves_the_mean(trajectory: Trajectory) -> bool:
    """Whether the code forgets the episode: End was called where there is no way to the point.

    Its success is then None and its metrics are empty. Goals that count by sight always have a success.
    """
    no_way = not np.isfinite(trajectory.distance_to_goal[-1])
    return bool(trajectory.stopped and no_way and not isinstance(trajectory, SeenGoalTrajectory))


def success_robustnav(trajectory: Trajectory) -> float:
    """S; infinite, and so left out of means and counted apart, for an episode that the code forgets."""
    return np.inf if leaves_the_mean(trajectory) else success(trajectory)


def spl_robustnav(trajectory: Trajectory) -> float:
    """S l / max(l, travelled), in [0, 1]; with l = 0 it is 1 for who has not travelled, else 0.

    Infinite as `success_robustnav`; 0 where there was no way from the start and End was never called.
    """
    if leaves_the_mean(trajectory):
        return np.inf
    shortest = trajectory.start_distance
    if not np.isfinite(shortest):
        return 0.0
    way = travelled(trajectory)
    longest = max(shortest, way)
    return success(trajectory) * (shortest / longest if longest > 0 else 1.0)
