"""Encoders of words without weights.

`words` reads what a text stands for in the catalogue of houses, and its letters; `one-hot` has one number for
each category.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float32

from navarena.core.errors import InputError, unknown_name
from navarena.episodes.encoding.encoder import GoalEncoder, unit_rows
from navarena.episodes.goat.lexicon import ATTRIBUTES, OBJECTS, ROOMS, Mention, ParsedText, read_text
from navarena.scenes.houses.furniture.catalog import CATEGORIES
from navarena.scenes.houses.vocabulary import GOAT


@dataclass(frozen=True)
class WordSettings:
    """Weights of the parts of a text (length of each part of the vector). Our choice.

    Attributes:
        object: the category.
        attributes: its colour, material, pattern, shape and size.
        rooms: where it is.
        around: the objects near it.
        letters: runs of letters of the words that say what it is; similarity of unlisted words.
        shortest, longest: letters of a run.
        buckets: numbers over which the runs are spread.
    """

    object: float = 1.0
    attributes: float = 0.6
    rooms: float = 0.4
    around: float = 0.4
    letters: float = 0.3
    shortest: int = 3
    longest: int = 5
    buckets: int = 512


class WordsEncoder(GoalEncoder):
    """Names, synonyms and attributes of the catalogue of houses, and character n-grams.

    A text is read as an object ("couch": a sofa), its attributes, the room, and the objects near it. Each
    part has numbers of its own, so that similarity is a sum over what two texts share. A text for a known
    object is `name_with(category, describable_attributes(obj))` of episodes.goat.appearance.

    Args:
        settings: weights of the parts.
    """

    def __init__(self, settings: WordSettings = WordSettings()) -> None:
        self.name = "words" if settings == WordSettings() else f"words {settings}"
        self.settings = settings
        sizes = (len(OBJECTS), len(ATTRIBUTES), len(ROOMS), len(OBJECTS), settings.buckets)
        edges = np.cumsum((0, *sizes)).tolist()
        self._parts = [slice(first, last) for first, last in pairwise(edges)]
        self.dimension = edges[-1]

    def encode_words(self, texts: Sequence[str]) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32 of N names or descriptions; raises InputError for a text without words."""
        vectors = np.zeros((len(texts), self.dimension))
        for row, text in enumerate(texts):
            if not any(letter.isalnum() for letter in text):
                raise InputError(f"expected a text with words for the encoder {self.name!r}, got {text!r}")
            self._write(read_text(text), text, vectors[row])
        return unit_rows(vectors)

    def _write(self, parsed: ParsedText, text: str, out: np.ndarray) -> None:
        """Write the parts of one text into `out` (D,), zeros."""
        settings = self.settings
        obj = () if parsed.obj is None else (parsed.obj,)
        mentioned = (obj, parsed.attributes, parsed.rooms, parsed.around)
        weights = (settings.object, settings.attributes, settings.rooms, settings.around)
        for mentions, weight, part in zip(mentioned, weights, self._parts):
            _add_mentions(mentions, weight, out[part])
        letters = out[self._parts[-1]]
        for run in letter_runs(parsed.head or text, settings.shortest, settings.longest):
            letters[zlib.crc32(run.encode()) % settings.buckets] += 1.0
        length = np.linalg.norm(letters)
        letters *= settings.letters / length if length else 0.0


def letter_runs(text: str, shortest: int, longest: int) -> Iterator[str]:
    """All runs of `shortest` to `longest` letters of each word, with a mark at its ends: "<so", "sof", ..."""
    for word in text.lower().replace("_", " ").split():
        marked = f"<{word.strip('.,;:!?')}>"
        for count in range(shortest, longest + 1):
            for start in range(max(1, len(marked) - count + 1)):
                yield marked[start : start + count]


def _add_mentions(mentions: Sequence[Mention], weight: float, out: np.ndarray) -> None:
    """Write the mentioned categories into `out` (zeros) with norm `weight`; leave it if there are none."""
    for mention in mentions:
        for place, share in mention.meant:
            out[place] = max(out[place], share)
    length = np.linalg.norm(out)
    if length:
        out *= weight / length


class OneHotEncoder(GoalEncoder):
    """One-hot encoder over the categories of the catalogue.

    A name of GOAT-Bench ("couch") takes the places of the categories that it stands for ("sofa"), in equal
    parts. Raises UnknownNameError for other words.
    """

    def __init__(self) -> None:
        self._places = {category: place for place, category in enumerate(sorted(CATEGORIES))}
        self.name = "one-hot"
        self.dimension = len(self._places)

    def encode_words(self, texts: Sequence[str]) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32 of N names."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            for category in self._meant(text.strip().lower()):
                vectors[row, self._places[category]] = 1.0
        return unit_rows(vectors)

    def _meant(self, name: str) -> tuple[str, ...]:
        own = name.replace(" ", "_")
        found = GOAT.get(name, (own,) if own in self._places else ())
        if not found:
            raise unknown_name("category", name, {*GOAT, *self._places})
        return found
