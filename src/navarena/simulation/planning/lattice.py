# mypy: disable-error-code="no-untyped-def"
"""Search over the lattice of discrete actions: slow, and complete within its bounds."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from navarena.core.kernels import kernel
from navarena.simulation.body import Embodiment
from navarena.simulation.motion import turned
from navarena.simulation.navmesh.queries.distance_fields import ask_point
from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.navmesh.queries.stepping import SCRATCH, step_body
from navarena.simulation.planning.headings import turns_of

CELL = 0.05
"""Metres: of poses with the same heading within one cell, only the first to be reached is kept."""

STOREY = 0.5
"""Metres of height by which poses of one cell differ."""

BREADTH = 16
"""Poses that are taken from the queue at once."""

MAX_EXPANDED = 40_000
"""Poses after which the search gives up."""

EAGERNESS = 1.5
"""Weight of the path ahead against the path behind: above 1, the search hurries toward the goal.

With 1.1, a path of 30 m that winds round many corners is not found within MAX_EXPANDED poses; with
1.5 it takes a fifth of them.
"""

FIRST_NODES = 4096
"""Poses that a search has room for at first."""

COLUMN, STOREY_COLUMN, ROW, HEADING, ACTIONS, PARENT, TURNS, TRIANGLE = range(8)
"""Columns of the whole numbers of a node: its cell and heading, by which it is known, its actions so
far, the node before it, the turns between them, and the triangle under it."""

FIELD_TOO_SMALL, NOTHING = -2, -1
"""What a search returns in the place of a node."""


@dataclass(frozen=True)
class Origin:
    """Start state of a search.

    Attributes:
        position, yaw: the pose, metres and radians.
        triangle: of the navmesh, under it; -1 = not known.
    """

    position: Float[np.ndarray, "3"]
    yaw: float
    triangle: int = -1


def search_lattice(
    fields: GoalFields, slot: int, body: Embodiment, origin: Origin, stop_distance: float, max_actions: int
) -> list[int] | None:
    """Combined moves (turns before each step) that lead on from `origin` to the goal.

    Weighted A* over (position, heading) with exact stepping; the geodesic distance is the
    heuristic. Deterministic. Returns None when nothing was found within MAX_EXPANDED poses and
    `max_actions` actions.

    Args:
        fields: navmeshes and goals.
        slot: which of them.
        body: what walks; a whole turn must be a multiple of its turn angle.
        origin: where to begin.
        stop_distance: metres, geodesic.
        max_actions: turns and steps.
    """
    turns, visited, slots = turns_of(body), np.zeros(SCRATCH, np.int32), np.array([slot], np.int64)
    found: list[int] | None = None

    def search(meshes: np.ndarray, rows: np.ndarray) -> int:
        nonlocal found
        last, nodes = search_nodes(
            meshes,
            rows,
            slots[0],
            np.asarray(origin.position, float),
            float(origin.yaw),
            origin.triangle,
            turns,
            body.turn_angle,
            body.forward_step,
            body.slides,
            stop_distance,
            max_actions,
            visited,
        )
        if last == FIELD_TOO_SMALL:
            return 0
        found = None if last == NOTHING else _trace(nodes, last)
        return 1

    fields.run(slots, search)
    return found


def _trace(nodes: np.ndarray, node: int) -> list[int]:
    """The moves that lead to a node of (M, 8) int64 whole numbers."""
    moves = []
    while nodes[node, PARENT] >= 0:
        moves.append(int(nodes[node, TURNS]))
        node = int(nodes[node, PARENT])
    return moves[::-1]


@kernel
def find_place(places, nodes, node):
    """The entry of the hash table `places` with the cell and heading of a node, or the free one for it.

    places: (2^k,) int32, nodes by their hash, -1 = free.
    """
    mask = places.shape[0] - 1
    code = np.int64(0)
    for column in range(4):
        code = (code * np.int64(1_000_003)) ^ nodes[node, column]
    entry = (code ^ (code >> 17)) & mask
    while places[entry] >= 0:
        other = places[entry]
        if (
            nodes[other, 0] == nodes[node, 0]
            and nodes[other, 1] == nodes[node, 1]
            and nodes[other, 2] == nodes[node, 2]
            and nodes[other, 3] == nodes[node, 3]
        ):
            break
        entry = (entry + 1) & mask
    return entry


@kernel
def push_node(queue, estimates, count, node):
    """Add a node to a binary heap of `count` nodes, least estimate first, then least number."""
    i = count
    while i > 0:
        parent = (i - 1) >> 1
        above = queue[parent]
        if estimates[above] < estimates[node] or (estimates[above] == estimates[node] and above < node):
            break
        queue[i] = above
        i = parent
    queue[i] = node


@kernel
def pop_node(queue, estimates, count):
    """The first of a binary heap of `count` nodes, which is removed."""
    first, last, i = queue[0], queue[count - 1], 0
    while True:
        child = 2 * i + 1
        if child >= count - 1:
            break
        a, b = queue[child], queue[child + 1]
        if child + 1 < count - 1 and (
            estimates[b] < estimates[a] or (estimates[b] == estimates[a] and b < a)
        ):
            child, a = child + 1, b
        if estimates[last] < estimates[a] or (estimates[last] == estimates[a] and last < a):
            break
        queue[i] = a
        i = child
    queue[i] = last
    return first


@kernel
def doubled(array):
    """The array with as many rows of zeros behind it."""
    larger = np.zeros((2 * array.shape[0], array.shape[1]), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@kernel
def search_nodes(
    meshes,
    fields,
    slot,
    position,
    yaw,
    triangle,
    turns,
    angle,
    forward,
    slides,
    stop_distance,
    max_actions,
    visited,
):
    """(node at the goal or NOTHING or FIELD_TOO_SMALL, (M, 8) int64 whole numbers of nodes)."""
    headings = turns.shape[0]
    nodes = np.zeros((FIRST_NODES, 8), np.int64)
    poses = np.zeros((FIRST_NODES, 4))
    estimates, queue = np.zeros(FIRST_NODES), np.zeros(FIRST_NODES, np.int32)
    places = np.full(4 * FIRST_NODES, -1, np.int32)
    chosen = np.zeros(BREADTH, np.int32)
    poses[0, 0], poses[0, 1], poses[0, 2], poses[0, 3] = position[0], position[1], position[2], yaw
    nodes[0, PARENT], nodes[0, TRIANGLE] = -1, triangle
    count, waiting, expanded = 1, 1, 0
    while waiting > 0 and expanded < MAX_EXPANDED:
        taken = min(BREADTH, waiting)
        for i in range(taken):
            chosen[i] = pop_node(queue, estimates, waiting)
            waiting -= 1
        expanded += taken
        for i in range(taken):
            here = chosen[i]
            while count + headings > estimates.shape[0]:
                nodes, poses = doubled(nodes), doubled(poses)
                estimates = doubled(estimates.reshape(-1, 1)).reshape(-1)
                queue = doubled(queue.reshape(-1, 1)).reshape(-1)
                places = np.full(4 * estimates.shape[0], -1, np.int32)
                for node in range(1, count):
                    places[find_place(places, nodes, node)] = node
            x, y, z = poses[here, 0], poses[here, 1], poses[here, 2]
            to_left, to_right, lefts, rights = poses[here, 3], poses[here, 3], 0, 0
            for column in range(headings):
                turn = turns[column]
                while lefts < turn:
                    to_left = turned(to_left, angle)
                    lefts += 1
                while rights < -turn:
                    to_right = turned(to_right, -angle)
                    rights += 1
                towards = to_right if turn < 0 else to_left if turn > 0 else poses[here, 3]
                t, nx, ny, nz, _ = step_body(
                    meshes, slot, nodes[here, TRIANGLE], x, y, z, towards, forward, slides, visited
                )
                ok, left, _, _, _ = ask_point(meshes, fields, slot, nx, ny, nz)
                if not ok:
                    return FIELD_TOO_SMALL, nodes
                actions = nodes[here, ACTIONS] + abs(turn) + 1
                if not actions + max(left - stop_distance, 0.0) / forward <= max_actions:
                    continue
                nodes[count, COLUMN] = np.int64(np.floor(nx / CELL))
                nodes[count, STOREY_COLUMN] = np.int64(np.floor(ny / STOREY))
                nodes[count, ROW] = np.int64(np.floor(nz / CELL))
                nodes[count, HEADING] = (nodes[here, HEADING] + turn) % headings
                entry = find_place(places, nodes, count)
                if places[entry] >= 0:
                    continue
                places[entry] = count
                nodes[count, ACTIONS], nodes[count, PARENT], nodes[count, TURNS] = actions, here, turn
                nodes[count, TRIANGLE] = t
                poses[count, 0], poses[count, 1], poses[count, 2], poses[count, 3] = nx, ny, nz, towards
                count += 1
                if left < stop_distance:
                    return count - 1, nodes
                estimates[count - 1] = actions + EAGERNESS * left / forward
                push_node(queue, estimates, waiting, count - 1)
                waiting += 1
    return NOTHING, nodes
