"""Puts descriptions into English, in many wordings; without the order to go there (GOAT-Bench strips it)."""

from collections.abc import Sequence

import numpy as np

from navarena.core.errors import InputError
from navarena.episodes.goat.appearance import name_with
from navarena.episodes.goat.descriptions import Description, Relation
from navarena.episodes.goat.relations import RelationKind
from navarena.episodes.language.landmarks import Landmark

MAX_WORDS = 55
"""Longer descriptions are none (spec ivln_goat 4.1)."""

PHRASES: dict[RelationKind, tuple[str, ...]] = {
    "on": ("on the {0}", "on top of the {0}", "resting on the {0}"),
    "above": ("above the {0}", "over the {0}", "higher up than the {0}, right above it"),
    "below": ("below the {0}", "under the {0}", "underneath the {0}"),
    "in front of": ("in front of the {0}", "right in front of the {0}", "facing the {0}"),
    "between": ("between the {0} and the {1}", "in between the {0} and the {1}"),
    "left of": ("to the left of the {0}", "left of the {0}", "on the left side of the {0}"),
    "right of": ("to the right of the {0}", "right of the {0}", "on the right side of the {0}"),
    "near": ("near the {0}", "next to the {0}", "close to the {0}", "beside the {0}"),
}

FORMS = (
    "{obj} in the {room}, {where}.",
    "{obj} {where}, in the {room}.",
    "{obj} that is {where} in the {room}.",
    "{obj} located in the {room}, {where}.",
    "{obj} in the {room}. It is {where}.",
    "{obj} which you find {where}. It is in the {room}.",
)

BARE_FORMS = ("{obj} in the {room}.", "{obj} located in the {room}.", "{obj} that is in the {room}.")
"""Without relations."""

ROOMLESS_FORMS = ("{obj} {where}.", "{obj} that is {where}.", "{obj}. It is {where}.")

JOINTS = (" and ", ", ")


def word_description(description: Description, generator: np.random.Generator) -> str:
    """One wording, such as "white sofa in the study, next to the desk."; equal generators give equal words.

    Raises InputError for a description of more than MAX_WORDS words.
    """
    obj = name_with(description.name, description.attributes)
    phrases = [_phrase(relation, generator) for relation in description.relations]
    if len(phrases) > 1 and generator.random() < 0.5:
        phrases.reverse()
    where = _join(phrases, generator)
    forms: Sequence[str] = FORMS if where and description.room else ROOMLESS_FORMS if where else BARE_FORMS
    if not where and not description.room:
        forms = ("{obj}.",)
    text = _draw(forms, generator).format(obj=obj, room=description.room, where=where)
    if count_words(text) > MAX_WORDS:
        raise InputError(
            f"expected a description of at most {MAX_WORDS} words, got {text!r}; state fewer facts"
        )
    return text


def count_words(text: str) -> int:
    """Words between spaces."""
    return len(text.split())


def _phrase(relation: Relation, generator: np.random.Generator) -> str:
    return _draw(PHRASES[relation.kind], generator).format(*(_mention(one) for one in relation.landmarks))


def _mention(landmark: Landmark) -> str:
    return name_with(landmark.category.replace("_", " "), landmark.attributes)


def _join(phrases: Sequence[str], generator: np.random.Generator) -> str:
    """Phrases as one: "a", "a and b", "a, b and c"."""
    if len(phrases) < 2:
        return "".join(phrases)
    *most, last = phrases
    return ", ".join(most) + _draw(JOINTS[:1] if len(phrases) > 2 else JOINTS, generator) + last


def _draw(choices: Sequence[str], generator: np.random.Generator) -> str:
    return choices[int(generator.integers(len(choices)))]
