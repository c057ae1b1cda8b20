"""The agent that is there already."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Agent, Start, require_discrete
from navarena.tasks.task import TaskRules


class StopAgent(Agent):
    """Declares at once that it has arrived: its scores are those of standing still; discrete actions only."""

    def __init__(self, task: TaskRules, seed: int = 0) -> None:
        require_discrete(task, "stop")
        self._declare = task.actions.index(task.declaration)

    def reset(self, starts: Sequence[Start]) -> None:
        """Nothing to forget."""

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        return np.full(len(active), self._declare, np.int64)
