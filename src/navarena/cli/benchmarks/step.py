"""Benchmark of steps: bodies, environments with and without images, resets."""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from navarena.cli.benchmarks.measurement import Measurement, median_seconds, resident_bytes
from navarena.cli.benchmarks.render_scenes import furnished_house
from navarena.core.seeding import make_generator
from navarena.episodes.catalog import load_episodes, make_episodes
from navarena.episodes.episode import Episode
from navarena.episodes.house_tours import list_tours, make_episode_tours
from navarena.episodes.route_sets import load_routes
from navarena.scenes.catalog import scene_ids
from navarena.scenes.scene import Scene
from navarena.simulation.body_catalog import LOCOBOT, VLN_CE
from navarena.simulation.navmesh.building.floor_navmesh import build_floor_navmesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World, WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_body_task, get_task
from navarena.tasks.env import NavigationEnv
from navarena.tasks.teacher import make_teacher
from navarena.tasks.vector_env import NavigationVectorEnv

BATCH = 64
PROTOCOL = "pointnav-v1"
IMAGE_BATCH, IMAGE_PROTOCOL = 16, "multion-3on-v1"
TOUR_PROTOCOL = "ir2r-ce-v1"
LIFELONG_BATCH, LIFELONG_PROTOCOL = 8, "goat-v1"
LABEL_BATCH = 32
MAP_TARGETS = {
    "oracle_map": 40_000.0,
    "oracle_ego_map": 15_000.0,
    "occupancy_map": 6_000.0,
    "frontier_direction": 1_500.0,
}
BARE_TRIANGLES = 10_000
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
        measure_simulator(episodes, worlds, steps, 1, 100_000),
        measure_bare(256, ("rgb", "depth"), 6_000, steps // 4),
        measure_bare(128, ("rgb",), 10_000, steps // 4),
        measure_environment(episodes, worlds, steps),
        measure_resets(episodes, worlds, resets),
        measure_teacher(PROTOCOL, scenes[:8], 100 if quick else 400, 0.02),
        measure_teacher(IMAGE_PROTOCOL, scenes[:8], 100 if quick else 400, 0.05),
        measure_images(scenes[:8], 100 if quick else 400),
        measure_one(scenes[:8], 100 if quick else 400),
        *(
            measure_map(name, scenes[:8], 50 if quick else 200, target)
            for name, target in MAP_TARGETS.items()
        ),
        measure_tours(100 if quick else 400),
        measure_lifelong(50 if quick else 200),
    ]


def measure_simulator(
    episodes: list[Episode], worlds: WorldCache, steps: int, batch: int = BATCH, target: int = 300_000
) -> Measurement:
    """Steps/s of `Simulator.step` with `batch` bodies in the scenes of `episodes`."""
    simulator = Simulator(LOCOBOT, batch, actions=get_task(PROTOCOL).actions)
    chosen = [episodes[k % len(episodes)] for k in range(batch)]
    simulator.place(
        range(batch),
        [worlds.get(episode.scene_id) for episode in chosen],
        np.array([episode.start_position for episode in chosen]),
        np.array([episode.start_yaw for episode in chosen]),
    )
    seconds = _time_steps(simulator.step, steps, batch)
    name = f"Simulator.step, batch of {batch}, no images"
    return Measurement(name, batch * steps / seconds, "steps/s", target, "one core")


def measure_bare(side: int, sensors: tuple[str, ...], target: float, steps: int) -> Measurement:
    """Steps/s of one body that looks at a mesh without textures and labels, images of `side` pixels."""
    house = furnished_house()
    corners = house.vertices[house.triangles].astype(float)
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    largest = np.sort(np.argsort(areas, kind="stable")[-BARE_TRIANGLES:])
    nothing = np.zeros(len(largest), np.int32)
    scene = Scene("bare mesh", house.vertices, house.triangles[largest], nothing, nothing)
    world = World.of(scene, build_floor_navmesh(house.walkable, NavMeshSettings()))
    camera = replace(LOCOBOT.cameras[0], width_px=side, height_px=side)
    simulator = Simulator(replace(LOCOBOT, cameras=(camera,)), 1, sensors, threads=1)
    place = world.navmesh.random_point(make_generator("bench", "bare mesh"), 1, world.navmesh.largest_island)
    simulator.place([0], [world], place, np.zeros(1))

    def step(actions: np.ndarray) -> None:
        simulator.step(actions)
        _ = simulator.observations

    seconds = _time_steps(step, steps, 1)
    name = f"Simulator of one body, {len(largest):,} bare triangles, {' + '.join(sensors)} {side}x{side}"
    return Measurement(name, steps / seconds, "steps/s", target, "one core")


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


def measure_one(scenes: Sequence[str], steps: int) -> Measurement:
    """Steps/s of one multion-3on-v1 environment on one thread, with colours, depth and goal."""
    episodes = make_episodes(IMAGE_PROTOCOL, scenes, 2).episodes
    env = NavigationEnv(
        IMAGE_PROTOCOL, episodes=episodes, sensors=("rgb", "depth", "multiobjectgoal"), threads=1, copy=False
    )
    env.reset(seed=0)

    def step(actions: np.ndarray) -> None:
        _, _, terminated, truncated, _ = env.step(actions[0])
        if terminated or truncated:
            env.reset()

    seconds = _time_steps(step, steps, 1)
    name = f"{IMAGE_PROTOCOL} environment of one body, 256x256 RGB-D"
    return Measurement(name, steps / seconds, "steps/s", 2_200, "one core")


def measure_map(sensor: str, scenes: Sequence[str], steps: int, target: float) -> Measurement:
    """Environment steps/s of multion-3on-v1 on one thread with one map sensor and nothing else."""
    episodes = make_episodes(IMAGE_PROTOCOL, scenes, 2).episodes
    envs = NavigationVectorEnv(
        IMAGE_BATCH, IMAGE_PROTOCOL, episodes=episodes, sensors=(sensor,), threads=1, copy=False
    )
    envs.reset(seed=0)
    seconds = _time_steps(envs.step, steps, IMAGE_BATCH)
    name = f"{IMAGE_PROTOCOL} environment step, batch of {IMAGE_BATCH}, {sensor}"
    return Measurement(name, IMAGE_BATCH * steps / seconds, "steps/s", target, "one core")


def measure_teacher(protocol: str, scenes: Sequence[str], steps: int, target: float) -> Measurement:
    """Milliseconds per teacher label, on trajectories that follow the teacher in a third of the steps."""
    task = get_body_task(protocol)
    episodes = make_episodes(protocol, scenes, 4).episodes
    batch = NavigationBatch(task, LABEL_BATCH, sensors=())
    teacher, generator = make_teacher(batch), np.random.Generator(np.random.PCG64(0))
    declare = task.actions.index(task.declaration)
    begun, seconds = 0, []
    for step in range(steps):
        idle = np.flatnonzero(~batch.running).tolist()
        batch.start(idle, [episodes[(begun + k) % len(episodes)] for k in range(len(idle))])
        begun += len(idle)
        begin = time.thread_time()
        labels = teacher.label()
        if step:  # the first compiles
            seconds.append(time.thread_time() - begin)
        walked = generator.choice(4, LABEL_BATCH, p=ACTION_SHARES)
        follows = (generator.random(LABEL_BATCH) < 1 / 3) | (labels == declare)
        batch.step(np.where(follows, labels, walked))
    name = f"{protocol} teacher, a label in a batch of {LABEL_BATCH}"
    value = 1e3 * float(np.mean(seconds)) / LABEL_BATCH
    return Measurement(name, value, "ms", target, "one core, mean, searches of stuck bodies included")


def measure_tours(steps: int) -> Measurement:
    """Environment steps/s of ir2r-ce-v1 on one thread with all observations, oracle phases included."""
    worlds = WorldCache(VLN_CE)
    episodes = load_routes("mini").episodes
    lists = make_episode_tours(episodes, lambda scene: worlds.get(scene).navmesh)
    tours = list_tours(lists, episodes, "mini")
    envs = NavigationVectorEnv(
        IMAGE_BATCH, TOUR_PROTOCOL, episodes=tours, threads=1, worlds=worlds, copy=False
    )
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


def measure_resets(episodes: list[Episode], worlds: WorldCache, resets: int) -> Measurement:
    """Megabytes by which the process has grown over the second half of `resets` resets."""
    batch = NavigationBatch(get_body_task(PROTOCOL), 1, sensors=(), worlds=worlds)
    sizes = []
    for count in range(resets):
        batch.start([0], [episodes[count % len(episodes)]])
        if count in (resets // 2, resets - 1):
            gc.collect()
            sizes.append(resident_bytes() / 1e6)
    scenes = len({episode.scene_id for episode in episodes})
    name = f"memory growth over {resets:,} resets in {scenes} scenes"
    return Measurement(name, max(sizes[1] - sizes[0], 0.0), "MB", 1.0, "second half against first")


def _time_steps(step: Callable[[np.ndarray], object], steps: int, batch: int = BATCH) -> float:
    """Median seconds of `steps` steps of random actions, on one core's clock."""
    actions = np.random.Generator(np.random.PCG64(0)).choice(4, (steps, batch), p=ACTION_SHARES)

    def run() -> None:
        for row in actions:
            step(row)

    return median_seconds(run, 5, time.thread_time)
