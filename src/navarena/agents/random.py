"""The agent that rolls dice."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Agent, Boundary, Start
from navarena.tasks.task import Actions, Task


class RandomAgent(Agent):
    """Draws every action of the protocol, STOP included, with equal probability; continuous ones uniformly.

    Each episode has a stream of its own, named by run seed, scene and episode: its actions do
    not depend on the batch, the order or the number of workers.
    """

    def __init__(self, task: Task, seed: int = 0) -> None:
        self._actions, self._is_continuous = len(task.actions), task.is_continuous
        self._generators: dict[int, np.random.Generator] = {}

    def reset(self, starts: Sequence[Start]) -> None:
        for start in starts:
            if start.boundary >= Boundary.EPISODE:
                self._generators[start.slot] = start.generator("random")

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        if self._is_continuous:
            commands = np.zeros((len(active), self._actions))
            for slot in np.flatnonzero(active):
                commands[slot] = self._generators[int(slot)].uniform(-1.0, 1.0, self._actions)
            return commands
        actions = np.zeros(len(active), np.int64)
        for slot in np.flatnonzero(active):
            actions[slot] = self._generators[int(slot)].integers(self._actions)
        return actions
