"""From a path in a flat that was drawn by hand to words, and back to a place."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flat import OBJECTS, draw_flat
from navarena.core.errors import SceneError
from navarena.core.seeding import make_generator
from navarena.episodes.language import (
    Climb,
    Enter,
    Landmark,
    Pass,
    Route,
    Stop,
    Surroundings,
    describe_route,
    follow_route,
    name_landmark,
    word_route,
)
from navarena.episodes.language.landmarks import is_salient
from navarena.episodes.language.route_facts import box_distance, name_turn
from worlds import HALL, draw_world


@pytest.fixture(scope="module")
def flat():
    return Surroundings(draw_flat())


KITCHEN, LIVING, BEDROOM = 0, 1, 2
RED_SOFA, BLUE_SOFA, BED, MUG = OBJECTS[1], OBJECTS[2], OBJECTS[3], OBJECTS[4]


def test_rooms_are_joined_by_doorways_where_one_can_walk(flat):
    joined = {portal.rooms: portal.point for portal in flat.portals}
    assert set(joined) == {(KITCHEN, LIVING), (LIVING, BEDROOM)}
    assert joined[KITCHEN, LIVING] == pytest.approx((4.06, 0.0, 1.9), abs=0.11)
    assert joined[LIVING, BEDROOM] == pytest.approx((6.5, 0.0, 4.06), abs=0.11)


def test_a_point_is_in_the_room_around_it_or_in_none(flat):
    points = np.array([[1.0, 0, 1.0], [6.0, 0, 1.0], [6.0, 0, 6.0], [1.0, 0, 6.0], [4.1, 0, 2.0]])
    assert flat.room_of(points).tolist() == [KITCHEN, LIVING, BEDROOM, -1, -1]


def test_a_scene_without_rooms_is_refused():
    with pytest.raises(SceneError, match="with rooms"):
        Surroundings(draw_world(HALL))


@pytest.mark.parametrize(
    ("one", "others", "expected"),
    [
        (BED, OBJECTS, Landmark("bed")),
        (RED_SOFA, OBJECTS, Landmark("sofa", (("color", "red"),))),
        (
            RED_SOFA,
            (RED_SOFA, RED_SOFA.__class__(99, "sofa", (0, 0, 0), (1, 1, 1), attributes=RED_SOFA.attributes)),
            None,
        ),
    ],
)
def test_names_are_as_short_as_they_can_be(one, others, expected):
    assert name_landmark(one, others) == expected


def test_a_landmark_needs_every_word_to_be_true():
    red = Landmark("sofa", (("color", "red"), ("size", "large")))
    assert red.fits(RED_SOFA) and not red.fits(BLUE_SOFA) and not red.fits(BED)
    assert red.words == "large red sofa"


def test_only_large_things_catch_the_eye():
    assert is_salient(BED) and not is_salient(MUG)


@pytest.mark.parametrize(
    ("degrees", "word"),
    [
        (0, "straight"),
        (39, "straight"),
        (41, "left"),
        (-90, "right"),
        (139, "left"),
        (141, "around"),
        (-179, "around"),
        (350, "straight"),
        (270, "right"),
    ],
)
def test_turns(degrees, word):
    assert name_turn(math.radians(degrees)) == word


def test_distance_to_a_turned_box():
    turned = OBJECTS[0].__class__(1, "table", (0.0, 0.5, 0.0), (1.0, 0.5, 0.25), yaw=math.pi / 2)
    assert box_distance(turned, np.array([0.0, 0.0, 1.5])) == pytest.approx(0.5)
    assert box_distance(turned, np.array([1.25, 0.0, 0.0])) == pytest.approx(1.0)
    assert box_distance(turned, np.array([0.1, 0.0, 0.9])) == 0.0


PATH = np.array([[1.0, 0, 2.0], [4.1, 0, 2.0], [6.5, 0, 3.0], [6.5, 0, 4.2], [8.0, 0, 6.8]])
"""From the kitchen through the living room into the bedroom, to the bed."""

EAST = -math.pi / 2


def test_the_facts_of_a_path(flat):
    route = describe_route(flat, PATH, EAST, make_generator("facts"))
    assert route is not None and route.start_room == "kitchen"
    crossings = [step for step in route.steps if isinstance(step, Enter)]
    assert [(step.room, step.turn) for step in crossings] == [
        ("living room", "straight"),
        ("bedroom", "right"),
    ]
    assert route.steps[-1] == Stop(Landmark("bed"), ahead=True)


def test_the_first_turn_is_from_where_one_looks(flat):
    west = describe_route(flat, PATH, -EAST, make_generator("facts"))
    assert west is not None and next(s for s in west.steps if isinstance(s, Enter)).turn == "around"


def test_a_long_way_through_a_room_passes_things_on_their_side(flat):
    past = np.array(
        [[2.0, 0, 3.9], [2.0, 0, 0.6], [4.1, 0, 1.9], [6.5, 0, 3.0], [6.5, 0, 4.2], [8.0, 0, 6.8]]
    )
    routes = [describe_route(flat, past, 0.0, make_generator("pass", seed)) for seed in range(5)]
    passed = {step for route in routes for step in route.steps if isinstance(step, Pass)}
    assert passed == {Pass(Landmark("refrigerator"), "left")}
    short = describe_route(flat, past[1:], 0.0, make_generator("pass"))
    assert not [step for step in short.steps if isinstance(step, Pass)]


def test_what_cannot_be_told(flat):
    one_room = np.array([[1.0, 0, 1.0], [3.0, 0, 3.0]])
    assert describe_route(flat, one_room, 0.0, make_generator("x")) is None
    to_nothing = np.array([[1.0, 0, 2.0], [6.0, 0, 2.0]])
    assert describe_route(flat, to_nothing, 0.0, make_generator("x")) is None


def test_a_reader_finds_the_end(flat):
    route = describe_route(flat, PATH, EAST, make_generator("facts"))
    end = follow_route(flat, route, PATH[0], EAST)
    assert end is not None and np.hypot(*(end - PATH[-1])[[0, 2]]) < 1.5


@pytest.mark.parametrize(
    "route",
    [
        Route("kitchen", (Enter("bedroom", "straight"), Stop(Landmark("bed"), True))),
        Route("kitchen", (Enter("living room", "straight"), Stop(Landmark("sofa"), True))),
        Route("kitchen", (Climb(True, "straight"), Stop(Landmark("bed"), True))),
        Route("kitchen", (Enter("living room", "straight"),)),
    ],
    ids=["no such door", "two sofas", "no stairs", "no end"],
)
def test_a_reader_gives_up_where_too_little_is_said(flat, route):
    assert follow_route(flat, route, PATH[0], EAST) is None


FULL = Route(
    "kitchen",
    (
        Enter("corridor", "left"),
        Pass(Landmark("chair", (("color", "red"),)), "right"),
        Enter("stairs", "straight"),
        Climb(True, "around"),
        Enter("bedroom", "right"),
        Enter("bedroom", "straight", same=True),
        Stop(Landmark("bed"), False),
    ),
)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_words_hold_every_fact_in_order(seed):
    text = word_route(FULL, make_generator("words", seed))
    lower = text.lower()
    places = [lower.index(word) for word in ("corridor", "red chair", "stairs", "bed")]
    assert places == sorted(places)
    assert "right" in lower[lower.index("red chair") - 20 : lower.index("red chair") + 40]
    assert "next bedroom" in lower or "other bedroom" in lower
    assert all(sentence[0].isupper() for sentence in text.rstrip(".").split(". "))
    assert text.endswith(".") and "  " not in text and "{" not in text


def test_words_are_drawn_and_repeat_with_the_seed():
    texts = {word_route(FULL, make_generator("words", seed)) for seed in range(20)}
    assert len(texts) > 15
    assert word_route(FULL, make_generator("words", 3)) == word_route(FULL, make_generator("words", 3))
