"""Shortest paths of episodes, by which scores of actions and of time are normalised."""

import itertools

import numpy as np
from jaxtyping import Float

from navarena.simulation.navmesh.navmesh import NavMesh


def chain_paths(navmesh: NavMesh, stations: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "k 3"]:
    """(K, 3) metres: the shortest path through `stations` (N, 3) in order; (0, 3) without one."""
    pieces = [navmesh.shortest_path(a, b) for a, b in itertools.pairwise(stations)]
    if any(not len(piece) for piece in pieces):
        return np.zeros((0, 3))
    return np.concatenate(pieces)
