"""Steps: bodies, environments with and without images, resets."""

import gc
import os
import time
from collections.abc import Callable, Sequence

import numpy as np

from navarena.cli.benchmarks.measurement import Measurement, median_seconds
from navarena.episodes.catalog import load_episodes, make_episodes
from navarena.episodes.episode import Episode
from navarena.episodes.route_sets import load_routes
from navarena.episodes.route_tours import build_episode_tours, make_episode_tours
from navarena.scenes.catalog import scene_ids
from navarena.simulation.body_catalog import LOCOBOT, VLN_CE
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.tour_vector_env import TourVectorEnv
from navarena.tasks.vector_env import NavigationVectorEnv

BATCH = 64
PROTOCOL = "pointnav-v1"
IMAGE_BATCH, IMAGE_PROTOCOL = 16, "multion-3on-v1"
OBJECT_PROTOCOL = "objectnav-hm3d2022-v1"
TOUR_PROTOCOL = "ir2r-ce-v1"
LIFELONG_BATCH, LIFELONG_PROTOCOL = 8, "goat-v1"
ACTION_SHARES = (0.0, 0.6, 0.2, 0.2)
"""Probabilities of stop (found), move_forward, turn_left, turn_right in the timed steps."""


def measure(quick: bool) -> list[Measurement]:
    """Steps per second of bodies and environments, and the memory that resets leave behind.

    Args:
        quick: fewer scenes, steps and resets.
    """
    scenes = scene_ids("houses-v1", "val")[: 5 if quick else 50]
    episodes = list(make_episodes(PROTOCOL, scenes, 2).episodes)
    worlds = WorldCache(LOCOBOT)
    steps, resets = (200, 1_000) if quick else (2_000, 10_000)
    return [
        measure_simulator(episodes, worlds, steps),
        measure_environment(episodes, worlds, steps),
        measure_resets(episodes, worlds, resets),
        measure_images(scenes[:8], 100 if quick else 400),
        measure_tours(100 if quick else 400),
        measure_lifelong(50 if quick else 200),
        measure_object_resets(scenes[:8]),
    ]


def measure_simulator(episodes: list[Episode], worlds: WorldCache, steps: int) -> Measurement:
    """Steps/s of `Simulator.step` with 64 bodies in the scenes of `episodes`."""
    simulator = Simulator(LOCOBOT, BATCH, actions=get_task(PROTOCOL).actions)
    chosen = [episodes[k % len(episodes)] for k in range(BATCH)]
    simulator.place(
        range(BATCH),
        [worlds.get(episode.scene_id) for episode in chosen],
        np.array([episode.start_position for episode in chosen]),
        np.array([episode.start_yaw for episode in chosen]),
    )
    seconds = _time_steps(simulator.step, steps)
    name = f"Simulator.step, batch of {BATCH}, no images"
    return Measurement(name, BATCH * steps / seconds, "steps/s", 300_000, "one core")


def measure_environment(episodes: list[Episode], worlds: WorldCache, steps: int) -> Measurement:
    """Environment steps/s of pointnav-v1 with goal, reward, resets and metrics, no images."""
    envs = NavigationVectorEnv(
        BATCH, PROTOCOL, episodes=episodes, sensors=("pointgoal_with_gps_compass",), worlds=worlds
    )
    envs.reset(seed=0)
    seconds = _time_steps(envs.step, steps)
    name = f"{PROTOCOL} environment step, batch of {BATCH}, reward and metrics, no images"
    return Measurement(name, BATCH * steps / seconds, "steps/s", 60_000, "one core")


def measure_images(scenes: Sequence[str], steps: int) -> Measurement:
    """Environment steps/s of multion-3on-v1 on one thread with everything that the protocol offers."""
    episodes = make_episodes(IMAGE_PROTOCOL, scenes, 2).episodes
    envs = NavigationVectorEnv(IMAGE_BATCH, IMAGE_PROTOCOL, episodes=episodes, threads=1, copy=False)
    envs.reset(seed=0)
    seconds = _time_steps(envs.step, steps, IMAGE_BATCH)
    name = f"{IMAGE_PROTOCOL} environment step, batch of {IMAGE_BATCH}, 256x256 RGB-D, reward and metrics"
    return Measurement(name, IMAGE_BATCH * steps / seconds, "steps/s", 1_500, "one core")


