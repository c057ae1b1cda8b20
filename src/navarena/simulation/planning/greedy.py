"""Greedy following of the geodesic: fast, and right nearly always."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from navarena.simulation.planning.move_outcomes import Ground, Places

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
    ground: Ground, courses: Sequence[Course], stop_distance: float, max_actions: int
) -> None:
    """Lead the K bodies of `ground` toward their goals until they arrive or are stuck.

    Each round all bodies that are still under way make their best combined move. `courses` (K) are
    extended in place.

    Args:
        ground: of the bodies.
        courses: where each body starts from.
        stop_distance: metres, geodesic, below which a body has arrived.
        max_actions: turns and steps after which it gives up.
    """
    under_way = [k for k in range(len(courses)) if np.isfinite(courses[k].distance)]
    while under_way:
        for k in under_way:
            courses[k].arrived = courses[k].distance < stop_distance
        under_way = [k for k in under_way if not courses[k].arrived and courses[k].action_count < max_actions]
        if under_way:
            under_way = _advance(ground, courses, under_way)


def _advance(ground: Ground, courses: Sequence[Course], under_way: list[int]) -> list[int]:
    """One combined move of each body in `under_way`; returns those that were not stuck."""
    outcome = ground.try_all(
        Places(
            np.array(under_way, np.int64),
            np.stack([courses[k].position for k in under_way]),
            np.array([courses[k].yaw for k in under_way]),
            np.array([courses[k].triangle for k in under_way], np.int32),
        )
    )
    left = np.array([courses[k].distance for k in under_way])
    gain = left[:, None] - outcome.distances
    score = gain / ground.embodiment.forward_step
    score -= TURN_COST * np.abs(ground.turns) + COLLISION_COST * outcome.collided
    score[~(gain >= LEAST_GAIN)] = -np.inf
    best = score.argmax(1)
    going = []
    for i, (k, choice) in enumerate(zip(under_way, best)):
        if score[i, choice] > -np.inf:
            course = courses[k]
            course.moves.append(int(ground.turns[choice]))
            course.action_count += abs(course.moves[-1]) + 1
            course.position, course.yaw = outcome.positions[i, choice], float(outcome.yaws[i, choice])
            course.triangle = int(outcome.triangles[i, choice])
            course.distance = float(outcome.distances[i, choice])
            going.append(k)
    return going
