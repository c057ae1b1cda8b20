"""Metrics of stopping near the goal, and one failure class for each failed episode.

A pose is near the goal when STOP would succeed there; with several goals, near means near the current one.
Without a path to the goal no pose is near, and the least distance is infinite. The metrics of stopping follow
the analysis of RobustNav (Chattopadhyay et al. 2021).

The failure class is chosen by what the body did and what it could have seen.

Notation: the current goal is the first that was not found, and it is current since the one before was
found. The rules are tried in this order; the first that holds names the class:

    agent_broke      the agent crashed, took too long, or acted illegally
    stopped_early    called STOP too far away, with the goal in view or less than EARLY_DISTANCE too far
    false_stop       called STOP elsewhere
    not_stopped      ran out of steps; was near the goal at some pose
    stuck            ran out of steps; over the last STUCK_STEPS never left a square of STUCK_SIZE, or hit
                     something in half of them
    out_of_steps     ran out of steps while approaching: nearer than ever, by APPROACH in the last STUCK_STEPS
    forgot           saw the goal before it was current, and not since
    saw_not_reached  saw the goal since it was current
    never_saw        saw it at no pose
    not_reached      for goals that no image shows (points): none of the above
"""

from enum import StrEnum

import numpy as np
from jaxtyping import Bool

from navarena.core.errors import InputError
from navarena.metrics.subtasks import LifelongTrajectory
from navarena.metrics.trajectory import Trajectory


def stopped(trajectory: Trajectory) -> float:
    """1.0 if STOP ended the episode, else 0.0."""
    return float(trajectory.stopped)


def min_distance(trajectory: Trajectory) -> float:
    """Least geodesic distance to the (current) goal at any pose, metres."""
    return float(np.min(trajectory.distance_to_goal))


def near_steps(trajectory: Trajectory) -> float:
    """Number of actions that the agent chose near the goal; all but a final STOP were missed chances."""
    return float(np.count_nonzero(_near(trajectory)[:-1]))


def oracle_success(trajectory: Trajectory) -> float:
    """1.0 if the episode succeeded, or would have with STOP at the best pose, else 0.0.

    With several goals only the last STOP is given away: all others must have been found.
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


EARLY_DISTANCE = 1.0
"""Metres beyond the success distance."""

STUCK_STEPS = 50
STUCK_SIZE = 1.0
"""Metres, side of the square: four steps of 0.25 m."""

APPROACH = 1.0
"""Metres of geodesic distance."""


class FailureClass(StrEnum):
    """Failure classes; see the module's docstring for their meaning."""

    AGENT_BROKE = "agent_broke"
    STOPPED_EARLY = "stopped_early"
    FALSE_STOP = "false_stop"
    NOT_STOPPED = "not_stopped"
    STUCK = "stuck"
    OUT_OF_STEPS = "out_of_steps"
    FORGOT = "forgot"
    SAW_NOT_REACHED = "saw_not_reached"
    NEVER_SAW = "never_saw"
    NOT_REACHED = "not_reached"


MEANINGS = {
    FailureClass.AGENT_BROKE: "the agent crashed, took too long or acted illegally",
    FailureClass.STOPPED_EARLY: "called STOP too early, the goal in view or almost reached",
    FailureClass.FALSE_STOP: "called STOP where the goal was not",
    FailureClass.NOT_STOPPED: "reached the goal, did not call STOP",
    FailureClass.STUCK: "went to and fro, or against obstacles",
    FailureClass.OUT_OF_STEPS: "was approaching when the steps ran out",
    FailureClass.FORGOT: "saw the goal while another was current, did not come back",
    FailureClass.SAW_NOT_REACHED: "saw the goal, did not reach it",
    FailureClass.NEVER_SAW: "never saw the goal",
    FailureClass.NOT_REACHED: "did not reach the point",
}
"""Class -> words for people."""


def classify_failure(
    trajectory: Trajectory, seen: Bool[np.ndarray, "k1 g"], broke: bool
) -> FailureClass | None:
    """The class of an episode; None when it succeeded.

    Args:
        trajectory: of K steps.
        seen: (K + 1, G) bool: whether the image at each pose shows each goal, in order; G = 0 when
            goals cannot be seen.
        broke: whether the agent broke the episode.

    Raises InputError for `seen` of another shape.
    """
    steps = len(trajectory.actions)
    goals = trajectory.goal_count
    if seen.shape not in ((steps + 1, goals), (steps + 1, 0)):
        raise InputError(f"expected sightings of shape {(steps + 1, goals)}, got {seen.shape}")
    if broke:
        return FailureClass.AGENT_BROKE
    if trajectory.succeeded:
        return None
    current, since, until, is_stopped = _find_failed(trajectory)
    can_see = seen.shape[1] > 0
    views = (seen[:, current] if can_see else np.zeros(steps + 1, bool))[: until + 1]
    distances = np.asarray(trajectory.distance_to_goal)[since : until + 1]
    if is_stopped:
        almost = distances[-1] < trajectory.success_distance + EARLY_DISTANCE
        return FailureClass.STOPPED_EARLY if almost or views[-1] else FailureClass.FALSE_STOP
    if (distances < trajectory.success_distance).any():
        return FailureClass.NOT_STOPPED
    if until >= steps - 1 and _is_stuck(trajectory):
        return FailureClass.STUCK
    if _approaches(distances):
        return FailureClass.OUT_OF_STEPS
    if not can_see:
        return FailureClass.NOT_REACHED
    if views[since:].any():
        return FailureClass.SAW_NOT_REACHED
    return FailureClass.FORGOT if views[:since].any() else FailureClass.NEVER_SAW


def _find_failed(trajectory: Trajectory) -> tuple[int, int, int, bool]:
    """The goal that was not reached, its first and last pose, and whether STOP ended the search.

    Of several that may fail one after another it is the first that did.
    """
    passed, steps = trajectory.goal_end_steps.tolist(), len(trajectory.actions)
    if isinstance(trajectory, LifelongTrajectory):
        missed = np.flatnonzero(~np.asarray(trajectory.reached))
        if len(missed):
            first = int(missed[0])
            until = int(trajectory.ended_after[first]) - 1  # afterwards distances lead to the next goal
            return first, ([0, *passed][first]), until, bool(trajectory.declared[first])
    current = min(len(passed), trajectory.goal_count - 1)
    return current, (passed[-1] if passed else 0), steps, trajectory.stopped


def _is_stuck(trajectory: Trajectory) -> bool:
    """Whether the last STUCK_STEPS went nowhere; shorter episodes are never stuck."""
    if len(trajectory.actions) < STUCK_STEPS:
        return False
    plan = np.asarray(trajectory.positions)[-STUCK_STEPS - 1 :, ::2]
    hits = int(np.count_nonzero(np.asarray(trajectory.collided)[-STUCK_STEPS:]))
    return bool((np.ptp(plan, axis=0) <= STUCK_SIZE).all()) or 2 * hits >= STUCK_STEPS


def _approaches(distances: np.ndarray) -> bool:
    """Whether the body ended nearer than ever, and came APPROACH metres nearer at the end."""
    before = distances[max(0, len(distances) - 1 - STUCK_STEPS)]
    end = distances[-1]
    return bool(np.isfinite(before) and end <= distances.min() and before - end >= APPROACH)
