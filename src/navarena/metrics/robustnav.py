"""SPL as the code of RobustNav computes it (allenai/robustnav; spec section 3.3)."""

import numpy as np

from navarena.metrics.navigation import success
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


def spl_robustnav(trajectory: Trajectory) -> float:
    """S l / max(l, travelled), in [0, 1]; with l = 0 it is 1 for who has not travelled, else 0.

    An unreachable goal gives 0; there the episode leaves the mean.
    """
    shortest = trajectory.start_distance
    if not np.isfinite(shortest):
        return 0.0
    way = travelled(trajectory)
    longest = max(shortest, way)
    return success(trajectory) * (shortest / longest if longest > 0 else 1.0)
