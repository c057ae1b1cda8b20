"""Compilation of all kernels in advance, by short runs of everything that uses them.

The first steps need different kernels and run side by side in two processes; the last one runs
from start to end, and compiles what is left.
"""

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import as_completed
from dataclasses import replace
from pathlib import Path

import numpy as np

from navarena.agents.loading import load_agent
from navarena.cli.console import Console
from navarena.core.processes import open_pool
from navarena.core.seeding import make_generator
from navarena.corruptions import CORRUPTIONS, DepthCorruption, ImageCorruption
from navarena.episodes.catalog import load_episodes
from navarena.evaluation.running.runner import evaluate
from navarena.evaluation.settings import EvaluationSettings
from navarena.scenes.catalog import load_scene, scene_ids
from navarena.scenes.labelling import TriangleTree
from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import LOCOBOT, VLN_CE
from navarena.simulation.navmesh import GoalFields
from navarena.simulation.planning.lattice import Origin, search_lattice
from navarena.simulation.rendering.engine import VisibilityRenderer
from navarena.simulation.rendering.extra_objects import make_cylinder
from navarena.simulation.rendering.render_mesh import build_render_mesh
from navarena.simulation.rendering.views import ExtraObjects, Frames, Views
from navarena.simulation.sensors.catalog import SENSORS
from navarena.simulation.world import make_navmesh, open_world
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import TASKS, get_body_task, get_task
from navarena.tasks.task import Task

PROCESSES = 2
SMALL = Camera(width_px=64, height_px=48)


def _sample_scene() -> str:
    return scene_ids("houses-v1", "mini")[0]


def warm_images() -> None:
    """The kernels that draw: a scene, an extra object, all shadings and outputs."""
    scene = load_scene(_sample_scene())
    renderer = VisibilityRenderer([build_render_mesh(scene)], threads=1)
    low, high = scene.bounds
    views = Views(SMALL, np.zeros(1, np.int64), (low + high)[None] / 2, np.eye(3)[None])
    post = ExtraObjects(
        templates=(make_cylinder(0.1, 1.0),),
        view_index=np.zeros(1, np.int64),
        template_index=np.zeros(1, np.int64),
        position=views.position - [[0.0, 0.0, 1.0]],
        yaw=np.zeros(1),
        color=np.full((1, 3), 200, np.uint8),
        instance=np.ones(1, np.int32),
        semantic=np.ones(1, np.int32),
    )
    for shading in ("flat", "vertex", "textured"):
        renderer.render(views, Frames.allocate(1, SMALL), post, shading)


def warm_voxels() -> None:
    """The kernels that build a navmesh from any mesh."""
    make_navmesh(replace(load_scene(_sample_scene()), walkable=()), LOCOBOT)


def warm_paths() -> None:
    """The kernels of navmesh queries, in a generated house."""
    navmesh = open_world(_sample_scene(), VLN_CE).navmesh
    points = navmesh.random_point(make_generator("warm"), 8)
    ahead = points + [0.0, 0.0, -0.25]
    for slide in (False, True):
        navmesh.try_step(points, ahead, slide)
    navmesh.snap_point(ahead)
    navmesh.is_navigable(ahead)
    navmesh.island(ahead)
    navmesh.geodesic_distance(points[:4], points[4:])
    navmesh.geodesic_to_nearest(points[:4], points[4:])
    navmesh.shortest_path(points[0], points[1])
    navmesh.distance_to_obstacle(points)
    navmesh.top_down_map(0.1, float(points[0, 1]))
    fields = GoalFields(1)
    fields.set_goals(0, navmesh, points[1:2])
    search_lattice(fields, 0, LOCOBOT, Origin(points[0], 0.0), 0.2, 500)


def warm_protocols() -> None:
    """Compile the remaining kernels: every protocol with all sensors, and an evaluation."""
    for protocol in TASKS.own_names():
        if not isinstance(get_task(protocol), Task):
            continue  # on graphs there is no body whose kernels are compiled
        task = get_body_task(protocol)
        episode = load_episodes(task, "mini").episodes[0]
        batch = NavigationBatch(task, 1, sensors=tuple(dict.fromkeys((*SENSORS.own_names(), *task.sensors))))
        batch.start([0], [episode])
        for action in range(1, len(task.actions)):
            taken = np.zeros((1, len(task.actions))) if task.is_continuous else np.array([action])
            batch.step(taken, np.ones(1, bool))
            if not batch.running[0]:  # the action ended the episode
                batch.start([0], [episode])
            len(batch.observations)
        load_agent("expert", task)
        with tempfile.TemporaryDirectory() as folder:
            evaluate(EvaluationSettings(protocol, "expert", episodes=1, out=Path(folder) / "run"))


def warm_labels() -> None:
    """The kernels that carry labels from one mesh to another."""
    TriangleTree(np.zeros((1, 3, 3))).nearest(np.zeros((1, 3)))


def warm_corruptions() -> None:
    """The kernels of image and depth corruptions."""
    generators = [make_generator("warm")]
    for name in CORRUPTIONS.own_names():
        severities = CORRUPTIONS.get(name).severities or (None,)
        for corruption in (CORRUPTIONS.get(name)(severity) for severity in severities):
            if isinstance(corruption, ImageCorruption):
                corruption.corrupt(np.zeros((1, 24, 32, 3), np.uint8), generators)
            elif isinstance(corruption, DepthCorruption):
                corruption.corrupt(np.ones((1, 24, 32, 1), np.float32), generators)


SIDE_BY_SIDE: tuple[Callable[[], None], ...] = (
    warm_images,
    warm_paths,
    warm_voxels,
    warm_labels,
    warm_corruptions,
)


def warm_side_by_side(advance: Callable[[], None] = lambda: None) -> None:
    """Compile the kernels of the first steps, calling `advance` after each."""
    with open_pool(PROCESSES) as pool:
        for finished in as_completed([pool.submit(step) for step in SIDE_BY_SIDE]):
            finished.result()
            advance()


def warm_kernels(console: Console) -> float:
    """Compile all of navarena that is not in the cache yet, showing progress; returns seconds."""
    began = time.monotonic()
    with console.progress(len(SIDE_BY_SIDE) + 1, "compiling") as progress:
        warm_side_by_side(progress.advance)
        warm_protocols()
        progress.advance()
    return time.monotonic() - began
