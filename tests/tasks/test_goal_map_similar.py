"""How alike what was seen is to the goal, around the body: levels by hand, other goals, refusals."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.episodes.encoding.catalog import ENCODERS, find_encoder
from navarena.episodes.encoding.encoder import GoalEncoder
from navarena.episodes.episode import LifelongGoal
from navarena.episodes.goals import Subtask
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.sensors.goal_map_similar import find_levels
from tasks.small import AHEAD
from tasks.test_goal_map import BOX, DECLARE, LEFT, PLACE, RIGHT, act, begin, goal_of, shown
from worlds import draw_world

NAME = "goal_map_similar:counting"


class Counting(GoalEncoder):
    """The first image is like a sofa, all others are like a bed and a little like a sofa."""

    name, dimension, sees_images = "counting", 2, True

    def __init__(self):
        self.seen = 0

    def encode_words(self, texts):
        return np.array([[1, 0] if "sofa" in text else [0, 1] for text in texts], np.float32)

    def encode_images(self, images):
        self.seen += len(images)
        first = self.seen == len(images)
        return np.array(
            [[1, 0] if first and k == 0 else [0.28, 0.96] for k in range(len(images))], np.float32
        )


@pytest.fixture
def encoder(monkeypatch, tmp_path):
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path))
    monkeypatch.setitem(ENCODERS._objects, "counting", Counting)
    find_encoder.cache_clear()
    yield lambda: find_encoder("counting").uncached
    find_encoder.cache_clear()


def subtask(kind, word):
    return Subtask(kind, word, goal_of("sofa", "2").instances, f"The {word} there.", None)


def look(*subtasks):
    return begin(LifelongGoal(subtasks), (NAME,), 1, "goat-v1")


def test_levels_by_hand():
    """Level l is for (l - 1) / 20 to l / 20; the first of the greatest has 20 more."""
    similarities = np.array([-1.0, 0.0, 0.049, 0.051, 0.28, 0.999, 1.0, 1.0], np.float32)
    assert find_levels(similarities).tolist() == [1, 1, 1, 2, 6, 20, 40, 20]
    assert find_levels(similarities[:0]).tolist() == []


def test_what_a_square_shows_is_drawn_by_its_similarity(encoder):
    """64 x 48 pixels see the box 2 m ahead: squares of 48 at the left, in the middle and at the right, whose
    middles are 8 pixels apart."""
    batch = look(subtask("object", "sofa"))
    drawn = shown(batch, NAME)
    assert not batch.privileged_sensors
    assert sorted(np.unique(drawn)) == [0, 6, 40] and encoder().seen == 3
    rows, columns = np.nonzero(drawn == 40)
    # two metres are 13.3 cells; 8 pixels left of the middle are less than a metre
    assert set(rows) == {17, 18, 19} and 25 <= columns.min() < columns.max() <= 31
    assert (np.nonzero(drawn == 6)[1]).max() > columns.max()


def test_an_image_is_looked_at_once_from_each_place_and_heading(encoder):
    batch = look(subtask("object", "sofa"))
    act(batch, LEFT)
    once = encoder().seen
    act(batch, RIGHT, LEFT, RIGHT)
    assert encoder().seen == once > 3


def test_another_goal_is_compared_with_what_was_seen_before(encoder):
    batch = look(subtask("object", "sofa"), subtask("description", "bed"), subtask("object", "sofa"))
    first = shown(batch, NAME).copy()
    act(batch, DECLARE)
    second = shown(batch, NAME)
    assert encoder().seen == 3 and sorted(np.unique(second)) == [0, 1, 20, 40]
    assert np.array_equal(second > 0, first > 0) and (second[first == 40] == 1).any()
    act(batch, DECLARE)
    assert np.array_equal(shown(batch, NAME), first)
    act(batch, DECLARE)
    assert not shown(batch, NAME).any(), "no goal is left"
    batch.start([0], [replace(AHEAD, start_position=PLACE, goal=LifelongGoal((subtask("object", "bed"),)))])
    assert sorted(np.unique(shown(batch, NAME))) == [0, 20, 40], "an episode begins without memories"


def test_a_restored_batch_goes_on_with_what_was_seen(encoder):
    batch = look(subtask("object", "sofa"))
    other = look(subtask("object", "bed"))
    act(batch, LEFT, RIGHT)
    other.restore_state(batch.save_state())
    assert np.array_equal(batch.observations[NAME], other.observations[NAME])
    assert 40 in shown(other, NAME)


def test_an_encoder_without_eyes_is_refused():
    with pytest.raises(InputError, match="encoder that sees images for 'goal_map_similar:words'"):
        begin(LifelongGoal((subtask("object", "sofa"),)), ("goal_map_similar:words",), 1, "goat-v1")
    with pytest.raises(InputError, match="expected an encoder of goals, got none"):
        begin(LifelongGoal((subtask("object", "sofa"),)), ("goal_map_similar",), 1, "goat-v1")


def test_goals_that_are_no_goals_of_goat_are_refused(encoder):
    task = get_task("objectnav-habitat2020-v1")
    worlds = WorldCache(task.embodiment)
    worlds.add(draw_world(BOX, scene_id="hall"))
    with pytest.raises(InputError, match="of GOAT-Bench"):
        NavigationBatch(task, 1, sensors=(NAME,), worlds=worlds)
