"""Geodesic distances to fixed goals: one distance field per environment, and tables of distances."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from jaxtyping import Float, Int, Int64

from navarena.core.arrays import Points
from navarena.core.errors import ActionError, InputError
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.queries.distance_fields import (
    FIELD_SLOTS,
    ask_fields,
    start_field,
    trace_field,
)
from navarena.simulation.navmesh.queries.mesh_arrays import SLOT_COUNT
from navarena.simulation.navmesh.queries.navmesh_table import require_points
from navarena.simulation.navmesh.queries.search_state import SearchState

FIRST_CAPACITY = 512
"""Windows that a slot holds at first; it grows with the part of the navmesh that was asked about."""


KEPT_FIELDS = 64
"""Fields of several goals that are kept after their slots have got others."""


class GoalFields:
    """For each of N slots a navmesh, goals on it, and the exact distances found so far.

    Distances are those of NavMesh.geodesic_distance (one goal) or geodesic_to_nearest (several).
    They depend on nothing but the slot's own navmesh and goals, the asked point included. What was found for
    several goals on a navmesh is kept for the next slot with the same (the last KEPT_FIELDS of them), and
    slots with the same share it: they must not be asked on two threads at a time.

    Args:
        slots: number of environments.
    """

    def __init__(self, slots: int) -> None:
        self._meshes: list[NavMesh | None] = [None] * slots
        self._goals: list[Points | None] = [None] * slots
        self._states: list[SearchState | None] = [None] * slots
        self._own: list[SearchState | None] = [None] * slots
        self._shared: OrderedDict[tuple[int, bytes], tuple[NavMesh, SearchState]] = OrderedDict()
        self._mesh_rows = np.zeros((slots, 2 * SLOT_COUNT), np.int64)
        self._field_rows = np.zeros((slots, 2 * FIELD_SLOTS), np.int64)

    def set_goals(self, slot: int, mesh: NavMesh, goals: Float[np.ndarray, "g 3"]) -> None:
        """Give `slot` a navmesh and (G, 3) goals in metres, world frame.

        Goals that cannot be snapped are left out; without any, all distances are infinite. What is known
        of the same goals on the same navmesh is kept.
        """
        goals = require_points(goals)
        if not len(goals):
            raise InputError("expected at least one goal, got none")
        if mesh is self._meshes[slot] and np.array_equal(goals, cast(Points, self._goals[slot])):
            return
        key = (id(mesh), goals.tobytes())
        _, state = self._shared.get(key, (None, None))
        if state is not None:
            self._shared.move_to_end(key)
            self._take(slot, mesh, goals, state)
            return
        triangles, snapped = mesh.table.locate(np.zeros(len(goals), np.int64), goals)
        snapped[:, 1] = goals[:, 1]
        state = self._own[slot] if len(goals) == 1 else None
        size = len(mesh.vertices), len(mesh.triangles)
        while state is None or not state.fits(*size) or state.capacity < 4 * len(goals):
            state = SearchState(*size, max(FIRST_CAPACITY, 8 * len(goals)))
        if len(goals) == 1:
            self._own[slot] = state
        else:
            self._shared[key] = mesh, state
            if len(self._shared) > KEPT_FIELDS:
                self._shared.popitem(last=False)
        self._take(slot, mesh, goals, state)
        start_field(self._mesh_rows, slot, self._field_rows, slot, triangles, snapped)

    def _take(self, slot: int, mesh: NavMesh, goals: Points, state: SearchState) -> None:
        self._meshes[slot], self._goals[slot], self._states[slot] = mesh, goals.copy(), state
        self._mesh_rows[slot] = mesh.address_row
        self._field_rows[slot] = state.table[0]

    def goals(self, slot: int) -> Float[np.ndarray, "g 3"] | None:
        """(G, 3) metres, world frame: the goals of `slot`; None before any were set."""
        return self._goals[slot]

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
        lengths, ahead = np.full(len(points), -1.0), np.zeros_like(points)
        self.run(index, lambda meshes, fields: ask_fields(meshes, fields, index, points, lengths, ahead))
        return lengths, ahead

    def shortest_path(self, slot: int, start: Float[np.ndarray, "3"]) -> Float[np.ndarray, "k 3"]:
        """(K, 3) metres: `start` (3,), turns and end of the shortest path to the nearest goal of `slot`.

        (0, 3) without a path.
        """
        mesh = self._meshes[slot]
        room = 2 if mesh is None else len(mesh.vertices) + 2  # a path turns at each vertex once at most
        count = 0
        points = np.zeros((room, 3))
        x, y, z = map(float, start)

        def trace(meshes: np.ndarray, fields: np.ndarray) -> int:
            nonlocal count
            count = int(trace_field(meshes, fields, np.int64(slot), x, y, z, points))
            return int(count >= 0)

        self.run(np.array([slot]), trace)
        return points[:count].copy()

    def run(self, slots: Int64[np.ndarray, "n"], work: Callable[[np.ndarray, np.ndarray], int]) -> None:
        """Call `work(mesh rows, field rows)` until it has done all of `slots` (N,), with more room each time.

        Both tables have one row for each slot; `work` returns the first of its N rows whose field is too
        small. Raises ActionError for a slot without goals.
        """
        if not self._mesh_rows[slots, 0].all():
            slot = next(slot for slot in slots.tolist() if self._meshes[slot] is None)
            raise ActionError(f"slot {slot} has no goals; call set_goals first")
        while (done := work(self._mesh_rows, self._field_rows)) < len(slots):
            slot = int(slots[done])
            state = self._states[slot]
            if state is not None:
                state.grow()
                for other, its in enumerate(self._states):
                    if its is state:
                        self._field_rows[other] = state.table[0]


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
