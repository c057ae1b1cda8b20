"""Episodes made here, written for others, read back as they were."""

from dataclasses import replace

import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.episodes.episode import Episode
from navarena.episodes.exchange import make_document, open_episode_file, write_document
from navarena.episodes.goals import MultiGoal, ObjectGoal, ObjectInstance, PointGoal, ViewPoint

POINT = Episode("rooms-7", "set/rooms", (1.0, 0.0, 2.5), 0.75, PointGoal((3.0, 0.0, 1.0)), 2.625)
BED = ObjectInstance("4", "bed", (1.0, 0.5, 2.0), (ViewPoint((0.5, 0.0, 2.0), -0.5, 1.25),), "bed_4")
COT = ObjectInstance("crib", "bed", (2.0, 0.5, 2.0))
OBJECT = replace(POINT, episode_id="rooms-0", goal=ObjectGoal("bed", (BED, COT), "4"), difficulty="easy")
MANY = replace(
    POINT,
    episode_id="rooms-0",
    goal=MultiGoal(
        (ObjectInstance("1", "red", (0.0, 0.0, 0.0)), ObjectInstance("0", "blue", (1.0, 0.0, 0.0))),
        distractors=(ObjectInstance("2", "tan", (2.0, 0.0, 0.0)),),
    ),
)


@pytest.mark.parametrize(
    ("layout", "episode", "categories"),
    [
        ("habitat-pointnav", POINT, ()),
        ("habitat-pointnav", replace(POINT, difficulty="hard"), ()),
        ("habitat-objectnav-hm3d", OBJECT, ()),
        ("multion", MANY, ("blue", "red", "tan")),
    ],
)
def test_what_is_written_is_read(tmp_path, layout, episode, categories):
    path = tmp_path / "file.json.gz"
    write_document(make_document(layout, [episode], categories), path)
    file = open_episode_file(path)
    assert file.format.name == layout
    (found,) = file.episodes
    assert found.start_yaw == pytest.approx(0.75)
    named = episode if layout != "habitat-pointnav" else replace(episode, episode_id="rooms-rooms-7")
    points = {"start_yaw": found.start_yaw}
    if isinstance(episode.goal, ObjectGoal):
        yaw = found.goal.instances[0].view_points[0].yaw
        assert yaw == pytest.approx(-0.5)
        seen = (replace(BED.view_points[0], yaw=yaw),)
        points["goal"] = replace(episode.goal, instances=(replace(BED, view_points=seen), COT))
    assert found == replace(named, **points)


def test_wrong_tasks_are_named():
    with pytest.raises(InputError, match="expected a point as the goal of episode 'rooms-0', got ObjectGoal"):
        make_document("habitat-pointnav", [OBJECT])
    with pytest.raises(InputError, match="got PointGoal"):
        make_document("multion", [POINT])
    with pytest.raises(InputError, match="one list of objects for rooms_bed"):
        make_document("habitat-objectnav-hm3d", [OBJECT, replace(OBJECT, goal=ObjectGoal("bed", (COT,)))])
    with pytest.raises(UnknownNameError, match="Did you mean 'multion'"):
        make_document("multon", [MANY])


SEEN = replace(
    POINT,
    episode_id="F_Mug_0",
    scene_id="F",
    goal=ObjectGoal("Mug", arrival=(3.0, 0.0, 1.0)),
    start_tilt=-0.5,
)


def two_corners(scene_id, start, end):
    assert scene_id in ("F", "set/rooms")
    return [start, (2.0, 0.0, 2.5), end]


@pytest.mark.parametrize(
    ("layout", "episode"),
    [
        ("robothor-2021", SEEN),
        ("robustnav-objectnav", replace(SEEN, difficulty="hard")),
        ("robustnav-pointnav", replace(POINT, difficulty="easy")),
    ],
)
def test_layouts_of_unity_are_read_as_they_were(tmp_path, layout, episode):
    path = tmp_path / "file.json.gz"
    write_document(make_document(layout, [episode], find_path=two_corners), path)
    file = open_episode_file(path)
    assert file.format.name == layout
    (found,) = file.episodes
    assert found.start_yaw == pytest.approx(0.75) and found.start_tilt == pytest.approx(episode.start_tilt)
    assert found == replace(episode, start_yaw=found.start_yaw, start_tilt=found.start_tilt)


def test_layouts_of_habitat_have_no_tilted_cameras():
    with pytest.raises(
        InputError, match="episode 'F_Mug_0', got a tilt of -29 degrees; choose a layout of Rob"
    ):
        make_document("habitat-objectnav-hm3d", [replace(SEEN, goal=OBJECT.goal)])


def test_unity_in_numbers():
    """z changes its sign, headings run clockwise in degrees, the centre is 0.9 m above the floor."""
    document = make_document("robustnav-pointnav", [POINT], find_path=two_corners)
    (record,) = document.episodes
    assert (record.initial_position.x, record.initial_position.y, record.initial_position.z) == (
        1.0,
        0.9,
        -2.5,
    )
    assert record.initial_orientation == pytest.approx(360 - 42.9718, abs=1e-3)  # 0.75 rad to the left
    assert [(spot.x, spot.z) for spot in record.shortest_path] == [(1.0, -2.5), (2.0, -2.5), (3.0, -1.0)]
    assert record.shortest_path_length == 2.625
    (bare,) = make_document("robustnav-pointnav", [POINT]).episodes
    assert not bare.shortest_path


def test_one_object_of_2020(tmp_path):
    path = tmp_path / "file.json"
    mug = ObjectInstance("Mug|1", "Mug", (2.0, 1.0, 1.0), name="Mug|1")
    one = replace(SEEN, goal=ObjectGoal("Mug", (mug,), "Mug|1", (3.0, 0.0, 1.0)))
    write_document(make_document("robothor-2020", [one], find_path=two_corners), path)
    (found,) = open_episode_file(path).episodes
    assert found.goal == one.goal
    with pytest.raises(InputError, match="expected one object as the goal of episode 'F_Mug_0', got any Mug"):
        make_document("robothor-2020", [SEEN])
    with pytest.raises(InputError, match="an object as the goal of episode 'rooms-7', got PointGoal"):
        make_document("robothor-2021", [POINT])
