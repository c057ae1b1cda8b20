"""Episodes of ours from files of others: numbers worked out by hand."""

import copy
import math
import warnings

import pytest

from navarena.core.errors import FileError
from navarena.episodes.catalog import load_episodes
from navarena.episodes.exchange import EpisodeFileWarning, open_episode_file
from navarena.episodes.exchange.records import raw_yaw_of, tilt_of, yaw_of
from navarena.episodes.goals import (
    GoalImage,
    ImageGoal,
    MultiGoal,
    ObjectGoal,
    ObjectInstance,
    PointGoal,
    ViewPoint,
)

from .samples import HM3D, LAYOUTS, MULTION, OLD_MP3D, changed, store

BED = ObjectInstance(
    "516",
    "bed",
    (1.5, 0.8, -2.0),
    (
        ViewPoint((1.5, 0.1, -1.0), math.pi / 2, 1.18375),
        ViewPoint((1.585, 0.1, -1.0), math.pi / 2, 0.5),
    ),
    "bed_516",
)


def first_episode(tmp_path, content):
    return open_episode_file(store(tmp_path / "file.json", content)).episodes[0]


def test_hm3d(tmp_path):
    episode = first_episode(tmp_path, HM3D)
    assert episode.episode_id == "TEEsavR23oF-0"
    assert episode.scene_id == "hm3d_v0.2/minival/00800-TEEsavR23oF/TEEsavR23oF.basis.glb"
    assert episode.start_position == (-3.99935, 0.01338, -2.67815)
    assert episode.start_yaw == 0
    assert episode.geodesic_distance == 5.40846
    assert isinstance(episode.goal, ObjectGoal)
    assert (episode.goal.category, episode.goal.closest) == ("bed", "516")
    assert episode.goal.instances == (BED, ObjectInstance("17", "bed", (0.0, 1.0, 2.0), (), "bed_17"))


def test_episodes_of_a_scene_and_category_share_their_objects(tmp_path):
    for content in (HM3D, OLD_MP3D):
        one, two = open_episode_file(store(tmp_path / "file.json", content)).episodes
        assert one.goal.instances is two.goal.instances and len(one.goal.instances) == 2


@pytest.mark.parametrize("count", [1, 2])
def test_the_oldest_objectnav_files_name_the_category_in_their_goals(tmp_path, count):
    content = copy.deepcopy(OLD_MP3D)
    for episode in content["episodes"]:
        del episode["object_category"]
        del episode["goals"][count:]
    file = open_episode_file(store(tmp_path / "file.json", content))
    assert file.format.name == "habitat-objectnav-mp3d"
    first, second = (episode.goal for episode in file.episodes)
    assert first.category == second.category == "bed" and len(first.instances) == count
    content["episodes"][1]["goals"] = []
    file = open_episode_file(store(tmp_path / "file.json", content))
    with pytest.raises(FileError, match="field object_category: expected a category, got none; name it"):
        file.episodes[1]


def test_pointnav(tmp_path):
    episode = first_episode(tmp_path, LAYOUTS["pointnav"][1])
    assert episode.episode_id == "castle-3" and episode.difficulty == "easy"
    assert episode.goal == PointGoal((1.0, 0.1, -2.5)) and episode.geodesic_distance == 2.5


def test_instance_imagenav(tmp_path):
    goal = first_episode(tmp_path, LAYOUTS["imagenav"][1]).goal
    assert goal == ImageGoal(
        BED, GoalImage((1.0, 1.5, 0.0), (0.0, 0.0, 0.0, 1.0), math.pi / 2, 640, 512, 0.25, 0.75)
    )


def test_multion_normalises_rotations_with_one_warning_for_the_file(tmp_path):
    content = copy.deepcopy(MULTION)
    content["episodes"] *= 3
    file = open_episode_file(store(tmp_path / "file.json", content))
    with pytest.warns(EpisodeFileWarning, match=r"episode 0: 0\.29.*normalised") as caught:
        episodes = list(file.episodes)
    assert len(caught) == 1 and len(file.notices.mended) == 1
    assert math.degrees(episodes[0].start_yaw) == pytest.approx(32.0, abs=0.05)  # 2 atan2(0.080, 0.279)
    assert [one.episode_id for one in episodes] == ["X-0", "X-1", "X-2"]
    assert episodes[0].goal == MultiGoal(
        (
            ObjectInstance("2", "cylinder_blue", (3.0, 0.1, 0.0)),
            ObjectInstance("7", "cylinder_cyan", (-1.0, 0.1, 0.0)),
        )
    )


def test_tilted_starts_are_told_beside_rotations_that_are_too_long(tmp_path):
    content = copy.deepcopy(LAYOUTS["pointnav"][1])
    content["episodes"] *= 2
    for episode in content["episodes"]:
        episode["start_rotation"] = [1.0, 0.0, 0.0, 1.0]  # a quarter about x, sqrt(2) long
    file = open_episode_file(store(tmp_path / "file.json", content))
    with pytest.warns(EpisodeFileWarning) as caught:
        list(file.episodes)
    assert len(caught) == 2 and len(file.notices.mended) == 1
    assert "episode 0: 1.41" in str(caught[0].message)
    assert "tilt the body (episode 0: 90 degrees); it stands upright" in str(caught[1].message)
    assert math.degrees(tilt_of((0, 0.6, 0, 0.8))) == 0 and tilt_of((3, 0, 0, 0)) == pytest.approx(math.pi)


