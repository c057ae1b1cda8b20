"""Geodesic distances to fixed goals: one distance field per environment, and tables of distances."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from navarena.core.arrays import Points
from navarena.core.errors import ActionError, InputError
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.queries import distance_fields
from navarena.simulation.navmesh.queries.mesh_arrays import SLOT_COUNT
from navarena.simulation.navmesh.queries.navmesh_table import require_points
from navarena.simulation.navmesh.queries.search_state import SearchState

FIRST_CAPACITY = 512
"""Windows that a slot holds at first; it grows with the part of the navmesh that was asked about."""


class GoalFields:
    """For each of N slots a navmesh, goals on it, and the exact distances found so far.

    Distances are those of NavMesh.geodesic_distance (one goal) or geodesic_to_nearest (several).
    They depend on nothing but the slot's own navmesh and goals, the asked point included.

    Args:
        slots: number of environments.
    """

    def __init__(self, slots: int) -> None:
        self._meshes: list[NavMesh | None] = [None] * slots
        self._states: list[SearchState | None] = [None] * slots
        self._mesh_rows = np.zeros((slots, 2 * SLOT_COUNT), np.int64)
        self._field_rows = np.zeros((slots, 2 * distance_fields.FIELD_SLOTS), np.int64)

    def set_goals(self, slot: int, mesh: NavMesh, goals: Float[np.ndarray, "g 3"]) -> None:
        """Give `slot` a navmesh and (G, 3) goals in metres, world frame; earlier distances are dropped.

        Goals that cannot be snapped are left out; without any, all distances are infinite.
        """
        goals = require_points(goals)
        if not len(goals):
            raise InputError("expected at least one goal, got none")
        triangles, snapped = mesh.table.locate(np.zeros(len(goals), np.int64), goals)
        snapped[:, 1] = goals[:, 1]
        state = self._states[slot]
        size = len(mesh.vertices), len(mesh.triangles)
        while state is None or not state.fits(*size) or state.capacity < 4 * len(goals):
            state = SearchState(*size, max(FIRST_CAPACITY, 8 * len(goals)))
        self._meshes[slot], self._states[slot] = mesh, state
        self._mesh_rows[slot] = mesh.address_row
        self._field_rows[slot] = state.table[0]
        distance_fields.start_field(self._mesh_rows, slot, self._field_rows, slot, triangles, snapped)

    def distance(self, slots: Sequence[int] | Int[np.ndarray, "n"], points: Points) -> Float[np.ndarray, "n"]:
        """(N,) metres from each point (N, 3) to the nearest goal of its slot, inf without a path.

        Raises ActionError for a slot without goals.
        """
        return self.ask(slots, points)[0]

    def ask(
        self, slots: Sequence[int] | Int[np.ndarray, "n"], points: Points
    ) -> tuple[Float[np.ndarray, "n"], Points]:
        """Distance (N,) in metres, and (N, 3) where the shortest path first turns, or the goal.

        The second is what an expert walks towards; NaN where there is no path.
        """
        points = require_points(points)
        index = np.ascontiguousarray(slots, np.int64)
        for slot in index:
            if self._meshes[slot] is None:
                raise ActionError(f"slot {int(slot)} has no goals; call set_goals first")
        lengths, ahead = np.full(len(points), -1.0), np.zeros_like(points)
        while True:
            done = distance_fields.ask_fields(
                self._mesh_rows, self._field_rows, index, points, lengths, ahead
            )
            if done == len(points):
                return lengths, ahead
            slot = int(index[done])
            state = self._states[slot]
            if state is not None:
                state.grow()
                self._field_rows[slot] = state.table[0]


def geodesic_table(
    navmesh: NavMesh, points: Float[np.ndarray, "n 3"], goals: Float[np.ndarray, "m 3"]
) -> Float[np.ndarray, "n m"]:
    """(N, M) metres along the floor from `points` (N, 3) to `goals` (M, 3); infinite without a path.

    Both in metres, world frame. One field for each goal, asked from all points: far cheaper than N * M
    searches.
    """
    fields, slots = GoalFields(1), np.zeros(len(points), np.int64)
    table = np.full((len(points), len(goals)), np.inf)
    for column, goal in enumerate(goals):
        fields.set_goals(0, navmesh, goal[None])
        table[:, column] = fields.distance(slots, points)
    return table
