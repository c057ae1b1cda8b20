"""Benchmark of loading: opening compiled scenes, and memory that processes share."""

import multiprocessing
import os
import sys
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from navarena.cli.benchmarks.measurement import Measurement, median_seconds, resident_bytes
from navarena.scenes.catalog import load_scene, scene_hash, scene_ids, scene_sets
from navarena.scenes.packs import open_pack, pack_path
from navarena.simulation.body_catalog import get_body
from navarena.simulation.world import open_world

OPEN_TARGET_MS = 50.0
MIB = 2**20


def measure(quick: bool) -> list[Measurement]:
    """Open compiled houses: the scene, the whole world, again and again, and from two processes.

    Args:
        quick: fewer houses and repetitions.
    """
    body = get_body("locobot")
    houses = scene_ids("houses-v1", "mini")[: 2 if quick else 10]
    for house in houses:  # compile
        _ = open_world(house, body).render_mesh
    repeats = 20 if quick else 100

    def open_everything() -> object:
        world = open_world(houses[0], body)
        return world.scene, world.render_mesh, world.navmesh

    scene_ms = 1000 * median_seconds(lambda: load_scene(houses[0]), repeats)
    world_ms = 1000 * median_seconds(open_everything, repeats)
    fresh = _ask_process(_time_first_open, houses[0])
    found = [
        Measurement("open a compiled scene", scene_ms, "ms", OPEN_TARGET_MS, houses[0]),
        Measurement(
            "the same, first of a process",
            fresh["ms"],
            "ms",
            OPEN_TARGET_MS,
            "with hashing of sources",
        ),
        Measurement("open scene, navmesh and render mesh", world_ms, "ms", OPEN_TARGET_MS, houses[0]),
    ]
    if sys.platform == "linux":
        found += _measure_memory(houses, 200 if quick else 1000)
    return found


def _measure_memory(houses: list[str], openings: int) -> list[Measurement]:
    """Memory of a second process for a pack, and memory growth when worlds are opened repeatedly."""
    pack = open_pack(pack_path("scene", scene_hash(houses[0])))
    touched = sum(int(array.view(np.uint8).sum()) for array in _plain(pack.arrays))
    second = _ask_process(_read_shares, str(pack.path))
    if second["touched"] != touched:
        raise RuntimeError("expected two processes to read the same pack, got different bytes")
    grown = _ask_process(_open_repeatedly, *houses, str(openings))
    size = pack.path.stat().st_size / MIB
    return [
        Measurement(
            "own memory of a second process for the scene",
            second["private_mib"],
            "MiB",
            max(0.01 * size, 0.1),
            f"of {second['mapped_mib']:.1f} MiB mapped; the rest is shared",
        ),
        Measurement(
            f"growth of memory, {openings} openings of {len(houses)} worlds",
            grown["growth_mib"],
            "MiB",
            4.0,
            "resident memory, second half of the openings",
        ),
    ]


def _plain(arrays: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    return [array.reshape(-1) for array in arrays.values() if array.size]


def _ask_process(work: object, *arguments: str) -> dict[str, float]:
    """Run `work(connection, *arguments)` in a fresh process and return what it sends."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(theirs, *arguments))  # type: ignore[arg-type]
    process.start()
    theirs.close()
    try:
        answer: dict[str, float] = ours.recv()
    except EOFError:
        raise RuntimeError("the measuring process ended without an answer; its error stands above") from None
    finally:
        process.join()
    return answer


def _time_first_open(answer: Connection, scene_id: str) -> None:
    scene_sets()  # imports what builds them
    begin = time.perf_counter()
    load_scene(scene_id)
    answer.send({"ms": 1000 * (time.perf_counter() - begin)})


def _read_shares(answer: Connection, path: str) -> None:
    """Map and read a pack that another process has open; how much of it is this process's own."""
    pack = open_pack(Path(path))
    touched = sum(int(array.view(np.uint8).sum()) for array in _plain(pack.arrays))
    sizes = _mapping_kib(path)
    private = sizes["Private_Clean"] + sizes["Private_Dirty"]
    answer.send({"touched": touched, "private_mib": private / 1024, "mapped_mib": sizes["Rss"] / 1024})


def _open_repeatedly(answer: Connection, *arguments: str) -> None:
    """Open worlds in turn; the growth of resident memory over the second half."""
    *houses, openings = arguments
    body, half = get_body("locobot"), 0.0
    for number in range(int(openings)):
        if number == int(openings) // 2:
            half = resident_bytes() / MIB
        world = open_world(houses[number % len(houses)], body)
        _ = world.scene, world.render_mesh
    answer.send({"growth_mib": max(resident_bytes() / MIB - half, 0.0)})


def _mapping_kib(path: str) -> dict[str, int]:
    """Sums of the kB figures of /proc/self/smaps over the mappings of one file."""
    sizes: dict[str, int] = {}
    mine = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, _, value = line.partition(":")
        if "-" in line.split(" ", 1)[0]:  # "start-end rights ... path"
            mine = line.endswith(os.path.realpath(path))
        elif mine and value.endswith(" kB"):
            sizes[name] = sizes.get(name, 0) + int(value.split()[0])
    return sizes
