"""Objects that files list, in scenes annotated as houses, HM3D, MP3D, RoboTHOR and Habitat's datasets are."""

from dataclasses import replace

import pytest

from navarena.episodes.goal_objects import find_goal_object
from navarena.episodes.goals import LifelongGoal, ObjectInstance, Subtask
from navarena.episodes.listed_objects import with_objects
from navarena.episodes.view_points import ViewPointSettings
from navarena.scenes.scene import SceneObject
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.world import World
from tasks.small import AHEAD
from worlds import HALL, draw_navmesh, draw_scene

PLACE = (5.5, 1.0, 5.5)
HOUSE = {1: ("wall", None), 7: ("chair", None)}
HM3D = {16: ("bed", "bed_16"), 30: ("armchair", "armchair_30")}
MP3D = {2: ("chair", "0_0_2"), 3: ("bed", "0_0_3"), 4: ("floor", "0_0_0")}
SHIFTED = {3: ("chair", "0_0_2"), 4: ("bed", "0_0_3")}
ROBOTHOR = {5: ("chair", "Chair|1|2")}
HABITAT = {1: ("stool", "stool_0"), 2: ("stool", "stool_1")}


def draw_objects(known):
    objects = tuple(
        SceneObject(number, category, PLACE, (0.5, 1.0, 0.5), attributes={"name": name} if name else {})
        for number, (category, name) in known.items()
    )
    rows = list(HALL)
    rows[5] = ".....#...."
    scene = draw_scene(rows, scene_id="furnished")
    return replace(scene, objects=objects), draw_navmesh(rows)


@pytest.mark.parametrize(
    ("known", "object_id", "category", "name", "number"),
    [
        (HOUSE, "7", "chair", "", 7),
        (HOUSE, "7", "chair", "chair_7", 7),
        (HOUSE, "8", "chair", "", None),
        (HM3D, "bed_16", "bed", "", 16),
        (HM3D, "bed_16", "bed", "bed_16", 16),
        (HM3D, "16", "bed", "bed_16", 16),
        (HM3D, "16", "bed", "", 16),
        (HM3D, "30", "chair", "chair_30", 30),
        (HM3D, "bed_17", "bed", "", None),
        (MP3D, "3", "bed", "0_0_3", 3),
        (MP3D, "3", "bed", "", 3),
        (MP3D, "0", "floor", "0_0_0", 4),
        (MP3D, "9", "bed", "0_0_9", None),
        (SHIFTED, "3", "bed", "0_0_3", 4),
        (ROBOTHOR, "Chair|1|2", "chair", "Chair|1|2", 5),
        (ROBOTHOR, "5", "chair", "chair_5", 5),
        (HABITAT, "1", "stool", "stool_1", 1),  # by navarena: of the object 1, which the scene names stool_0
    ],
)
def test_objects_are_known_by_their_names_and_numbers(known, object_id, category, name, number):
    scene, _ = draw_objects(known)
    found = find_goal_object(scene, ObjectInstance(object_id, category, PLACE, name=name))
    assert (None if found is None else found.object_id) == number


@pytest.mark.parametrize(
    ("name", "moved", "number"),
    [
        ("", 1.3, 2),  # the sphere around the box has the radius sqrt(0.25 + 1 + 0.25) = 1.22 m
        ("", 1.4, None),
        ("1abc_:0000", 1.3, 2),
        ("1abc_:0000", 1.4, None),
        ("stool_1", 9.0, 2),
    ],
)
def test_a_number_means_an_object_only_where_the_file_places_it(name, moved, number):
    """HSSD's files number objects otherwise than the scene does."""
    scene, _ = draw_objects(HABITAT)
    listed = ObjectInstance("2", "chair", (PLACE[0], PLACE[1], PLACE[2] + moved), name=name)
    found = find_goal_object(scene, listed)
    assert (None if found is None else found.object_id) == number


def test_view_points_are_added_to_objects_listed_by_name():
    world = World.of(*draw_objects({2: ("bed", "bed_16")}))
    bed = ObjectInstance("bed_16", "bed", PLACE)
    goal = LifelongGoal((Subtask("object", "bed", (bed, replace(bed, object_id="bed_17"))),))
    episode = replace(AHEAD, scene_id="furnished", goal=goal)
    settings = ViewPointSettings(("bed",), LOCOBOT)
    ((filled,),) = [one.goal.subtasks for one in with_objects([episode], lambda _: world, settings)]
    assert [bool(one.view_points) for one in filled.instances] == [True, False]
