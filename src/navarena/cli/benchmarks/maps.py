"""Maps and plans at the sizes of the papers, and whole episodes of the agent that uses them."""

import math
import time

import numpy as np
from jaxtyping import Float, Int8

from navarena.agents import Boundary, Start, load_agent
from navarena.cli.benchmarks.measurement import Measurement, median_seconds
from navarena.core.seeding import make_generator
from navarena.episodes import load_episodes
from navarena.mapping import (
    MapGrid,
    OccupancyMaps,
    OccupancySettings,
    TerrainSettings,
    build_terrain,
    choose_nearest,
    find_frontiers,
    flood_terrain,
)
from navarena.mapping.oracle_ego_map import PAPER_REVEAL, Uncovered
from navarena.mapping.oracle_map import oracle_grid
from navarena.mapping.semantic_map import CLASSES, SemanticMaps, SemanticMapSettings
from navarena.simulation.body import Camera
from navarena.tasks import NavigationBatch, get_task

CAMERA = Camera(width_px=256, height_px=256, hfov=math.radians(79))
BATCH = 8
WARMING_STEPS = 60
OCCUPANCY_TARGET, SEMANTIC_TARGET, REVEAL_TARGET = 2500.0, 1500.0, 10_000.0
PLAN_TARGET_MS, EPISODE_TARGET = 3.0, 300.0

STOREY, ROOM, CELL = 20.0, 4.0, 0.05
"""Metres: a storey of 400 square metres, of rooms of 16, at the resolution of the maps."""


def measure(quick: bool) -> list[Measurement]:
    """Frames per second of maps, milliseconds of a plan, and steps per second of `frontier`; on one core.

    Args:
        quick: fewer repetitions and episodes.
    """
    repeats = 5 if quick else 25
    generator = make_generator("bench", "maps")
    walls = generator.uniform(1.0, 4.5, (BATCH, 1, 16)).repeat(16, 2).repeat(256, 1)
    rows = (np.arange(256) + 0.5 - 128) / (128 / math.tan(CAMERA.hfov / 2))
    depths = np.minimum(walls, np.where(rows > 0, 0.88 / np.maximum(rows, 1e-6), 9.0)[None, :, None])
    labels = generator.integers(0, len(CLASSES), (BATCH, 256, 256)).astype(np.int32)
    images = depths.astype(np.float32), labels
    return [
        measure_occupancy(images[0], repeats),
        measure_semantics(*images, repeats),
        *measure_reveal(images[0], repeats),
        measure_plan(repeats),
        measure_episodes(2 if quick else 8),
    ]


def measure_occupancy(depths: Float[np.ndarray, "n 256 256"], repeats: int) -> Measurement:
    """Images (N, 256, 256) float32 metres carved per second into cells of 5 cm."""
    maps, feet = OccupancyMaps(BATCH, OccupancySettings(cell=CELL), threads=1), np.zeros(BATCH)

    def work() -> None:
        maps.update(depths, CAMERA, _poses(), feet)

    rate = BATCH / median_seconds(work, repeats, time.thread_time)
    return Measurement("occupancy, 256 x 256 at 0.05 m", rate, "frames/s", OCCUPANCY_TARGET)


def measure_semantics(
    depths: Float[np.ndarray, "n 256 256"], labels: np.ndarray, repeats: int
) -> Measurement:
    """Labelled images added per second, with the view drawn; depths in metres, both (N, 256, 256)."""
    maps, feet = SemanticMaps(BATCH, SemanticMapSettings(size=30.0), threads=1), np.zeros(BATCH)

    def work() -> None:
        maps.update(depths, labels, CAMERA, _poses(), feet)
        maps.views(_poses()[:, :3, 3], np.zeros(BATCH))

    rate = BATCH / median_seconds(work, repeats, time.thread_time)
    return Measurement("semantic map, update and view", rate, "frames/s", SEMANTIC_TARGET)


