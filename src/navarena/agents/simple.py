"""Baselines without observations: random actions, forward moves, and STOP at the first step."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Agent, Boundary, Start, require_discrete
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


class ForwardAgent(Agent):
    """Moves forward in every step, and never stops; discrete actions only."""

    on_graphs = "navarena.agents.graphs:GraphForwardAgent"

    def __init__(self, task: TaskRules, seed: int = 0) -> None:
        require_discrete(task, "forward")
        self._forward = task.actions.index("move_forward")

    def reset(self, starts: Sequence[Start]) -> None:
        """Nothing to forget."""

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        return np.full(len(active), self._forward, np.int64)


class StopAgent(Agent):
    """Calls STOP at the first step: its scores are those of standing still; discrete actions only."""

    def __init__(self, task: TaskRules, seed: int = 0) -> None:
        require_discrete(task, "stop")
        self._declare = task.actions.index(task.declaration)

    def reset(self, starts: Sequence[Start]) -> None:
        """Nothing to forget."""

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        return np.full(len(active), self._declare, np.int64)
