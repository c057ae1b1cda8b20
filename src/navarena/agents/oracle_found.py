"""Rand+OracleFound: random movements, and an oracle that declares (Wani et al. 2020, section 5)."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Agent, Boundary, Start, require_discrete
from navarena.core.errors import InputError
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.task import Task

MOVES = ("move_forward", "turn_left", "turn_right")


class RandomOracleFoundAgent(Agent):
    """Moves at random (forward, left, right, equally likely); declares when the current goal is near.

    It is privileged: the distance to the goal is looked up. So its episodes end by success or at
    the step limit. In tasks with STOP it is a random walk with an oracle that stops.
    """

    privileged = True
    on_graphs = False
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
