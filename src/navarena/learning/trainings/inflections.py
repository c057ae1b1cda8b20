"""Inflections: frequency of changes of a teacher's labels, and the weight of changed labels."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int64

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.episodes.stream import EpisodeStream, Stay
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.storage import NO_LABEL
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_body_task
from navarena.tasks.slot_episodes import SlotEpisodes
from navarena.tasks.sources import load_blocks
from navarena.tasks.teacher import make_teacher


class Inflections(NamedTuple):
    """Counts of steps and label changes.

    Attributes:
        steps: labels that were counted.
        inflections: those that differ from the label before, and the first ones of episodes.
    """

    steps: int
    inflections: int

    @property
    def weight(self) -> float:
        """Steps per inflection: the weight by which both kinds count as much in sum; 3.2 in R2R-CE."""
        return self.steps / max(self.inflections, 1)


def count_inflections(labels: Int64[np.ndarray, "t n"], first: Bool[np.ndarray, "t n"]) -> Inflections:
    """Count the changes in `labels` (T, N), each column by itself; row 0 counts where it is a first step.

    Args:
        labels: of N slots; NO_LABEL counts nothing, and the label behind it is a change.
        first: (T, N), where the step is the first of an episode.
    """
    changed = np.zeros(labels.shape, bool)
    changed[1:] = labels[1:] != labels[:-1]
    known = labels != NO_LABEL
    return Inflections(int(known.sum()), int(((changed | first) & known).sum()))


def measure_inflections(recipe: Recipe, episodes: int = 200) -> Inflections:
    """Count inflections in `episodes` episodes that the recipe's teacher runs, without rendering.

    Raises InputError for continuous actions, which no teacher labels.
    """
    task = get_body_task(recipe.protocol)
    if task.is_continuous:
        raise InputError(f"expected discrete actions for a teacher, got {recipe.protocol}")
    slots = min(recipe.slots, episodes)
    worlds = WorldCache(task.embodiment)
    batch = NavigationBatch(task, slots, threads=1, sensors=(), worlds=worlds)
    teacher, generator = make_teacher(batch), make_generator("learning", recipe.seed, "inflections")
    stay = Stay(episodes=recipe.episodes, houses=recipe.scenes)
    stream = EpisodeStream(load_blocks(task, recipe.split), stay=stay, seed=recipe.seed)
    running = SlotEpisodes(batch, stream, worlds, ())
    running.restart(generator, True)
    running.start(range(slots), [running.draw(generator) for _ in range(slots)])
    begins, left = np.ones(slots, bool), episodes
    labels, first = [], []
    while left > 0:
        label = np.where(batch.led, NO_LABEL, teacher.label())
        labels.append(label)
        first.append(begins)
        _, terminated, truncated = running.follow(batch.step(label))
        begins = terminated | truncated
        left -= int(begins.sum())
        ended = np.flatnonzero(begins).tolist()
        running.start(ended, [running.draw(generator) for _ in ended])
    return count_inflections(np.array(labels), np.array(first))