def measure_tours(steps: int) -> Measurement:
    """Environment steps/s of ir2r-ce-v1 on one thread with all observations, oracle phases included."""
    worlds = WorldCache(VLN_CE)
    episodes = load_routes("mini").episodes
    lists = make_episode_tours(episodes, lambda scene: worlds.get(scene).navmesh)
    tours = build_episode_tours(lists, episodes, "mini")
    envs = TourVectorEnv(IMAGE_BATCH, tours, TOUR_PROTOCOL, threads=1, worlds=worlds, copy=False)
    envs.reset(seed=0)
    seconds = _time_steps(envs.step, steps, IMAGE_BATCH)
    name = f"{TOUR_PROTOCOL} environment step, batch of {IMAGE_BATCH}, RGB 224x224 and depth 256x256"
    return Measurement(name, IMAGE_BATCH * steps / seconds, "steps/s", 1_500, "one core, with oracle phases")


def measure_lifelong(steps: int) -> Measurement:
    """Environment steps/s of goat-v1 on one thread with all observations, goals in images included."""
    episodes = load_episodes(LIFELONG_PROTOCOL, "mini").episodes
    envs = NavigationVectorEnv(LIFELONG_BATCH, LIFELONG_PROTOCOL, episodes=episodes, threads=1, copy=False)
    envs.reset(seed=0)
    seconds = _time_steps(envs.step, steps, LIFELONG_BATCH)
    name = f"{LIFELONG_PROTOCOL} environment step, batch of {LIFELONG_BATCH}, 360x640 RGB-D and goals"
    return Measurement(name, LIFELONG_BATCH * steps / seconds, "steps/s", 600, "one core")


def measure_object_resets(scenes: Sequence[str]) -> Measurement:
    """Median milliseconds of a reset of objectnav-hm3d2022-v1, to another scene and category each time."""
    episodes = make_episodes(OBJECT_PROTOCOL, scenes, 6).episodes
    batch = NavigationBatch(get_task(OBJECT_PROTOCOL), 1, sensors=())
    for episode in episodes:
        batch.start([0], [episode])  # opens scenes, finds view points
    seconds = []
    for episode in [*episodes[::6], *episodes[1::6], *episodes[2::6], *episodes[3::6]]:
        start = time.thread_time()
        batch.start([0], [episode])
        seconds.append(time.thread_time() - start)
    name = f"{OBJECT_PROTOCOL} reset to another known scene"
    return Measurement(
        name, 1e3 * float(np.median(seconds)), "ms", 10.0, "one core; scene and view points known"
    )


def measure_resets(episodes: list[Episode], worlds: WorldCache, resets: int) -> Measurement:
    """Megabytes by which the process has grown over the second half of `resets` resets."""
    batch = NavigationBatch(get_task(PROTOCOL), 1, sensors=(), worlds=worlds)
    sizes = []
    for count in range(resets):
        batch.start([0], [episodes[count % len(episodes)]])
        if count in (resets // 2, resets - 1):
            gc.collect()
            sizes.append(resident_megabytes())
    scenes = len({episode.scene_id for episode in episodes})
    name = f"memory growth over {resets:,} resets in {scenes} scenes"
    return Measurement(name, max(sizes[1] - sizes[0], 0.0), "MB", 1.0, "second half against first")


def resident_megabytes() -> float:
    """Resident memory of this process; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return 0.0


def _time_steps(step: Callable[[np.ndarray], object], steps: int, batch: int = BATCH) -> float:
    """Median seconds of `steps` steps of random actions, on one core's clock."""
    actions = np.random.Generator(np.random.PCG64(0)).choice(4, (steps, batch), p=ACTION_SHARES)

    def run() -> None:
        for row in actions:
            step(row)

    return median_seconds(run, 5, time.thread_time)
