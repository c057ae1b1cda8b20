"""Shortest paths of episodes, by which scores of actions and of time are normalised."""

import itertools

import numpy as np
from jaxtyping import Float

from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.queries.goal_fields import GoalFields


def follow_field(fields: GoalFields, slot: int, start: Float[np.ndarray, "3"]) -> Float[np.ndarray, "k 3"]:
    """(K, 3) metres: start, turning points and end of the shortest path to the nearest goal of `slot`.

    (0, 3) without a path.
    """
    points = [np.array(start, np.float64)]
    left = np.inf
    while True:
        lengths, ahead = fields.ask([slot], points[-1][None])
        if not np.isfinite(lengths[0]):
            return np.zeros((0, 3))
        if not lengths[0] < left or lengths[0] == 0.0:  # no nearer than before: it has arrived
            return np.array(points)
        left = float(lengths[0])
        points.append(ahead[0].copy())


def chain_paths(navmesh: NavMesh, stations: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "k 3"]:
    """(K, 3) metres: the shortest path through `stations` (N, 3) in order; (0, 3) without one."""
    pieces = [navmesh.shortest_path(a, b) for a, b in itertools.pairwise(stations)]
    if any(not len(piece) for piece in pieces):
        return np.zeros((0, 3))
    return np.concatenate(pieces)
