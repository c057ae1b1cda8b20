"""Agents on navigation graphs that know the goal, or the whole described path."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Start
from navarena.agents.graph_agent import GraphAgent
from navarena.tasks.phase import Phase
from navarena.tasks.vln_graph import STOP, GraphTask
from navarena.tasks.vln_graph_state import NO_GOAL
from navarena.tasks.vln_graph_teacher import path_actions, teacher_actions


class GraphExpertAgent(GraphAgent):
    """Goes along a shortest path to the goal and stops there: the teacher of imitation.

    Where the goal is not known (test splits) it stops at once.
    """

    privileged = True

    def __init__(self, task: GraphTask, seed: int = 0) -> None:
        super().__init__()

    def reset(self, starts: Sequence[Start]) -> None:
        """Nothing to forget."""

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        state = self.graphs.state
        actions = np.full(len(active), STOP, np.int64)
        slots = np.flatnonzero(active & (state.phase == Phase.AGENT) & (state.goal != NO_GOAL))
        if len(slots):
            actions[slots] = teacher_actions(self.graphs.atlas, state.node[slots], state.goal[slots])
        return actions


class GraphPathAgent(GraphAgent):
    """Follows the described path node by node: nDTW 1 even where the path is no shortest path."""

    privileged = True

    def __init__(self, task: GraphTask, seed: int = 0) -> None:
        super().__init__()

    def reset(self, starts: Sequence[Start]) -> None:
        """Nothing to forget."""

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        state = self.graphs.state
        actions = np.full(len(active), STOP, np.int64)
        for slot in np.flatnonzero(active & (state.phase == Phase.AGENT)).tolist():
            path = state.paths[slot][int(state.position[slot])]
            one = slice(slot, slot + 1)
            actions[one] = path_actions(self.graphs.atlas, state.node[one], state.steps[one], path)
        return actions
