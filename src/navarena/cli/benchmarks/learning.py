"""Benchmark of learning: frames per second of imitation and reinforcement, everything included."""

import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from navarena.cli.benchmarks.measurement import Measurement
from navarena.episodes.catalog import make_episodes
from navarena.episodes.episode import Episode
from navarena.learning.recipes.pointnav import POINTNAV_DAGGER_SMALL
from navarena.learning.settings import (
    HABITAT_DDPPO,
    ImitationSettings,
    OptimiserSettings,
    Precision,
    constant,
)
from navarena.scenes.catalog import scene_ids

if TYPE_CHECKING:
    from navarena.learning.recipes.recipe import Recipe

PROTOCOL = POINTNAV_DAGGER_SMALL.protocol
WARM_UPDATES = 3
"""Before the measurement: kernels are compiled and houses opened."""

IMITATION = replace(
    POINTNAV_DAGGER_SMALL,
    description="DAgger in which teacher and policy lead half of the episodes each",
    method=ImitationSettings(OptimiserSettings(max_gradient=1.0), teacher_share=constant(0.5), veto=0.9),
)
REINFORCEMENT = replace(
    POINTNAV_DAGGER_SMALL,
    description="recurrent PPO, 2 epochs; the policy never declares, as episodes of one step cost resets",
    method=HABITAT_DDPPO,
    masked=("stop",),
)


def measure(quick: bool) -> list[Measurement]:
    """Frames/s of one core: acting, rendering, labels, resets and learning; needs PyTorch.

    Args:
        quick: fewer houses and updates.
    """
    houses = scene_ids("houses-v1", "train")[: 2 if quick else 16]
    episodes = make_episodes(PROTOCOL, houses, 20).episodes
    updates = 3 if quick else 20
    cases: list[tuple[str, Recipe, Precision, float]] = [
        ("DAgger", IMITATION, "float32", 2_900.0),
        ("DAgger", IMITATION, "bfloat16", 4_000.0),
        ("PPO, 2 epochs", REINFORCEMENT, "float32", 2_000.0),
        ("PPO, 2 epochs", REINFORCEMENT, "bfloat16", 2_000.0),
    ]
    return [
        measure_training(name, replace(recipe, precision=precision), episodes, updates, target)
        for name, recipe, precision, target in cases
    ]


def measure_training(
    name: str, recipe: "Recipe", episodes: Sequence[Episode], updates: int, target: float
) -> Measurement:
    """Frames/s of the median update of `recipe`, from `episodes` in open houses, on one thread's clock."""
    from navarena.learning.trainings.training import Training

    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        training = Training(recipe, Path(folder), episodes=episodes)
        for number in range(WARM_UPDATES + updates):
            begin = time.thread_time()
            training.advance()
            if number >= WARM_UPDATES:
                seconds.append(time.thread_time() - begin)
        training.close()
    height, width = recipe.image_size
    work = (
        f"{recipe.protocol} by {name}, depth {width}x{height}, CNN + GRU {recipe.policy.hidden}, "
        f"{recipe.slots} slots x {recipe.steps} steps, {recipe.precision}"
    )
    frames = recipe.slots * recipe.steps / statistics.median(seconds)
    return Measurement(work, frames, "frames/s", target, "one core: images, labels, resets, learning")
