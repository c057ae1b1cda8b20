"""Inflections: frequency of changes of a teacher's labels, and the weight of changed labels."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int64

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.episodes.stream import EpisodeStream, Stay
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.rollouts.teaching import AgentTeacher, find_teacher_sensors, make_named_teacher
from navarena.learning.settings import ImitationSettings
from navarena.learning.storage import NO_LABEL
from navarena.learning.trainings.setup import make_training_task
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import require_body_task
from navarena.tasks.slot_episodes import SlotEpisodes
from navarena.tasks.sources import load_blocks


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
    """Count inflections in `episodes` episodes that the teacher of `recipe` runs, rendering for it alone.

    Raises InputError for continuous actions, which no teacher labels, and what the teacher raises.
    """
    task = require_body_task(make_training_task(recipe))
    name = recipe.method.teacher if isinstance(recipe.method, ImitationSettings) else ""
    if task.is_continuous:
        raise InputError(f"expected discrete actions for a teacher, got {recipe.protocol}")
    slots = min(recipe.slots, episodes)
    worlds = WorldCache(task.embodiment)
    batch = NavigationBatch(task, slots, threads=1, sensors=find_teacher_sensors(name, task), worlds=worlds)
    teacher, generator = (
        make_named_teacher(name, batch),
        make_generator("learning", recipe.seed, "inflections"),
    )
    stay = Stay(episodes=recipe.episodes, houses=recipe.scenes)
    stream = EpisodeStream(load_blocks(task, recipe.split), stay=stay, seed=recipe.seed)
    running = SlotEpisodes(batch, stream, worlds, ())
    running.restart(generator, True)
    running.start(range(slots), [running.draw(generator) for _ in range(slots)])
    is_learned = np.array([one not in recipe.masked for one in task.actions])
    begins, left = np.ones(slots, bool), episodes
    labels, first = [], []
    while left > 0:
        label = np.where(batch.led, NO_LABEL, teacher.label())
        labels.append(np.where(is_learned[label], label, NO_LABEL))
        first.append(begins)
        if isinstance(teacher, AgentTeacher):
            teacher.note(label)
        _, terminated, truncated = running.follow(batch.step(label))
        begins = terminated | truncated
        left -= int(begins.sum())
        ended = np.flatnonzero(begins).tolist()
        running.start(ended, [running.draw(generator) for _ in ended])
    return count_inflections(np.array(labels), np.array(first))
