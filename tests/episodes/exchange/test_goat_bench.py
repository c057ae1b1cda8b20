"""GOAT-Bench's and OVON's files become the sub-tasks that the authors' loaders make of them."""

import copy
import math

import pytest

from navarena.core.errors import FileError
from navarena.episodes.catalog import load_episodes
from navarena.episodes.exchange import open_episode_file
from navarena.episodes.goals import LifelongGoal, ObjectGoal, as_subtasks

from .samples import GOAT, OVON, store


def only_episode(tmp_path, content):
    (episode,) = open_episode_file(store(tmp_path / "file.json", content)).episodes
    return episode


def test_sub_tasks_of_a_file(tmp_path):
    episode = only_episode(tmp_path, GOAT)
    assert isinstance(episode.goal, LifelongGoal) and episode.episode_id == "TEEsavR23oF-0"
    category, words, image, child = episode.goal.subtasks
    assert [one.modality for one in episode.goal.subtasks] == ["object", "description", "image", "object"]
    assert [one.object_id for one in category.instances] == ["bed_12", "bed_13", "bunk bed_3"]
    assert [one.object_id for one in words.instances] == ["bed_12"]
    assert words.description == "Wooden bed near the window."
    assert image.image is not None and image.image.rotation == (0.0, 0.0, 0.0, 1.0)
    assert image.image.hfov == pytest.approx(math.pi / 2) and image.instances == words.instances
    assert [one.object_id for one in child.instances] == ["bunk bed_3"]
    assert len(category.instances[0].view_points) == 2


def test_children_count_once_however_often_they_are_asked_for(tmp_path):
    content = copy.deepcopy(GOAT)
    content["episodes"][0]["tasks"] = [["bed", "object", None, None]] * 3
    for subtask in as_subtasks(only_episode(tmp_path, content).goal):
        assert len(subtask.instances) == 3


def test_words_may_mean_an_object_of_a_child_category(tmp_path):
    """The authors' loader looks for the id among the goals of the category with those of its children."""
    content = copy.deepcopy(GOAT)
    (bunk,) = content["goals"]["TEEsavR23oF.basis.glb_bunk bed"]
    bunk["lang_desc"] = "Bunk bed."
    content["episodes"][0]["tasks"] = [["bed", "description", "bunk bed_3", None]]
    (subtask,) = only_episode(tmp_path, content).goal.subtasks
    assert [one.object_id for one in subtask.instances] == ["bunk bed_3"]
    assert (subtask.category, subtask.description) == ("bed", "Bunk bed.")


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (["bed", "sound", None, None], "one of object, description, image"),
        (["bed", "description", "bed_99", None], "bed_99"),
        (["bed", "description", "bed_13", None], "a description of 'bed_13'"),
        (["bed", "image", "bed_12", 1], "below 1, got 1"),
        (["bed", "image", "bed_12", None], "got None"),
        (["sofa", "object", None, None], "basis.glb_sofa"),
        (["bed"], "tasks"),
    ],
)
def test_bad_tasks_are_named(tmp_path, task, message):
    content = copy.deepcopy(GOAT)
    content["episodes"][0]["tasks"][1] = task
    with pytest.raises(FileError, match="episode 0 ") as caught:
        only_episode(tmp_path, content)
    assert message in str(caught.value) and "file.json" in str(caught.value)


def test_ovon_counts_child_categories(tmp_path):
    goal = only_episode(tmp_path, OVON).goal
    assert isinstance(goal, ObjectGoal)
    assert [one.object_id for one in goal.instances] == ["516", "17", "3"]


def test_ovon_counts_the_child_categories_of_each_episode(tmp_path):
    content = copy.deepcopy(OVON)
    content["episodes"].append(content["episodes"][0] | {"children_object_categories": []})
    found = open_episode_file(store(tmp_path / "file.json", content)).episodes
    assert [len(one.goal.instances) for one in found] == [3, 2]


def test_stubs_load_for_their_protocols(tmp_path):
    for name, protocol, content, key in (
        ("goat", "goat-v1", GOAT, "goals"),
        ("ovon", "ovon-v1", OVON, "goals_by_category"),
    ):
        stub = store(tmp_path / name / "val.json.gz", {**content, "episodes": [], key: {}})
        store(tmp_path / name / "content" / "TEEsavR23oF.json.gz", content)
        found = load_episodes(protocol, dataset=stub)
        assert len(found) == 1 and found.protocol_id == protocol and found.split == "val"
