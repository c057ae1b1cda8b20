"""Names of the objects of a scene in the vocabularies of benchmarks.

Scans write the benchmark's own word as the category, or as the attribute `goal`; generated houses
distinguish an office chair from an armchair, and the vocabulary of houses says that both are a "chair".
"""

from collections.abc import Sequence
from functools import cache

from navarena.scenes.scene import SceneObject


@cache
def _words_by_category() -> dict[str, tuple[str, ...]]:
    """Category of houses -> the words of the challenges that stand for it."""
    from navarena.scenes.houses.vocabulary import HABITAT_2020, HM3D, ROBOTHOR  # loads the furniture

    found: dict[str, list[str]] = {}
    for words in (HABITAT_2020, HM3D, ROBOTHOR):
        for word, categories in words.items():
            for category in categories:
                found.setdefault(category, []).append(word)
    return {category: tuple(dict.fromkeys(words)) for category, words in found.items()}


def word_for(obj: SceneObject, words: Sequence[str]) -> str | None:
    """The goal category among `words` that names `obj`; None if none does.

    The category itself comes first, then the attribute `goal` of scans, then the vocabulary.
    """
    candidates = (obj.category, obj.attributes.get("goal"), *_words_by_category().get(obj.category, ()))
    return next((word for word in candidates if word in words), None)
