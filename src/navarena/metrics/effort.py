"""Effort of an episode beside metres: turning, actions, seconds.

SPL counts metres alone, so that an agent may look around for nothing (Batra et al. 2020, "ObjectNav
Revisited", section 2.1.1, "no penalty for turning"). The scores here have SPL's form, S b / max(b, a),
with other currencies:

    actions  a: all that were taken;  b = d_0 / step + theta / turn + n
    seconds  a = p / v + rotation / w;  b = d_0 / v + theta / w

Notation as in `navigation`, and: theta the rotation of the shortest path, n the STOP (FOUND) actions that the
task asks for, v and w the speeds of the body. Both b are what a body would need that follows the
shortest path exactly, so that most agents score less than with SPL.

Edge cases: an unreachable goal scores 0; b = 0 (born on the goal, by time) scores 1 for a body that
never moved, else 0. Time is that of the executed movement: a step that changes no pose costs an action,
but no second. InputError is raised for records without rates, and for successes without shortest path.
"""

import numpy as np
from jaxtyping import Float

from navarena.core.elementary import arctan2
from navarena.core.errors import InputError
from navarena.core.geometry import wrap_angle
from navarena.metrics.navigation import path_factor, path_length
from navarena.metrics.trajectory import BodyRates, ShortestPath, Trajectory, segment_lengths

SHORTEST_SEGMENT = 1e-3
"""Metres in the plan; shorter pieces of a path have no direction worth turning to."""


def rotation(trajectory: Trajectory) -> float:
    """Sum of the turns of all steps, radians, left or right; a step turns by at most pi."""
    return float(np.abs(wrap_angle(np.diff(np.asarray(trajectory.yaws, np.float64)))).sum())


def seconds(trajectory: Trajectory) -> float:
    """Seconds that the executed movement takes at the body's speeds: p / v + rotation / w."""
    return _time(_require_rates(trajectory), path_length(trajectory), rotation(trajectory))


def action_spl(trajectory: Trajectory) -> float:
    """Success weighted by the number of actions, in [0, 1]; the module's docstring has the formula."""
    rates = _require_rates(trajectory)
    if not (trajectory.succeeded and np.isfinite(trajectory.start_distance)):
        return 0.0
    turns = _require_shortest_path(trajectory).rotation / rates.turn
    best = trajectory.start_distance / rates.step + turns + trajectory.goal_count
    return path_factor(best, float(len(trajectory.actions)))


def time_spl(trajectory: Trajectory) -> float:
    """Success weighted by time at the body's speeds, in [0, 1]; the module's docstring has the formula."""
    rates = _require_rates(trajectory)
    if not (trajectory.succeeded and np.isfinite(trajectory.start_distance)):
        return 0.0
    best = _time(rates, trajectory.start_distance, _require_shortest_path(trajectory).rotation)
    return path_factor(best, seconds(trajectory))


def measure_path(points: Float[np.ndarray, "k 3"], yaw: float) -> ShortestPath:
    """Length, rotation and climb of a path that begins looking along `yaw`.

    Args:
        points: (K, 3) float64 metres, world frame: start, turning points, end. K >= 1.
        yaw: radians.

    Raises InputError for no points.
    """
    points = np.asarray(points, np.float64)
    if not len(points):
        raise InputError("expected at least one point of a path, got none")
    moves = np.diff(points, axis=0)
    there = moves[np.hypot(moves[:, 0], moves[:, 2]) >= SHORTEST_SEGMENT]
    headings = np.concatenate([[yaw], arctan2(-there[:, 0], -there[:, 2])])
    turned = float(np.abs(wrap_angle(np.diff(headings))).sum())
    return ShortestPath(float(segment_lengths(points).sum()), turned, float(np.ptp(points[:, 1])))


def _time(rates: BodyRates, metres: float, radians: float) -> float:
    return metres / rates.walk_speed + radians / rates.turn_speed


def _require_rates(trajectory: Trajectory) -> BodyRates:
    if trajectory.rates is None:
        raise InputError("expected a record with the rates of its body, got none; fill Trajectory.rates")
    return trajectory.rates


def _require_shortest_path(trajectory: Trajectory) -> ShortestPath:
    if trajectory.shortest is None:
        raise InputError("expected a record with its shortest path, got none; fill Trajectory.shortest")
    return trajectory.shortest
