"""`navarena bench render --device cuda`: frames per second of Warp's renderer, by the wall clock."""

from dataclasses import replace

import numpy as np

from navarena.cli.benchmarks.measurement import Measurement, median_seconds
from navarena.cli.benchmarks.render_scenes import sample_views
from navarena.core.render_devices import WARP_CPU, find_device, find_warp
from navarena.scenes.catalog import load_scene
from navarena.simulation.body import Camera
from navarena.simulation.rendering import RenderMesh, Views, build_render_mesh
from navarena.simulation.rendering.warp.renderer import DeviceFrames, WarpRenderer
from navarena.simulation.rendering.warp.residency import ResidentScenes

HOUSES = 64
TARGETS = {256: 20_000, 128: 60_000, 64: 150_000}
"""Side of the image in pixels -> frames per second of colour and depth that are hoped for of one H100."""


def measure_device(quick: bool, device: str) -> list[Measurement]:
    """Frames per second of textured colour and depth in 64 houses, a view of each in turn.

    Args:
        quick: 4 houses, fewer views and repetitions.
        device: "cuda", "cuda:1" or "warp-cpu".

    Raises what find_device raises.
    """
    found = find_device(device)
    houses, views_of_each, repeats = (4, 2, 3) if quick else (HOUSES, 16, 7)
    scenes = [load_scene(f"houses-v1/train/{k:05d}") for k in range(houses)]
    meshes = [build_render_mesh(scene, share_texels=True) for scene in scenes]
    store = ResidentScenes(found)
    note = f"{found.name}, RGB-D, {houses} houses, {houses * views_of_each} views a call, wall clock"
    if device == WARP_CPU:
        note += "; this device is for tests, and the targets are of a GPU"
    views = _join([sample_views(scene, Camera(), views_of_each) for scene in scenes])
    rows = []
    for side, target in TARGETS.items():
        seen = replace(views, camera=Camera(width_px=side, height_px=side))
        rate = _frames_per_second(meshes, seen, store, repeats)
        wanted = None if device == WARP_CPU else target
        rows.append(Measurement(f"{side}x{side} on {device}", rate, "frames/s", wanted, note))
    size = store.nbytes / 2**20
    rows.append(Measurement(f"memory of {houses} houses", size, "MiB", None, "with their shared textures"))
    return rows


def _join(parts: list[Views]) -> Views:
    """One batch of all views; those of part k look at scene k."""
    scene = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])
    position = np.concatenate([part.position for part in parts])
    return Views(parts[0].camera, scene, position, np.concatenate([part.rotation for part in parts]))


def _frames_per_second(meshes: list[RenderMesh], views: Views, store: ResidentScenes, repeats: int) -> float:
    """Median rate of whole batches, waiting for the device after each."""
    renderer = WarpRenderer(meshes, store)
    frames = DeviceFrames.allocate(len(views), views.camera, store.device, ("rgb", "depth"))

    def draw() -> None:
        renderer.render(views, frames)
        find_warp().synchronize_device(store.device)

    return len(views) / median_seconds(draw, repeats)
