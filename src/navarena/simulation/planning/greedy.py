# mypy: disable-error-code="no-untyped-def"
"""Greedy following of the geodesic: fast, and right nearly always."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int32, Int64

from navarena.core.kernels import kernel
from navarena.simulation.body import Embodiment
from navarena.simulation.motion import turned
from navarena.simulation.navmesh.queries.distance_fields import ask_point
from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.navmesh.queries.stepping import SCRATCH, step_body
from navarena.simulation.planning.headings import turns_of

TURN_COST = 0.0125
"""Worth of one turn, in forward steps (habitat-sim, GreedyGeodesicFollower)."""

COLLISION_COST = 0.25
"""Worth of a collision, in forward steps (habitat-sim, GreedyGeodesicFollower)."""

MIN_GAIN = 0.02
"""Metres that every step must come nearer; less means stuck. It makes going round in circles impossible."""

FIRST_MOVES = 64
"""Moves that a walk has room for at first; longer ones double it."""


@dataclass
class GreedyPaths:
    """The greedy walks of K bodies so far.

    Attributes:
        positions: (K, 3) float64 metres, world frame: where each walk has come.
        yaws: (K,) float64 radians.
        triangles: (K,) int32 of the navmesh, under each body; -1 = not known.
        distances: (K,) float64 metres left, geodesic; -1 = not measured yet.
        moves: (K, M) int32, number of turns (to the left) before each forward step.
        move_counts: (K,) int64, moves so far.
        action_counts: (K,) int64, turns and steps so far.
        arrived: (K,) bool, whether the goal is near enough to stop.
    """

    positions: Float[np.ndarray, "k 3"]
    yaws: Float[np.ndarray, "k"]
    triangles: Int32[np.ndarray, "k"]
    distances: Float[np.ndarray, "k"]
    moves: Int32[np.ndarray, "k m"]
    move_counts: Int64[np.ndarray, "k"]
    action_counts: Int64[np.ndarray, "k"]
    arrived: Bool[np.ndarray, "k"]

    @classmethod
    def begin(
        cls,
        positions: Float[np.ndarray, "k 3"],
        yaws: Float[np.ndarray, "k"],
        triangles: Int32[np.ndarray, "k"] | None = None,
        room: int = FIRST_MOVES,
    ) -> "GreedyPaths":
        """Paths that start at poses (copied), with room for `room` moves."""
        count = len(yaws)
        return cls(
            np.array(positions, float),
            np.array(yaws, float),
            np.full(count, -1, np.int32) if triangles is None else triangles.astype(np.int32),
            np.full(count, -1.0),
            np.zeros((count, room), np.int32),
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
            np.zeros(count, bool),
        )


def follow_greedily(
    fields: GoalFields,
    slots: Int64[np.ndarray, "k"],
    walks: GreedyPaths,
    body: Embodiment,
    stop_distance: float,
    max_actions: int,
    max_moves: int | None = None,
) -> None:
    """Extend the paths of K bodies toward their goals until they arrive or are stuck.

    Each takes the best combined move (turns, then a step) again and again. `walks` are extended in place.

    Args:
        fields: navmeshes and goals.
        slots: (K,) rows of `fields`.
        walks: of each body.
        body: what they are; a whole turn must be a multiple of its turn angle.
        stop_distance: metres, geodesic, below which a body has arrived.
        max_actions: turns and steps after which it gives up.
        max_moves: after which it pauses; None for no limit.
    """
    turns, visited = turns_of(body), np.zeros(SCRATCH, np.int32)
    limit = max_actions if max_moves is None else max_moves
    finished = np.zeros(len(slots), bool)

    def advance(meshes: np.ndarray, rows: np.ndarray) -> int:
        while True:
            done = int(
                follow_fields(
                    meshes,
                    rows,
                    slots,
                    walks.positions,
                    walks.yaws,
                    walks.triangles,
                    walks.distances,
                    walks.moves,
                    walks.move_counts,
                    walks.action_counts,
                    walks.arrived,
                    finished,
                    turns,
                    body.turn_angle,
                    body.forward_step,
                    body.slides,
                    stop_distance,
                    max_actions,
                    limit,
                    visited,
                )
            )
            if done == len(slots) or walks.move_counts[done] < walks.moves.shape[1]:
                return done
            walks.moves = np.concatenate([walks.moves, np.zeros_like(walks.moves)], 1)

    fields.run(slots, advance)


@kernel
def choose_move(meshes, fields, slot, triangle, x, y, z, yaw, left, turns, angle, forward, slides, visited):
    """(status ok, turns, triangle, x, y, z, yaw, distance) of the best combined move from a pose.

    The status is False when the field of `slot` is too small. The distance is infinite where no move
    comes MIN_GAIN nearer than `left`.
    """
    best, chosen = -np.inf, np.int64(0)
    found, fx, fy, fz, heading, nearest = np.int64(triangle), x, y, z, yaw, np.inf
    to_left, to_right, lefts, rights = yaw, yaw, 0, 0
    for column in range(turns.shape[0]):
        count = turns[column]
        while lefts < count:
            to_left = turned(to_left, angle)
            lefts += 1
        while rights < -count:
            to_right = turned(to_right, -angle)
            rights += 1
        towards = yaw if count == 0 else (to_left if count > 0 else to_right)
        t, nx, ny, nz, collided = step_body(
            meshes, slot, triangle, x, y, z, towards, forward, slides, visited
        )
        ok, distance, _, _, _ = ask_point(meshes, fields, slot, nx, ny, nz)
        if not ok:
            return False, chosen, found, fx, fy, fz, heading, nearest
        gain = left - distance
        if gain >= MIN_GAIN:
            score = gain / forward - (TURN_COST * abs(count) + COLLISION_COST * collided)
            if score > best:
                best, chosen = score, count
                found, fx, fy, fz, heading, nearest = t, nx, ny, nz, towards, distance
    return True, chosen, found, fx, fy, fz, heading, nearest


@kernel
def follow_fields(
    meshes,
    fields,
    slots,
    positions,
    yaws,
    triangles,
    distances,
    moves,
    move_counts,
    action_counts,
    arrived,
    finished,
    turns,
    angle,
    forward,
    slides,
    stop_distance,
    max_actions,
    max_moves,
    visited,
):
    """Extend each walk (K) that is not `finished`; see Walks and follow_greedily.

    Returns:
        The first row whose field or list of moves is too small, K when all are done.
    """
    for k in range(slots.shape[0]):
        slot = slots[k]
        while not finished[k]:
            if distances[k] < 0.0:
                ok, distance, _, _, _ = ask_point(
                    meshes, fields, slot, positions[k, 0], positions[k, 1], positions[k, 2]
                )
                if not ok:
                    return k
                distances[k] = distance
            arrived[k] = distances[k] < stop_distance
            if (
                arrived[k]
                or not np.isfinite(distances[k])
                or action_counts[k] >= max_actions
                or move_counts[k] >= max_moves
            ):
                finished[k] = True
                break
            if move_counts[k] == moves.shape[1]:
                return k
            ok, count, t, x, y, z, yaw, distance = choose_move(
                meshes,
                fields,
                slot,
                triangles[k],
                positions[k, 0],
                positions[k, 1],
                positions[k, 2],
                yaws[k],
                distances[k],
                turns,
                angle,
                forward,
                slides,
                visited,
            )
            if not ok:
                return k
            if not np.isfinite(distance):
                finished[k] = True
                break
            moves[k, move_counts[k]] = count
            move_counts[k] += 1
            action_counts[k] += abs(count) + 1
            positions[k, 0], positions[k, 1], positions[k, 2] = x, y, z
            yaws[k], triangles[k], distances[k] = yaw, t, distance
    return slots.shape[0]
