"""`navarena bench render`: frames per second of the renderer, on one core unless stated."""

import os
import time
from pathlib import Path

import numpy as np

from navarena.cli.benchmarks.measurement import Measurement, median_seconds
from navarena.cli.benchmarks.render_scenes import furnished_house, sample_views, scan_like
from navarena.core.geometry import rotation_from_quaternion
from navarena.scenes.scene import Scene
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Frames, RenderMesh, Views, VisibilityRenderer, build_render_mesh

OUTPUTS = ("rgb", "depth", "instance")
DATA_VARIABLE = "NAVARENA_TEST_DATA"
WALK_CAMERA_HEIGHT = 1.25
"""Metres above the body in the timed views of the golden data (its README, traj_<scene>.npz)."""


def measure(quick: bool) -> list[Measurement]:
    """Frames per second on a house, a scan and, where NAVARENA_TEST_DATA names it, the dungeon.

    Args:
        quick: fewer views and repetitions.
    """
    count, repeats = (40, 3) if quick else (200, 7)
    house = furnished_house()
    mesh = build_render_mesh(house)
    rows = []
    for width, height, shading, target in (
        (256, 256, "flat", 4000),
        (256, 256, "vertex", 3000),
        (256, 256, "textured", 2500),
        (128, 128, "flat", 8000),
        (640, 480, "flat", 1000),
    ):
        views = sample_views(house, Camera(width_px=width, height_px=height), count)
        rate = frames_per_second(mesh, views, shading, repeats)
        rows.append(_row(f"house, {width}x{height}, {shading}", rate, target))
    rows.append(_two_threads(house, mesh, count, repeats))
    scan = scan_like(house)
    views = sample_views(house, Camera(), count)
    rate = frames_per_second(build_render_mesh(scan), views, "textured", repeats)
    rows.append(_row(f"scan of {len(scan.triangles):,} triangles, 256x256, textured", rate, 1000))
    if DATA_VARIABLE in os.environ:
        folder = Path(os.environ[DATA_VARIABLE]) / "goldens"
        mesh = build_render_mesh(load_dungeon(folder))
        rate = frames_per_second(mesh, dungeon_views(folder, quick), "flat", repeats)
        rows.append(_row("dungeon, timed views of the goldens, 256x256, flat", rate, 5500))
    return rows


def _row(name: str, rate: float, target: float) -> Measurement:
    return Measurement(name, rate, "frames/s", target, "RGB + depth + instance, one core, CPU time")


def frames_per_second(mesh: RenderMesh, views: Views, shading: str, repeats: int) -> float:
    """Median rate of whole batches on one thread, by that thread's CPU time."""
    renderer = VisibilityRenderer([mesh], threads=1)
    frames = Frames.allocate(len(views), views.camera, OUTPUTS)

    def draw() -> None:
        renderer.render(views, frames, shading=shading)

    return len(views) / median_seconds(draw, repeats, time.thread_time)


def _two_threads(house: Scene, mesh: RenderMesh, count: int, repeats: int) -> Measurement:
    """Speed-up of two threads over one for a batch, by the wall clock."""
    views = sample_views(house, Camera(), 2 * count)
    frames = Frames.allocate(len(views), views.camera, OUTPUTS)
    seconds = []
    for threads in (1, 2):
        renderer = VisibilityRenderer([mesh], threads=threads)
        seconds.append(median_seconds(lambda r=renderer: r.render(views, frames, shading="flat"), repeats))  # type: ignore[misc]
    note = "house, 256x256, flat; needs two idle cores"
    return Measurement("two threads against one", seconds[0] / seconds[1], "x", 1.8, note)


def load_dungeon(folder: Path) -> Scene:
    """The dungeon of the golden data as a scene of one colour."""
    with np.load(folder / "mesh_dungeon.npz") as mesh:
        vertices, triangles = mesh["vertices"].astype(np.float32), mesh["faces"].astype(np.int32)
    nothing = np.zeros(len(triangles), np.int32)
    return Scene("dungeon", vertices, triangles, nothing, nothing)


def dungeon_views(folder: Path, quick: bool) -> Views:
    """The trajectories of traj_dungeon.npz, 2,100 views; 300 when quick."""
    with np.load(folder / "traj_dungeon.npz") as walks:
        feet, turns = walks["agent_pos"].reshape(-1, 3), walks["agent_rot_wxyz"].reshape(-1, 4)
    if quick:
        feet, turns = feet[:300], turns[:300]
    rotation = np.stack([rotation_from_quaternion(turn[[1, 2, 3, 0]]) for turn in turns])
    position = feet.astype(float) + [0, WALK_CAMERA_HEIGHT, 0]
    return Views(Camera(), np.zeros(len(feet), np.int32), position, rotation)
