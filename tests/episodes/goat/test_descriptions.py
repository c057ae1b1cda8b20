"""Descriptions tell objects apart: relations on hand-drawn boxes, uniqueness by a plain reader, wording."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.seeding import make_generator
from navarena.episodes.goals import Subtask
from navarena.episodes.goat import (
    Describer,
    Description,
    GoalPool,
    Relation,
    draw_synonym,
    find_scene_goals,
    find_synonyms,
    names_of_split,
    objects_named,
    paraphrase,
    rewording,
    word_description,
)
from navarena.episodes.goat.appearance import is_alike, name_with, say
from navarena.episodes.goat.descriptions import may_be_called
from navarena.episodes.goat.names import names_for
from navarena.episodes.goat.relations import KINDS, Layout, Strictness
from navarena.episodes.goat.wording import MAX_WORDS, count_words
from navarena.episodes.language import Landmark
from navarena.scenes.houses.vocabulary import GOAT
from navarena.scenes.scene import SceneObject
from navarena.simulation.body_catalog import STRETCH
from navarena.simulation.world import World, open_world

HOUSE = "houses-v1/val/00000"


@pytest.fixture(scope="module")
def house():
    return open_world(HOUSE, STRETCH)


def box(number, category, x, z, size=(0.4, 0.4, 0.4), foot=0.0, yaw=0.0, **attributes):
    """An object whose box is `size` metres (x, y, z), standing with its foot at a height."""
    half = tuple(side / 2 for side in size)
    return SceneObject(number, category, (x, foot + half[1], z), half, yaw, attributes=attributes)


DESK = box(1, "desk", 0.0, 0.0, (1.6, 0.75, 0.8))
LAMP = box(2, "desk_lamp", 0.3, 0.1, (0.2, 0.4, 0.2), foot=0.75)
IMAGE = box(3, "picture", 0.0, 0.42, (0.6, 0.5, 0.03), foot=1.3)
CHAIR = box(4, "chair", 0.1, -0.8, (0.5, 0.9, 0.5))
LEFT = box(5, "plant", -1.4, 0.0)
RIGHT = box(6, "stool", 1.4, 0.05)
FAR = box(7, "sofa", 6.0, 6.0, (2.0, 0.8, 0.9))
OBJECTS = (DESK, LAMP, IMAGE, CHAIR, LEFT, RIGHT, FAR)
EYE = np.array([[0.0, 1.3, -2.5]])
"""Before the desk, whose front is its -z side: +x is on the left hand."""


@pytest.mark.parametrize(
    ("kind", "obj", "others", "expected"),
    [
        ("on", LAMP, (DESK,), True),
        ("on", DESK, (LAMP,), False),
        ("on", IMAGE, (DESK,), False),
        ("above", IMAGE, (DESK,), True),
        ("below", DESK, (IMAGE,), True),
        ("above", LAMP, (DESK,), False),
        ("in front of", CHAIR, (DESK,), True),
        ("in front of", DESK, (CHAIR,), False),
        ("between", DESK, (LEFT, RIGHT), True),
        ("between", CHAIR, (LEFT, RIGHT), False),
        ("right of", LEFT, (DESK,), True),
        ("left of", LEFT, (DESK,), False),
        ("left of", RIGHT, (DESK,), True),
        ("near", CHAIR, (DESK,), True),
        ("near", FAR, (DESK,), False),
    ],
)
def test_relations_of_drawn_boxes(kind, obj, others, expected):
    assert Layout(OBJECTS).holds(kind, obj, others, EYE, Strictness.CLAIM) == expected


def test_left_and_right_change_with_the_side_from_which_one_looks():
    layout, behind = Layout(OBJECTS), EYE * [1, 1, -1]
    assert layout.holds("left of", LEFT, (DESK,), behind, Strictness.CLAIM)
    assert layout.holds("right of", LEFT, (DESK,), np.concatenate([behind, EYE]), Strictness.CLAIM)


def test_fronts_turn_with_things():
    turned = box(1, "desk", 0.0, 0.0, (1.6, 0.75, 0.8), yaw=math.pi)
    layout = Layout((turned, CHAIR))
    assert not layout.holds("in front of", CHAIR, (turned,), EYE, Strictness.CLAIM)


BOXES = st.builds(
    lambda x, z, foot, a, b, c, yaw: (x, z, foot, (a, b, c), yaw),
    *[st.floats(-2, 2)] * 2,
    st.floats(0, 1.5),
    *[st.floats(0.05, 1.5)] * 3,
    st.floats(-3, 3),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(BOXES, min_size=3, max_size=3), st.floats(-4, 4), st.floats(-4, 4))
def test_what_may_be_claimed_may_be_understood(boxes, x, z):
    """Every claim holds loosely, too: a description always fits what it was made for."""
    objects = tuple(
        box(k + 1, "box", bx, bz, size, foot, yaw) for k, (bx, bz, foot, size, yaw) in enumerate(boxes)
    )
    layout, eyes = Layout(objects), np.array([[x, 1.3, z]])
    for kind in KINDS:
        others = objects[1:] if kind == "between" else objects[1:2]
        if layout.holds(kind, objects[0], others, eyes, Strictness.CLAIM):
            assert layout.holds(kind, objects[0], others, eyes, Strictness.LOOSE)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ((), "chair"),
        ((("color", "red"), ("size", "large"), ("material", "wood")), "large red wooden chair"),
        ((("pattern", "striped"), ("shape", "with handles")), "striped chair with handles"),
        ((("pattern", "hills"), ("shape", "2 drawers")), "chair with 2 drawers and with hills"),
    ],
)
def test_attributes_in_words(attributes, words):
    assert name_with("chair", attributes) == words


def test_what_cannot_be_said_and_what_is_taken_for_the_same():
    assert say("size", "medium") is None and say("shape", "bear") is None and say("material", "paint") is None
    assert is_alike("color", "white", "ivory") and not is_alike("color", "white", "red")
    assert not is_alike("color", "white", None) and not is_alike("material", "wood", "metal")


@pytest.mark.slow
def test_descriptions_of_a_house_fit_one_thing_each(house):
    """The reader goes through all objects of the house, and measures loosely."""
    goals = find_scene_goals(house)
    describer = Describer(house.scene, goals)
    objects = {obj.object_id: obj for obj in house.scene.objects}
    names = names_of_split("all")
    described = undescribed = 0
    for number, sight in goals.described.items():
        for name in names_for(objects[number], names):
            found = describer.describe(number, name)
            if found is None:
                undescribed += 1
                continue
            described += 1
            assert describer.matches(found, np.array(sight.eye)) == [number]
            text = word_description(found, make_generator("test", number, name))
            assert count_words(text) <= MAX_WORDS and name in text and text.endswith(".")
    assert described > 9 * undescribed


def test_two_equal_chairs_cannot_be_told_apart(house):
    """A description without what made it unique fits its rivals, too."""
    describer = Describer(house.scene, find_scene_goals(house))
    nightstands = [obj.object_id for obj in objects_named(house.scene, "bed table")]
    loose = [
        obj.object_id
        for obj in house.scene.objects
        if may_be_called(obj, "nightstand") and not may_be_called(obj, "bed table")
    ]
    assert describer.matches(Description("nightstand", ())) == loose
    assert describer.matches(Description("bed table", ())) == nightstands


def test_a_table_may_be_a_coffee_table():
    assert may_be_called(box(1, "coffee_table", 0, 0), "table")
    assert not may_be_called(box(1, "table", 0, 0), "coffee table")


DESCRIPTION = Description(
    "sofa",
    (("color", "grey"),),
    "living room",
    (Relation("left of", (Landmark("window"),)), Relation("near", (Landmark("rug", (("color", "red"),)),))),
)


def test_wordings_vary_and_keep_the_facts():
    texts = {word_description(DESCRIPTION, make_generator("words", k)) for k in range(60)}
    assert len(texts) > 30
    assert all("grey sofa" in text and "living room" in text for text in texts)
    assert all("left" in text and "window" in text and "red rug" in text for text in texts)
    assert word_description(DESCRIPTION, make_generator("w")) == word_description(
        DESCRIPTION, make_generator("w")
    )


def test_too_many_facts_are_refused():
    with pytest.raises(InputError, match="at most 55 words"):
        word_description(
            Description("sofa", (), "hall", (Relation("near", (Landmark("window"),)),) * 30),
            make_generator("w"),
        )


@pytest.mark.parametrize("name", sorted(GOAT))
def test_synonyms_mean_the_same(name):
    others = find_synonyms(name)
    assert name not in others
    assert all(set(GOAT[other]) == set(GOAT[name]) for other in others if other in GOAT)
    assert draw_synonym(name, make_generator("s", name)) in (others or (name,))


def test_known_synonyms():
    assert "sofa set" in find_synonyms("couch") and "couch" in find_synonyms("sofa set")
    with pytest.raises(UnknownNameError, match="couch"):
        find_synonyms("couhc")


def test_paraphrases_keep_the_goal_and_change_the_words(house):
    pool = GoalPool(house, names_of_split("val_seen"))
    choice = pool.choices("description")[0]
    subtask = pool.subtask(choice, make_generator("first"))
    text = paraphrase(house, subtask, make_generator("second"))
    assert text != subtask.description and choice.name in text
    with pytest.raises(InputError, match="given by a description"):
        paraphrase(house, Subtask("object", "couch", subtask.instances), make_generator("x"))


def test_described_objects_are_known_by_the_name_of_the_annotation(house, monkeypatch):
    pool = GoalPool(house, names_of_split("val_seen"))
    subtask = pool.subtask(pool.choices("description")[0], make_generator("first"))
    (instance,) = subtask.instances
    objects = [
        replace(one, attributes={**one.attributes, "name": "seat_81"})
        if str(one.object_id) == instance.object_id
        else one
        for one in house.scene.objects
    ]
    named = World.of(replace(house.scene, objects=tuple(objects)), house.navmesh)
    monkeypatch.setattr(rewording, "find_describer", lambda world: pool.describer)
    listed = replace(subtask, instances=(replace(instance, object_id="seat_81", name=""),))
    words = [paraphrase(*goal, make_generator("second")) for goal in ((house, subtask), (named, listed))]
    assert words[0] == words[1]
