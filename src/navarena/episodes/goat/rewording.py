"""Synonyms and paraphrases of goals, for experiments with noise."""

from weakref import WeakKeyDictionary

import numpy as np

from navarena.core.errors import InputError
from navarena.episodes.goal_objects import find_goal_object
from navarena.episodes.goals import Subtask
from navarena.episodes.goat.descriptions import Describer, Description
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


def find_facts(world: World, subtask: Subtask) -> tuple[int, Description] | None:
    """The id of the object that a sub-task describes, and the facts that distinguish it.

    None for one that navarena cannot describe.
    """
    obj, describer = find_goal_object(world.scene, subtask.instances[0]), find_describer(world)
    if obj is None or not describer.can_describe(obj.object_id):
        return None
    facts = describer.describe(obj.object_id, subtask.category)
    return None if facts is None else (obj.object_id, facts)


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
    known = find_facts(world, subtask)
    if known is None:
        raise InputError(
            f"expected a description of object {subtask.instances[0].object_id!r} ({subtask.category}) of "
            f"{world.scene_id!r} that navarena made, got {subtask.description!r}; only those are reworded"
        )
    text = subtask.description
    for _ in range(MAX_TRIES):
        text = word_description(known[1], generator)
        if text != subtask.description:
            break
    return text
