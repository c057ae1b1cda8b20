"""The expert: plans on the navmesh to the true goal, for discrete and continuous actions."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.agents.agent import Agent, Start
from navarena.agents.waypoint_follower import WaypointFollower
from navarena.core.errors import InputError
from navarena.simulation.bodies import Bodies
from navarena.simulation.motion import execute, movement_table
from navarena.simulation.planning import ActionPlanner, Query
from navarena.simulation.simulator import Simulator
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.task import Actions, Task
from navarena.tasks.teacher import find_other_places


class DeadReckoning:
    """Dead reckoning: where the bodies of a simulator would be, had they executed their actions exactly.

    Args:
        simulator: whose bodies walk by discrete actions.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._movements = movement_table(simulator.embodiment, simulator.actions)
        self._bodies = Bodies(simulator.slots)

    def begin(self, slots: Int64[np.ndarray, "k"]) -> None:
        """Start from where the bodies in `slots` (K,) are."""
        true = self._simulator.bodies
        self._bodies.place(slots, true.positions[slots], true.yaws[slots])

    def advance(self, actions: Int64[np.ndarray, "n"]) -> None:
        """Carry out `actions` (N,), indices into those of the simulator, in all slots."""
        simulator, bodies = self._simulator, self._bodies
        directions, distances = np.zeros(len(actions)), np.zeros(len(actions))
        low, high = simulator.embodiment.tilt_range
        movements = self._movements[actions]
        execute(movements, low, high, bodies.yaws, bodies.tilts, directions, distances)
        simulator.slot_worlds.table.step_bodies(
            simulator.slot_worlds.row,
            bodies.triangles,
            bodies.positions,
            directions,
            distances,
            simulator.embodiment.slides,
            bodies.collided,
        )

    def errors(self, slots: Int64[np.ndarray, "k"]) -> Float[np.ndarray, "k"]:
        """(K,) metres between the true bodies in `slots` (K,) and these."""
        off = self._simulator.positions[slots] - self._bodies.positions[slots]
        return np.asarray(np.linalg.norm(off, axis=1))


OFF_COURSE = 0.1
"""Metres between the body and its place in the plan, beyond which the plan is made anew."""


class ExpertAgent(Agent):
    """Plans actions to the goal on the navmesh, executes them, and calls STOP there.

    It plans again when a plan has ended and the current goal is too far (it is the next of several), and when
    the body is not where the plan expects it (actions were not executed exactly); without a path it calls
    STOP at once. Where the goal must be seen it turns there first. In continuous protocols a
    `WaypointFollower` follows the shortest path. It is privileged: it looks at true poses, goals and the
    navmesh, and observes nothing.
    """

    privileged = True
    privileged_inputs = ("pose", "goal", "navmesh")
    on_graphs = "navarena.agents.graphs:GraphExpertAgent"

    def __init__(self, task: Task, seed: int = 0) -> None:
        self._task = task
        arrival = task.success_distance if task.expert_distance is None else task.expert_distance
        self._planner = ActionPlanner(task.embodiment, arrival, task.max_steps)
        self._follower = WaypointFollower(task) if task.is_continuous else None
        self._index = {name: index for index, name in enumerate(task.actions)}
        self._declare = self._index[task.declaration]
        self._batch: NavigationBatch | None = None

    def attach(self, batch: NavigationBatch) -> None:
        """Keep the batch, to look at its bodies and goals."""
        self._batch = batch
        if self._follower is not None:
            self._follower.attach(batch)
            return
        self._plans = np.full((batch.slots, self._task.max_steps), self._declare, np.int64)
        self._next = np.zeros(batch.slots, np.int64)
        self._aims: list[Float[np.ndarray, "_ 3"]] = [np.zeros((0, 3))] * batch.slots
        self._dead_reckoning = DeadReckoning(batch.simulator)

    def reset(self, starts: Sequence[Start]) -> None:
        slots = np.array([start.slot for start in starts], np.int64)
        self._require_batch()
        if self._follower is not None:
            self._follower.reset(slots)
        else:
            self._plan(slots)

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        batch = self._require_batch()
        if self._follower is not None:
            return self._follower.act(active)
        slots = np.flatnonzero(active)
        strayed = slots[self._dead_reckoning.errors(slots) > OFF_COURSE]
        if len(strayed):
            self._plan(strayed, [self._aims[slot] for slot in strayed.tolist()])
        self._finish(slots[self._plans[slots, self._next[slots]] == self._declare])
        far = batch.state.distance[slots] >= self._task.success_distance
        lost = slots[(self._plans[slots, self._next[slots]] == self._declare) & far & (self._next[slots] > 0)]
        if len(lost):
            self._plan(lost)
        actions = np.full(batch.slots, self._declare, np.int64)
        actions[slots] = self._plans[slots, self._next[slots]]
        self._next[slots] = np.minimum(self._next[slots] + 1, self._plans.shape[1] - 1)
        self._dead_reckoning.advance(actions)
        return actions

    def _finish(self, slots: Int64[np.ndarray, "k"]) -> None:
        """Insert the final actions that the task requires before STOP into the plans of `slots` (K,)."""
        batch = self._require_batch()
        for slot in slots[batch.state.distance[slots] < self._task.success_distance].tolist():
            actions = batch.task.final_actions(batch.simulator, batch.state, slot)
            if actions is None:
                self._go_elsewhere(slot)
                continue
            first = self._next[slot]
            last = min(first + len(actions), self._plans.shape[1])
            self._plans[slot, first:last] = [self._index[name] for name in actions][: last - first]

    def _go_elsewhere(self, slot: int) -> None:
        """Plan to another place of the goal: from here it cannot be finished. Declare if none is left."""
        batch = self._require_batch()
        reach = self._task.success_distance + self._task.embodiment.forward_step
        left = find_other_places(batch.state.goal_places[slot], batch.simulator.positions[slot], reach)
        if len(left):
            self._plan(np.array([slot]), [left])

    def _plan(
        self, slots: Int64[np.ndarray, "k"], places: Sequence[Float[np.ndarray, "_ 3"]] | None = None
    ) -> None:
        """Write fresh plans for the bodies in `slots` (K,): to `places` (metres), or to their goals."""
        batch = self._require_batch()
        simulator = batch.simulator
        goals = [batch.state.goal_places[slot] for slot in slots.tolist()] if places is None else places
        query = Query(
            [simulator.navmesh(slot) for slot in slots.tolist()],
            simulator.positions[slots],
            simulator.yaws[slots],
            goals,
        )
        self._next[slots] = 0
        self._plans[slots] = self._declare
        self._dead_reckoning.begin(slots)
        for slot, aims in zip(slots.tolist(), goals):
            self._aims[slot] = aims
        for slot, plan in zip(slots, self._planner.plan(query)):
            if plan is not None:
                self._plans[slot, : len(plan) - 1] = [self._index[name] for name in plan[:-1]]

    def _require_batch(self) -> NavigationBatch:
        if self._batch is None:
            raise InputError("expected the expert to be attached to a batch, got a reset before attach")
        return self._batch
