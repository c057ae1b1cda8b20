"""Finds ambiguous descriptions, of any origin: those that fit several objects of their scene."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from navarena.episodes.episode import Episode
from navarena.episodes.goal_objects import find_goal_object
from navarena.episodes.goals import ObjectInstance, as_subtasks
from navarena.episodes.goat.description_parser import DescribedFacts, parse_description
from navarena.episodes.goat.descriptions import Describer, Relation, may_be_called
from navarena.episodes.goat.generated_descriptions import find_stated_facts, strip_beginning
from navarena.episodes.goat.names import is_called
from navarena.episodes.goat.rewording import find_describer
from navarena.episodes.view_points import box_distance
from navarena.scenes.scene import SceneObject
from navarena.simulation.world import World

NEAR = 0.5
"""Metres from the box of an object within which what a file lists is that object, whatever its id."""


@dataclass
class _Asked:
    """A description, the object that it stands for, and the ids of the episodes that use it."""

    instance: ObjectInstance
    name: str
    users: list[str] = field(default_factory=list)


def find_ambiguous_descriptions(world: World, episodes: Iterable[Episode]) -> Iterator[str]:
    """Errors of the descriptions of one scene's goals, a line for each.

    The same words for two objects; and words whose facts, as far as they are understood, fit other objects
    as well as the one that is meant. Words that do not seem to fit the one that is meant (because they are
    not understood, or the scene does not say of what colour objects are) are passed over.
    """
    asked = _list_goals(episodes)
    by_words: dict[str, list[str]] = defaultdict(list)
    for words, number in asked:
        by_words[_plain(words)].append(number)
    for numbers in by_words.values():
        if len(numbers) > 1:
            text = next(words for words, number in asked if number == numbers[0])
            yield f"{text!r} is said of objects {', '.join(numbers)}; reword all but one, or leave them out"
    if not asked or not world.scene.has_semantics:
        return
    describer = find_describer(world)
    for (words, number), one in asked.items():
        obj = _find_object(describer, one.instance, one.name)
        rivals = [] if obj is None else find_rivals(describer, words, obj, one.name)
        if rivals:
            yield (
                f"{words!r}, said of object {number}, fits {', '.join(map(str, rivals))}, too; say more "
                f"of it, or leave out {_list(one.users)}"
            )


def find_rivals(describer: Describer, words: str, obj: SceneObject, name: str) -> list[int]:
    """Ids of other objects that fit all understood facts; none where the described object does not.

    Args:
        describer: of the scene.
        words: the description.
        obj: that is meant.
        name: what the benchmark calls it.
    """
    if _is_known_to_fit_one(describer, words, obj, name):
        return []
    facts = parse_description(words)
    fitting = [one.object_id for one in describer.scene.objects if _fits(describer, one, facts, name)]
    return [one for one in fitting if one != obj.object_id] if obj.object_id in fitting else []


def _find_object(describer: Describer, instance: ObjectInstance, name: str) -> SceneObject | None:
    """The object of the scene that a file lists, by name or number, else by category and place, or None."""
    objects, obj = describer.scene.objects, find_goal_object(describer.scene, instance)
    if obj is not None:
        return obj
    place = np.array([instance.position], float)
    called = [one for one in objects if is_called(one, name) or is_called(one, instance.category)]
    apart = [float(box_distance(one, place)[0]) for one in called]
    return called[int(np.argmin(apart))] if apart and min(apart) <= NEAR else None


def _is_known_to_fit_one(describer: Describer, words: str, obj: SceneObject, category: str) -> bool:
    """Whether the words state the facts by which navarena itself distinguishes the object."""
    number = obj.object_id
    known = describer.describe(number, category) if describer.can_describe(number) else None
    return known is not None and describer.matches(find_stated_facts(words, known)) == [number]


def _fits(describer: Describer, obj: SceneObject, facts: DescribedFacts, category: str) -> bool:
    """Whether a description may refer to `obj`."""
    named = may_be_called(obj, facts.name) if facts.name else False
    return (
        (named or is_called(obj, category))
        and all(any(describer.may_have(obj, (one,)) for one in meant) for meant in facts.attributes)
        and facts.room in ("", describer.room_of(obj))
        and all(
            any(describer.may_lie(obj, Relation(stated.kind, marks)) for marks in stated.alternatives)
            for stated in facts.relations
        )
    )


def _list_goals(episodes: Iterable[Episode]) -> dict[tuple[str, str], _Asked]:
    """(words, object id) -> the description and the episodes that use it."""
    asked: dict[tuple[str, str], _Asked] = {}
    for episode in episodes:
        for subtask in as_subtasks(episode.goal):
            if subtask.modality == "description" and len(subtask.instances) == 1:
                (instance,) = subtask.instances
                key = subtask.description, instance.object_id
                one = asked.setdefault(key, _Asked(instance, subtask.category))
                if episode.episode_id not in one.users:
                    one.users.append(episode.episode_id)
    return asked


def _plain(words: str) -> str:
    """Normalised words: without the command to go there, capitals and full stops."""
    return " ".join(re.findall(r"\w+", strip_beginning(words).lower()))


def _list(users: list[str]) -> str:
    """The episodes, the first by name."""
    more = f" and {len(users) - 1} more" if len(users) > 1 else ""
    return f"episode {users[0]!r}{more}"
