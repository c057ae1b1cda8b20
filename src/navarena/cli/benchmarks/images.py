"""Benchmark of environments with small images, as agents learn from them."""

import time
from collections.abc import Sequence

import numpy as np

from navarena.cli.benchmarks.measurement import Measurement, median_seconds
from navarena.core.seeding import make_generator
from navarena.episodes.catalog import make_episodes
from navarena.scenes.catalog import scene_ids
from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.rendering import Frames, Views, VisibilityRenderer
from navarena.simulation.world import WorldCache
from navarena.tasks.vector_env import NavigationVectorEnv

PROTOCOL = "pointnav-v1"
HOUSES = 16
TARGETS = {"depth": {64: 25_000, 128: 14_000, 256: 5_000}, "rgb": {64: 15_000, 128: 8_000, 256: 3_500}}
"""Steps per second by what is observed and by side in pixels."""
ACTION_SHARES = (0.0, 0.6, 0.2, 0.2)
"""Probabilities of stop, move_forward, turn_left, turn_right."""


def measure(quick: bool) -> list[Measurement]:
    """Steps/s of a vector environment in 16 houses with images of three sizes, and of two threads.

    Args:
        quick: fewer steps.
    """
    episodes = make_episodes(PROTOCOL, scene_ids("houses-v1", "val")[:HOUSES], 2).episodes
    worlds = WorldCache(LOCOBOT)
    rows = []
    for kind, sensors in (("depth", ("depth",)), ("rgb", ("rgb", "depth"))):
        for side, target in TARGETS[kind].items():
            envs = NavigationVectorEnv(
                HOUSES, PROTOCOL, episodes=episodes, threads=1, copy=False, worlds=worlds,
                sensors=(*sensors, "pointgoal_with_gps_compass"), image_size=(side, side),
            )  # fmt: skip
            rate = _steps_per_second(envs, 40 if quick else 200)
            name = f"{PROTOCOL}, {HOUSES} houses, {' + '.join(sensors)} {side}x{side}"
            rows.append(Measurement(name, rate, "steps/s", target, "vector environment, one core, CPU time"))
    rows.append(measure_threads(worlds, [one.scene_id for one in episodes], 5 if quick else 15))
    return rows


def _steps_per_second(envs: NavigationVectorEnv, steps: int) -> float:
    envs.reset(seed=0)
    actions = np.random.Generator(np.random.PCG64(0)).choice(4, (steps, HOUSES), p=ACTION_SHARES)

    def run() -> None:
        for row in actions:
            envs.step(row)

    return HOUSES * steps / median_seconds(run, 5, time.thread_time)


def measure_threads(worlds: WorldCache, scenes: Sequence[str], repeats: int) -> Measurement:
    """Speed-up of two threads over one when drawing depth of 64 x 64 pixels, by the wall clock."""
    camera = Camera(width_px=64, height_px=64)
    held = [worlds.get(scene) for scene in dict.fromkeys(scenes)]
    generator = make_generator("benchmark", "small images")
    count = 16 * len(held)
    places = np.concatenate([world.navmesh.random_point(generator, 16) for world in held])
    views = Views(
        camera,
        np.repeat(np.arange(len(held), dtype=np.int32), 16),
        places + [0.0, camera.mount[1], 0.0],
        np.repeat(np.eye(3)[None], count, 0),
    )
    frames = Frames.allocate(count, camera, ("depth",))
    seconds = []
    for threads in (1, 2):
        renderer = VisibilityRenderer([world.render_mesh for world in held], threads=threads)
        seconds.append(median_seconds(lambda r=renderer: r.render(views, frames), repeats))  # type: ignore[misc]
    name = "two threads against one, depth 64x64"
    return Measurement(name, seconds[0] / seconds[1], "x", 1.8, f"{count} views; needs two idle cores")
