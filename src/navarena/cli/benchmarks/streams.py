"""Benchmark of train episodes: drawn from streams, begun, ended; new houses, and their memory."""

import gc
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np

from navarena.cli.benchmarks.measurement import Measurement, resident_bytes
from navarena.cli.benchmarks.step import ACTION_SHARES
from navarena.core.files import CACHE_VARIABLE, cache_folder
from navarena.episodes.catalog import get_recipe, load_episodes
from navarena.episodes.object_nav import ObjectNavRecipe
from navarena.episodes.recipe import Stream
from navarena.episodes.stream import EpisodeStream, Stay, find_blocks
from navarena.episodes.view_points import find_view_points
from navarena.simulation.world import DEFAULT_CACHE_BYTES, WorldCache, open_world
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_body_task
from navarena.tasks.slot_episodes import describe_end
from navarena.tasks.vector_env import NavigationVectorEnv

STREAMED = ("pointnav-v1", "multion-3on-v1")
OBJECT_PROTOCOL = "objectnav-hm3d2022-v1"
ENDED = ("pointnav-v1", "multion-3on-v1", OBJECT_PROTOCOL)
SLOTS = 16
BLOCK = 50
STREAM_SLOTS, SMALL_CACHE_BYTES = 64, 16 << 20


def measure(quick: bool) -> list[Measurement]:
    """Milliseconds of starts and ends, seconds of a new house, megabytes of a world; on one thread's clock.

    Args:
        quick: fewer houses and episodes.
    """
    return [
        *(measure_draws(protocol, 100 if quick else 600) for protocol in STREAMED),
        measure_object_starts(2 if quick else 5),
        measure_new_houses(1 if quick else 5),
        *(measure_ends(protocol) for protocol in ENDED),
        measure_worlds(5 if quick else 25),
        measure_growth(20_000 if quick else 1_000_000),
    ]


def measure_draws(protocol: str, count: int) -> Measurement:
    """Mean milliseconds of this process for a train episode: drawn, its house opened, begun."""
    task = get_body_task(protocol)
    worlds = WorldCache(task.embodiment)
    stream = EpisodeStream(get_recipe(protocol))
    stream.open_in(worlds)
    batch = NavigationBatch(task, 1, sensors=(), worlds=worlds)
    generator = np.random.Generator(np.random.PCG64(0))
    for _ in range(4 * BLOCK):  # the first houses are made here
        batch.start([0], stream.draw(generator))
    before = time.thread_time()
    for _ in range(count):
        batch.start([0], stream.draw(generator))
    seconds = time.thread_time() - before
    stream.close()
    note = "mean, 50 episodes a house; one core, a process of low priority beside it prepares the next"
    return Measurement(f"{protocol} train episode, stream warm", 1e3 * seconds / count, "ms", 2.0, note)


def measure_object_starts(houses: int) -> Measurement:
    """Mean milliseconds of a start of objectnav-hm3d2022-v1 in open houses, all episodes of their blocks."""
    task = get_body_task(OBJECT_PROTOCOL)
    worlds = WorldCache(task.embodiment)
    batch = NavigationBatch(task, 1, sensors=(), worlds=worlds)
    blocks = find_blocks(get_recipe(OBJECT_PROTOCOL))
    seconds = []
    for house in blocks.houses[:houses]:
        made = blocks.make(worlds.get(house), house, 0)
        for episodes in made:
            before = time.thread_time()
            batch.start([0], episodes)
            seconds.append(time.thread_time() - before)
    note = (
        f"mean; median {1e3 * float(np.median(seconds)):.2f} ms, the first of each category spreads its field"
    )
    name = f"{OBJECT_PROTOCOL} start in an open house"
    return Measurement(name, 1e3 * float(np.mean(seconds)), "ms", 2.0, note)


