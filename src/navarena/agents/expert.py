"""The agent that knows the map and the goal."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Agent, Start
from navarena.core.errors import InputError
from navarena.simulation.planning import ActionPlanner, Query
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.task import Task


class ExpertAgent(Agent):
    """Plans the actions to the goal on the navmesh, carries them out, and declares that it has arrived.

    When a plan has come to its end and the current goal is too far (it is the next of several, or the
    body did not execute its actions exactly), it plans again from where it is; where no plan exists it
    declares at once. It is
    privileged: it looks at true poses, goals and the navmesh, and observes nothing.
    """

    privileged = True
    privileged_inputs = ("pose", "goal", "navmesh")

    def __init__(self, task: Task, seed: int = 0) -> None:
        self._task = task
        arrival = task.success_distance if task.expert_distance is None else task.expert_distance
        self._planner = ActionPlanner(task.embodiment, arrival, task.max_steps)
        self._index = {name: index for index, name in enumerate(task.actions)}
        self._declare = self._index[task.declaration]
        self._batch: NavigationBatch | None = None

    def attach(self, batch: NavigationBatch) -> None:
        """Keep the batch, to look at its bodies and goals."""
        self._batch = batch
        self._plans = np.full((batch.slots, self._task.max_steps), self._declare, np.int64)
        self._next = np.zeros(batch.slots, np.int64)

    def reset(self, starts: Sequence[Start]) -> None:
        self._plan(np.array([start.slot for start in starts], np.int64))

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        batch = self._require_batch()
        slots = np.flatnonzero(active)
        self._finish(slots[self._plans[slots, self._next[slots]] == self._declare])
        far = batch.state.distance[slots] >= self._task.success_distance
        lost = slots[(self._plans[slots, self._next[slots]] == self._declare) & far & (self._next[slots] > 0)]
        if len(lost):
            self._plan(lost)
        actions = np.full(batch.slots, self._declare, np.int64)
        actions[slots] = self._plans[slots, self._next[slots]]
        self._next[slots] = np.minimum(self._next[slots] + 1, self._plans.shape[1] - 1)
        return actions

    def _finish(self, slots: Int64[np.ndarray, "k"]) -> None:
        """Put before the declarations of `slots` (K,) what the task still asks of a body that is near."""
        batch = self._require_batch()
        for slot in slots[batch.state.distance[slots] < self._task.success_distance].tolist():
            first = self._next[slot]
            actions = batch.task.find_finish(batch.simulator, batch.state, slot)
            last = min(first + len(actions), self._plans.shape[1])
            self._plans[slot, first:last] = [self._index[name] for name in actions][: last - first]

    def _plan(self, slots: Int64[np.ndarray, "k"]) -> None:
        """Write fresh plans for the bodies in `slots` (K,)."""
        batch = self._require_batch()
        simulator = batch.simulator
        query = Query(
            [simulator.navmesh(slot) for slot in slots.tolist()],
            simulator.positions[slots],
            simulator.yaws[slots],
            [batch.state.goal_places[slot] for slot in slots.tolist()],
        )
        self._next[slots] = 0
        self._plans[slots] = self._declare
        for slot, plan in zip(slots, self._planner.plan(query)):
            if plan is not None:
                self._plans[slot, : len(plan) - 1] = [self._index[name] for name in plan[:-1]]

    def _require_batch(self) -> NavigationBatch:
        if self._batch is None:
            raise InputError("expected the expert to be attached to a batch, got a reset before attach")
        return self._batch