def test_multion_as_its_simulator_rendered_it(tmp_path):
    file = open_episode_file(store(tmp_path / "file.json", MULTION), raw_rotations=True)
    assert math.degrees(file.episodes[0].start_yaw) == pytest.approx(2.6, abs=0.05)  # the notes' example
    assert raw_yaw_of((0, 0.6, 0, 0.8)) == pytest.approx(yaw_of((0, 0.6, 0, 0.8)))


def test_unity_is_turned_into_our_frame(tmp_path):
    episode = first_episode(tmp_path, LAYOUTS["robothor 2021"][1])
    assert episode.start_position == (3.75, 0.0045, 2.25)
    assert math.degrees(episode.start_yaw) == pytest.approx(-150)
    assert math.degrees(episode.start_tilt) == pytest.approx(-30)
    assert episode.goal == ObjectGoal("AlarmClock", arrival=(3.99, 0.0045, 5.0))
    assert episode.geodesic_distance == 5.573443102847643


def test_a_test_split_hides_what_it_hides(tmp_path):
    episode = first_episode(tmp_path, LAYOUTS["robothor test"][1])
    assert episode.geodesic_distance is None and episode.goal.places == ()
    assert episode.start_position == pytest.approx((3.75, 0.001, 2.25), abs=1e-5)


def test_robothor_2020_asks_for_one_object(tmp_path):
    goal = first_episode(tmp_path, LAYOUTS["robothor 2020"][1]).goal
    name = "Mug|+01.00|+00.90|+02.00"
    assert goal.instances == (ObjectInstance(name, "Mug", (1.0, 0.9, -2.0), name=name),)


def test_robustnav_points_lie_on_the_floor(tmp_path):
    episode = first_episode(tmp_path, LAYOUTS["robustnav pointnav"][1])
    assert episode.goal == PointGoal((3.5, 0.0045, 2.25)) and episode.difficulty == "easy"
    hidden = changed(LAYOUTS["robustnav pointnav"][1], lambda one: one.pop("shortest_path"))
    assert first_episode(tmp_path, hidden).goal.position == pytest.approx((3.5, 0.000999665, 2.25))


@pytest.mark.parametrize(
    ("rotation", "yaw"),
    [
        ((0, 0, 0, 1), 0.0),
        ((0, 1, 0, 1), math.pi / 2),
        ((0, -1, 0, 1), -math.pi / 2),
        ((0, -1, 0, -1), math.pi / 2),
        ((0.2, 0, 0, 1), 0.0),  # a tilt does not turn the heading
    ],
)
def test_yaw_of_rotations_of_any_length(rotation, yaw):
    assert yaw_of(rotation) == pytest.approx(yaw)


def test_one_scene_is_read_alone(tmp_path, monkeypatch):
    from navarena.episodes.exchange import episode_file

    opened = []
    real = episode_file.Content
    monkeypatch.setattr(episode_file, "Content", lambda path: opened.append(path.name) or real(path))
    for scene in "abc":
        content = changed(HM3D, lambda one, name=scene: one.update(scene_id=f"hm3d/{name}.glb"))
        content["episodes"] = content["episodes"][:1]
        content["goals_by_category"] = {
            f"{scene}.glb_bed": HM3D["goals_by_category"]["TEEsavR23oF.basis.glb_bed"]
        }
        store(tmp_path / "content" / f"{scene}.json", content)
    file = open_episode_file(tmp_path)
    assert file.scene_names == ("a", "b", "c") and opened == ["a.json"]
    assert [one.episode_id for one in file.of_scene("c")] == ["c-0"] and opened == ["a.json", "c.json"]
    assert [one.episode_id for one in file.episodes] == ["a-0", "b-0", "c-0"]
    assert [file.episodes[k].episode_id for k in (-1, 1)] == ["c-0", "b-0"]
    assert file.episodes[1:] == tuple(file.episodes)[1:]
    with pytest.raises(IndexError):
        file.episodes[3]


def test_scenes_of_one_file_are_told_apart(tmp_path):
    content = changed(HM3D, lambda one: one.update(scene_id="hm3d/a.glb"))
    content["goals_by_category"]["a.glb_bed"] = []
    file = open_episode_file(store(tmp_path / "file.json", content))
    assert file.scene_names == ("a", "TEEsavR23oF")
    assert [one.episode_id for one in file.of_scene("TEEsavR23oF")] == ["TEEsavR23oF-1"]
    assert file.listed_objects() == {("TEEsavR23oF.basis.glb", "bed"): {"516", "17"}}


def test_other_numbers_of_categories_than_the_protocol_has_are_told(tmp_path):
    """A bed is 1 in the challenges of 2022 and 2023, and 6 in those of 2020 and 2021."""
    path = store(tmp_path / "val.json", HM3D)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_episodes("objectnav-hm3d2022-v1", "", path)
    with pytest.warns(EpisodeFileWarning, match=r"than objectnav-habitat2020-v1 \(bed 1 there\); agents"):
        load_episodes("objectnav-habitat2020-v1", "", path)
    swapped = {"cylinder_red": 0, "cylinder_blue": 7, "cylinder_cyan": 2}
    content = copy.deepcopy(MULTION) | {"category_to_task_category_id": swapped}
    for episode in content["episodes"]:
        episode["start_rotation"] = [0, 0, 0, 1]
    path = store(tmp_path / "multion.json", content)
    with pytest.warns(EpisodeFileWarning, match=r"\(cylinder_blue 7, cylinder_cyan 2 there\)"):
        load_episodes("multion-2on-v1", "", path)
