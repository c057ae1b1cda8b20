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
    """Plans every action of an episode at its start, on the navmesh, and carries them out.

    When a plan has come to its end and the goal is still too far (the body did not execute its
    actions exactly), it plans again from where it is; where no plan exists it stops. It is
    privileged: it looks at true poses, goals and the navmesh, and observes nothing.
    """

    privileged = True

    def __init__(self, task: Task, seed: int = 0) -> None:
        self._task = task
        self._planner = ActionPlanner(task.embodiment, task.success_distance, task.max_steps)
        self._index = {name: index for index, name in enumerate(task.actions)}
        self._stop = self._index["stop"]
        self._batch: NavigationBatch | None = None

    def attach(self, batch: NavigationBatch) -> None:
        """Keep the batch, to look at its bodies and goals."""
        self._batch = batch
        self._plans = np.full((batch.slots, self._task.max_steps), self._stop, np.int64)
        self._next = np.zeros(batch.slots, np.int64)

    def reset(self, starts: Sequence[Start]) -> None:
        self._plan(np.array([start.slot for start in starts], np.int64))

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        batch = self._require_batch()
        slots = np.flatnonzero(active)
        far = batch.state.distance[slots] >= self._task.success_distance
        lost = slots[(self._plans[slots, self._next[slots]] == self._stop) & far & (self._next[slots] > 0)]
        if len(lost):
            self._plan(lost)
        actions = np.full(batch.slots, self._stop, np.int64)
        actions[slots] = self._plans[slots, self._next[slots]]
        self._next[slots] += 1
        return actions

    def _plan(self, slots: Int64[np.ndarray, "k"]) -> None:
        """Write fresh plans for the bodies in `slots` (K,)."""
        batch = self._require_batch()
        simulator = batch.simulator
        query = Query(
            [simulator.navmesh(slot) for slot in slots.tolist()],
            simulator.positions[slots],
            simulator.yaws[slots],
            batch.state.goal_position[slots],
        )
        self._next[slots] = 0
        self._plans[slots] = self._stop
        for slot, plan in zip(slots, self._planner.plan(query)):
            if plan is not None:
                self._plans[slot, : len(plan)] = [self._index[name] for name in plan]

    def _require_batch(self) -> NavigationBatch:
        if self._batch is None:
            raise InputError("expected the expert to be attached to a batch, got a reset before attach")
        return self._batch
