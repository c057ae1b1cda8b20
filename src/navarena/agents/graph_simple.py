"""Agents on navigation graphs that need no learning and no secrets."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Boundary, Start
from navarena.agents.graph_agent import GraphAgent
from navarena.tasks.phase import Phase
from navarena.tasks.vln_graph import STOP, GraphTask


class GraphStopAgent(GraphAgent):
    """Stops at once: its scores are those of standing still."""

    def __init__(self, task: GraphTask, seed: int = 0) -> None:
        super().__init__()

    def reset(self, starts: Sequence[Start]) -> None:
        """Nothing to forget."""

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        return np.full(len(active), STOP, np.int64)


class GraphRandomAgent(GraphAgent):
    """Draws one of the actions that lead anywhere, STOP included, with equal probability.

    Each episode has a stream of its own, named by run seed, scan and episode.
    """

    sensors = ("action_mask", "phase")

    def __init__(self, task: GraphTask, seed: int = 0) -> None:
        super().__init__()
        self._generators: dict[int, np.random.Generator] = {}

    def reset(self, starts: Sequence[Start]) -> None:
        for start in starts:
            if start.boundary >= Boundary.EPISODE:
                self._generators[start.slot] = start.generator("graph-random")

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        actions = np.full(len(active), STOP, np.int64)
        for slot in np.flatnonzero(active & (observations["phase"] == Phase.AGENT)).tolist():
            choices = np.flatnonzero(observations["action_mask"][slot])
            actions[slot] = choices[self._generators[slot].integers(len(choices))]
        return actions


class GraphForwardAgent(GraphAgent):
    """Goes to the neighbour whose direction is nearest to its heading, and never stops."""

    sensors = ("action_mask", "candidate_angles")

    def __init__(self, task: GraphTask, seed: int = 0) -> None:
        super().__init__()

    def reset(self, starts: Sequence[Start]) -> None:
        """Nothing to forget."""

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        ahead = np.where(observations["action_mask"][:, 1:], observations["candidate_angles"][..., 1], -2.0)
        return np.asarray(ahead.argmax(1) + 1, np.int64)
