"""Instructions in other words, right and wrong ones: what corruptions of instructions do to a text."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import numpy as np

from navarena.episodes.language.grammar import (
    CLIMBS,
    ENTERS,
    ENTERS_NEXT,
    JOINTS,
    LEAVES,
    PASSES,
    REACHES,
    STOPS_AHEAD,
    STOPS_BESIDE,
    TURNS,
)

_SLOT = re.compile(r"{(\w+)}")

_IN_CLAUSE = r"(?:(?!\band\b|\bthen\b)[^.,;])+?"
"""Words of one clause, as few as fit."""

_END = r"(?=\s*(?:[.,;]|\band\b|\bthen\b|$))"

PHRASES: tuple[tuple[str, ...], ...] = (
    *(tuple(form.lower() for form in dict.fromkeys(forms) if form) for forms in TURNS.values()),
    LEAVES,
    ENTERS,
    ENTERS_NEXT,
    REACHES,
    *CLIMBS.values(),
    PASSES,
    STOPS_AHEAD,
    STOPS_BESIDE,
    tuple(joint.strip() for joint in JOINTS if joint.startswith(" ")),
)
"""Groups of phrases that mean the same: those of the grammar, many of which people use as well."""

ROOMS = (
    *("kitchen", "living room", "bedroom", "bathroom", "dining room", "office", "corridor", "laundry room"),
    *("gym", "storage room", "lounge"),
)
"""Rooms, of which one takes the place of another."""

OBJECTS = (
    *("table", "chair", "sofa", "bed", "plant", "lamp", "picture", "cabinet", "desk", "counter", "sink"),
    *("toilet", "bathtub", "shower", "fireplace", "refrigerator", "oven", "bench", "pouf", "wardrobe"),
    *("bookshelf", "armchair", "chest of drawers", "television", "clock", "fountain", "bicycle"),
)
"""Objects, of which one takes the place of another."""


def change_instruction(change: str, text: str, share: float, generator: np.random.Generator) -> str:
    """The instruction `text` after the change that a corruption names; see the functions of CHANGES."""
    return CHANGES[change](text, share, generator)


def paraphrase_instruction(text: str, share: float, generator: np.random.Generator) -> str:
    """`text` with each phrase of PHRASES replaced by another of its group, with the probability `share`.

    What the phrases do not cover stays as it is.
    """
    return "".join(_replace_phrases(text, share, generator))


def drop_words(text: str, share: float, generator: np.random.Generator) -> str:
    """`text` without some of its words, each left out with the probability `share`; marks stay.

    One word at least is kept, where there are any. Words that a share drops are dropped by larger ones, too.
    """
    pieces = text.split()
    draws = generator.random(len(pieces))
    kept = draws >= share
    if pieces:
        kept[np.argmax(draws)] = True
    left: list[str] = []
    for piece, stays in zip(pieces, kept.tolist()):
        mark = piece[-1] if piece[-1] in ".,;!?" else ""
        if stays:
            left.append(piece)
        elif mark and left and left[-1][-1] not in ".,;!?":
            left[-1] += mark
    return " ".join(left)


def swap_landmarks(text: str, share: float, generator: np.random.Generator) -> str:
    """`text` with each room of ROOMS and object of OBJECTS replaced, with the probability `share`.

    By another of its list; one that occurs several times has one replacement, so that the text stays in
    agreement with itself.
    """
    chosen: dict[str, str] = {}

    def replace(found: re.Match[str]) -> str:
        name = found[0].lower()
        if name not in chosen:
            others = [one for one in (ROOMS if name in ROOMS else OBJECTS) if one != name]
            changes = generator.random() < share
            other = others[int(generator.integers(len(others)))]
            chosen[name] = other if changes else name
        return _match_case(found[0], chosen[name])

    return _landmark_pattern().sub(replace, text)


CHANGES: Mapping[str, Callable[[str, float, np.random.Generator], str]] = {
    "landmark_swap": swap_landmarks,
    "paraphrase": paraphrase_instruction,
    "word_drop": drop_words,
}
"""Name of a change -> function of a text, the share of what is changed, and a generator."""


def _replace_phrases(text: str, share: float, generator: np.random.Generator) -> Iterator[str]:
    at = 0
    while at < len(text):
        here = _find_phrase(text, at)
        if here is None:
            yield text[at]
            at += 1
            continue
        group, form, found = here
        others = [one for one in PHRASES[group] if one != form]
        changes = generator.random() < share
        other = others[int(generator.integers(len(others)))]
        yield _match_case(found[0], other.format(**found.groupdict())) if changes else found[0]
        at = found.end()


def _find_phrase(text: str, at: int) -> tuple[int, str, re.Match[str]] | None:
    """Group, phrase and match of the longest phrase that begins at the word at `at`; None without one."""
    if at and (text[at - 1].isalnum() or not text[at].isalnum()):
        return None
    best: tuple[int, str, re.Match[str]] | None = None
    for group, form, pattern in _phrase_patterns():
        found = pattern.match(text, at)
        if found and (best is None or len(found[0]) > len(best[2][0])):
            best = group, form, found
    return best


@cache
def _phrase_patterns() -> tuple[tuple[int, str, re.Pattern[str]], ...]:
    made = []
    for group, forms in enumerate(PHRASES):
        for form in forms:
            source = _SLOT.sub(lambda slot: f"(?P<{slot[1]}>{_slot_pattern(slot[1])})", form)
            end = _END if form.endswith("}") else r"\b"
            made.append((group, form, re.compile(source + end, re.IGNORECASE)))
    return tuple(made)


def _slot_pattern(name: str) -> str:
    return "left|right" if name == "side" else _IN_CLAUSE


@cache
def _landmark_pattern() -> re.Pattern[str]:
    names = sorted((*ROOMS, *OBJECTS), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(names)})\b", re.IGNORECASE)


def _match_case(before: str, after: str) -> str:
    """`after` with a capital where `before` has one."""
    return after[0].upper() + after[1:] if before[0].isupper() else after
