"""Benchmark of episode generation and of the expert."""

import time
from collections.abc import Sequence

from navarena.cli.benchmarks.measurement import Measurement
from navarena.episodes.catalog import get_recipe, load_episodes
from navarena.episodes.episode import Episode
from navarena.episodes.object_nav import ObjectNavRecipe
from navarena.episodes.recipe import EpisodeRecipe, Stream
from navarena.episodes.view_points import compute_view_points
from navarena.evaluation.running.expert_audit import find_expert_failures
from navarena.scenes.catalog import scene_ids
from navarena.simulation.world import World, WorldCache
from navarena.tasks.catalog import get_body_task

MULTION, OBJECTNAV, POINTNAV = "multion-3on-v1", "objectnav-habitat2020-v1", "pointnav-v1"
PER_SCENE = 10
"""Episodes of each house, as lists have them."""

MULTION_TARGET, OBJECTNAV_TARGET = 1_000.0, 200.0
"""Episodes a minute and core."""

EXPERT_EPISODES, EXPERT_TARGET_S = 1_000, 60.0
"""30 s on two cores."""


def measure(quick: bool) -> list[Measurement]:
    """Episodes made in a minute, and seconds of the expert for a thousand, by the processor's time.

    Args:
        quick: fewer houses and episodes.
    """
    scenes = scene_ids("houses-v1", "val")[: 3 if quick else 20]
    episodes = load_episodes(POINTNAV, "val").episodes[: 50 if quick else EXPERT_EPISODES]
    return [
        measure_making(MULTION, scenes, MULTION_TARGET, "houses are open"),
        measure_making(OBJECTNAV, scenes, OBJECTNAV_TARGET, "houses are open; view points are rendered anew"),
        measure_expert(episodes),
    ]


def measure_making(protocol: str, scenes: Sequence[str], target: float, note: str) -> Measurement:
    """Episodes of `protocol` made in a minute of one core, PER_SCENE in each of `scenes`."""
    recipe = get_recipe(protocol)
    worlds = WorldCache(recipe.embodiment)
    stream = Stream("bench", "bench")
    for scene in scenes:
        recipe.make(worlds.get(scene), 1, stream)  # opens the house, keeps its view points
    began = time.process_time()
    made = sum(_make(recipe, worlds.get(scene), stream) for scene in scenes)
    minutes = (time.process_time() - began) / 60
    return Measurement(f"{protocol}, episodes made", made / minutes, "/min", target, f"one core; {note}")


def _make(recipe: EpisodeRecipe, world: World, stream: Stream) -> int:
    """Make PER_SCENE episodes and their prerequisites; returns their number."""
    if isinstance(recipe, ObjectNavRecipe):
        compute_view_points(world, recipe.view_points)
    return len(recipe.make(world, PER_SCENE, stream).episodes)


def measure_expert(episodes: Sequence[Episode]) -> Measurement:
    """Seconds of one core for the expert in EXPERT_EPISODES episodes of pointnav-v1, without images."""
    task = get_body_task(POINTNAV)
    worlds = WorldCache(task.embodiment)
    for scene in dict.fromkeys(episode.scene_id for episode in episodes):
        worlds.get(scene)  # builds the house if it is not in the cache
    began = time.process_time()
    failed = list(find_expert_failures(task, episodes, worlds))
    seconds = (time.process_time() - began) * EXPERT_EPISODES / len(episodes)
    note = f"one core, of {len(episodes)} episodes; {len(failed)} failed"
    return Measurement(
        f"{POINTNAV}, expert in {EXPERT_EPISODES:,} episodes", seconds, "s", EXPERT_TARGET_S, note
    )
