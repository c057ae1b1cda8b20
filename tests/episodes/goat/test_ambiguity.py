"""Descriptions that fit two objects: words read by hand, drawn files, and a house's own words."""

from dataclasses import replace

import pytest

from navarena.core.seeding import make_generator
from navarena.episodes.audit import audit_episodes
from navarena.episodes.episode import Episode, LifelongGoal, ObjectInstance
from navarena.episodes.goals import Subtask
from navarena.episodes.goat import GoalPool, find_describer, names_of_split
from navarena.episodes.goat.ambiguity import find_ambiguous_descriptions, find_rivals
from navarena.episodes.goat.description_parser import parse_description
from navarena.episodes.goat.settings import GOAT_VIEW_POINTS
from navarena.episodes.listed_objects import with_objects
from navarena.simulation.body_catalog import STRETCH
from navarena.simulation.world import open_world

HOUSE = "houses-v1/val/00000"


@pytest.fixture(scope="module")
def house():
    return open_world(HOUSE, STRETCH)


def ask(number, *tasks, category="couch", scene_id=HOUSE):
    """An episode of described objects: (object id, words) each."""
    named = [
        (ObjectInstance(str(one), category, (0, 0, 0), name=f"{category}_{one}"), said) for one, said in tasks
    ]
    subtasks = tuple(Subtask("description", category, (one,), said) for one, said in named)
    return Episode(str(number), scene_id, (0.0, 0.0, 0.0), 0.0, LifelongGoal(subtasks), None)


@pytest.mark.parametrize(
    ("text", "name", "attributes", "room", "relations"),
    [
        ("couch.", "couch", [], "", []),
        ("White leather couch in the Living  Room", "couch", ["white", "leather"], "living room", []),
        ("large built-in wardrobe by the door.", "wardrobe", ["large", "built-in"], "", []),
        (
            "chair in the bedroom, to the left of the brown desk and on top of a rug.",
            "chair",
            [],
            "bedroom",
            [("left of", ["desk"]), ("on", ["rug"])],
        ),
        ("plant between the sofa and the tv stand", "plant", [], "", [("between", ["sofa", "tv_stand"])]),
        ("picture on the wall above a bed", "picture", [], "", [("above", ["bed"])]),
        ("vase in the cabinet, near the sofa. The lamp is red.", "vase", [], "", [("near", ["sofa"])]),
        ("chair behind the desk", "chair", [], "", []),
        ("gadget of brass", "", ["brass"], "", []),
    ],
)
def test_facts_are_read_from_words(text, name, attributes, room, relations):
    facts = parse_description(text)
    assert (facts.name, facts.room) == (name, room)
    assert [one[0][1] for one in facts.attributes] == attributes
    first = [(stated.kind, [mark.category for mark in stated.alternatives[0]]) for stated in facts.relations]
    assert first == relations


def test_adjectives_of_landmarks_belong_to_them():
    (stated,) = parse_description("chair near the white desk").relations
    assert [mark.attributes for (mark,) in stated.alternatives] == [(("color", "white"),)]


def test_own_words_of_a_house_are_clear(house):
    pool, describer = GoalPool(house, names_of_split("val_seen")), find_describer(house)
    generator = make_generator("unclear")
    objects = {one.object_id: one for one in house.scene.objects}
    for choice in pool.choices("description")[::4]:
        words = pool.subtask(choice, generator).description
        assert find_rivals(describer, words, objects[choice.object_id], choice.name) == []


def test_bare_names_fit_all_of_their_things(house):
    describer = find_describer(house)
    first, *others = (one for one in house.scene.objects if one.category == "picture")
    assert len(others) == 5, "the house has six pictures"
    for words in ("picture.", "a PICTURE on the wall", "picture in the igloo."):
        found = find_rivals(describer, words, first, "picture")
        assert found == [one.object_id for one in others]
    assert find_rivals(describer, "picture on the bathtub.", first, "picture") == [], "not true of it"


def test_the_same_words_for_two_objects_are_found(house):
    pictures = [one.object_id for one in house.scene.objects if one.category == "picture"][:2]
    words = "the  fluffy WHATSIT on the bathtub"
    episodes = [
        ask(0, (pictures[0], words), category="picture"),
        ask(1, (pictures[1], "Instruction: Find the fluffy whatsit, on the bathtub."), category="picture"),
        ask(2, (pictures[0], words), category="picture"),
    ]
    (message,) = find_ambiguous_descriptions(house, episodes)
    assert words in message and f"{pictures[0]}, {pictures[1]}" in message
    assert list(find_ambiguous_descriptions(house, episodes[::2])) == [], "one object, asked for twice"


def test_objects_of_scans_are_known_by_their_places(house):
    """Files of GOAT-Bench number objects by themselves: "picture_81"."""
    first, second, *_ = (one for one in house.scene.objects if one.category == "picture")
    listed = ObjectInstance("picture_81", "picture", first.center)
    task = Subtask("description", "picture", (listed,), "picture")
    episode = replace(ask(0), goal=LifelongGoal((task,)))
    (message,) = find_ambiguous_descriptions(house, [episode])
    assert "object picture_81, fits" in message and str(second.object_id) in message
    lost = replace(task, instances=(replace(listed, position=(99.0, 0.0, 99.0)),))
    assert list(find_ambiguous_descriptions(house, [replace(episode, goal=LifelongGoal((lost,)))])) == []


def test_the_audit_names_them(house):
    """A file as others write it: objects with places and view points, and words of their own."""
    lamp, other = (one.object_id for one in house.scene.objects if one.category == "table_lamp")
    bare = ask("e7", (lamp, "table lamp."), category="table lamp")
    (episode,) = with_objects([bare], lambda _: house, GOAT_VIEW_POINTS)
    place = episode.goal.subtasks[0].instances[0].view_points[0].position
    report = audit_episodes([replace(episode, start_position=place)], lambda _: house)
    (found,) = (one for one in report.findings if one.check == "description")
    assert found.scene_id == HOUSE and "'e7'" in found.message
    assert f"said of object {lamp}, fits {other}, too" in found.message


def test_the_audit_names_unknown_objects(house):
    lamp = next(one.object_id for one in house.scene.objects if one.category == "table_lamp")
    (episode,) = with_objects([ask(0, (lamp, "lamp"), (99999, "couch."))], lambda _: house, GOAT_VIEW_POINTS)
    report = audit_episodes([episode], lambda _: house)
    assert [one.message for one in report.findings if one.check == "instances"] == [
        "couch 99999 is none of the scene's objects; leave its episodes out"
    ]
