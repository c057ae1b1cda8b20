"""Descriptions that a captioner and a model of language word, where they still fit one thing alone.

The steps are those of GOAT-Bench (section 3, table 4; spec ivln_goat 4.5): a captioner is asked what a thing
looks like, a model of language makes an instruction of that and of the things around it, its beginning
("Instruction: find the") is taken off. The words of both questions are ours.
"""

import math
import re
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import UInt8

from navarena.core.errors import InputError
from navarena.episodes.goals import GoalImage, Subtask
from navarena.episodes.goat.descriptions import Description, Relation
from navarena.episodes.goat.goal_images import take_goal_images
from navarena.episodes.goat.looks import say
from navarena.episodes.goat.rewording import find_describer
from navarena.episodes.goat.scene_goals import find_scene_goals
from navarena.episodes.goat.wording import MOST_WORDS, PHRASES, count_words
from navarena.episodes.goat.writers import Writer
from navarena.episodes.language import Landmark
from navarena.simulation.world import World

CAPTION_QUESTION = "Question: what does the {name} in the middle look like? Answer:"
"""What the captioner is asked of the best image of a thing."""

PROMPT = """You write instructions for a robot that looks for one object in a house.
Object: {name}
Appearance: {attributes}
Caption of an image of it: {caption}
Room: {room}
Things around it:
{relations}
Write one instruction of at most {words} words that begins with "Instruction: Find the". Name the object as
above, say how it looks, in which room it is and how it lies to the things around it. Use nothing that is not
said above. The instruction must fit this object alone.
Instruction:"""
"""What the model of language is asked, in the order of the paper's template."""

BEGINNING = re.compile(
    r"^\W*(instruction\s*:)?\s*(please\s+)?"
    r"((find|locate|go to|go towards|navigate to|walk to|look for|move to)\s+)?((the|a|an)\s+)?",
    re.IGNORECASE,
)

NOT_NAMED, TOO_LONG, NOT_UNIQUE = "does not name it", f"has over {MOST_WORDS} words", "fits other things, too"
VIEW_PX, IMAGE_HFOV = 512, math.radians(90)
"""Of the image that is captioned (spec 4.5, "common")."""


@dataclass(frozen=True)
class Written:
    """What came of asking for words.

    Attributes:
        text: the description: the writer's, or the one before where that could not be used.
        answer: the writer's words.
        refused: why they could not be used; empty where they could.
    """

    text: str
    answer: str
    refused: str = ""


def write_description(
    world: World, subtask: Subtask, writer: Writer, captioner: Writer | None = None
) -> Written:
    """The description of `subtask` in the words of `writer`, if they fit no other thing of the scene.

    Raises InputError for a goal that navarena did not describe, and what the writers raise.
    """
    describer = find_describer(world)
    number = int(subtask.instances[0].object_id) if subtask.instances[0].object_id.isdecimal() else -1
    known = describer.describe(number, subtask.category) if describer.can_describe(number) else None
    if subtask.modality != "description" or known is None:
        raise InputError(
            f"expected a description that navarena made, got {subtask.modality!r} of object "
            f"{subtask.instances[0].object_id!r} ({subtask.category}) in {world.scene_id!r}; leave it out"
        )
    caption = ""
    if captioner is not None:
        question = CAPTION_QUESTION.format(name=known.name)
        caption = captioner.answer(question, take_portrait(world, number)).strip()
    answer = writer.answer(ask_for_words(known, caption))
    text = strip_beginning(answer)
    refused = ""
    if count_words(text) > MOST_WORDS:
        refused = TOO_LONG
    elif not _says(text, known.name):
        refused = NOT_NAMED
    elif describer.matches(facts_told(text, known), _eye_on(world, number)) != [number]:
        refused = NOT_UNIQUE
    return Written(subtask.description if refused else text, answer, refused)


def take_portrait(world: World, number: int) -> UInt8[np.ndarray, "h w 3"]:
    """(512, 512, 3) uint8 sRGB: a described object from where it is seen best, in the middle."""
    thing = next(one for one in world.scene.objects if one.object_id == number)
    eye = _eye_on(world, number)
    right, up, back = (np.array(thing.center) - eye).tolist()
    yaw, pitch = math.atan2(-right, -back) / 2, math.atan2(up, math.hypot(right, back)) / 2
    turn = (
        math.cos(yaw) * math.sin(pitch),
        math.sin(yaw) * math.cos(pitch),
        -math.sin(yaw) * math.sin(pitch),
        math.cos(yaw) * math.cos(pitch),
    )
    x, y, z = eye.tolist()
    image = GoalImage((x, y, z), turn, IMAGE_HFOV, VIEW_PX, VIEW_PX)
    return take_goal_images(world, [image])[0][0]


def ask_for_words(known: Description, caption: str) -> str:
    """The question for a model of language: the facts of a description and the words of a captioner."""
    looks = ", ".join(found[1] for found in (say(*one) for one in known.attributes) if found is not None)
    lines = [f"- it is {one.kind} {' and '.join(map(_name, one.landmarks))}" for one in known.relations]
    return PROMPT.format(
        name=known.name,
        attributes=looks or "unknown",
        caption=caption or "none",
        room=known.room or "unknown",
        relations="\n".join(lines) or "- none",
        words=MOST_WORDS,
    )


def strip_beginning(answer: str) -> str:
    """The first line that says something, without "Instruction: find the" and quotes."""
    lines = [line.strip().strip("\"'") for line in answer.splitlines()]
    first = next((line for line in lines if BEGINNING.sub("", line, count=1)), "")
    return BEGINNING.sub("", first, count=1).strip()


def facts_told(text: str, known: Description) -> Description:
    """Those facts of a description that a text still tells, as far as its words can be found there."""
    told = [(one, say(*one)) for one in known.attributes]
    return replace(
        known,
        attributes=tuple(one for one, words in told if words is not None and _says(text, words[1])),
        room=known.room if known.room and _says(text, known.room) else "",
        relations=tuple(one for one in known.relations if _tells(text, one)),
    )


def _tells(text: str, relation: Relation) -> bool:
    """Whether a text names the landmarks of a relation, and before the first one how it lies to them."""
    names = [mark.category.replace("_", " ") for mark in relation.landmarks]
    starts = {phrase.split(" the {0}")[0] for phrase in PHRASES[relation.kind]} | {relation.kind}
    return all(_says(text, name) for name in names) and any(_says(text, start) for start in starts)


def _name(landmark: Landmark) -> str:
    return "the " + landmark.category.replace("_", " ")


def _says(text: str, phrase: str) -> bool:
    return re.search(rf"\b{re.escape(phrase)}\b", text, re.IGNORECASE) is not None


def _eye_on(world: World, number: int) -> np.ndarray:
    return np.array(find_scene_goals(world).described[number].eye)
