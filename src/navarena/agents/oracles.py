"""Agents with an oracle that calls STOP (FOUND) near the goal: any agent, or random movements."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Agent, Boundary, Start, require_actions, require_discrete
from navarena.agents.forwarding import ForwardingAgent
from navarena.core.errors import InputError
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.task import Actions, Task


class OracleStopAgent(ForwardingAgent):
    """Lets another agent act, and calls STOP in its place as soon as the current goal is near.

    STOP of the other agent has no effect: away from the goal it becomes a turn to the left, by which the
    body stays where it is; a trained policy leaves it out of its distribution. So episodes end by success or
    at the step limit (RobustNav's oracle stop, Chattopadhyay et al. 2021, and MultiON's oracle FOUND, Wani et
    al. 2020, for any agent).
    It is privileged: it reads the distance to the goal.

    Args:
        inner: the agent that acts.
        task: the rules.
    """

    privileged = True
    privileged_inputs = ("distance to the goal",)

    def __init__(self, inner: Agent, task: Task) -> None:
        super().__init__(inner)
        inner.forgo_declaration()
        self._task = task
        self._declare = task.actions.index(task.declaration)
        self._instead = 0 if task.is_continuous else task.actions.index("turn_left")
        self._batch: NavigationBatch | None = None

    def attach(self, batch: NavigationBatch) -> None:
        """Keep the batch, to look at the distances to its goals."""
        self._batch = batch
        super().attach(batch)

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        if self._batch is None:
            raise InputError("expected the agent to be attached to a batch, got an act before attach")
        columns = len(self._task.actions) if self._task.is_continuous else None
        chosen = require_actions(self._inner.act(observations, active), len(active), columns)
        slots, near = np.flatnonzero(active), np.zeros(len(active), bool)
        near[slots] = self._task.has_arrived(self._batch.simulator, self._batch.state, slots)
        if self._task.is_continuous:
            actions = chosen.copy()
            actions[:, self._declare] = np.where(near, 1.0, -1.0)
            return self.replace(chosen, actions, active)
        kept = np.where(chosen == self._declare, self._instead, chosen)
        return self.replace(chosen, np.where(near, self._declare, kept), active)


MOVES = ("move_forward", "turn_left", "turn_right")


class RandomOracleFoundAgent(Agent):
    """Moves at random (forward, left, right, equally likely); calls STOP (FOUND) when the current goal is
    near.

    It is privileged: it reads the distance to the goal. So its episodes end by success or at
    the step limit. In tasks with STOP it is a random walk with an oracle that stops.
    """

    on_graphs = False
    privileged = True
    privileged_inputs = ("distance to the goal",)

    def __init__(self, task: Task, seed: int = 0) -> None:
        require_discrete(task, "random-oracle-found")
        self._task = task
        self._declare = task.actions.index(task.declaration)
        self._moves = np.array([task.actions.index(name) for name in MOVES], np.int64)
        self._generators: dict[int, np.random.Generator] = {}
        self._batch: NavigationBatch | None = None

    def attach(self, batch: NavigationBatch) -> None:
        """Keep the batch, to look at the distances to its goals."""
        self._batch = batch

    def reset(self, starts: Sequence[Start]) -> None:
        for start in starts:
            if start.boundary >= Boundary.EPISODE:
                self._generators[start.slot] = start.generator("random-oracle-found")

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        if self._batch is None:
            raise InputError("expected the agent to be attached to a batch, got an act before attach")
        actions = np.full(len(active), self._declare, np.int64)
        slots = np.flatnonzero(active)
        arrived = self._task.has_arrived(self._batch.simulator, self._batch.state, slots)
        for slot in slots[~arrived]:
            actions[slot] = self._moves[self._generators[int(slot)].integers(len(self._moves))]
        return actions
