"""The agent that never turns."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Agent, Start, require_discrete
from navarena.tasks.task import Task


class ForwardAgent(Agent):
    """Moves forward in every step, and never stops; discrete actions only."""

    on_graphs = "navarena.agents.graphs:GraphForwardAgent"

    def __init__(self, task: Task, seed: int = 0) -> None:
        require_discrete(task, "forward")
        self._forward = task.actions.index("move_forward")

    def reset(self, starts: Sequence[Start]) -> None:
        """Nothing to forget."""

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        return np.full(len(active), self._forward, np.int64)
