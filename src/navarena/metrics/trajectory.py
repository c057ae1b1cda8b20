"""The trajectory of a finished episode: the only input of every metric."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int

from navarena.core.display import NotebookDisplay, describe_fields
from navarena.core.errors import InputError


def is_within(distance: float, success_distance: float) -> bool:
    """Whether a STOP at `distance` metres from the goal counts.

    Strictly nearer than `success_distance`, as in the Success measure of habitat-lab
    (`distance_to_target < success_distance`), by which published numbers were computed.
    """
    return bool(distance < success_distance)


LOST = 1e-150
"""Metres; squares of shorter lengths leave the range of float64, or lose digits at its end."""


def segment_lengths(points: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "_"]:
    """(K - 1,) float64 metres between neighbours of `points` (K, 3), metres."""
    moves = np.diff(np.asarray(points, np.float64), axis=0)
    lengths = np.sqrt((moves * moves).sum(1))
    short = lengths < LOST
    if short.any():
        lengths[short] = np.hypot(np.hypot(*moves[short, :2].T), moves[short, 2])
    return lengths


@dataclass(frozen=True)
class BodyRates:
    """Step sizes and speeds of a body, for costs of turning relative to walking.

    Attributes:
        step: metres of one forward action.
        turn: radians of one turn.
        walk_speed: metres per second.
        turn_speed: radians per second.

    Raises InputError unless all are positive.
    """

    step: float
    turn: float
    walk_speed: float
    turn_speed: float

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise InputError(f"expected a positive {name} of a body, got {value}")


@dataclass(frozen=True)
class ShortestPath:
    """The shortest path from the start to the goal (along all goals, in order).

    Attributes:
        length: metres.
        rotation: radians, the sum of all turns in the plan, the first one away from the start's yaw
            included.
        climb: metres between its lowest and its highest point.
    """

    length: float
    rotation: float
    climb: float


@dataclass(frozen=True)
class Trajectory(NotebookDisplay):
    """The record of one episode with K steps, filled by the task.

    Broken records never reach a metric: InputError is raised for arrays of different lengths,
    for NaN anywhere, for infinite poses and for negative distances.

    Attributes:
        positions: (K + 1, 3) float64, metres, world frame; row 0 is the start.
        yaws: (K + 1,) float64, radians.
        actions: (K,) int64, index into the protocol's action list; (K, A) float64 of continuous ones.
        collided: (K,) bool, whether the step was cut short.
        distance_to_goal: (K + 1,) float64, metres, geodesic to the (current) goal after each
            step; infinite where it cannot be reached.
        start_distance: metres, geodesic from the start to the goal; infinite when unreachable.
        stopped: whether the agent ended the episode itself by STOP.
        success_distance: metres within which STOP counts, of the protocol.
        rates: of the body; None if unknown.
        shortest: the path that the scores by actions and by time compare with; None if there is none, or if
            it is unknown.
    """

    positions: Float[np.ndarray, "k1 3"]
    yaws: Float[np.ndarray, "k1"]
    actions: Int[np.ndarray, "k"] | Float[np.ndarray, "k a"]
    collided: Bool[np.ndarray, "k"]
    distance_to_goal: Float[np.ndarray, "k1"]
    start_distance: float
    stopped: bool
    success_distance: float
    rates: BodyRates | None = field(default=None, kw_only=True)
    shortest: ShortestPath | None = field(default=None, kw_only=True)

    display_kind = "trajectory"

    def __repr__(self) -> str:
        return describe_fields(
            type(self).__name__,
            steps=len(self.actions),
            distance_to_goal=round(float(self.distance_to_goal[-1]), 2),
            succeeded=self.succeeded,
        )

    @property
    def succeeded(self) -> bool:
        """Whether the agent called STOP near enough to the goal.

        Running out of steps at the goal is a failure, and so is STOP where the goal cannot be reached.
        """
        return self.stopped and is_within(float(self.distance_to_goal[-1]), self.success_distance)

    @property
    def own_metrics(self) -> Mapping[str, float]:
        """Name -> value of metrics that this kind of record defines itself."""
        return {}

    @property
    def goal_count(self) -> int:
        """Number of goals, one after the other."""
        return 1

    @property
    def goal_end_steps(self) -> Int[np.ndarray, "_"]:
        """Number of actions taken when each goal that is no longer current ended, rising."""
        return np.zeros(0, np.int64)

    @property
    def distance_left(self) -> float:
        """Metres, geodesic, from the last position to the end of the task; infinite without a path."""
        return float(self.distance_to_goal[-1])

    def __post_init__(self) -> None:
        steps = len(self.actions)
        expected = {
            "positions": (steps + 1, 3),
            "yaws": (steps + 1,),
            "collided": (steps,),
            "distance_to_goal": (steps + 1,),
        }
        for name, shape in expected.items():
            got = np.shape(getattr(self, name))
            if got != shape:
                raise InputError(f"expected {name} of shape {shape} for {steps} actions, got {got}")
        _require_finite("positions", self.positions)
        _require_finite("yaws", self.yaws)
        _require_distance("distance_to_goal", self.distance_to_goal)
        _require_distance("start_distance", np.asarray(self.start_distance))
        _require_distance("success_distance", np.asarray(self.success_distance))


def require_rising(name: str, moments: Int[np.ndarray, "_"], steps: int) -> None:
    """Raise InputError unless `moments` (N,), numbers of actions, rise strictly within 1 to `steps`."""
    bounded = np.concatenate([[0], moments, [steps + 1]])
    if not (np.diff(bounded) > 0).all():
        raise InputError(f"expected {name} rising within 1..{steps}, got {np.asarray(moments).tolist()}")


def _require_finite(name: str, values: Float[np.ndarray, "..."]) -> None:
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0, 0])
        raise InputError(f"expected finite {name} in a trajectory, got {values[row]} after step {row}")


def _require_distance(name: str, values: Float[np.ndarray, "..."]) -> None:
    """Distances are zero or more; infinity means that there is no path, NaN means a mistake."""
    wrong = np.flatnonzero(~(np.atleast_1d(values) >= 0))
    if wrong.size:
        where = f" after step {wrong[0]}" if np.ndim(values) else ""
        raise InputError(
            f"expected {name} of at least 0 m (infinite where there is no path), "
            f"got {float(np.atleast_1d(values)[wrong[0]])}{where}"
        )
