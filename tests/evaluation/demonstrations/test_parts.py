"""Parts of demonstrations: statistics, plans, words, and images as bytes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from navarena.episodes.episode import Episode
from navarena.episodes.goals import (
    GraphGoal,
    LifelongGoal,
    MultiGoal,
    ObjectGoal,
    ObjectInstance,
    PointGoal,
    Subtask,
)
from navarena.evaluation.demonstrations.columns import Column
from navarena.evaluation.demonstrations.images import (
    Clip,
    decode_array,
    decode_clip,
    decode_png,
    decode_png16,
    encode_array,
    encode_png,
    encode_png16,
    join_clips,
    quantise_plane,
    restore_plane,
)
from navarena.evaluation.demonstrations.plan import describe_goal, plan_shards
from navarena.evaluation.demonstrations.statistics import combine, sample_pixels, summarise
from navarena.evaluation.records.journal import Row

PARTS = arrays(float, st.tuples(st.integers(1, 6), st.just(2)), elements=st.floats(-9, 9))
CHAIR = ObjectInstance("1", "chair", (0.0, 0.0, 0.0))
LAMP = ObjectInstance("2", "lamp", (0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        (PointGoal((0.0, 0.0, 0.0)), "Go to the point."),
        (ObjectGoal("chair"), "Find: chair."),
        (MultiGoal((CHAIR, LAMP)), "Find in this order: chair, lamp."),
        (GraphGoal("Walk  to\nthe door.", ((0.0, 0.0, 0.0),)), "Walk to the door."),
        (
            LifelongGoal(
                (
                    Subtask("object", "chair", (CHAIR,)),
                    Subtask("description", "lamp", (LAMP,), "the red lamp on the desk."),
                    Subtask("image", "lamp", (LAMP,)),
                )
            ),
            "Find in this order: chair; the red lamp on the desk; what the image shows.",
        ),
    ],
)
def test_goals_in_words(goal, words):
    assert describe_goal(goal) == words


def make_run(steps, tours):
    start = (0.0, 0.0, 0.0)
    episodes = [
        Episode(str(k), "s", start, 0.0, PointGoal(start), 1.0, tour_id=tour) for k, tour in enumerate(tours)
    ]
    rows = [
        Row(
            identity="i",
            episode_id=str(k),
            scene_id="s",
            status="ok",
            steps=count,
            start_distance=1.0,
            actions=[1] * count,
            metrics={},
        )
        for k, count in enumerate(steps)
    ]
    return rows, episodes


def test_shards_are_closed_when_full_and_never_within_a_tour():
    rows, episodes = make_run([4, 6, 3, 0, 9, 2, 2, 5], ["", "", "a", "a", "a", "b", "", "c"])
    shards = plan_shards(rows, episodes, 10, lambda row: row.episode_id != "7")
    # 4 + 6 fill the first; the tour goes on beyond ten frames; an episode without actions has no frame
    assert [[one.row.episode_id for one in shard.episodes] for shard in shards] == [
        ["0", "1"],
        ["2", "4"],
        ["5", "6"],
    ]
    planned = [one for shard in shards for one in shard.episodes]
    assert [one.index for one in planned] == list(range(6))
    assert [one.first for one in planned] == [0, 4, 10, 13, 22, 24]
    executed = [[row.episode_id for row, _ in shard.pairs] for shard in shards]
    assert executed == [["0", "1"], ["2", "3", "4"], ["5", "6"]]  # what stands before in a tour is played
    assert plan_shards(rows[::-1], episodes, 10, lambda row: row.episode_id != "7") == shards
    assert plan_shards([], [], 10, lambda row: True) == []


def test_the_same_words_are_one_task():
    rows, episodes = make_run([1, 1, 1], ["", "", ""])
    episodes[1] = replace(episodes[1], goal=ObjectGoal("chair"))
    (shard,) = plan_shards(rows, episodes, 10, lambda row: True)
    assert [one.task_index for one in shard.episodes] == [0, 1, 0]


@pytest.mark.hypothesis
@settings(max_examples=25)
@given(st.lists(PARTS, min_size=1, max_size=4))
def test_statistics_of_parts_are_those_of_the_whole(parts):
    whole = np.concatenate(parts)
    found = combine([summarise(one, len(one)) for one in parts])
    assert found["count"] == [len(whole)]
    np.testing.assert_allclose(found["min"], whole.min(0))
    np.testing.assert_allclose(found["max"], whole.max(0))
    np.testing.assert_allclose(found["mean"], whole.mean(0), atol=1e-9)
    np.testing.assert_allclose(found["std"], whole.std(0), atol=1e-7)


def test_pixels_are_copies():
    image = np.arange(70 * 64 * 3, dtype=np.uint8).reshape(70, 64, 3)
    sample = sample_pixels(image)
    assert sample.shape == (35, 32, 3)
    before = sample.copy()
    image[...] = 0
    np.testing.assert_array_equal(sample, before)


@pytest.mark.hypothesis
@given(arrays(np.uint8, (5, 7, 3)), arrays(np.uint16, (5, 7)), arrays(np.float32, (5, 7, 1)))
def test_lossless_bytes(colours, levels, plane):
    np.testing.assert_array_equal(decode_png(encode_png(colours)), colours)
    np.testing.assert_array_equal(decode_png16(encode_png16(levels)), levels)
    column = Column("depth", "plane", (5, 7, 1), "float32")
    assert decode_array(encode_array(plane), column).tobytes() == plane.tobytes()


@pytest.mark.hypothesis
@given(arrays(np.float32, (3, 4, 1), elements=st.floats(0.5, 5, width=32)))
def test_depth_is_rounded_to_a_level(plane):
    column = Column("depth", "plane", (3, 4, 1), "float32", 0.5, 5.0)
    levels = quantise_plane(plane, column)
    assert levels.min() >= 0 and levels.max() <= 10_000
    again = restore_plane(levels, column)
    assert again.dtype == np.float32 and again.shape == plane.shape
    assert np.abs(again - plane).max() <= 4.5 / 10_000 * 0.51


def test_clips_are_joined_frame_by_frame():
    colours = np.array([[200, 40, 40], [40, 200, 40], [40, 40, 200], [180, 180, 60], [10, 10, 10]], np.uint8)
    images = [np.broadcast_to(one, (32, 48, 3)) for one in colours]
    parts = []
    for own in (images[:3], images[3:4], images[4:]):
        clip = Clip(32, 48, 10)
        for image in own:
            clip.add(image)
        parts.append(clip.finish())
    found = decode_clip(join_clips(parts, 10))
    assert found.shape == (5, 32, 48, 3)
    np.testing.assert_allclose(found.mean((1, 2)), colours, atol=6)
    assert join_clips(parts, 10) == join_clips(parts, 10)
