"""Descriptions that do not tell one object of their scene apart, whoever wrote them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from navarena.episodes.episode import Episode
from navarena.episodes.goals import as_subtasks
from navarena.episodes.goat.descriptions import Describer, Relation, may_be_called
from navarena.episodes.goat.names import is_called
from navarena.episodes.goat.rewording import find_describer
from navarena.episodes.goat.told_facts import ToldFacts, read_facts
from navarena.episodes.goat.written import facts_told
from navarena.scenes.scene import SceneObject
from navarena.simulation.world import World

Goals = dict[tuple[str, str], list[str]]
"""(words, object id) -> ids of the episodes that ask so."""


def find_unclear_descriptions(world: World, episodes: Iterable[Episode]) -> Iterator[str]:
    """What is wrong with the words of the goals of one scene, a line for each.

    The same words for two objects; and words whose facts, as far as they are understood, fit other things
    as well as the one that is meant. Words that do not seem to fit the one that is meant (because they are
    not understood, or the scene does not say of what colour things are) are passed over.
    """
    asked, names = _list_goals(episodes)
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
    for (words, number), users in asked.items():
        rivals = find_rivals(describer, words, number, names[words, number])
        if rivals:
            yield (
                f"{words!r}, said of object {number}, fits {', '.join(map(str, rivals))}, too; tell more of "
                f"it, or leave out {_list(users)}"
            )


def find_rivals(describer: Describer, words: str, number: str, category: str) -> list[int]:
    """Ids of other things that all understood facts of a description fit; none where they do not fit its own.

    Args:
        describer: of the scene.
        words: the description.
        number: id of the object that is meant.
        category: what the benchmark calls it.
    """
    things = {str(thing.object_id): thing for thing in describer.scene.objects}
    if number not in things or _is_known_to_fit_one(describer, words, things[number], category):
        return []
    facts = read_facts(words)
    fitting = [one.object_id for one in things.values() if _fits(describer, one, facts, category)]
    own = things[number].object_id
    return [one for one in fitting if one != own] if own in fitting else []


def _is_known_to_fit_one(describer: Describer, words: str, thing: SceneObject, category: str) -> bool:
    """Whether the words tell enough of the facts by which navarena itself tells the thing apart."""
    number = thing.object_id
    known = describer.describe(number, category) if describer.can_describe(number) else None
    return known is not None and describer.matches(facts_told(words, known)) == [number]


def _fits(describer: Describer, thing: SceneObject, facts: ToldFacts, category: str) -> bool:
    """Whether a reader may take `thing` for what is described."""
    named = may_be_called(thing, facts.name) if facts.name else False
    return (
        (named or is_called(thing, category))
        and all(any(describer.may_have(thing, (one,)) for one in meant) for meant in facts.attributes)
        and facts.room in ("", describer.room_of(thing))
        and all(
            any(describer.may_lie(thing, Relation(told.kind, marks)) for marks in told.readings)
            for told in facts.relations
        )
    )


def _list_goals(episodes: Iterable[Episode]) -> tuple[Goals, dict[tuple[str, str], str]]:
    """What is asked for in words, and what each of it is called."""
    asked: Goals = defaultdict(list)
    names: dict[tuple[str, str], str] = {}
    for episode in episodes:
        for subtask in as_subtasks(episode.goal):
            if subtask.modality == "description" and len(subtask.instances) == 1:
                key = subtask.description, subtask.instances[0].object_id
                names[key] = subtask.category
                if episode.episode_id not in asked[key]:
                    asked[key].append(episode.episode_id)
    return asked, names


def _plain(words: str) -> str:
    """The words without what makes no difference to a reader: capitals, stops, and spaces between."""
    return " ".join("".join(one if one.isalnum() else " " for one in words.lower()).split())


def _list(users: list[str]) -> str:
    """The episodes, the first by name."""
    more = f" and {len(users) - 1} more" if len(users) > 1 else ""
    return f"episode {users[0]!r}{more}"
