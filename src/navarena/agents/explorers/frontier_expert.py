"""`frontier-expert`: explores until it has seen a goal, and then takes the shortest path to it."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Agent, Start, require_discrete
from navarena.core.errors import InputError
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.sensors.goal_mask import VisibleGoalState
from navarena.tasks.task import Task, TaskState, require_state
from navarena.tasks.teacher import Teacher, make_teacher

HERE = 0.3
"""Metres of path to a frontier, up to which the body turns to look beyond it."""


class FrontierExpertAgent(Agent):
    """Explores until it has seen a goal, and then takes the shortest path to it: a teacher of searching.

    It follows `frontier_direction` until `goal_map` shows the current goal or no frontier is left; beside a
    frontier it turns to the left. So it acts by what a policy can observe, but for the shortest path at last.
    HM3D-OVON imitates such a teacher (Yokoyama et al. 2024). It is privileged: it looks at true labels, goals
    and the navmesh.

    Args:
        task: with discrete actions, whose goals are objects; raises InputError for another.
        seed: of nothing.
    """

    privileged = True
    privileged_inputs = ("instance images", "goal", "navmesh")
    on_graphs = False
    sensors = ("frontier_direction", "goal_map")

    def __init__(self, task: Task, seed: int = 0) -> None:
        require_discrete(task, "frontier-expert")
        _require_goals(task.make_state(1), task)
        self._turn = task.embodiment.turn_angle
        names = ("move_forward", "turn_left", "turn_right")
        self._forward, self._left, self._right = (task.actions.index(name) for name in names)
        self._teacher: Teacher | None = None
        self._goals: VisibleGoalState | None = None
        self._seen: dict[int, Collection[int]] = {}

    def attach(self, batch: NavigationBatch) -> None:
        """Keep the batch, to look at its goals and shortest paths."""
        self._teacher, self._goals = make_teacher(batch), _require_goals(batch.state, batch.task)

    def reset(self, starts: Sequence[Start]) -> None:
        for start in starts:
            self._seen.pop(start.slot, None)

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        if self._teacher is None or self._goals is None:
            raise InputError("expected an agent that is attached to a batch, got none; call attach first")
        goals = {slot: self._goals.current_ids(slot) for slot in np.flatnonzero(active).tolist()}
        shown = observations["goal_map"].reshape(len(active), -1).max(1)
        self._seen |= {slot: goal for slot, goal in goals.items() if shown[slot]}
        metres, angle = observations["frontier_direction"].T
        side = np.where(angle > 0, self._left, self._right)
        moves = np.where(np.abs(angle) > self._turn / 2, side, self._forward)
        moves[metres <= HERE] = self._left
        explores = np.zeros(len(active), bool)
        explores[[slot for slot, goal in goals.items() if self._seen.get(slot) != goal]] = True
        return np.where(explores & (metres > 0), moves, self._teacher.label(active))


def _require_goals(state: TaskState, task: Task) -> VisibleGoalState:
    return require_state(state, VisibleGoalState, task, "frontier-expert")  # type: ignore[type-abstract]
