"""Metrics of one finished episode; those of several goals alone are in multi_goal.

Each function maps a Trajectory to one float and looks at nothing else. Notation:

    S    1 if the agent called STOP within the protocol's success distance, else 0
    d_0  geodesic distance from the start to the goal, metres (Trajectory.start_distance);
         for several goals along all of them, in order
    d_T  geodesic distance to the goal at the end, metres; likewise
    p    length of the path that the body travelled, metres

Edge cases, decided once for all of them:

* d_0 = 0 (start at the goal): the shortest path has no length, so the path factor
  d_0 / max(d_0, p) is 1 for a body that never moved and 0 for one that did.
* Unreachable (d_0 or d_T infinite): failure; every score is 0, distance_to_goal is infinite.
* Never moved (p = 0): the path factor is 1; a score then depends on S or on progress alone.
* NaN cannot occur: Trajectory refuses it.

The functions `..._robustnav` compute what the code of RobustNav does (allenai/robustnav; spec section 3.3).
"""

import numpy as np

from navarena.metrics.object_goal import SeenGoalTrajectory
from navarena.metrics.trajectory import Trajectory, segment_lengths


def success(trajectory: Trajectory) -> float:
    """S: 1.0 if the agent called STOP near enough to the goal (found all goals, in order), else 0.0.

    Running out of steps at the goal is a failure, and so is STOP where the goal cannot be reached.
    """
    return float(trajectory.succeeded)


def path_length(trajectory: Trajectory) -> float:
    """p: sum of the straight 3-D displacements of all steps, metres; 0.0 for no step.

    Sliding counts as it moved, blocked steps as the part that was walked.
    """
    return float(segment_lengths(trajectory.positions).sum())


def path_factor(start_distance: float, travelled: float) -> float:
    """d_0 / max(d_0, p) of metres, edge cases as in the module's docstring; a finite d_0 is required."""
    longer = max(start_distance, travelled)
    return 1.0 if longer == 0.0 else start_distance / longer


def spl(trajectory: Trajectory) -> float:
    """Success weighted by path length: S d_0 / max(d_0, p), in [0, 1].

    Anderson et al. 2018, "On Evaluation of Embodied Navigation Agents", section 4.
    """
    if not np.isfinite(trajectory.start_distance):
        return 0.0
    return success(trajectory) * path_factor(trajectory.start_distance, path_length(trajectory))


def soft_spl(trajectory: Trajectory) -> float:
    """Progress weighted by path length: max(0, 1 - d_T / d_0) d_0 / max(d_0, p), in [0, 1].

    It needs no STOP (the SoftSPL measure of habitat-lab). A body born on the goal scores 1.0
    if it never moved, else 0.0.
    """
    start, end = trajectory.start_distance, trajectory.distance_left
    if not (np.isfinite(start) and np.isfinite(end)):
        return 0.0
    progress = max(0.0, 1.0 - end / start) if start > 0.0 else 1.0
    return progress * path_factor(start, path_length(trajectory))


def distance_to_goal(trajectory: Trajectory) -> float:
    """Geodesic distance to the (current) goal at the end, metres; infinite where there is no path."""
    return float(trajectory.distance_to_goal[-1])


def collisions(trajectory: Trajectory) -> float:
    """Number of steps that an obstacle cut short."""
    return float(np.count_nonzero(trajectory.collided))


def moves(trajectory: Trajectory) -> float:
    """Number of steps by which the body changed its place."""
    return float(np.count_nonzero(np.any(np.diff(trajectory.positions, axis=0) != 0, axis=1)))


def num_actions(trajectory: Trajectory) -> float:
    """Number of actions, STOP included."""
    return float(len(trajectory.actions))


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


def is_left_out(trajectory: Trajectory) -> bool:
    """Whether the code forgets the episode: End was called where there is no path to the point.

    Its success is then None and its metrics are empty. Goals that count by sight always have a success.
    """
    no_path = not np.isfinite(trajectory.distance_to_goal[-1])
    return bool(trajectory.stopped and no_path and not isinstance(trajectory, SeenGoalTrajectory))


def success_robustnav(trajectory: Trajectory) -> float:
    """S; infinite, and so left out of means and counted apart, for an episode that the code forgets."""
    return np.inf if is_left_out(trajectory) else success(trajectory)


def spl_robustnav(trajectory: Trajectory) -> float:
    """S l / max(l, travelled), in [0, 1]; with l = 0 it is 1 for who has not travelled, else 0.

    Infinite as `success_robustnav`; 0 where there was no path from the start and End was never called.
    """
    if is_left_out(trajectory):
        return np.inf
    shortest = trajectory.start_distance
    if not np.isfinite(shortest):
        return 0.0
    return success(trajectory) * path_factor(shortest, travelled(trajectory))
