"""Parses descriptions of any origin into attributes, room and relations, as far as the words are known."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from navarena.episodes.goat.appearance import MATERIALS, PATTERNS, SHAPES
from navarena.episodes.goat.lexicon import ATTRIBUTES, OBJECTS, ROOMS, Mention, split_phrases
from navarena.episodes.goat.relations import RelationKind
from navarena.episodes.goat.wording import PHRASES
from navarena.episodes.language import Landmark
from navarena.scenes.houses.appearance.finishes import COLORS

Attribute = tuple[str, str]
"""Name and value, such as ("color", "white")."""

MORE_STARTS: dict[str, RelationKind] = {"adjacent to": "near", "beneath": "below", "atop": "on"}
"""Beginnings of phrases that our own wording does not use."""

TURNS = ("behind", "against", "opposite", "across from", "inside", "in", "at", "by", "with")
"""Words that begin another clause: neither an attribute of the object nor a relation that is known here."""

NOWHERE = frozenset(("wall", "floor", "ceiling"))
"""Landmarks that distinguish no place."""

MAX_ALTERNATIVES = 64
"""Alternative landmarks of one relation; with more the relation is dropped."""

_STARTS: dict[str, RelationKind] = MORE_STARTS | {
    phrase.split(" the {0}")[0]: kind for kind, phrases in PHRASES.items() for phrase in phrases
}
_TURN = re.compile(
    r"(?<![\w-])(" + "|".join(sorted({*_STARTS, *TURNS}, key=lambda one: (-len(one), one))) + r")(?![\w-])"
)


@dataclass(frozen=True)
class DescribedRelation:
    """Relation of an object to others, as a description states it.

    Attributes:
        kind: of the relation.
        alternatives: landmarks that may be meant, one each, or two for "between".
    """

    kind: RelationKind
    alternatives: tuple[tuple[Landmark, ...], ...]


@dataclass(frozen=True)
class DescribedFacts:
    """The facts of a parsed description.

    Attributes:
        name: what the object is called; empty without a known name.
        attributes: for each adjective the attributes that it may mean.
        room: category of the room; empty without one.
        relations: to objects around it.
    """

    name: str
    attributes: tuple[tuple[Attribute, ...], ...] = ()
    room: str = ""
    relations: tuple[DescribedRelation, ...] = ()


def parse_description(text: str) -> DescribedFacts:
    """The facts of a text such as "white couch in the study, left of the desk and near a lamp."."""
    head, *others = _clauses(text)
    name, attributes = _read_head(head[1])
    room, relations = "", list[DescribedRelation]()
    for start, words in others:
        mentions = [mention for _, mention in split_phrases(words) if mention is not None]
        if start in _STARTS:
            relations += _read_relations(_STARTS[start], mentions)
        elif start in ("in", "inside") and mentions and mentions[0].kind == "room":
            room = room or ROOMS[mentions[0].meant[0][0]]
    return DescribedFacts(name, attributes, room, tuple(relations))


def _clauses(text: str) -> list[tuple[str, str]]:
    """The first part of a text, then (beginning, words up to the next beginning or stop) of all others."""
    found, last, start = [], 0, ""
    plain = re.sub(r"\s+", " ", text.lower().replace("_", " "))
    for match in _TURN.finditer(plain):
        found.append((start, plain[last : match.start()]))
        start, last = match.group(1), match.end()
    found.append((start, plain[last:]))
    return [(start, re.split(r"[.;:!?]", words)[0]) for start, words in found]


def _read_head(words: str) -> tuple[str, tuple[tuple[Attribute, ...], ...]]:
    """The first object name in a text, and the possible meanings of the adjectives before it."""
    attributes = []
    for phrase, mention in split_phrases(words):
        if mention is not None and mention.kind == "attribute":
            attributes.append(_attributes_meant(mention))
        elif mention is not None and mention.kind == "object":
            return phrase, tuple(attributes)
    return "", tuple(attributes)


def _read_relations(kind: RelationKind, mentions: list[Mention]) -> Iterator[DescribedRelation]:
    """One relation for each object that is named, or for both of them together where it lies between two."""
    landmarks: list[tuple[Landmark, ...]] = []
    attributes: list[tuple[Attribute, ...]] = []
    for mention in mentions:
        if mention.kind == "attribute":
            attributes.append(_attributes_meant(mention))
        elif mention.kind == "object":
            names = [OBJECTS[place] for place, _ in mention.meant]
            if not NOWHERE & set(names):
                landmarks.append(
                    tuple(Landmark(name, said) for name in names for said in product(*attributes))
                )
            attributes = []
    groups = [landmarks[:2]] if kind == "between" else [[one] for one in landmarks]
    for group in groups:
        alternatives = tuple(product(*group))
        if len(group) == (2 if kind == "between" else 1) and len(alternatives) <= MAX_ALTERNATIVES:
            yield DescribedRelation(kind, alternatives)


def _attributes_meant(mention: Mention) -> tuple[Attribute, ...]:
    """The attributes that an adjective may mean, as the catalogue has them: "wooden" the material wood."""
    word = ATTRIBUTES[max(mention.meant, key=lambda one: one[1])[0]]
    materials = [("material", value) for value, said in MATERIALS.items() if said == word]
    patterns = [("pattern", value) for value, said in PATTERNS.items() if said == word]
    shapes = [("shape", word)] if word in SHAPES else []
    sizes = [("size", word)] if word in ("small", "large") else []
    colors = [("color", word)] if word in COLORS else []
    return (*materials, *patterns, *shapes, *sizes, *colors)
