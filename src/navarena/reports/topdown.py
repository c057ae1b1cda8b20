"""Drawings of episodes from above, as inline SVG.

The plan shows world x to the right and world z downwards (north, -z, is up), in metres;
strokes keep their width on the screen whatever the size of the scene. Colours are CSS
classes of the page, so that a drawing follows its light or dark theme.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int32
from markupsafe import Markup, escape

from navarena.core.arrays import Points, Triangles
from navarena.core.geometry import forward_from_yaw
from navarena.core.protocol_ids import base_protocol
from navarena.episodes.episode import Episode, MultiGoal, ObjectGoal
from navarena.evaluation.benchmark import Benchmark
from navarena.metrics.trajectory import Trajectory
from navarena.reports.floor_plan import select_floor, trace_outlines, write_outlines, write_points
from navarena.scenes.scene import Room
from navarena.simulation.world import World, open_world
from navarena.tasks.catalog import get_task

PATH_COLORS = 8
"""Classes path-0 (start) to path-7 (end) of the page."""

_AROUND = 4.0
_AROUND_SHARE = 0.35
"""A drawing shows so many metres, or this share of the walk's extent, around the walk."""

_MARGIN = 0.04
_COLLISIONS_DRAWN = 60


@dataclass(frozen=True)
class ScenePlan:
    """What a drawing needs to know of a scene.

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


PlanSource = Callable[[str], ScenePlan]
"""From a scene id to its plan."""


def make_scene_plan(world: World) -> ScenePlan:
    """The plan of a world."""
    mesh = world.navmesh
    return ScenePlan(mesh.vertices, mesh.triangles, mesh.neighbors, world.scene.rooms, mesh.shortest_path)


def open_plans(benchmark: Benchmark) -> PlanSource:
    """The plans of the scenes of a registered protocol, for its body."""
    embodiment = get_task(base_protocol(benchmark.identity.protocol)).embodiment  # options keep the body
    return lambda scene_id: make_scene_plan(open_world(scene_id, embodiment))


def draw_episode(plan: ScenePlan, episode: Episode, trajectory: Trajectory) -> Markup:
    """The SVG of one episode: floor, rooms, shortest path, walked path, collisions, start and goal."""
    positions = np.asarray(trajectory.positions, float)
    start, goals = positions[0], _find_goals(episode)
    shortest = _find_shortest(plan, np.concatenate([start[None], goals]))
    heights = np.concatenate([positions[:, 1], goals[:, 1], shortest[:, 1]])
    selected = select_floor(plan.vertices, plan.triangles, heights.min(), heights.max())
    outlines = trace_outlines(plan.vertices, plan.triangles, plan.neighbors, selected)
    others = trace_outlines(plan.vertices, plan.triangles, plan.neighbors, ~selected)
    rooms = [room for room in plan.rooms if heights.min() - 1 <= room.floor_height <= heights.max() + 1]
    floor = [*outlines, *others, *(np.asarray(room.polygon, float) for room in rooms)]
    walk = np.concatenate([_plan_points(positions), _plan_points(shortest), _plan_points(goals)])
    low, high = _choose_view(walk, floor)
    size = float((high - low).max())
    parts = [
        *_draw_rooms(rooms),
        _draw_floor("floor other", others),
        _draw_floor("floor", outlines),
        *_name_rooms(rooms, size),
        _polyline("shortest", _plan_points(shortest)),
        *_draw_walk(_plan_points(positions)),
        *_draw_collisions(positions[1:][trajectory.collided], size),
        *(_draw_goal(goal, trajectory.success_distance, size) for goal in goals),
        _draw_start(start, float(trajectory.yaws[0]), size),
        _draw_scale(low, high, size),
    ]
    box = f"{low[0]:.2f} {low[1]:.2f} {high[0] - low[0]:.2f} {high[1] - low[1]:.2f}"
    label = escape(f"Top-down drawing of episode {episode.episode_id}")
    return Markup(
        f'<svg class="topdown" viewBox="{box}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    )


def _find_goals(episode: Episode) -> Float[np.ndarray, "g 3"]:
    """(G, 3) metres: the goals in order; of an object goal the place where the shortest path ends."""
    goal = episode.goal
    if isinstance(goal, ObjectGoal) and goal.arrival is not None:
        return np.array([goal.arrival], float)
    places = goal.places if isinstance(goal, MultiGoal) else goal.places[-1:]
    return np.array(places, float).reshape(-1, 3)


def _find_shortest(plan: ScenePlan, points: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "p 3"]:
    """(P, 3) metres: corners of the shortest path from the first of `points` (K, 3) along all of them."""
    legs = [np.asarray(plan.shortest_path(*pair), float) for pair in itertools.pairwise(points)]
    return np.concatenate([leg.reshape(-1, 3) for leg in legs]) if legs else np.zeros((0, 3))


def _choose_view(
    walk: Float[np.ndarray, "k 2"], floor: Sequence[Float[np.ndarray, "_ 2"]]
) -> tuple[Float[np.ndarray, "2"], Float[np.ndarray, "2"]]:
    """Lower and upper corner (2,) in metres of what is shown: the walk and what is around it."""
    low, high = walk.min(0), walk.max(0)
    around = max(_AROUND, _AROUND_SHARE * float((high - low).max()))
    low, high = low - around, high + around
    corners = np.concatenate([walk, *floor])
    margin = _MARGIN * float((high - low).max())
    return np.maximum(low, corners.min(0) - margin), np.minimum(high, corners.max(0) + margin)


def _plan_points(points: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "k 2"]:
    return points[:, [0, 2]]


def _polyline(name: str, points: Float[np.ndarray, "k 2"]) -> str:
    return f'<polyline class="{name}" points="{write_points(points)}"/>' if len(points) > 1 else ""


def _draw_floor(name: str, outlines: Sequence[Float[np.ndarray, "_ 2"]]) -> str:
    return f'<path class="{name}" d="{write_outlines(outlines)}"/>' if outlines else ""


def _draw_rooms(rooms: Sequence[Room]) -> list[str]:
    """Outlines of rooms."""
    return [f'<path class="room" d="{write_outlines([np.asarray(room.polygon, float)])}"/>' for room in rooms]


def _name_rooms(rooms: Sequence[Room], size: float) -> list[str]:
    """Names of rooms, each in the middle of its room."""
    parts = []
    for room in rooms:
        polygon = np.asarray(room.polygon, float)
        x, z = (polygon.min(0) + polygon.max(0)) / 2
        parts.append(
            f'<text class="room-name" x="{x:.2f}" y="{z:.2f}" font-size="{size * 0.026:.2f}">'
            f"{escape(room.category)}</text>"
        )
    return parts


def _draw_walk(points: Float[np.ndarray, "k 2"]) -> list[str]:
    """The walked path in pieces of equal number of steps, coloured from start to end."""
    moved = np.append(True, np.abs(np.diff(points, axis=0)).sum(1) > 1e-9)
    points = points[moved]
    borders = np.linspace(0, len(points) - 1, PATH_COLORS + 1).round().astype(int)
    return [
        _polyline(f"walk path-{k}", points[first : last + 1])
        for k, (first, last) in enumerate(itertools.pairwise(borders))
    ]


def _draw_collisions(positions: Float[np.ndarray, "k 3"], size: float) -> list[str]:
    """Dots where steps were cut short; places hit again are drawn once."""
    places = np.unique(_plan_points(positions).round(1), axis=0)[:_COLLISIONS_DRAWN]
    return [f'<circle class="hit" cx="{x:.2f}" cy="{z:.2f}" r="{size * 0.006:.3f}"/>' for x, z in places]


def _draw_goal(goal: Float[np.ndarray, "3"], success_distance: float, size: float) -> str:
    x, z = goal[0], goal[2]
    radius = max(success_distance, size * 0.018)
    return (
        f'<circle class="goal-ring" cx="{x:.2f}" cy="{z:.2f}" r="{radius:.3f}"/>'
        f'<circle class="goal" cx="{x:.2f}" cy="{z:.2f}" r="{size * 0.007:.3f}"/>'
    )


def _draw_start(start: Float[np.ndarray, "3"], yaw: float, size: float) -> str:
    """An arrow head at the start that points where the body looked."""
    forward = forward_from_yaw(np.array(yaw))[[0, 2]]
    side = np.array([-forward[1], forward[0]])
    centre, length = start[[0, 2]], size * 0.028
    arrow = np.stack(
        [
            centre + forward * length,
            centre - forward * length * 0.7 + side * length * 0.65,
            centre - forward * length * 0.35,
            centre - forward * length * 0.7 - side * length * 0.65,
        ]
    )
    return f'<path class="start" d="{write_outlines([arrow])}"/>'


def _draw_scale(low: Float[np.ndarray, "2"], high: Float[np.ndarray, "2"], size: float) -> str:
    """A bar of 1, 2, 5, ... metres in the lower left corner."""
    lengths = [base * 10.0**power for power in range(4) for base in (1, 2, 5)]
    length = max([one for one in lengths if one <= size / 4], default=1.0)
    x, z = low[0] + 0.015 * size, high[1] - 0.015 * size
    return (
        f'<line class="scale" x1="{x:.2f}" y1="{z:.2f}" x2="{x + length:.2f}" y2="{z:.2f}"/>'
        f'<text class="scale-name" x="{x:.2f}" y="{z - 0.012 * size:.2f}" font-size="{size * 0.03:.2f}">'
        f"{length:g} m</text>"
    )
