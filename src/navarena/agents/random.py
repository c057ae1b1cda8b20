"""The agent that rolls dice."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Agent, Boundary, Start
from navarena.tasks.task import Actions, Phase, TaskRules


class RandomAgent(Agent):
    """Draws every action of the protocol, STOP included, with equal probability; continuous ones uniformly.

    On navigation graphs it draws of those actions that lead anywhere, while the oracle does not lead.

    Each episode has a stream of its own, named by run seed, scene and episode: its actions do
    not depend on the batch, the order or the number of workers.
    """

    def __init__(self, task: TaskRules, seed: int = 0) -> None:
        self._actions, self._is_continuous = len(task.actions), task.is_continuous
        self._is_masked = "action_mask" in task.sensors
        if self._is_masked:
            self.sensors = ("action_mask", "phase")
        self._generators: dict[int, np.random.Generator] = {}

    def reset(self, starts: Sequence[Start]) -> None:
        for start in starts:
            if start.boundary >= Boundary.EPISODE:
                self._generators[start.slot] = start.generator(
                    "graph-random" if self._is_masked else "random"
                )

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        if self._is_continuous:
            commands = np.zeros((len(active), self._actions))
            for slot in np.flatnonzero(active).tolist():
                commands[slot] = self._generators[slot].uniform(-1.0, 1.0, self._actions)
            return commands
        actions = np.zeros(len(active), np.int64)
        if self._is_masked:
            for slot in np.flatnonzero(active & (observations["phase"] == Phase.AGENT)).tolist():
                choices = np.flatnonzero(observations["action_mask"][slot])
                actions[slot] = choices[self._generators[slot].integers(len(choices))]
            return actions
        for slot in np.flatnonzero(active).tolist():
            actions[slot] = self._generators[slot].integers(self._actions)
        return actions
