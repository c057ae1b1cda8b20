"""Distances along the floor from each of some points to each of others."""

import numpy as np
from jaxtyping import Float

from navarena.simulation.navmesh.goal_fields import GoalFields
from navarena.simulation.navmesh.navmesh import NavMesh


def geodesic_table(
    navmesh: NavMesh, points: Float[np.ndarray, "n 3"], goals: Float[np.ndarray, "m 3"]
) -> Float[np.ndarray, "n m"]:
    """(N, M) metres along the floor from `points` (N, 3) to `goals` (M, 3); infinite without a way.

    Both in metres, world frame. One field for each goal, asked from all points: far cheaper than N * M
    searches.
    """
    fields, slots = GoalFields(1), np.zeros(len(points), np.int64)
    table = np.full((len(points), len(goals)), np.inf)
    for column, goal in enumerate(goals):
        fields.set_goals(0, navmesh, goal[None])
        table[:, column] = fields.distance(slots, points)
    return table
