"""Teachers: the best next action, for imitation, from any pose that a learner has reached."""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Int64

from navarena.simulation.planning import ActionPlanner, Query
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.graphs.teacher import GraphTeacher
from navarena.tasks.sources import Batch


@runtime_checkable
class Teacher(Protocol):
    """Says what an expert would do next, in scenes (BodyTeacher) or on navigation graphs (GraphTeacher)."""

    def label(self, active: Bool[np.ndarray, "n"] | None = None) -> Int64[np.ndarray, "n"]:
        """(N,) indices into the protocol's actions; the declaration in idle slots.

        active: (N,) bool, slots that are asked for; None for all whose episode is running.
        """
        ...


def make_teacher(batch: Batch) -> Teacher:
    """The teacher for the bodies of `batch`: along shortest paths to their current goals."""
    return GraphTeacher(batch) if isinstance(batch, GraphBatch) else BodyTeacher(batch)


class BodyTeacher:
    """Labels the poses of a batch with the next action of a plan to the current goal.

    Poses need not lie on any plan: this labels whatever a policy has visited (DAgger), step by step or
    for every pose of a walk (dense).

    Args:
        batch: whose bodies are asked for; its protocol must have discrete actions.
        distance: metres, geodesic, within which the teacher declares; None for the protocol's
            `expert_distance`, or its success distance.
    """

    def __init__(self, batch: NavigationBatch, distance: float | None = None) -> None:
        task = batch.task
        wanted = task.success_distance if task.expert_distance is None else task.expert_distance
        self._batch = batch
        self._planner = ActionPlanner(
            task.embodiment, wanted if distance is None else distance, task.max_steps
        )
        self._index = {name: number for number, name in enumerate(task.actions)}
        self._declare = self._index[task.declaration]

    def label(self, active: Bool[np.ndarray, "n"] | None = None) -> Int64[np.ndarray, "n"]:
        """(N,) indices into the protocol's actions; the declaration where there is no path, or in idle slots.

        active: (N,) bool, slots that are asked for; None for all whose episode is running.
        """
        batch = self._batch
        slots = np.flatnonzero(batch.running if active is None else active)
        actions = np.full(batch.slots, self._declare, np.int64)
        if not len(slots):
            return actions
        simulator = batch.simulator
        query = Query(
            [simulator.navmesh(slot) for slot in slots.tolist()],
            simulator.positions[slots],
            simulator.yaws[slots],
            [batch.state.goal_places[slot] for slot in slots.tolist()],
        )
        for slot, plan in zip(slots, self._planner.plan(query)):
            if plan is not None and len(plan) > 1:
                actions[slot] = self._index[plan[0]]
        return actions
