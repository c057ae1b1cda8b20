"""Agents on navigation graphs: expert (goal), path follower, explorer and forward agent."""

import heapq
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Agent, Boundary, Start
from navarena.core.errors import InputError
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.graphs.task import STOP
from navarena.tasks.graphs.teacher import GraphTeacher
from navarena.tasks.task import Phase, TaskRules

Roads = dict[int, dict[int, float]]
"""Visited node -> neighbour -> metres."""


class GraphTeacherAgent(Agent):
    """Executes a teacher's labels step by step; stops at once if the goal is unknown (test splits)."""

    in_scenes = False
    privileged = True
    privileged_inputs = ("goal", "graph")
    follows_path = False

    def __init__(self, task: TaskRules, seed: int = 0) -> None:
        self._teacher: GraphTeacher | None = None

    def attach(self, batch: GraphBatch) -> None:
        """Look at the nodes and goals of `batch`."""
        self._teacher = GraphTeacher(batch, self.follows_path)

    def reset(self, starts: Sequence[Start]) -> None:
        """Nothing to forget."""

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        if self._teacher is None:
            raise InputError("expected the agent to be attached to a batch, got an act before attach")
        return self._teacher.label(active)


class GraphExpertAgent(GraphTeacherAgent):
    """Goes along a shortest path to the goal and stops there: the teacher of imitation."""


class GraphPathAgent(GraphTeacherAgent):
    """Follows the described path node by node: nDTW 1 even where the path is no shortest one."""

    privileged_inputs = ("path", "graph")
    follows_path = True


class GraphForwardAgent(Agent):
    """Goes to the neighbour whose direction is nearest to its heading, and never stops."""

    in_scenes = False
    sensors = ("action_mask", "candidate_angles")

    def reset(self, starts: Sequence[Start]) -> None:
        """Nothing to forget."""

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        ahead = np.where(observations["action_mask"][:, 1:], observations["candidate_angles"][..., 1], -2.0)
        return np.asarray(ahead.argmax(1) + 1, np.int64)


class GraphExplorerAgent(Agent):
    """Goes to the nearest node that it has seen and not visited; stops when there is none left.

    Its map holds what it observed in this tour, oracle phases included: visited nodes, their
    neighbours and the straight distances to them. It is dropped at the end of the tour.
    """

    in_scenes = False
    sensors = ("viewpoint", "candidate_viewpoints", "candidate_distances", "phase")

    def __init__(self, task: TaskRules, seed: int = 0) -> None:
        self._maps: dict[int, Roads] = {}

    def reset(self, starts: Sequence[Start]) -> None:
        for start in starts:
            if start.boundary >= Boundary.TOUR:
                self._maps[start.slot] = {}

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        actions = np.full(len(active), STOP, np.int64)
        for slot in np.flatnonzero(active).tolist():
            here = int(observations["viewpoint"][slot])
            around = observations["candidate_viewpoints"][slot]
            roads = self._maps[slot]
            if here not in roads:
                metres = observations["candidate_distances"][slot]
                roads[here] = {int(node): float(d) for node, d in zip(around, metres) if node >= 0}
            if observations["phase"][slot] == Phase.AGENT:
                target = first_step(roads, here)
                actions[slot] = STOP if target is None else 1 + int(np.argmax(around == target))
        return actions


def first_step(roads: Roads, here: int) -> int | None:
    """The neighbour of `here` on the shortest known path to a node without roads; None when all have some.

    Of equally near nodes the one with the lowest number is chosen.
    """
    queue: list[tuple[float, int, int]] = [(metres, node, node) for node, metres in roads[here].items()]
    heapq.heapify(queue)
    done = {here}
    while queue:
        metres, node, first = heapq.heappop(queue)
        if node in done:
            continue
        if node not in roads:
            return first
        done.add(node)
        for following, more in roads[node].items():
            if following not in done:
                heapq.heappush(queue, (metres + more, following, first))
    return None
