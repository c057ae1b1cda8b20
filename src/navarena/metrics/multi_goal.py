"""Metrics of episodes with several goals in order (Wani et al. 2020, "MultiON", section 4.2).

Notation, beside that of `navigation`:

    n      number of goals; l how many were found
    d_i    geodesic distance from goal i - 1 to goal i, metres; goal 0 is the start
    d_bar  d_1 + ... + d_l

SUCCESS and SPL are `navigation.success` and `navigation.spl`: S is 1 when l = n, and d_0 there is
d_1 + ... + d_n. PROGRESS is l / n. PPL has two definitions, which agree for one goal:

    paper  PROGRESS d_bar / max(d_bar, p), p the path of the whole episode
    code   the same with p the path up to the last goal that was found (saimwani/multiON, `pspl`)

Edge cases: no goal found gives 0; a found goal that has no length to it (d_bar = 0) counts as in
`navigation`; a leg without a path makes 0. Trajectories of one goal are read as n = 1.

Two analyses of the paper stand here, too. Fewer wrong FOUND calls (table 9): a wrong call changes nothing
that an agent perceives until it ends the episode, so a run that allows many holds the runs that allow fewer:
each episode, cut off at the first call beyond the budget. Backtracking (appendix A.4): which goals of an
episode were seen before they were the current goal.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from navarena.core.elementary import arctan2
from navarena.core.errors import InputError
from navarena.metrics.navigation import path_factor, path_length, spl
from navarena.metrics.trajectory import Trajectory, require_rising, segment_lengths

SUM_TOLERANCE = 1e-6
"""Metres by which the legs may miss the start distance: rounding of sums."""


@dataclass(frozen=True, repr=False)
class MultiGoalTrajectory(Trajectory):
    """The record of an episode with n goals in order, of which l were found.

    The inherited `start_distance` is the sum of the legs; `distance_to_goal` leads to the goal that
    was current after each step; `stopped` says that a declaration ended the episode.

    Attributes:
        legs: (n,) float64 metres, geodesic: start to first goal, first to second, ...; infinite
            where there is no path.
        found_after: (l,) int64, number of actions taken when each goal was found, rising.
    """

    legs: Float[np.ndarray, "n"]
    found_after: Int[np.ndarray, "l"]

    def __post_init__(self) -> None:
        super().__post_init__()
        goals, found, steps = len(self.legs), len(self.found_after), len(self.actions)
        if not goals or found > goals:
            raise InputError(f"expected at least one goal and at most {goals} found, got {found} found")
        require_rising("found_after", self.found_after, steps)
        total = float(np.sum(self.legs))
        if not (np.asarray(self.legs) >= 0).all() or not _is_close(total, self.start_distance):
            raise InputError(
                f"expected legs of at least 0 m that add up to the start distance {self.start_distance}, got "
                f"{np.asarray(self.legs).tolist()}"
            )

    @property
    def succeeded(self) -> bool:
        """Whether every goal was found."""
        return len(self.found_after) == len(self.legs)

    @property
    def goal_count(self) -> int:
        """Number of goals, n."""
        return len(self.legs)

    @property
    def goal_end_steps(self) -> Int[np.ndarray, "_"]:
        """Number of actions taken when each found goal was found."""
        return np.asarray(self.found_after)

    @property
    def distance_left(self) -> float:
        """Metres from the last position along all goals that were not found; to the last one at the end."""
        following = np.asarray(self.legs)[len(self.found_after) + 1 :]
        return float(self.distance_to_goal[-1] + following.sum())


def _is_close(total: float, expected: float) -> bool:
    return total == expected or abs(total - expected) <= SUM_TOLERANCE


def progress(trajectory: Trajectory) -> float:
    """PROGRESS: share of the goals that were found, l / n, in [0, 1]."""
    if not isinstance(trajectory, MultiGoalTrajectory):
        return float(trajectory.succeeded)
    return len(trajectory.found_after) / len(trajectory.legs)


def ppl(trajectory: Trajectory) -> float:
    """PPL as in the paper: PROGRESS d_bar / max(d_bar, p), p of the whole episode, in [0, 1]."""
    return _weighted_progress(trajectory, len(trajectory.actions))


def ppl_code(trajectory: Trajectory) -> float:
    """PPL as in the reference code: p ends with the last goal that was found, in [0, 1]."""
    if not isinstance(trajectory, MultiGoalTrajectory) or not len(trajectory.found_after):
        return ppl(trajectory)
    return _weighted_progress(trajectory, int(trajectory.found_after[-1]))


def distance_left(trajectory: Trajectory) -> float:
    """Geodesic distance at the end along all goals that were not found, metres; infinite without a path."""
    return trajectory.distance_left


def _weighted_progress(trajectory: Trajectory, steps: int) -> float:
    """PROGRESS weighted by the path of the first `steps` steps."""
    if not isinstance(trajectory, MultiGoalTrajectory):
        return spl(trajectory)
    found = len(trajectory.found_after)
    shortest = float(np.sum(trajectory.legs[:found]))
    if not found or not np.isfinite(shortest):
        return 0.0
    return progress(trajectory) * path_factor(shortest, _path_until(trajectory, steps))


def _path_until(trajectory: Trajectory, steps: int) -> float:
    """Metres walked by the first `steps` steps, summed as path_length sums all of them."""
    if steps == len(trajectory.actions):
        return path_length(trajectory)
    return float(segment_lengths(trajectory.positions[: steps + 1]).sum())


def walked_until_found(trajectory: MultiGoalTrajectory) -> list[float]:
    """Metres walked up to each goal that was found, in order."""
    return [_path_until(trajectory, int(steps)) for steps in trajectory.found_after]


def raw_metrics(trajectory: MultiGoalTrajectory) -> dict[str, float | list[float]]:
    """Everything that the `raw_metrics` of the reference code hold, under its names; metres and counts.

    `geodesic_distances` are cumulative along the goals, `agent_distances` the path walked up to each
    found goal. `PSPL` is the code's definition; the misspelt `episode_lenth` is the reference's.
    """
    return {
        "success": float(trajectory.succeeded),
        "percentage_success": progress(trajectory),
        "geodesic_distances": np.cumsum(trajectory.legs).tolist(),
        "agent_path_length": path_length(trajectory),
        "subgoals_found": float(len(trajectory.found_after)),
        "distance_to_curr_subgoal": float(trajectory.distance_to_goal[-1]),
        "agent_distances": walked_until_found(trajectory),
        "distance_to_multi_goal": trajectory.distance_left,
        "MSPL": spl(trajectory),
        "PSPL": ppl_code(trajectory),
        "episode_lenth": float(len(trajectory.actions)),
    }


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
    bearing = np.abs(arctan2(beside, ahead))
    lengths = np.hypot(away[:, 0], away[:, 1])
    return np.asarray((lengths <= distance) & ((bearing <= angle / 2) | (lengths == 0)))


def seen_before_turn(
    trajectory: MultiGoalTrajectory, seen: Bool[np.ndarray, "k1 n"]
) -> Bool[np.ndarray, "m"]:
    """(M,) bool: whether the second, third, ... goal was seen before it became current.

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
