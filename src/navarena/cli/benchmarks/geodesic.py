"""Benchmark of path queries, snaps and steps on the navmesh of the dungeon or of a generated house."""

import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from navarena.cli.benchmarks.measurement import Measurement, median_seconds
from navarena.core.seeding import make_generator
from navarena.scenes.catalog import load_scene, scene_ids
from navarena.simulation.body_catalog import get_body
from navarena.simulation.navmesh import GoalFields, NavMesh, NavMeshSettings, load_habitat_navmesh
from navarena.simulation.navmesh.building.mesh_navmesh import build_navmesh
from navarena.simulation.world import open_world

TEST_DATA_VARIABLE = "NAVARENA_TEST_DATA"
DUNGEON = "nav_dungeon_r018_h088.navmesh"
BODY = NavMeshSettings(radius=0.18, height=0.88)

QUERY_TARGET_US = 10.0
REPEATS_OF_ONE = 20
"""Times that one pair is asked in a row, to measure it above the clock's resolution."""


def measure(quick: bool) -> list[Measurement]:
    """Microseconds per query, on one core, in batches.

    Args:
        quick: fewer pairs and repetitions.
    """
    found = []
    for name, mesh in find_navmeshes().items():
        found += measure_navmesh(name, mesh, 50 if quick else 200, 3 if quick else 9)
    return found


def find_navmeshes() -> dict[str, NavMesh]:
    """Navmeshes by name: two of the dungeon if its files are present, else one of a house.

    The files are looked for in the folder of test data and in the tests of a source checkout.
    """
    checkout = Path(__file__).parents[4] / "tests" / "data" / "dungeon"
    data = Path(os.environ.get(TEST_DATA_VARIABLE, str(checkout)))
    for navmesh, mesh in (
        (data / "goldens" / DUNGEON, data / "meshes" / "dungeon.obj"),
        (checkout / DUNGEON, checkout / "dungeon.obj"),
    ):
        if navmesh.is_file() and mesh.is_file():
            scene = load_scene(str(mesh))
            built = build_navmesh(scene.vertices, scene.triangles, BODY)
            return {"dungeon, Habitat's file": load_habitat_navmesh(navmesh), "dungeon, built here": built}
    house = scene_ids("houses-v1", "mini")[0]
    return {house: open_world(house, get_body("locobot")).navmesh}


def measure_navmesh(name: str, mesh: NavMesh, pairs: int, repeats: int) -> list[Measurement]:
    """All measurements on one navmesh with `pairs` random pairs of its largest island."""
    generator = make_generator("bench", "geodesic")
    start = mesh.random_point(generator, pairs, mesh.largest_island)
    goal = mesh.random_point(generator, pairs, mesh.largest_island)
    each = [_time_pair(mesh, a, b) for a, b in zip(start, goal, strict=True)]
    mean = f"mean of {pairs} pairs"

    fields, slots, turn = GoalFields(pairs), np.arange(pairs), itertools.count()

    def ask_new_fields() -> None:
        shift = next(turn)  # what is known of the same goal would be kept
        for slot in slots:
            fields.set_goals(int(slot), mesh, goal[(slot + shift) % pairs][None])
        fields.distance(slots, start)

    turns = generator.uniform(-np.pi, np.pi, pairs)
    end = start + 0.25 * np.stack([np.sin(turns), np.zeros(pairs), np.cos(turns)], 1)
    beside = start + generator.normal(0, 0.4, start.shape)

    def per_item(work: Callable[[], object]) -> float:
        return 1e6 * median_seconds(work, repeats, time.thread_time) / pairs

    ones = [slice(i, i + 1) for i in range(pairs)]
    singles: list[tuple[str, Callable[[], object], float]] = [
        ("shortest_path", lambda: [mesh.shortest_path(*two) for two in zip(start, goal)], 5.0),
        ("snap_point", lambda: [mesh.snap_point(beside[one]) for one in ones], 3.0),
        ("try_step", lambda: [mesh.try_step(start[one], end[one], True) for one in ones], 3.0),
    ]
    rows = [
        ("distance, one goal", float(np.median(each)), QUERY_TARGET_US, f"median of {pairs} pairs"),
        ("distance, one goal", per_item(lambda: mesh.geodesic_distance(start, goal)), None, mean),
        (
            "distance, nearest of 50",
            per_item(lambda: mesh.geodesic_to_nearest(start, goal[:50])),
            None,
            mean,
        ),
        ("distance, new field per goal", per_item(ask_new_fields), None, mean),
        ("distance, known field", per_item(lambda: fields.distance(slots, start)), None, mean),
        ("snap_point, 0.4 m off", per_item(lambda: mesh.snap_point(beside)), None, mean),
        ("try_step, cut", per_item(lambda: mesh.try_step(start, end, False)), None, mean),
        ("try_step, sliding", per_item(lambda: mesh.try_step(start, end, True)), None, mean),
        *((work, per_item(call), target, "one for each call") for work, call, target in singles),
    ]
    return [Measurement(f"{work} ({name})", value, "us", target, note) for work, value, target, note in rows]


def _time_pair(mesh: NavMesh, start: np.ndarray, goal: np.ndarray) -> float:
    """Microseconds of one path query, asked in a batch of equal ones."""
    starts, goals = np.tile(start, (REPEATS_OF_ONE, 1)), np.tile(goal, (REPEATS_OF_ONE, 1))
    seconds = median_seconds(lambda: mesh.geodesic_distance(starts, goals), 3, time.thread_time)
    return 1e6 * seconds / REPEATS_OF_ONE