def measure_reveal(depths: Float[np.ndarray, "n 256 256"], repeats: int) -> list[Measurement]:
    """OracleEgoMaps uncovered and cut per second, by sectors and by depth images (metres)."""
    grid = oracle_grid()
    maps = np.ones((BATCH, grid.rows, grid.columns, 2), np.uint8)
    generator = make_generator("bench", "reveal")
    places, yaws = generator.uniform(-5, 5, (BATCH, 3)), generator.uniform(-3, 3, BATCH)
    sectors, frames = Uncovered(BATCH, grid), Uncovered(BATCH, grid, PAPER_REVEAL)

    def by_sectors() -> None:
        sectors.reveal_sectors(places, yaws)
        sectors.crop(maps, places, yaws)

    def by_frames() -> None:
        frames.reveal_frames(depths, CAMERA, _poses())
        frames.crop(maps, places, yaws)

    return [
        Measurement(
            f"OracleEgoMap, {name}",
            BATCH / median_seconds(work, repeats, time.thread_time),
            "frames/s",
            REVEAL_TARGET,
        )
        for name, work in (("by sectors (code)", by_sectors), ("by depth images (paper)", by_frames))
    ]


def measure_plan(repeats: int) -> Measurement:
    """Milliseconds to make a terrain of a storey, flood it, choose a frontier and find the way there."""
    scores, grid = draw_storey(), MapGrid.centered(800, 800, CELL)
    settings, place = TerrainSettings(0.18), np.array([1.0, 0.0, 1.0])

    def work() -> None:
        terrain = build_terrain(scores, grid, settings, None, place)
        row, column = terrain.grid.cells_of(place).tolist()
        reach = flood_terrain(terrain, (row, column), False)
        frontiers = find_frontiers(terrain, reach, 3)
        reach.path_to(*frontiers.cells[choose_nearest(frontiers)].tolist())

    seconds = median_seconds(work, repeats, time.thread_time)
    return Measurement("frontier choice and plan, 400 m2", 1e3 * seconds, "ms", PLAN_TARGET_MS)


def draw_storey() -> Int8[np.ndarray, "800 800"]:
    """(800, 800) int8 evidence: a storey of rooms with doors, its last rooms unseen."""
    scores, low, high = np.zeros((800, 800), np.int8), 200, 200 + round(STOREY / CELL)
    scores[low:high, low:high] = -5
    for wall in range(low, high + 1, round(ROOM / CELL)):
        scores[wall - 1 : wall + 2, low:high] = scores[low:high, wall - 1 : wall + 2] = 5
    for door in range(low + 30, high, round(ROOM / CELL)):
        for lines in (
            scores[low + 2 : high - 2, door : door + 18],
            scores[door : door + 18, low + 2 : high - 2],
        ):
            lines[lines == 5] = -5
    scores[high - 75 : high, high - 75 :] = 0
    return scores


def measure_episodes(count: int) -> Measurement:
    """Steps per second of `frontier` in ObjectNav, images, maps and plans included."""
    task = get_task("objectnav-habitat2020-v1")
    agent = load_agent("frontier", task, 0)
    episodes = list(load_episodes(task, "mini").episodes[:count])
    batch = NavigationBatch(task, count, 1, agent.sensors)
    agent.attach(batch)

    def run(limit: int) -> int:
        batch.start(range(count), episodes)
        agent.reset(
            [Start(k, one.episode_id, one.scene_id, Boundary.SCENE) for k, one in enumerate(episodes)]
        )
        done = 0
        while batch.running.any() and done < limit:
            running = batch.running.copy()
            batch.step(np.where(running, agent.act(batch.observations, running), 0), running)
            done += int(running.sum())
        return done

    run(WARMING_STEPS * count)  # compiles the kernels of turning, walking and arriving, and opens scenes
    begin = time.process_time()
    steps = run(500 * count)
    rate = steps / (time.process_time() - begin)
    note = f"{count} episodes of objectnav-habitat2020-v1, 640 x 480"
    return Measurement("frontier, whole episodes", rate, "steps/s", EPISODE_TARGET, note)


def _poses() -> Float[np.ndarray, "8 4 4"]:
    """(8, 4, 4) metres: cameras 0.88 m over the floor, all at one place."""
    poses = np.tile(np.eye(4), (BATCH, 1, 1))
    poses[:, 1, 3] = 0.88
    return poses
