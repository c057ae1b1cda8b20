"""Why an episode failed: one class for each, by what the body did and what it could have seen.

Notation: the current goal is the first that was not found, and it is current since the one before was
found. A pose is near when a declaration there would succeed. The rules are tried in this order; the first
that holds names the class:

    agent_broke      the agent crashed, took too long, or acted illegally
    stopped_early    declared too far away, with the goal in view or less than EARLY_DISTANCE too far
    false_stop       declared elsewhere
    not_stopped      ran out of steps; was near the goal at some pose
    stuck            ran out of steps; over the last STUCK_STEPS never left a square of STUCK_SIZE, or hit
                     something in half of them
    out_of_steps     ran out of steps on its way: nearer than ever, by APPROACH in the last STUCK_STEPS
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

EARLY_DISTANCE = 1.0
"""Metres beyond the success distance."""

STUCK_STEPS = 50
STUCK_SIZE = 1.0
"""Metres, side of the square: four steps of 0.25 m."""

APPROACH = 1.0
"""Metres of geodesic distance."""


class FailureClass(StrEnum):
    """The classes; the module's head says what they mean."""

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
    FailureClass.STOPPED_EARLY: "declared too early, the goal in view or almost reached",
    FailureClass.FALSE_STOP: "declared where the goal was not",
    FailureClass.NOT_STOPPED: "reached the goal, did not declare",
    FailureClass.STUCK: "went to and fro, or against obstacles",
    FailureClass.OUT_OF_STEPS: "was on its way when the steps ran out",
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
    """The goal that was not reached, its first and last pose, and whether a declaration ended the search.

    Of several that may fail one after another it is the first that did.
    """
    passed, steps = trajectory.passed_after.tolist(), len(trajectory.actions)
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
