"""The agent that goes where it has not been."""

import heapq
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Boundary, Start
from navarena.agents.graph_agent import GraphAgent
from navarena.tasks.phase import Phase
from navarena.tasks.vln_graph import STOP, GraphTask

Roads = dict[int, dict[int, float]]
"""Visited node -> neighbour -> metres."""


class GraphExplorerAgent(GraphAgent):
    """Goes to the nearest node that it has seen and not visited; stops when there is none left.

    Its map holds what it observed in this tour, oracle phases included: visited nodes, their
    neighbours and the straight distances to them. It is dropped at the end of the tour.
    """

    sensors = ("viewpoint", "candidate_viewpoints", "candidate_distances", "phase")

    def __init__(self, task: GraphTask, seed: int = 0) -> None:
        super().__init__()
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
    """The neighbour of `here` on the shortest known way to a node without roads; None when all have some.

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
