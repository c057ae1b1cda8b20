"""Synonyms and paraphrases of goals, for experiments with noise."""

from weakref import WeakKeyDictionary

import numpy as np

from navarena.core.errors import InputError
from navarena.episodes.goals import Subtask
from navarena.episodes.goat.descriptions import Describer
from navarena.episodes.goat.names import find_synonyms
from navarena.episodes.goat.scene_goals import find_scene_goals
from navarena.episodes.goat.wording import word_description
from navarena.simulation.world import World

MAX_TRIES = 20
"""Wordings that are drawn until one differs from the text it shall replace."""

_KEPT: WeakKeyDictionary[World, Describer] = WeakKeyDictionary()


def find_describer(world: World) -> Describer:
    """The Describer of a world of Stretch, cached with the world."""
    if world not in _KEPT:
        _KEPT[world] = Describer(world.scene, find_scene_goals(world))
    return _KEPT[world]


def draw_synonym(name: str, generator: np.random.Generator) -> str:
    """A synonym of `name`; `name` itself if there is none.

    Raises UnknownNameError for a name that GOAT-Bench's vocabulary in houses does not have.
    """
    others = find_synonyms(name)
    return others[int(generator.integers(len(others)))] if others else name


def paraphrase(world: World, subtask: Subtask, generator: np.random.Generator) -> str:
    """The facts of a description in another wording; equal generators give equal words.

    Raises InputError for a sub-task whose facts are not known: one not given by a description, or one
    described by somebody else than navarena.
    """
    if subtask.modality != "description" or len(subtask.instances) != 1:
        raise InputError(
            f"expected a goal given by a description, got {subtask.modality!r} ({subtask.category}); leave it"
        )
    number = int(subtask.instances[0].object_id) if subtask.instances[0].object_id.isdecimal() else -1
    describer = find_describer(world)
    known = describer.describe(number, subtask.category) if describer.can_describe(number) else None
    if known is None:
        raise InputError(
            f"expected a description of object {subtask.instances[0].object_id!r} ({subtask.category}) of "
            f"{world.scene_id!r} that navarena made, got {subtask.description!r}; only those are reworded"
        )
    text = subtask.description
    for _ in range(MAX_TRIES):
        text = word_description(known, generator)
        if text != subtask.description:
            break
    return text
