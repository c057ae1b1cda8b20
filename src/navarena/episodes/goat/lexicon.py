"""Meaning of words: names of objects, attributes and rooms, as the catalogue of houses has them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from navarena.episodes.goat.appearance import ALIKE, MATERIALS, PATTERNS, SHAPES
from navarena.episodes.language.landmarks import STRUCTURE
from navarena.scenes.houses.appearance.finishes import COLORS
from navarena.scenes.houses.furniture.catalog import CATEGORIES
from navarena.scenes.houses.plan.programme import ROOM_KINDS
from navarena.scenes.houses.vocabulary import BENCHMARKS, GOAT, names_of

Kind = Literal["object", "attribute", "room"]

OBJECTS: tuple[str, ...] = tuple(sorted({*CATEGORIES, *STRUCTURE}))
"""Categories that words may stand for."""

ROOMS: tuple[str, ...] = tuple(sorted(ROOM_KINDS))
"""Categories of rooms."""

SIZES = {
    "small": "small",
    "little": "small",
    "tiny": "small",
    "large": "large",
    "big": "large",
    "huge": "large",
}

ATTRIBUTES: tuple[str, ...] = tuple(
    sorted({*COLORS, *MATERIALS.values(), *PATTERNS.values(), *SHAPES, *SIZES.values()})
)
"""Attributes of objects: colours, materials, patterns, shapes and sizes, in one word or two."""

SPELLINGS = {"gray": "grey", "light gray": "light grey", "warm gray": "warm grey", "silver": "steel"}
"""Other words for colours."""

TURNS = frozenset((
    "in", "on", "above", "over", "below", "under", "underneath", "between", "near", "next", "close", "beside",
    "left", "right", "to", "facing", "resting", "located", "that", "which", "higher", "behind", "by",
    "it",
))  # fmt: skip
"""Words after which a description says where an object is, no longer what it is."""

ALIKE_WEIGHT = 0.5
"""Share at which a colour stands for one that people take it for."""

MAX_PHRASE_WORDS = 4


@dataclass(frozen=True)
class Mention:
    """A phrase whose meaning is known.

    Attributes:
        kind: of what it stands for.
        meant: places in OBJECTS, ATTRIBUTES or ROOMS -> weight, at most 1.
    """

    kind: Kind
    meant: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class ParsedText:
    """Words of a description whose meaning is known.

    Attributes:
        head: words that say what the object is, one string.
        obj: the first name among them; None where no known one is.
        attributes: those that are said of it.
        rooms: that are named anywhere.
        around: names of other objects.
    """

    head: str
    obj: Mention | None
    attributes: tuple[Mention, ...]
    rooms: tuple[Mention, ...]
    around: tuple[Mention, ...]


def read_text(text: str) -> ParsedText:
    """Parse a name or a description, such as "white sofa in the study, next to the desk."."""
    head: list[str] = []
    objects: list[Mention] = []
    attributes: list[Mention] = []
    rooms: list[Mention] = []
    around: list[Mention] = []
    elsewhere = False
    for phrase, mention in split_phrases(text):
        elsewhere = elsewhere or (mention is None and phrase in TURNS)
        if not elsewhere:
            head.append(phrase)
        if mention is None:
            continue
        if mention.kind == "room":
            rooms.append(mention)
        elif mention.kind == "object":
            (around if elsewhere else objects).append(mention)
        elif not elsewhere:
            attributes.append(mention)
    return ParsedText(
        " ".join(head),
        objects[0] if objects else None,
        tuple(attributes),
        tuple(rooms),
        (*objects[1:], *around),
    )


def split_phrases(text: str) -> Iterator[tuple[str, Mention | None]]:
    """The words of a text in order, those of a known phrase together with its meaning, the longest first."""
    words = re.findall(r"[\w'-]+", text.lower().replace("_", " "))
    known, start = _phrases(), 0
    while start < len(words):
        for count in range(min(MAX_PHRASE_WORDS, len(words) - start), 0, -1):
            phrase = " ".join(words[start : start + count])
            mention = known.get(phrase) or known.get(phrase.removesuffix("s"))
            if mention is not None or count == 1:
                yield phrase, mention
                start += count
                break


@cache
def _phrases() -> dict[str, Mention]:
    """Phrase -> meaning; where one has several, an object comes before a room, that before an attribute."""
    colours = {word: [word] for word in COLORS} | {word: [own] for word, own in SPELLINGS.items()}
    found = {word: _mention("attribute", ATTRIBUTES, own, _alike(own[0])) for word, own in colours.items()}
    for word, said in {**MATERIALS, **PATTERNS, **SIZES, **{shape: shape for shape in SHAPES}}.items():
        found.setdefault(word, _mention("attribute", ATTRIBUTES, [said]))
        found.setdefault(said, found[word])
    found |= {room: _mention("room", ROOMS, [room]) for room in ROOMS}
    for words in (*(words for name, words in BENCHMARKS.items() if name != "goat"), GOAT):
        found |= {_plain(word): _mention("object", OBJECTS, meant) for word, meant in words.items()}
    for category in OBJECTS:  # an own name means its category alone
        own = names_of(category) if category in CATEGORIES else ()
        for name in (category.replace("_", " "), *(one for one in own if one not in GOAT)):
            found[name] = _mention("object", OBJECTS, [category])
    return found


def _mention(kind: Kind, table: Sequence[str], meant: Sequence[str], alike: Sequence[str] = ()) -> Mention:
    weights = dict.fromkeys(alike, ALIKE_WEIGHT) | dict.fromkeys(meant, 1.0)
    return Mention(kind, tuple((table.index(one), weight) for one, weight in sorted(weights.items())))


def _alike(color: str) -> list[str]:
    return sorted({other for colors in ALIKE if color in colors for other in colors if other in COLORS})


def _plain(word: str) -> str:
    """A benchmark's word as people write it: "GarbageCan" and "tv_monitor" as "garbage can", "tv monitor"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", word).replace("_", " ").lower()
