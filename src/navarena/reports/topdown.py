"""Drawings of episodes from above, as inline SVG.

The plan shows world x to the right and world z downwards (north, -z, is up), in metres;
strokes keep their width on the screen whatever the size of the scene. Colours are CSS
classes of the page, so that a drawing follows its light or dark theme.
"""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float
from markupsafe import Markup, escape

from navarena.core.geometry import forward_from_yaw
from navarena.core.protocol_ids import base_protocol
from navarena.episodes.episode import Episode
from navarena.episodes.floor_graph import house_graph
from navarena.episodes.graph_routes import R2R_GRAPH_V1
from navarena.evaluation.benchmark import Benchmark, TaskSetup
from navarena.metrics.trajectory import Trajectory
from navarena.reports.plan_view import ScenePlan, on_plan, view_walk, write_outlines, write_points
from navarena.scenes.graphs import Connectivity, NavGraph
from navarena.scenes.scene import Room
from navarena.simulation.world import World, open_world
from navarena.tasks.catalog import get_task, require_body_task
from navarena.tasks.graphs.task import GraphTask

PATH_COLORS = 8
"""Classes path-0 (start) to path-7 (end) of the page."""

_COLLISIONS_DRAWN = 60


PlanSource = Callable[[str], ScenePlan]
"""From a scene id to its plan."""


def make_scene_plan(world: World) -> ScenePlan:
    """The plan of a world."""
    mesh = world.navmesh
    return ScenePlan(mesh.vertices, mesh.triangles, mesh.neighbors, world.scene.rooms, mesh.shortest_path)


EDGE_WIDTH = 0.15
"""Metres, of the strips of floor by which a plan shows the edges of a navigation graph."""


def make_graph_plan(graph: NavGraph) -> ScenePlan:
    """The plan of a navigation graph: each edge as a strip of floor of two triangles."""
    ends = graph.positions[graph.edges]
    across = (ends[:, 1] - ends[:, 0])[:, [2, 1, 0]] * (1.0, 0.0, -1.0)
    across *= EDGE_WIDTH / 2 / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
    corners = np.stack(
        [ends[:, 0] - across, ends[:, 0] + across, ends[:, 1] + across, ends[:, 1] - across], 1
    )
    first = 4 * np.arange(len(ends), dtype=np.int32)[:, None]
    triangles = np.stack([first + (0, 1, 2), first + (0, 2, 3)], 1).reshape(-1, 3).astype(np.int32)
    other = 2 * np.arange(len(ends), dtype=np.int32)
    neighbors = np.full((len(triangles), 3), -1, np.int32)
    neighbors[0::2, 2], neighbors[1::2, 0] = other + 1, other  # across the diagonal that both share

    def shortest_path(start: np.ndarray, goal: np.ndarray) -> np.ndarray:
        a, b = (int(np.linalg.norm(graph.positions - point, axis=1).argmin()) for point in (start, goal))
        return np.asarray(graph.positions[graph.shortest_path(a, b)])

    return ScenePlan(corners.reshape(-1, 3), triangles, neighbors, (), shortest_path)


def open_plans(benchmark: Benchmark) -> PlanSource:
    """The plans of the scenes of a registered protocol, for its body or of its navigation graphs."""
    task = get_task(base_protocol(benchmark.identity.protocol))  # options keep the body
    if isinstance(task, GraphTask):
        setup = benchmark.setup
        if isinstance(setup, TaskSetup) and setup.sources.scenes:
            connectivity = Connectivity(Path(setup.sources.scenes))
            return lambda scene_id: make_graph_plan(connectivity.graph(scene_id))
        body = R2R_GRAPH_V1.embodiment
        return lambda scene_id: make_graph_plan(house_graph(open_world(scene_id, body)))
    embodiment = require_body_task(task).embodiment
    return lambda scene_id: make_scene_plan(open_world(scene_id, embodiment))


def draw_episode(
    plan: ScenePlan, episode: Episode, trajectory: Trajectory, shows_body: bool = False
) -> Markup:
    """The SVG of one episode: floor, rooms, shortest path, walked path, collisions, start and goal.

    `shows_body` marks where the body is at the end of the trajectory, and where it looks.
    """
    positions = np.asarray(trajectory.positions, float)
    view = view_walk(plan, episode, positions)
    low, high = view.low, view.high
    size = float((high - low).max())
    parts = [
        *_draw_rooms(view.rooms),
        _draw_floor("floor other", view.others),
        _draw_floor("floor", view.outlines),
        *_name_rooms(view.rooms, size),
        _polyline("shortest", on_plan(view.shortest)),
        *_draw_walk(on_plan(positions)),
        *_draw_collisions(positions[1:][trajectory.collided], size),
        *(_draw_goal(goal, trajectory.success_distance, size) for goal in view.goals),
        *_number_goals(view.goals, size),
        _draw_arrow("start", positions[0], float(trajectory.yaws[0]), size),
        *([_draw_arrow("body", positions[-1], float(trajectory.yaws[-1]), size)] if shows_body else []),
        _draw_scale(low, high, size),
    ]
    box = f"{low[0]:.2f} {low[1]:.2f} {high[0] - low[0]:.2f} {high[1] - low[1]:.2f}"
    label = escape(f"Top-down drawing of episode {episode.episode_id}")
    return Markup(
        f'<svg class="topdown" viewBox="{box}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    )


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
    places = np.unique(on_plan(positions).round(1), axis=0)[:_COLLISIONS_DRAWN]
    return [f'<circle class="hit" cx="{x:.2f}" cy="{z:.2f}" r="{size * 0.006:.3f}"/>' for x, z in places]


def _draw_goal(goal: Float[np.ndarray, "3"], success_distance: float, size: float) -> str:
    x, z = goal[0], goal[2]
    radius = max(success_distance, size * 0.018)
    return (
        f'<circle class="goal-ring" cx="{x:.2f}" cy="{z:.2f}" r="{radius:.3f}"/>'
        f'<circle class="goal" cx="{x:.2f}" cy="{z:.2f}" r="{size * 0.007:.3f}"/>'
    )


def _number_goals(goals: Float[np.ndarray, "g 3"], size: float) -> list[str]:
    """Their places in the order, beside them; nothing for one goal."""
    if len(goals) < 2:
        return []
    return [
        f'<text class="goal-number" x="{goal[0] + size * 0.012:.2f}" y="{goal[2] - size * 0.012:.2f}" '
        f'font-size="{size * 0.034:.2f}">{number}</text>'
        for number, goal in enumerate(goals, 1)
    ]


def _draw_arrow(name: str, place: Float[np.ndarray, "3"], yaw: float, size: float) -> str:
    """An arrow head that points where the body looks."""
    forward = forward_from_yaw(np.array(yaw))[[0, 2]]
    side = np.array([-forward[1], forward[0]])
    centre, length = place[[0, 2]], size * 0.028
    arrow = np.stack(
        [
            centre + forward * length,
            centre - forward * length * 0.7 + side * length * 0.65,
            centre - forward * length * 0.35,
            centre - forward * length * 0.7 - side * length * 0.65,
        ]
    )
    return f'<path class="{name}" d="{write_outlines([arrow])}"/>'


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
