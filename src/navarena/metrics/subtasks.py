"""Metrics of episodes whose goals follow one another whether they are reached or not (GOAT-Bench).

Notation, for sub-task k of n (spec ivln_goat 4.3):

    S_k  1 if it was ended by a declaration that its rule of success accepts, else 0
    l_k  geodesic distance from where it began (where the one before ended) to its nearest view point, metres
    d_k  the same from where it ended, metres
    p_k  length of the path in between, metres

    SPL_k      S_k l_k / max(l_k, p_k)
    SoftSPL_k  max(0, 1 - d_k / l_k) l_k / max(l_k, p_k)

An episode's number is the mean over its n sub-tasks, so that means over episodes are the macro averages that
the reference code prints; `pool_subtasks` weights every sub-task equally instead.

Edge cases: sub-tasks that never ended score 0 in everything. l_k = 0 (begun at the goal) makes the path
factor 1 for a body that did not move and 0 for one that did, as in `navigation`, and SoftSPL_k takes
1 - d_k / l_k as 1 (the reference divides by zero). A goal without a path (l_k or d_k infinite) scores 0 in
SPL and SoftSPL.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from navarena.core.errors import InputError
from navarena.metrics.navigation import path_factor, soft_spl, spl, success
from navarena.metrics.trajectory import Trajectory, require_rising, segment_lengths

MODALITIES = ("object", "description", "image")
"""Modalities of goals."""

LAST_PLACE = 5
"""Sub-tasks from the fifth on are taken together (paper, figure 6; spec 4.3)."""


WHOLE = ("subtask_success", "subtask_spl", "subtask_soft_spl", "view_point_success", "near_object_success")
"""Scores over all sub-tasks of an episode."""

SCORES = ("success", "spl")
"""Scores that are reported by modality and by place."""

PARTIAL = tuple(
    f"{part}_{score}"
    for part in (*MODALITIES, *(f"subtask_{place}" for place in range(1, LAST_PLACE + 1)))
    for score in SCORES
)
"""Scores over some of the sub-tasks of an episode, of which another episode may have none."""


@dataclass(frozen=True, repr=False)
class LifelongTrajectory(Trajectory):
    """The record of an episode with n sub-tasks, of which m ended.

    The inherited `distance_to_goal` leads to the goal that was current after each step; `start_distance`
    is the path along all goals, in order, each at its nearest view point.

    Attributes:
        modalities: (n), each of MODALITIES.
        ended_after: (m,) int64, number of actions taken when each sub-task ended, rising.
        begun_at: (m,) float64 metres, l_k.
        ended_at: (m,) float64 metres, d_k.
        declared: (m,) bool, ended by a declaration, right or wrong, not by a budget.
        near_view_point: (m,) bool, ended by a declaration near a view point (the code's rule).
        near_object: (m,) bool, ended by a declaration near the object (the paper's rule).
        reached: (m,) bool, the one of the two by which the protocol counts.
    """

    modalities: tuple[str, ...]
    ended_after: Int[np.ndarray, "m"]
    begun_at: Float[np.ndarray, "_"]
    ended_at: Float[np.ndarray, "_"]
    declared: Bool[np.ndarray, "_"]
    near_view_point: Bool[np.ndarray, "_"]
    near_object: Bool[np.ndarray, "_"]
    reached: Bool[np.ndarray, "_"]

    def __post_init__(self) -> None:
        super().__post_init__()
        goals, ended, steps = len(self.modalities), len(self.ended_after), len(self.actions)
        if not goals or ended > goals:
            raise InputError(f"expected at least one sub-task and at most {goals} ended, got {ended} ended")
        for name in ("begun_at", "ended_at", "declared", "near_view_point", "near_object", "reached"):
            if len(getattr(self, name)) != ended:
                raise InputError(f"expected {ended} values of {name}, got {len(getattr(self, name))}")
        require_rising("ended_after", self.ended_after, steps)
        if not ((np.asarray(self.begun_at) >= 0).all() and (np.asarray(self.ended_at) >= 0).all()):
            raise InputError("expected distances of sub-tasks of at least 0 m, got a smaller one or NaN")
        if unknown := set(self.modalities).difference(MODALITIES):
            raise InputError(f"expected modalities among {', '.join(MODALITIES)}, got {sorted(unknown)}")

    @property
    def succeeded(self) -> bool:
        """Whether every sub-task succeeded (the code's `composite_success`)."""
        return len(self.reached) == len(self.modalities) and bool(np.all(self.reached))

    @property
    def goal_count(self) -> int:
        """Number of sub-tasks, n."""
        return len(self.modalities)

    @property
    def goal_end_steps(self) -> Int[np.ndarray, "_"]:
        """Number of actions after which each goal but the last made way for the next."""
        return np.asarray(self.ended_after)[: len(self.modalities) - 1]


@dataclass(frozen=True)
class SubtaskScores:
    """S_k, SPL_k and SoftSPL_k of the n sub-tasks of an episode, each (n,) float64 within [0, 1]."""

    success: Float[np.ndarray, "n"]
    spl: Float[np.ndarray, "n"]
    soft_spl: Float[np.ndarray, "n"]


def score_subtasks(trajectory: LifelongTrajectory) -> SubtaskScores:
    """The scores of every sub-task of one episode, in order."""
    count = len(trajectory.modalities)
    scores = SubtaskScores(np.zeros(count), np.zeros(count), np.zeros(count))
    for k, walked in enumerate(walked_in_subtasks(trajectory)):
        begun, ended = float(trajectory.begun_at[k]), float(trajectory.ended_at[k])
        scores.success[k] = float(trajectory.reached[k])
        if not np.isfinite(begun):
            continue
        factor = path_factor(begun, walked)
        scores.spl[k] = scores.success[k] * factor
        if np.isfinite(ended):
            scores.soft_spl[k] = factor * (max(0.0, 1.0 - ended / begun) if begun > 0.0 else 1.0)
    return scores


def walked_in_subtasks(trajectory: LifelongTrajectory) -> Float[np.ndarray, "m"]:
    """(M,) metres walked in each sub-task that ended."""
    lengths = segment_lengths(trajectory.positions)
    bounds = [0, *np.asarray(trajectory.ended_after).tolist()]
    return np.array([lengths[first:last].sum() for first, last in itertools.pairwise(bounds)], np.float64)


def subtasks(trajectory: Trajectory) -> float:
    """n, the number of sub-tasks; 1 of an episode with one goal."""
    return float(len(_modalities(trajectory)))


def subtask_success(trajectory: Trajectory) -> float:
    """Share of the sub-tasks that succeeded (the code's `partial_success`)."""
    return float(_scores(trajectory).success.mean())


def subtask_spl(trajectory: Trajectory) -> float:
    """Mean SPL of the sub-tasks (the code's `composite_spl`)."""
    return float(_scores(trajectory).spl.mean())


def subtask_soft_spl(trajectory: Trajectory) -> float:
    """Mean SoftSPL of the sub-tasks (the code's `composite_softspl`)."""
    return float(_scores(trajectory).soft_spl.mean())


def view_point_success(trajectory: Trajectory) -> float:
    """Share of the sub-tasks that succeeded by the code's rule, whichever the protocol counts by."""
    return _share(trajectory, "near_view_point")


def near_object_success(trajectory: Trajectory) -> float:
    """Share of the sub-tasks that succeeded by the paper's rule, whichever the protocol counts by."""
    return _share(trajectory, "near_object")


def count_modality(modality: str) -> Callable[[Trajectory], float]:
    """A metric: the number of sub-tasks given by `modality`."""

    def compute(trajectory: Trajectory) -> float:
        return float(_modalities(trajectory).count(modality))

    compute.__doc__ = f"Number of sub-tasks given by {modality}."
    return compute


def mean_of_modality(score: str, modality: str) -> Callable[[Trajectory], float]:
    """A metric: mean of "success", "spl" or "soft_spl" of the sub-tasks given by `modality`; 0 without any.

    So the code has it; `pool_subtasks` gives episodes without any no weight.
    """

    def compute(trajectory: Trajectory) -> float:
        chosen = np.array([one == modality for one in _modalities(trajectory)])
        values = getattr(_scores(trajectory), score)
        return float(values[chosen].mean()) if chosen.any() else 0.0

    compute.__doc__ = f"Mean {_called(score)} of the sub-tasks given by {modality}; 0 without any."
    return compute


def mean_of_place(score: str, place: int) -> Callable[[Trajectory], float]:
    """A metric: a score of sub-task `place`, counted from 1; LAST_PLACE is the mean from there on.

    0 in episodes that have no such sub-task.
    """
    chosen = slice(place - 1, None if place == LAST_PLACE else place)

    def compute(trajectory: Trajectory) -> float:
        values = getattr(_scores(trajectory), score)[chosen]
        return float(values.mean()) if len(values) else 0.0

    which = f"sub-task {place}" + (" and all later ones" if place == LAST_PLACE else "")
    compute.__doc__ = f"The {_called(score)} of {which}; 0 without it."
    return compute


def pool_subtasks(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means over sub-tasks instead of episodes, of the metrics of several episodes.

    Args:
        rows: name -> value of the metrics of one episode each, as in a journal: every score of
            sub-tasks is weighted by how many of them it speaks for. Numbers of whole episodes, such as
            "success", are left out.

    A modality that occurs in no episode is left out. Raises InputError for rows without "subtasks".
    """
    if any("subtasks" not in row for row in rows):
        raise InputError("expected the metrics of episodes with sub-tasks, got none called 'subtasks'")
    pooled: dict[str, float] = {}
    for name in rows[0] if rows else ():
        weights = np.array([count_parts(name, row.__getitem__) for row in rows])
        if weights.sum() > 0:
            values = np.array([row[name] for row in rows])
            pooled[name] = float((weights * values).sum() / weights.sum())
    return pooled


def _called(score: str) -> str:
    """The name of a score for people."""
    return {"success": "success", "spl": "SPL", "soft_spl": "SoftSPL"}[score]


def count_parts(name: str, value: Callable[[str], float]) -> float:
    """Number of sub-tasks over which the score `name` of an episode is a mean; 0 for other numbers.

    Args:
        name: of a metric, such as "object_success" or "subtask_5_spl".
        value: gives the metrics of the episode by name, "subtasks" among them.
    """
    count = value("subtasks")
    if name in WHOLE:
        return count
    first, _, rest = name.partition("_")
    if first in MODALITIES and rest in SCORES:
        return value(f"{first}_subtasks")
    place, _, score = rest.partition("_")
    if first == "subtask" and place.isdigit() and score in SCORES:
        left = max(0.0, count - int(place) + 1)
        return left if int(place) == LAST_PLACE else min(1.0, left)
    return 0.0


def _modalities(trajectory: Trajectory) -> tuple[str, ...]:
    return trajectory.modalities if isinstance(trajectory, LifelongTrajectory) else MODALITIES[:1]


def _scores(trajectory: Trajectory) -> SubtaskScores:
    """Scores of the sub-tasks; an episode with one goal is one sub-task given by category."""
    if isinstance(trajectory, LifelongTrajectory):
        return score_subtasks(trajectory)
    return SubtaskScores(*(np.array([score(trajectory)]) for score in (success, spl, soft_spl)))


def _share(trajectory: Trajectory, rule: str) -> float:
    if not isinstance(trajectory, LifelongTrajectory):
        return success(trajectory)
    return float(np.count_nonzero(getattr(trajectory, rule)) / len(trajectory.modalities))
