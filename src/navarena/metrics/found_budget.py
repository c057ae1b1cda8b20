"""Episodes of MultiON as they would have ended with fewer wrong FOUND calls allowed (paper, table 9).

A wrong call changes nothing that an agent perceives until it ends the episode. A run that allows many
therefore holds the runs that allow fewer: each of its episodes, cut off at the first call beyond the budget.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Int

from navarena.core.errors import InputError
from navarena.metrics.multi_goal import MultiGoalTrajectory

BUDGETS = (0, 1, 2, 3, 5, 10, 15, 20, 50)
"""Wrong calls that do not end an episode, as table 9 lists them."""


def wrong_calls(trajectory: MultiGoalTrajectory, found: int) -> Int[np.ndarray, "w"]:
    """(W,) int64, rising: the number of actions taken when each wrong FOUND had been called.

    Args:
        trajectory: of one episode.
        found: index of the action FOUND.
    """
    called = np.flatnonzero(np.asarray(trajectory.actions) == found) + 1
    return np.setdiff1d(called, np.asarray(trajectory.found_after)).astype(np.int64)


def cut_at_budget(trajectory: MultiGoalTrajectory, found: int, budget: int) -> MultiGoalTrajectory:
    """The episode up to the wrong FOUND that a budget of `budget` does not allow; itself when there is none.

    Args:
        trajectory: of an episode that allowed at least as many.
        found: index of the action FOUND.
        budget: wrong calls that do not end the episode, at least 0 (InputError).
    """
    if budget < 0:
        raise InputError(f"expected a budget of at least 0 wrong calls, got {budget}")
    wrong = wrong_calls(trajectory, found)
    if len(wrong) <= budget:
        return trajectory
    end = int(wrong[budget])
    moments = np.asarray(trajectory.found_after)
    return replace(
        trajectory,
        positions=trajectory.positions[: end + 1],
        yaws=trajectory.yaws[: end + 1],
        actions=trajectory.actions[:end],
        collided=trajectory.collided[:end],
        distance_to_goal=trajectory.distance_to_goal[: end + 1],
        found_after=moments[moments <= end],
        stopped=True,
    )
