"""Numbers of episodes with several goals in order (Wani et al. 2020, "MultiON", section 4.2).

Notation, beside that of `navigation`:

    n      number of goals; l how many were found
    d_i    geodesic distance from goal i - 1 to goal i, metres; goal 0 is the start
    d_bar  d_1 + ... + d_l

SUCCESS and SPL are `navigation.success` and `navigation.spl`: S is 1 when l = n, and d_0 there is
d_1 + ... + d_n. PROGRESS is l / n. PPL has two readings, which agree for one goal:

    paper  PROGRESS d_bar / max(d_bar, p), p the path of the whole episode
    code   the same with p the path up to the last goal that was found (saimwani/multiON, `pspl`)

Edge cases: no goal found gives 0; a found goal that has no length to it (d_bar = 0) counts as in
`navigation`; a leg without a way makes 0. Trajectories of one goal are read as n = 1.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError
from navarena.metrics.navigation import path_factor, path_length, spl
from navarena.metrics.trajectory import Trajectory

SUM_TOLERANCE = 1e-6
"""Metres by which the legs may miss the start distance: rounding of sums."""


@dataclass(frozen=True)
class MultiGoalTrajectory(Trajectory):
    """The record of an episode with n goals in order, of which l were found.

    The inherited `start_distance` is the sum of the legs; `distance_to_goal` leads to the goal that
    was current after each step; `stopped` says that a declaration ended the episode.

    Attributes:
        legs: (n,) float64 metres, geodesic: start to first goal, first to second, ...; infinite
            where there is no way.
        found_after: (l,) int64, number of actions taken when each goal was found, rising.
    """

    legs: Float[np.ndarray, "n"]
    found_after: Int[np.ndarray, "l"]

    def __post_init__(self) -> None:
        super().__post_init__()
        goals, found, steps = len(self.legs), len(self.found_after), len(self.actions)
        if not goals or found > goals:
            raise InputError(f"expected at least one goal and at most {goals} found, got {found} found")
        moments = np.asarray(self.found_after)
        if found and not (moments[0] >= 1 and moments[-1] <= steps and (np.diff(moments) > 0).all()):
            raise InputError(f"expected found_after rising within 1..{steps}, got {moments.tolist()}")
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
        """N."""
        return len(self.legs)

    @property
    def goal_end_steps(self) -> Int[np.ndarray, "_"]:
        """As `found_after`."""
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
    """Geodesic distance at the end along all goals that were not found, metres; infinite without a way."""
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
    moves = np.diff(np.asarray(trajectory.positions, np.float64)[: steps + 1], axis=0)
    return float(np.sqrt((moves * moves).sum(1)).sum())


def walked_until_found(trajectory: MultiGoalTrajectory) -> list[float]:
    """Metres walked up to each goal that was found, in order."""
    return [_path_until(trajectory, int(steps)) for steps in trajectory.found_after]


def raw_metrics(trajectory: MultiGoalTrajectory) -> dict[str, float | list[float]]:
    """Everything that the `raw_metrics` of the reference code hold, under its names; metres and counts.

    `geodesic_distances` are cumulative along the goals, `agent_distances` the path walked up to each
    found goal. `PSPL` is the code's reading; the misspelt `episode_lenth` is the reference's.
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
