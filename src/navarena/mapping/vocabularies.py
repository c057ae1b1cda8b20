"""Classes of segmenters: the words of a benchmark, and which category of a scene belongs to which."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int32

from navarena.core.errors import require_name
from navarena.mapping.semantic_map import label_table
from navarena.scenes.datasets.hm3d import mpcat40_of
from navarena.scenes.houses.furniture.catalog import CATEGORIES
from navarena.scenes.houses.vocabulary import BENCHMARKS, words_of

ALL_CATEGORIES = "categories"
"""The vocabulary of every category of generated houses."""

MAP_VOCABULARY = "ivln"
"""The vocabulary of Iterative VLN, whose classes semantic maps have."""

VOID = "void"


def vocabularies() -> list[str]:
    """Names of the vocabularies."""
    return sorted((*BENCHMARKS, ALL_CATEGORIES))


def class_names(vocabulary: str) -> tuple[str, ...]:
    """The classes of a vocabulary by number: "void" first, then its words.

    A category belongs to the first word that stands for it; words that are left without one are no classes.
    Raises UnknownNameError for another vocabulary.
    """
    return (VOID, *dict.fromkeys(_words(vocabulary).values()))


def class_table(vocabulary: str, categories: Sequence[str]) -> Int32[np.ndarray, "c1"]:
    """(C + 1,) int32 class ids by values of semantic images: index in `categories` plus 1, or 0 for nothing.

    Categories that generated houses do not have belong where their mpcat40 name does. Of the vocabulary
    "ivln" these are the classes of semantic maps (`label_table`). Raises UnknownNameError.
    """
    if vocabulary == MAP_VOCABULARY:
        return label_table(categories)
    words, names = _words(vocabulary), class_names(vocabulary)
    numbers = {category: names.index(word) for category, word in words.items()}
    known = (name if name in CATEGORIES else mpcat40_of(name) for name in categories)
    return np.array([0, *(numbers.get(name, 0) for name in known)], np.int32)


def _words(vocabulary: str) -> dict[str, str]:
    """Category -> the word that it belongs to, in the order of the words."""
    require_name("vocabulary of a segmenter", vocabulary, vocabularies())
    if vocabulary == ALL_CATEGORIES:
        return {category: category for category in sorted(CATEGORIES)}
    found: dict[str, str] = {}
    for word, categories in words_of(vocabulary).items():
        for category in categories:
            found.setdefault(category, word)
    return found
