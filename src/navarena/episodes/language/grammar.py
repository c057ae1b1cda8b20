"""Puts the facts of a route into English, in many wordings."""

from collections.abc import Sequence

import numpy as np

from navarena.episodes.language.route import Climb, Enter, Pass, Route, RouteStep, Stop, Turn
from navarena.episodes.language.surroundings import STAIRS

TURNS: dict[Turn, tuple[str, ...]] = {
    "straight": ("", "", "Go straight", "Walk straight ahead", "Continue forward"),
    "left": ("Turn left", "Take a left", "Make a left turn", "Go left"),
    "right": ("Turn right", "Take a right", "Make a right turn", "Go right"),
    "around": ("Turn around", "Turn all the way around", "Go back the other way"),
}
"""Openings of a step; an empty one lets the step begin by itself."""

LEAVES = ("leave the {left}", "exit the {left}", "walk out of the {left}", "go out of the {left}")

ENTERS = (
    "walk into the {room}",
    "enter the {room}",
    "go into the {room}",
    "go through the doorway into the {room}",
    "head through the door to the {room}",
)

ENTERS_NEXT = ("walk into the next {room}", "go into the other {room}", "enter the other {room}")
"""For a room of the same category as the one that is left."""

REACHES = ("walk to the stairs", "go to the stairs", "head over to the stairs")
"""For the room that holds a flight."""

CLIMBS = {
    True: ("go up the stairs", "walk up the stairs", "climb the stairs to the next floor", "head upstairs"),
    False: ("go down the stairs", "walk down the stairs", "take the stairs down", "head downstairs"),
}

PASSES = (
    "walk past the {obj} on your {side}",
    "pass the {obj} on the {side}",
    "go past the {obj} that is on your {side}",
    "keep the {obj} on your {side}",
)

STOPS_AHEAD = (
    "stop in front of the {obj}",
    "walk up to the {obj} and stop there",
    "wait in front of the {obj}",
)
STOPS_BESIDE = (
    "stop next to the {obj}",
    "stop beside the {obj}",
    "wait near the {obj}",
    "stop by the {obj}",
)

NAMES_START = 0.7
"""Share of instructions that name the room in which they begin."""

JOINS = 0.6
"""Share of clauses that share a sentence with the next, where that reads well."""

JOINTS = (" and ", ", then ", " and then ")
"""Between two clauses of one sentence."""


def word_route(route: Route, generator: np.random.Generator) -> str:
    """One wording of `route`, sentences with full stops; equal generators give equal words."""
    clauses: list[str] = []
    room = route.start_room
    for number, step in enumerate(route.steps):
        clauses.append(_clause(step, room, number == 0, generator))
        room = step.room if isinstance(step, Enter) else room
    return " ".join(_sentences(clauses, generator))


def _clause(step: RouteStep, room: str, is_first: bool, generator: np.random.Generator) -> str:
    """A step in words, without a capital; `room` is where the reader is."""
    if isinstance(step, Pass):
        return _draw(PASSES, generator).format(obj=step.landmark.words, side=step.side)
    if isinstance(step, Stop):
        forms = STOPS_AHEAD if step.ahead else STOPS_BESIDE
        return _draw(forms, generator).format(obj=step.landmark.words)
    parts = [_draw(TURNS[step.turn], generator).lower()]
    if is_first and room != STAIRS and generator.random() < NAMES_START:
        parts.append(_draw(LEAVES, generator).format(left=room))
    if isinstance(step, Climb):
        parts.append(_draw(CLIMBS[step.up], generator))
    else:
        parts.append(_draw(_entering(step), generator).format(room=step.room))
    return _enumerate([part for part in parts if part])


def _entering(step: Enter) -> tuple[str, ...]:
    if step.room == STAIRS:
        return REACHES
    return ENTERS_NEXT if step.same else ENTERS


def _enumerate(parts: Sequence[str]) -> str:
    """Parts as one clause: "a", "a and b", "a, b and c"."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _sentences(clauses: Sequence[str], generator: np.random.Generator) -> list[str]:
    """Clauses joined into sentences of one or two."""
    sentences, at = [], 0
    while at < len(clauses):
        joined = clauses[at]
        both = at + 1 < len(clauses) and " and " not in clauses[at] and generator.random() < JOINS
        if both:
            joined += _draw(JOINTS, generator) + clauses[at + 1]
        at += 2 if both else 1
        sentences.append(joined[0].upper() + joined[1:] + ".")
    return sentences


def _draw(choices: Sequence[str], generator: np.random.Generator) -> str:
    return choices[int(generator.integers(len(choices)))]
