"""The plan of a scene from above: walkable floor, rooms, and the part that an episode needs."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int32

from navarena.core.arrays import Points, Triangles
from navarena.episodes.episode import Episode
from navarena.episodes.goals import LifelongGoal, MultiGoal, ObjectGoal
from navarena.scenes.scene import Room

FLOOR_MARGIN = 1.0
"""Metres above and below a path within which floor belongs to it: more than a step, less than a storey."""


def select_floor(
    vertices: Points, triangles: Triangles, lowest: float, highest: float
) -> Bool[np.ndarray, "t"]:
    """(T,) which triangles reach into the storeys between two heights (world y, metres)."""
    heights = vertices[triangles, 1]
    return (heights.max(1) >= lowest - FLOOR_MARGIN) & (heights.min(1) <= highest + FLOOR_MARGIN)


def trace_outlines(
    vertices: Points,
    triangles: Triangles,
    neighbors: Int32[np.ndarray, "t 3"],
    selected: Bool[np.ndarray, "t"],
) -> list[Float[np.ndarray, "_ 2"]]:
    """Closed outlines (K, 2) of the selected triangles in the plan: world x and z, metres.

    Outer outlines and holes run in opposite senses, so that a non-zero fill draws the floor.

    Args:
        vertices: (V, 3) metres, world frame.
        triangles: (T, 3) all of one sense.
        neighbors: (T, 3) triangle across the edge from corner k to corner k + 1; -1 at a border.
        selected: (T,) the triangles to draw.
    """
    inside = np.append(selected, False)
    border = selected[:, None] & ~inside[neighbors]
    following: dict[int, list[int]] = defaultdict(list)
    for triangle, corner in np.argwhere(border):
        first = int(triangles[triangle, corner])
        following[first].append(int(triangles[triangle, (corner + 1) % 3]))
    outlines = []
    for start in list(following):
        while following[start]:
            loop = _follow(following, start)
            if len(loop) >= 3:
                outlines.append(vertices[loop][:, [0, 2]])
    return outlines


def write_points(points: Float[np.ndarray, "k 2"]) -> str:
    """Points (K, 2), metres, as an SVG's `points` and `d` write them: in centimetres."""
    return " ".join(f"{x:.2f},{z:.2f}" for x, z in points)


def write_outlines(outlines: Sequence[Float[np.ndarray, "_ 2"]]) -> str:
    """The `d` of an SVG path along closed outlines (K, 2), metres."""
    return "".join(f"M{write_points(outline)}Z" for outline in outlines)


def _follow(following: dict[int, list[int]], start: int) -> list[int]:
    """Take border edges from `start` until they lead back to it."""
    loop, vertex = [start], following[start].pop()
    while vertex != start and following[vertex]:
        loop.append(vertex)
        vertex = following[vertex].pop()
    return loop


_AROUND = 4.0
_AROUND_SHARE = 0.35
"""A drawing shows so many metres, or this share of the trajectory's extent, around the trajectory."""

_MARGIN = 0.04


@dataclass(frozen=True)
class ScenePlan:
    """The parts of a scene that drawings use.

    Attributes:
        vertices, triangles, neighbors: of the navmesh (see NavMesh); world frame, metres.
        rooms: named rooms, possibly none.
        shortest_path: (start (3,), goal (3,)) -> corner points (K, 3).
    """

    vertices: Points
    triangles: Triangles
    neighbors: Int32[np.ndarray, "t 3"]
    rooms: tuple[Room, ...]
    shortest_path: Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class PlanView:
    """A trajectory and its surroundings on the plan; points of the plan are (x, z), metres, world frame.

    Attributes:
        goals: (G, 3) metres, in order.
        shortest: (P, 3) metres, corners of the shortest path along them.
        outlines: closed outlines (K, 2) of the storeys of the trajectory.
        others: closed outlines (K, 2) of the other storeys.
        rooms: on the storeys of the trajectory.
        low, high: (2,) corners of what is shown.
    """

    goals: Float[np.ndarray, "g 3"]
    shortest: Float[np.ndarray, "p 3"]
    outlines: tuple[Float[np.ndarray, "_ 2"], ...]
    others: tuple[Float[np.ndarray, "_ 2"], ...]
    rooms: tuple[Room, ...]
    low: Float[np.ndarray, "2"]
    high: Float[np.ndarray, "2"]


def view_walk(plan: ScenePlan, episode: Episode, positions: Float[np.ndarray, "k 3"]) -> PlanView:
    """The drawing of an episode with the trajectory `positions` (K, 3), metres."""
    return view_goals(plan, find_goals(episode), positions)


def view_goals(
    plan: ScenePlan, goals: Float[np.ndarray, "g 3"], positions: Float[np.ndarray, "k 3"]
) -> PlanView:
    """The drawing of `goals` (G, 3), in order, and the trajectory `positions` (K, 3), metres."""
    shortest = find_shortest(plan, np.concatenate([positions[:1], goals]))
    heights = np.concatenate([positions[:, 1], goals[:, 1], shortest[:, 1]])
    selected = select_floor(plan.vertices, plan.triangles, heights.min(), heights.max())
    outlines = trace_outlines(plan.vertices, plan.triangles, plan.neighbors, selected)
    others = trace_outlines(plan.vertices, plan.triangles, plan.neighbors, ~selected)
    rooms = [room for room in plan.rooms if heights.min() - 1 <= room.floor_height <= heights.max() + 1]
    floor = [*outlines, *others, *(np.asarray(room.polygon, float) for room in rooms)]
    walk = np.concatenate([on_plan(positions), on_plan(shortest), on_plan(goals)])
    low, high = choose_window(walk, floor)
    return PlanView(goals, shortest, tuple(outlines), tuple(others), tuple(rooms), low, high)


def find_goals(episode: Episode) -> Float[np.ndarray, "g 3"]:
    """(G, 3) metres: the goals in order; of an object goal the place where the shortest path ends."""
    goal = episode.goal
    if isinstance(goal, ObjectGoal) and goal.arrival is not None:
        return np.array([goal.arrival], float)
    places = goal.places if isinstance(goal, MultiGoal | LifelongGoal) else goal.places[-1:]
    return np.array(places, float).reshape(-1, 3)


def find_shortest(plan: ScenePlan, points: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "p 3"]:
    """(P, 3) metres: corners of the shortest path from the first of `points` (K, 3) along all of them."""
    legs = [np.asarray(plan.shortest_path(*pair), float) for pair in itertools.pairwise(points)]
    return np.concatenate([leg.reshape(-1, 3) for leg in legs]) if legs else np.zeros((0, 3))


def choose_window(
    walk: Float[np.ndarray, "k 2"], floor: Sequence[Float[np.ndarray, "_ 2"]]
) -> tuple[Float[np.ndarray, "2"], Float[np.ndarray, "2"]]:
    """Lower and upper corner (2,) in metres of the drawing: the trajectory and its surroundings."""
    low, high = walk.min(0), walk.max(0)
    around = max(_AROUND, _AROUND_SHARE * float((high - low).max()))
    low, high = low - around, high + around
    corners = np.concatenate([walk, *floor])
    margin = _MARGIN * float((high - low).max())
    return np.maximum(low, corners.min(0) - margin), np.minimum(high, corners.max(0) + margin)


def on_plan(points: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "k 2"]:
    """(K, 2) metres: world x and z of `points` (K, 3)."""
    return points[:, [0, 2]]
