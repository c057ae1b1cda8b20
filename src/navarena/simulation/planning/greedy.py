"""Greedy following of the geodesic: fast, and right nearly always."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int64

from navarena.simulation.navmesh.table import NavMeshTable
from navarena.simulation.planning.moves import MoveTable, Places

TURN_COST = 0.0125
"""Worth of one turn, in forward steps (habitat-sim, GreedyGeodesicFollower)."""

COLLISION_COST = 0.25
"""Worth of a collision, in forward steps (habitat-sim, GreedyGeodesicFollower)."""

LEAST_GAIN = 0.02
"""Metres that every step must come nearer; less means stuck. It makes going round in circles impossible."""


@dataclass
class Course:
    """How far one body has come.

    Attributes:
        moves: number of turns (to the left) before each forward step.
        action_count: turns and steps so far.
        position, yaw: the pose reached, metres and radians.
        triangle: of the navmesh, under it; -1 = not known.
        distance: metres left, geodesic.
        arrived: whether the goal is near enough to stop.
    """

    position: Float[np.ndarray, "3"]
    yaw: float
    distance: float
    triangle: int = -1
    arrived: bool = False
    moves: list[int] = field(default_factory=list)
    action_count: int = 0


def follow_greedily(
    moves: MoveTable,
    table: NavMeshTable,
    mesh_index: Int64[np.ndarray, "k"],
    courses: list[Course],
    goals: Float[np.ndarray, "k 3"],
    stop_distance: float,
    max_actions: int,
) -> None:
    """Lead K bodies toward `goals` (K, 3) until they arrive, are stuck, or run out of actions.

    Each round all bodies that are still under way make their best combined move. `courses` are
    extended in place.
    """
    under_way = [k for k in range(len(courses)) if np.isfinite(courses[k].distance)]
    while under_way:
        for k in under_way:
            courses[k].arrived = courses[k].distance < stop_distance
        under_way = [k for k in under_way if not courses[k].arrived and courses[k].action_count < max_actions]
        if under_way:
            under_way = _advance(moves, table, mesh_index, courses, goals, under_way)


def _advance(
    moves: MoveTable,
    table: NavMeshTable,
    mesh_index: Int64[np.ndarray, "k"],
    courses: list[Course],
    goals: Float[np.ndarray, "k 3"],
    under_way: list[int],
) -> list[int]:
    """One combined move of each body in `under_way`; returns those that were not stuck."""
    rows = np.array(under_way)
    places = Places(
        mesh_index[rows],
        np.stack([courses[k].position for k in under_way]),
        np.array([courses[k].yaw for k in under_way]),
        np.array([courses[k].triangle for k in under_way], np.int32),
        goals[rows],
    )
    outcome = moves.try_all(table, places)
    left = np.array([courses[k].distance for k in under_way])
    gain = left[:, None] - outcome.distances
    score = (
        gain / moves.embodiment.forward_step
        - TURN_COST * np.abs(moves.turns)
        - COLLISION_COST * outcome.collided
    )
    score[~(gain >= LEAST_GAIN)] = -np.inf
    best = score.argmax(1)
    going = []
    for i, (k, choice) in enumerate(zip(under_way, best)):
        if score[i, choice] > -np.inf:
            course = courses[k]
            course.moves.append(int(moves.turns[choice]))
            course.action_count += abs(course.moves[-1]) + 1
            course.position, course.yaw = outcome.positions[i, choice], float(outcome.yaws[i, choice])
            course.triangle = int(outcome.triangles[i, choice])
            course.distance = float(outcome.distances[i, choice])
            going.append(k)
    return going
