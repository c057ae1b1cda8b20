"""Notebook views of scenes, navmeshes, episodes, trajectories, observations, environments and runs."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw

from navarena.core.display import DRAWERS, NotebookDisplay
from navarena.core.errors import InputError, NavarenaError
from navarena.core.files import write_atomic
from navarena.episodes.episode import Episode
from navarena.evaluation.analyses.compare import Comparison, compare
from navarena.evaluation.analyses.contestants import read_contestant
from navarena.evaluation.analyses.failures import load_evaluation
from navarena.evaluation.running.runner import Evaluation
from navarena.metrics.navigation import path_length
from navarena.metrics.trajectory import Trajectory
from navarena.reports.comparison import contestant_table, difference_table
from navarena.reports.html import render_template
from navarena.reports.plan_view import ScenePlan, find_goals, on_plan, trace_outlines, view_goals
from navarena.reports.preview.plan import draw_plan
from navarena.reports.preview.sheet import MAX_STOREYS, encode_png
from navarena.reports.runs.tables import summary_table
from navarena.reports.tables import Table, metric_table
from navarena.reports.topdown import make_scene_plan
from navarena.reports.videos.frame import paint_classes, paint_depth, show_goals
from navarena.reports.videos.map_panel import FLOOR, FLOOR_EDGE, PAPER, MapPanel
from navarena.scenes.scene import Scene
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.world import open_world
from navarena.tasks.env import NavigationEnv
from navarena.tasks.vector_env import NavigationVectorEnv

PLAN_PX = (560, 440)
"""Width and height of plans."""

MAX_NUMBERS = 8
"""Values of an observation that are written out."""

NO_PLAN = ScenePlan(
    np.zeros((0, 3)),
    np.zeros((0, 3), np.int32),
    np.zeros((0, 3), np.int32),
    (),
    lambda start, goal: np.zeros((0, 3)),
)
"""Of a trajectory whose scene is not at hand."""


@dataclass(frozen=True)
class CaptionedImage:
    """An image of a view.

    Attributes:
        caption: below it.
        image: (H, W, 3) uint8 sRGB.
    """

    caption: str
    image: UInt8[np.ndarray, "h w 3"]

    @property
    def link(self) -> str:
        """A data URL of its PNG file."""
        return "data:image/png;base64," + base64.b64encode(encode_png(self.image)).decode()


@dataclass(frozen=True)
class View:
    """Notebook view of one object: a title, facts, images and tables.

    Attributes:
        title: one line.
        facts: (name, value) of each.
        images: below the facts.
        tables: below them, with headings.
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    images: tuple[CaptionedImage, ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()

    def __repr__(self) -> str:
        return "\n".join([self.title, *(f"  {name}: {value}" for name, value in self.facts)])

    def _repr_html_(self) -> str:
        return render_template("notebook.html", view=self)

    def _repr_png_(self) -> bytes | None:
        return encode_png(self.images[0].image) if self.images else None

    def write(self, path: str | Path) -> None:
        """Write it to `path`: an HTML page, or its first image as .png.

        Raises InputError for another ending and for a view without an image, StorageError.
        """
        path = Path(path)
        data = self._repr_html_().encode() if path.suffix == ".html" else None
        if path.suffix == ".png":
            data = self._repr_png_()
        if data is None:
            raise InputError(f"expected a file .html, or .png of a view with an image, got {path}")
        write_atomic(path, data)


def show(value: Any, trajectory: Trajectory | None = None) -> View:
    """The notebook view of an object, for the last line of a cell; its `write` saves it to a file.

    Args:
        value: a scene, navmesh, episode, trajectory or run; the folder of a run; a list of runs or folders,
            which are compared; an environment; or the observations of one.
        trajectory: drawn into the plan of an episode.

    Raises InputError for anything else.
    """
    if isinstance(value, Episode) and trajectory is not None:
        return view_episode(value, trajectory)
    if isinstance(value, NotebookDisplay):
        view: View = DRAWERS.get(value.display_kind)(value)
        return view
    if isinstance(value, str | Path):
        return view_run(load_evaluation(Path(value)))
    if isinstance(value, Mapping):
        return view_observations(value)
    if isinstance(value, NavigationEnv | NavigationVectorEnv):
        return view_env(value)
    if (
        isinstance(value, list | tuple)
        and value
        and all(isinstance(one, Evaluation | str | Path) for one in value)
    ):
        return view_comparison(value)
    raise InputError(
        f"expected a scene, navmesh, episode, trajectory, run, environment or observations to show, got "
        f"{type(value).__name__}"
    )


def view_scene(scene: Scene) -> View:
    """View of a scene: plans of its storeys, size and content."""
    low, high = scene.bounds
    facts = [("size", f"{high[0] - low[0]:.1f} x {high[2] - low[2]:.1f} m")]
    facts.append(("triangles", f"{len(scene.triangles):,}"))
    if scene.rooms:
        facts.append(("rooms", ", ".join(room.category for room in scene.rooms)))
    if scene.objects:
        facts.append(("objects", f"{len(scene.objects)} of {len(scene.categories)} categories"))
    levels: list[int | None] = [*sorted({room.level for room in scene.rooms})[:MAX_STOREYS]] or [None]
    images = [
        CaptionedImage(
            "" if level is None else f"storey {level}", np.asarray(draw_plan(scene, None, level, PLAN_PX, ()))
        )
        for level in levels
    ]
    return View(f"Scene {scene.scene_id}", tuple(facts), tuple(images))


def view_navmesh(navmesh: NavMesh) -> View:
    """View of a navmesh from above; higher floors are lighter."""
    facts = (
        ("triangles", f"{len(navmesh.triangles):,}"),
        ("walkable", f"{navmesh.navigable_area:.1f} m2 in {navmesh.island_count} islands"),
        ("body", f"radius {navmesh.settings.radius:g} m, height {navmesh.settings.height:g} m"),
    )
    return View("Navmesh", facts, (CaptionedImage("", _draw_navmesh(navmesh)),))


def _draw_navmesh(navmesh: NavMesh) -> UInt8[np.ndarray, "h w 3"]:
    image = Image.new("RGB", PLAN_PX, PAPER)
    if len(navmesh.triangles):
        points, draw = on_plan(navmesh.vertices), ImageDraw.Draw(image)
        low, high = points.min(0), points.max(0)
        scale = float((np.array(PLAN_PX) * 0.94 / np.maximum(high - low, 1e-6)).min())
        middle = np.array(PLAN_PX) / 2 - scale * (low + high) / 2
        heights = navmesh.vertices[navmesh.triangles, 1].mean(1)
        for number in np.argsort(heights, kind="stable").tolist():
            corners = scale * points[navmesh.triangles[number]] + middle
            draw.polygon([tuple(corner) for corner in corners.tolist()], fill=FLOOR)
        everything = np.ones(len(heights), bool)
        for outline in trace_outlines(navmesh.vertices, navmesh.triangles, navmesh.neighbors, everything):
            corners = scale * outline + middle
            draw.line([tuple(corner) for corner in [*corners.tolist(), corners[0].tolist()]], FLOOR_EDGE, 2)
    return np.array(image)


def view_trajectory(trajectory: Trajectory) -> View:
    """The walked path from above, and how it ended."""
    positions = np.asarray(trajectory.positions, float)
    panel = MapPanel(view_goals(NO_PLAN, np.zeros((0, 3)), positions), trajectory, *PLAN_PX)
    shown = CaptionedImage("walked path, first to last step", panel.draw(len(trajectory.actions)))
    return View("Trajectory", _describe_walk(trajectory), (shown,))


def _describe_walk(trajectory: Trajectory) -> tuple[tuple[str, str], ...]:
    return (
        ("actions", f"{len(trajectory.actions)}"),
        ("path", f"{path_length(trajectory):.2f} m, {int(np.sum(trajectory.collided))} collisions"),
        ("distance to goal", f"{float(trajectory.distance_to_goal[-1]):.2f} m"),
        ("success", "yes" if trajectory.succeeded else "no"),
    )


def view_episode(episode: Episode, trajectory: Trajectory | None = None) -> View:
    """View of an episode: start, goals, shortest path and trajectory, on the plan if there is one."""
    goals = [f"{one.place}: {one.text}" if one.place else one.text for one in show_goals(episode)]
    facts = [("scene", episode.scene_id), ("goal", "; ".join(goals))]
    if episode.geodesic_distance is not None:
        facts.append(("distance", f"{episode.geodesic_distance:.2f} m"))
    walk = _stand(episode) if trajectory is None else trajectory
    if trajectory is not None:
        facts += _describe_walk(trajectory)
    try:
        plan = make_scene_plan(open_world(episode.scene_id, LOCOBOT))
        seen = view_goals(plan, find_goals(episode), np.asarray(walk.positions, float))
    except NavarenaError as error:  # a list of episodes may come without its scenes
        return View(f"Episode {episode.episode_id}", (*facts, ("no plan", str(error))))
    shown = CaptionedImage("", MapPanel(seen, walk, *PLAN_PX).draw(len(walk.actions)))
    return View(f"Episode {episode.episode_id}", tuple(facts), (shown,))


def _stand(episode: Episode) -> Trajectory:
    """The record of a body that has not moved yet."""
    return Trajectory(
        np.array([episode.start_position], float),
        np.array([episode.start_yaw], float),
        np.zeros(0, np.int64),
        np.zeros(0, bool),
        np.zeros(1),
        0.0,
        False,
        0.0,
    )


def view_observations(observations: Mapping[str, Any]) -> View:
    """Images, and the values of everything else; of a batch the first body's."""
    images, facts = [], []
    for name, value in observations.items():
        array = np.asarray(value)
        if array.ndim == 4:
            array = array[0]
        image = _paint(name, array)
        if image is not None:
            images.append(CaptionedImage(f"{name} {array.shape} {array.dtype}", image))
        else:
            facts.append((name, _write(array)))
    return View("Observations", tuple(facts), tuple(images))


def _paint(name: str, array: np.ndarray) -> UInt8[np.ndarray, "h w 3"] | None:
    """An observation as an image (H, W, 3) uint8 sRGB; None if it is not an image."""
    if array.ndim != 3 or array.shape[2] not in (1, 3) or 0 in array.shape:
        return None
    if array.shape[2] == 3:
        return array if array.dtype == np.uint8 else None
    plane = array[..., 0]
    if name.endswith("depth"):
        return paint_depth(plane.astype(float), max(float(plane.max()), 1e-6))
    return paint_classes(plane.astype(np.int64)) if plane.dtype.kind in "iu" else None


def _write(array: np.ndarray) -> str:
    if array.dtype.kind == "U":
        return str(array)
    if array.size <= MAX_NUMBERS:
        return np.array2string(array, precision=3, suppress_small=True)
    return f"{array.shape} {array.dtype}"


def view_env(env: NavigationEnv | NavigationVectorEnv) -> View:
    """View of an environment: its rules and observations."""
    task = env.task
    facts = (
        ("actions", ", ".join(task.actions)),
        ("observations", ", ".join(env.batch.sensors)),
        ("at most", f"{task.max_steps} actions"),
    )
    return View(f"Environment {task.protocol_id}", facts)


def view_run(run: Evaluation) -> View:
    """The metrics of a finished run."""
    record = run.record
    facts = [
        ("identity", record.identity),
        ("episodes", f"{len(run.rows)}"),
        ("folder", _shorten(run.folder)),
    ]
    if record.privileged:
        facts.append(("privileged", ", ".join(record.privileged_inputs) or "yes"))
    facts += [(name.replace("_", " "), f"{value:,.6g}") for name, value in run.costs.items()]
    return View(f"Run of {record.agent}", tuple(facts), (), (("", metric_table(run.summary)),))


def _tabulate_means(found: Comparison) -> Table:
    """One row for each metric, one column for each run, intervals in brackets."""
    table = summary_table(found)
    rows = tuple(
        (title, *(f"{one.mean} ({one.interval})" if one.interval else one.mean for one in cells))
        for title, cells in table.rows
    )
    return Table((table.corner, *table.labels), rows, (False, *(True for _ in table.labels)))


def _shorten(folder: Path) -> str:
    """`folder` as one would type it."""
    here = Path.cwd()
    return str(folder.relative_to(here) if folder.is_relative_to(here) else folder)


def view_comparison(runs: Sequence[Evaluation | str | Path]) -> View:
    """Finished runs side by side, and their differences on the episodes that they share."""
    folders = [one.folder if isinstance(one, Evaluation) else Path(one) for one in runs]
    contestants = [read_contestant(chr(ord("A") + k), [folder]) for k, folder in enumerate(folders)]
    found = compare(contestants)
    tables = [("", contestant_table(found)), ("Means", _tabulate_means(found))]
    tables.append(("Paired differences", difference_table(found)))
    shown = tuple((title, table) for title, table in tables if table.rows)
    return View(f"{len(folders)} runs", tuple(("note", one) for one in found.notices), (), shown)
