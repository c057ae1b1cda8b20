"""Benchmark of building navmeshes: dungeon, generated houses, a scan-like mesh of a million triangles."""

import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from navarena.cli.benchmarks.measurement import Measurement, median_seconds
from navarena.core.seeding import make_generator
from navarena.scenes.catalog import load_scene, scene_ids
from navarena.simulation.navmesh.building.floor_navmesh import build_floor_navmesh
from navarena.simulation.navmesh.building.mesh_navmesh import build_navmesh
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings

BODY = NavMeshSettings(radius=0.18, height=0.88)

MESH_TARGET_S = 0.5
HOUSE_TARGET_S = 0.1
SCAN_SIDE_M = 30.0


def measure(quick: bool) -> list[Measurement]:
    """Seconds of one core per navmesh; kernels are compiled beforehand.

    Args:
        quick: fewer houses, repetitions, and triangles of the scan.
    """
    repeats = 3 if quick else 7
    found = []
    dungeon = find_dungeon_mesh()
    if dungeon is not None:
        scene = load_scene(str(dungeon))
        found.append(_time_voxels("dungeon", scene.vertices, scene.triangles, repeats, MESH_TARGET_S))
    found += _measure_houses(4 if quick else 20, repeats)
    vertices, triangles = make_scan(100_000 if quick else 1_000_000)
    name = f"scan-like mesh of {len(triangles):,} triangles"
    found.append(_time_voxels(name, vertices, triangles, repeats, None))
    return found


def _measure_houses(count: int, repeats: int) -> list[Measurement]:
    """Exact floors and voxels of `count` houses; the slowest house counts."""
    exact, voxels = [], []
    for house in scene_ids("houses-v1", "val")[:count]:
        scene = load_scene(house)
        exact.append(_time(house, partial(build_floor_navmesh, scene.walkable, BODY), repeats, None))
        voxels.append(_time_voxels(house, scene.vertices, scene.triangles, repeats, None))
    slowest = max(exact, key=lambda figure: figure.value)
    middle = statistics.median(figure.value for figure in exact)
    voxel_middle = statistics.median(figure.value for figure in voxels)
    note = f"{slowest.name}, {slowest.note}; the slowest of {count}"
    return [
        Measurement("house, exact floors, slowest", slowest.value, "s", HOUSE_TARGET_S, note),
        Measurement("house, exact floors", middle, "s", HOUSE_TARGET_S, f"median of {count} houses"),
        Measurement("house, from its triangles", voxel_middle, "s", None, f"median of {count} houses"),
    ]


def _time_voxels(
    name: str,
    vertices: Float[np.ndarray, "v 3"],
    triangles: Int[np.ndarray, "t 3"],
    repeats: int,
    target: float | None,
) -> Measurement:
    return _time(name, partial(build_navmesh, vertices, triangles, BODY), repeats, target)


def _time(name: str, build: Callable[[], NavMesh], repeats: int, target: float | None) -> Measurement:
    mesh = build()
    seconds = median_seconds(build, repeats, time.thread_time)
    note = f"{len(mesh.triangles):,} triangles over {mesh.navigable_area:,.0f} m2"
    return Measurement(name, seconds, "s", target, note)


def make_scan(triangles: int) -> tuple[Float[np.ndarray, "v 3"], Int[np.ndarray, "t 3"]]:
    """A noisy height field of rooms with furniture, like a scan: (V, 3) metres and (T, 3).

    Args:
        triangles: how many, about.
    """
    generator = make_generator("bench", "navmesh", "scan")
    side = int(np.sqrt(triangles / 2)) + 1
    line = np.linspace(0.0, SCAN_SIDE_M, side)
    x, z = np.meshgrid(line, line)
    height = np.zeros_like(x)
    for centre_x, centre_z, size in generator.uniform((0, 0, 0.2), (SCAN_SIDE_M, SCAN_SIDE_M, 1.0), (150, 3)):
        height[(abs(x - centre_x) < size) & (abs(z - centre_z) < 0.6 * size)] = 0.8
    on_wall_x, on_wall_z = abs(x % 5 - 2.5) > 2.4, abs(z % 5 - 2.5) > 2.4
    door_x, door_z = abs(x % 5 - 2.5) < 0.6, abs(z % 5 - 2.5) < 0.6
    height[(on_wall_x & ~door_z) | (on_wall_z & ~door_x)] = 2.4
    vertices = np.stack([x, height, z], -1).reshape(-1, 3) + generator.normal(0, 0.006, (side * side, 3))
    corner = np.arange(side * side).reshape(side, side)
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]
    faces = np.concatenate([np.stack([a, c, b], -1), np.stack([a, d, c], -1)]).reshape(-1, 3)
    return vertices, faces


TEST_DATA_VARIABLE = "NAVARENA_TEST_DATA"


def find_dungeon_mesh() -> Path | None:
    """dungeon.obj in the folder of test data or in the tests of a source checkout, if it is there."""
    checkout = Path(__file__).parents[4] / "tests" / "data" / "dungeon" / "dungeon.obj"
    data = os.environ.get(TEST_DATA_VARIABLE)
    candidates = [Path(data) / "meshes" / "dungeon.obj", checkout] if data else [checkout]
    return next((path for path in candidates if path.is_file()), None)
