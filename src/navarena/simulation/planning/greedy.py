"""Greedy following of the geodesic: fast, and right nearly always."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from navarena.simulation.planning.move_outcomes import BodyPoses, MoveSimulator

TURN_COST = 0.0125
"""Worth of one turn, in forward steps (habitat-sim, GreedyGeodesicFollower)."""

COLLISION_COST = 0.25
"""Worth of a collision, in forward steps (habitat-sim, GreedyGeodesicFollower)."""

MIN_GAIN = 0.02
"""Metres that every step must come nearer; less means stuck. It makes going round in circles impossible."""


@dataclass
class Progress:
    """The state of one body's greedy plan.

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
    simulator: MoveSimulator, progresses: Sequence[Progress], stop_distance: float, max_actions: int
) -> None:
    """Move the K bodies of `simulator` toward their goals until they arrive or are stuck.

    Each round all bodies that are still moving make their best combined move. `progresses` (K) are
    extended in place.

    Args:
        simulator: their moves.
        progresses: the start of each body.
        stop_distance: metres, geodesic, below which a body has arrived.
        max_actions: turns and steps after which it gives up.
    """
    moving = [k for k in range(len(progresses)) if np.isfinite(progresses[k].distance)]
    while moving:
        for k in moving:
            progresses[k].arrived = progresses[k].distance < stop_distance
        moving = [k for k in moving if not progresses[k].arrived and progresses[k].action_count < max_actions]
        if moving:
            moving = _advance(simulator, progresses, moving)


def _advance(simulator: MoveSimulator, progresses: Sequence[Progress], moving: list[int]) -> list[int]:
    """One combined move of each body in `moving`; returns those that were not stuck."""
    outcome = simulator.try_all(
        BodyPoses(
            np.array(moving, np.int64),
            np.stack([progresses[k].position for k in moving]),
            np.array([progresses[k].yaw for k in moving]),
            np.array([progresses[k].triangle for k in moving], np.int32),
        )
    )
    left = np.array([progresses[k].distance for k in moving])
    gain = left[:, None] - outcome.distances
    score = gain / simulator.embodiment.forward_step
    score -= TURN_COST * np.abs(simulator.turns) + COLLISION_COST * outcome.collided
    score[~(gain >= MIN_GAIN)] = -np.inf
    best = score.argmax(1)
    going = []
    for i, (k, choice) in enumerate(zip(moving, best)):
        if score[i, choice] > -np.inf:
            progress = progresses[k]
            progress.moves.append(int(simulator.turns[choice]))
            progress.action_count += abs(progress.moves[-1]) + 1
            progress.position, progress.yaw = outcome.positions[i, choice], float(outcome.yaws[i, choice])
            progress.triangle = int(outcome.triangles[i, choice])
            progress.distance = float(outcome.distances[i, choice])
            going.append(k)
    return going