def measure_new_houses(houses: int) -> Measurement:
    """Mean seconds to build a train house of objectnav-hm3d2022-v1 with a block of 50 episodes, uncached."""
    recipe = cast(ObjectNavRecipe, get_recipe(OBJECT_PROTOCOL))
    blocks = find_blocks(recipe)
    dataset = Stream(recipe.default_dataset, "train")
    seconds = []
    with _without_packs():
        for house in blocks.houses[: 1 + houses]:
            before = time.process_time()
            world = open_world(house, recipe.embodiment)
            _ = world.render_mesh
            find_view_points(world, recipe.view_points)
            recipe.make(world, BLOCK, dataset)
            seconds.append(time.process_time() - before)
    name = f"{OBJECT_PROTOCOL} train house and {BLOCK} episodes, made anew"
    note = "mean of all threads: house, navmesh, render mesh, view points, episodes; kernels are compiled"
    warm = seconds[1:]  # the first compiles kernels, and draws the textures of all houses
    return Measurement(name, float(np.mean(warm)), "s", 1.0, note)


@contextmanager
def _without_packs() -> Iterator[None]:
    """An empty folder in the place of the cache's, but for compiled kernels."""
    before = os.environ.get(CACHE_VARIABLE)
    kernels = cache_folder() / "kernels"
    kernels.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernels").symlink_to(kernels)
        os.environ[CACHE_VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[CACHE_VARIABLE]
            if before is not None:
                os.environ[CACHE_VARIABLE] = before


def measure_ends(protocol: str) -> Measurement:
    """Median milliseconds for the metrics of an episode of 150 steps."""
    task = get_body_task(protocol)
    batch = NavigationBatch(task, SLOTS, sensors=())
    batch.start(range(SLOTS), load_episodes(protocol, "mini").episodes[:SLOTS])
    generator = np.random.Generator(np.random.PCG64(0))
    ahead, left, right = (task.actions.index(name) for name in ("move_forward", "turn_left", "turn_right"))
    for _ in range(150):
        batch.step(generator.choice([ahead, ahead, left, right], SLOTS))
    batch.step(np.full(SLOTS, task.actions.index(task.declaration)))
    seconds = []
    for slot in [*range(SLOTS)] * 3:
        before = time.thread_time()
        describe_end(batch, slot)
        seconds.append(time.thread_time() - before)
    name = f"{protocol} end of an episode with metrics"
    return Measurement(name, 1e3 * float(np.median(seconds)), "ms", 0.2, "on request; none otherwise")


def measure_worlds(houses: int) -> Measurement:
    """Megabytes of a world with its render mesh, and how many of them the default WorldCache holds."""
    blocks = find_blocks(get_recipe(STREAMED[0]))
    body = get_recipe(STREAMED[0]).embodiment
    sizes = []
    for house in blocks.houses[:houses]:
        world = open_world(house, body)
        _ = world.render_mesh
        sizes.append(world.nbytes)
    mean = float(np.mean(sizes))
    held = DEFAULT_CACHE_BYTES / mean
    note = f"{held:.0f} of them within the default 1 GiB; 800 take {800 * mean / 1e9:.1f} GB"
    return Measurement("memory of a train house in WorldCache", mean / 1e6, "MB", 3.0, note)


def measure_growth(steps: int) -> Measurement:
    """Megabytes by which the process has grown over the second half of `steps` steps of a stream."""
    worlds = WorldCache(get_body_task(STREAMED[0]).embodiment, limit_bytes=SMALL_CACHE_BYTES)
    sampler = partial(EpisodeStream, stay=Stay(episodes=200, houses=2))
    envs = NavigationVectorEnv(
        STREAM_SLOTS, STREAMED[0], sensors=("pointgoal_with_gps_compass",), worlds=worlds, sampler=sampler
    )
    envs.reset(seed=0)
    generator, sizes = np.random.Generator(np.random.PCG64(0)), []
    calls = steps // STREAM_SLOTS
    for call in range(calls):
        envs.step(generator.choice(4, STREAM_SLOTS, p=ACTION_SHARES))
        if call in (calls // 2, calls - 1):
            gc.collect()
            sizes.append(resident_bytes() / 1e6)
    envs.close()
    note = f"second half against first; at most {SMALL_CACHE_BYTES >> 20} MiB of worlds"
    growth = max(sizes[1] - sizes[0], 0.0)
    return Measurement(f"memory growth over {steps:,} steps of a stream", growth, "MB", 10.0, note)
