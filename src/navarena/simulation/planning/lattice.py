"""Search over the lattice of discrete actions: slow, and complete within its bounds."""

import heapq
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from navarena.simulation.planning.greedy import Progress
from navarena.simulation.planning.move_outcomes import BodyPoses, MoveSimulator

CELL = 0.05
"""Metres: of poses with the same heading within one cell, only the first to be reached is kept."""

STOREY = 0.5
"""Metres of height by which poses of one cell differ."""

BREADTH = 16
"""Poses whose moves are tried out in one native call."""

MAX_EXPANDED = 40_000
"""Poses after which the search gives up."""

EAGERNESS = 1.5
"""Weight of the path ahead against the path behind: above 1, the search hurries toward the goal.

With 1.1, a path of 30 m that winds round many corners is not found within MAX_EXPANDED poses; with
1.5 it takes a fifth of them.
"""


@dataclass(frozen=True)
class _Node:
    position: Float[np.ndarray, "3"]
    yaw: float
    triangle: int
    heading: int
    actions: int
    parent: int
    turns: int


def search_lattice(
    simulator: MoveSimulator,
    body: int,
    progress: Progress,
    stop_distance: float,
    max_actions: int,
) -> list[int] | None:
    """Combined moves (turns before each step) that lead on from `progress` to the goal.

    Weighted A* over (position, heading) with exact stepping; the geodesic distance is the
    heuristic. Deterministic. Returns None when nothing was found within MAX_EXPANDED poses and
    `max_actions` actions.

    Args:
        simulator: the moves of the bodies.
        body: which of them, 0 to K - 1.
        progress: where to begin; it is left as it is.
        stop_distance: metres, geodesic.
        max_actions: turns and steps.
    """
    nodes = [_Node(progress.position, progress.yaw, progress.triangle, 0, 0, -1, 0)]
    seen: set[tuple[int, int, int, int]] = set()
    queue: list[tuple[float, int]] = [(0.0, 0)]
    expanded = 0
    while queue and expanded < MAX_EXPANDED:
        chosen = [heapq.heappop(queue)[1] for _ in range(min(BREADTH, len(queue)))]
        expanded += len(chosen)
        poses = BodyPoses(
            np.full(len(chosen), body, np.int64),
            np.stack([nodes[i].position for i in chosen]),
            np.array([nodes[i].yaw for i in chosen]),
            np.array([nodes[i].triangle for i in chosen], np.int32),
        )
        outcome = simulator.try_all(poses)
        for row, index in enumerate(chosen):
            parent = nodes[index]
            for column, turns in enumerate(simulator.turns):
                reached, left = outcome.positions[row, column], float(outcome.distances[row, column])
                actions = parent.actions + abs(int(turns)) + 1
                heading = (parent.heading + int(turns)) % len(simulator.turns)
                place = (
                    int(np.floor(reached[0] / CELL)),
                    int(np.floor(reached[1] / STOREY)),
                    int(np.floor(reached[2] / CELL)),
                    heading,
                )
                steps_left = max(left - stop_distance, 0.0) / simulator.embodiment.forward_step
                if not actions + steps_left <= max_actions or place in seen:
                    continue
                seen.add(place)
                yaw, triangle = float(outcome.yaws[row, column]), int(outcome.triangles[row, column])
                nodes.append(_Node(reached, yaw, triangle, heading, actions, index, int(turns)))
                if left < stop_distance:
                    return _trace(nodes)
                estimate = actions + EAGERNESS * left / simulator.embodiment.forward_step
                heapq.heappush(queue, (estimate, len(nodes) - 1))
    return None


def _trace(nodes: list[_Node]) -> list[int]:
    """The moves that lead to the last node."""
    turns, node = [], nodes[-1]
    while node.parent >= 0:
        turns.append(node.turns)
        node = nodes[node.parent]
    return turns[::-1]
