"""Teachers: the best next action, for imitation, from any pose that a learner has reached."""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.planning.greedy import GreedyPaths, follow_greedily
from navarena.simulation.planning.lattice import Origin, search_lattice
from navarena.simulation.planning.planner import STOP_MARGIN, action_names
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.graphs.teacher import GraphTeacher
from navarena.tasks.sources import Batch


@runtime_checkable
class Teacher(Protocol):
    """Labels steps with expert actions, in scenes (BodyTeacher) or on navigation graphs (GraphTeacher).

    Attributes:
        stuck: (N,) bool, the slots whose last label came from a search, since no single move led nearer to
            the goal; a loss can leave them out. Never set on graphs.
    """

    stuck: Bool[np.ndarray, "n"]

    def label(self, active: Bool[np.ndarray, "n"] | None = None) -> Int64[np.ndarray, "n"]:
        """(N,) indices into the protocol's actions; the declaration in idle slots.

        active: (N,) bool, slots that are asked for; None for all whose episode is running.
        """
        ...


def make_teacher(batch: Batch) -> Teacher:
    """The teacher for the bodies of `batch`: along shortest paths to their current goals."""
    return GraphTeacher(batch) if isinstance(batch, GraphBatch) else BodyTeacher(batch)


class BodyTeacher:
    """Labels the poses of a batch with the next action toward the current goal.

    Poses need not lie on any plan: this labels whatever a policy has visited (DAgger), step by step or
    for every pose of a walk (dense). A label begins the combined move (turns, then a step) that comes
    nearest to the goal; a body that no move brings nearer is led by a search, which is made once for each
    pose. One that has arrived is led by what the protocol asks for before the declaration (`final_actions`),
    and where that does not help, to another place of the goal.

    Args:
        batch: whose bodies are asked for; its protocol must have discrete actions.
        distance: metres, geodesic, within which the teacher declares; None for the protocol's
            `expert_distance`, or its success distance.

    Attributes:
        stuck: (N,) bool, the slots whose last label came from a search.
    """

    stuck: Bool[np.ndarray, "n"]

    def __init__(self, batch: NavigationBatch, distance: float | None = None) -> None:
        task = batch.task
        wanted = task.success_distance if task.expert_distance is None else task.expert_distance
        arrival = wanted if distance is None else distance
        self.stuck = np.zeros(batch.slots, bool)
        self._batch = batch
        self._stop_distance, self._max_actions = arrival - STOP_MARGIN, task.max_steps - 1
        self._index = {name: number for number, name in enumerate(task.actions)}
        self._declare = self._index[task.declaration]
        names = ("turn_right", "move_forward", "turn_left")
        self._first_actions = np.array([self._index[name] for name in names], np.int64)
        self._own_fields = GoalFields(batch.slots)
        self._is_own = np.zeros(batch.slots, bool)
        self._places: list[Float[np.ndarray, "_ 3"] | None] = [None] * batch.slots
        self._ways_out: list[dict[bytes, int]] = [{} for _ in range(batch.slots)]

    def label(self, active: Bool[np.ndarray, "n"] | None = None) -> Int64[np.ndarray, "n"]:
        """(N,) indices into the protocol's actions; the declaration where there is no path, or in idle slots.

        active: (N,) bool, slots that are asked for; None for all whose episode is running.
        """
        batch = self._batch
        slots = np.flatnonzero(batch.running if active is None else active)
        actions = np.full(batch.slots, self._declare, np.int64)
        self.stuck[:] = False
        if not len(slots):
            return actions
        for slot in slots.tolist():
            if self._places[slot] is not batch.state.goal_places[slot] or batch.state.steps[slot] == 0:
                self._face_goal(slot)
        own = self._is_own[slots]
        for fields, group in ((batch.state.goal_fields, slots[~own]), (self._own_fields, slots[own])):
            if len(group):
                self._label(fields, group, actions)
        return actions

    def _label(
        self, fields: GoalFields, slots: Int64[np.ndarray, "k"], actions: Int64[np.ndarray, "n"]
    ) -> None:
        """Write the labels of `slots` (K,), whose distances are in `fields`, into `actions` (N,)."""
        bodies, body = self._batch.simulator.bodies, self._batch.task.embodiment
        walks = GreedyPaths.begin(
            bodies.positions[slots], bodies.yaws[slots], bodies.triangles[slots], room=1
        )
        follow_greedily(fields, slots, walks, body, self._stop_distance, self._max_actions, 1)
        walked = walks.move_counts > 0
        actions[slots[walked]] = self._first_actions[np.sign(walks.moves[walked, 0]) + 1]
        for slot in slots[~walked & ~walks.arrived & np.isfinite(walks.distances)].tolist():
            self.stuck[slot] = True
            actions[slot] = self._find_way_out(fields, slot)
        for slot in slots[~walked & walks.arrived].tolist():
            final = self._batch.task.final_actions(self._batch.simulator, self._batch.state, slot)
            if final:
                actions[slot] = self._index[final[0]]
            elif final is None and self._go_elsewhere(fields, slot):
                self._label(self._own_fields, np.array([slot]), actions)

    def _face_goal(self, slot: int) -> None:
        """Measure distances to the places of the current goal of `slot` from here on."""
        places = self._places[slot] = self._batch.state.goal_places[slot]
        known = self._batch.state.goal_fields.goals(slot)
        self._is_own[slot] = known is None or not np.array_equal(known, places)
        if self._is_own[slot]:
            self._own_fields.set_goals(slot, self._batch.simulator.navmesh(slot), places)
        self._ways_out[slot] = {}

    def _go_elsewhere(self, fields: GoalFields, slot: int) -> bool:
        """Measure distances of `slot` to the other places of its goal from here on; whether there are any."""
        simulator, places = self._batch.simulator, fields.goals(slot)
        if places is None:
            return False
        reach = self._stop_distance + STOP_MARGIN + self._batch.task.embodiment.forward_step
        left = find_other_places(places, simulator.positions[slot], reach)
        if len(left):
            self._own_fields.set_goals(slot, simulator.navmesh(slot), left)
            self._is_own[slot], self._ways_out[slot] = True, {}
        return bool(len(left))

    def _find_way_out(self, fields: GoalFields, slot: int) -> int:
        """The first action of a plan from the pose of a stuck body, remembered while the goal lasts."""
        bodies, known = self._batch.simulator.bodies, self._ways_out[slot]
        origin = Origin(bodies.positions[slot].copy(), float(bodies.yaws[slot]), int(bodies.triangles[slot]))
        pose = origin.position.tobytes() + bodies.yaws[slot].tobytes()
        if pose not in known:
            body = self._batch.task.embodiment
            moves = search_lattice(fields, slot, body, origin, self._stop_distance, self._max_actions)
            known[pose] = self._index[action_names(moves)[0]] if moves else self._declare
        return known[pose]


def find_other_places(
    places: Float[np.ndarray, "g 3"], position: Float[np.ndarray, "3"], reach: float
) -> Float[np.ndarray, "k 3"]:
    """(K, 3) metres: those of `places` that are farther than `reach`, straight, from `position`."""
    return np.asarray(places[np.linalg.norm(places - position, axis=1) > reach])
