"""Objects in hand-made scenes: where they are put, what belongs together, what makes room."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.mapping.instance_kernels import add_apart, count_near
from navarena.mapping.instance_memory import InstanceMemory
from navarena.mapping.instance_settings import InstanceSettings
from navarena.mapping.instance_views import SegmentedImage, cut_out, sector_of

SMALL = InstanceSettings(stride=1, min_pixels=2, crop_px=32)
SIDE = 40


def pose(x=0.0, z=0.0, yaw=0.0):
    out = np.eye(4)
    out[:3, :3] = rotation_from_yaw_pitch(yaw, 0.0)
    out[:3, 3] = x, 1.0, z
    return out


def look(boxes, at=None, metres=2.0, categories=None, tracked=False, color=0, hfov=math.pi / 2):
    """An image of 40 x 40 pixels with segments 1, 2, ... in `boxes` (rows, columns), all `metres` away."""
    segments = np.zeros((SIDE, SIDE), np.int32)
    for number, (rows, columns) in enumerate(boxes, 1):
        segments[slice(*rows), slice(*columns)] = number
    depth = np.full((SIDE, SIDE), metres, np.float32)
    names = categories or dict.fromkeys(range(1, len(boxes) + 1), "chair")
    rgb = np.full((SIDE, SIDE, 3), color, np.uint8)
    at = pose() if at is None else at
    return SegmentedImage(segments, names, rgb, depth, at, hfov, (0.5, 5.0), is_tracked=tracked)


MIDDLE = ((18, 22), (18, 22))
LEFT = ((18, 22), (2, 6))


def test_a_thing_lies_where_its_pixels_are():
    """Four pixels around the optical axis at 2 m, 90 degrees wide: 0.1 m a pixel."""
    memory = InstanceMemory(1, SMALL)
    assert memory.observe(0, look([MIDDLE])) == [0]
    (obj,) = memory.instances(0)
    assert np.allclose(obj.middle, [0.0, 1.0, -2.0]) and np.allclose(obj.size, [0.3, 0.3, 0.0])
    assert (obj.category, obj.pixels, len(obj.views)) == ("chair", 16, 1)
    to_camera = [0.0, 1.0, 0.0] - obj.points
    assert np.allclose(obj.sides, to_camera / np.linalg.norm(to_camera, axis=1, keepdims=True))
    memory.observe(0, look([MIDDLE], pose(x=5.0, yaw=math.pi / 2)))
    assert np.allclose(memory.instances(0)[1].middle, [3.0, 1.0, 0.0]), "to the left of yaw 0 is -x"


def test_the_same_place_and_category_is_the_same_thing():
    memory = InstanceMemory(1, SMALL)
    memory.observe(0, look([MIDDLE]))
    assert memory.observe(0, look([MIDDLE])) == [0]
    assert memory.observe(0, look([MIDDLE], categories={1: "table"})) == [1]
    assert memory.observe(0, look([LEFT])) == [2]
    assert [one.category for one in memory.instances(0)] == ["chair", "table", "chair"]
    assert [one.number for one in memory.instances(0, ("table",))] == [1]


def test_two_halves_become_one_when_the_middle_is_seen():
    memory = InstanceMemory(1, SMALL)
    halves = [((18, 22), (8, 13)), ((18, 22), (27, 32))]
    assert memory.observe(0, look(halves)) == [0, 1]
    assert memory.observe(0, look([((18, 22), (8, 32))])) == [0]
    (obj,) = memory.instances(0)
    assert np.allclose(obj.size[0], 2.3, atol=0.15) and memory.find(0, 1) is None
    assert obj.pixels == 2 * 20 + 96


def test_tracked_segments_never_merge_and_are_known_again_elsewhere():
    memory = InstanceMemory(1, SMALL)
    assert memory.observe(0, look([MIDDLE], tracked=True)) == [0]
    moved = look([((0, 2), (0, 2)), MIDDLE], tracked=True)
    assert memory.observe(0, moved) == [0, 1], "number 1 is still the first object, 2 a new one where it was"
    assert len(memory.instances(0)) == 2


def test_what_is_too_far_is_kept_as_a_direction_until_it_is_near():
    memory = InstanceMemory(1, SMALL)
    memory.observe(0, look([MIDDLE], metres=5.0, tracked=True))
    (obj,) = memory.instances(0)
    assert not len(obj.points) and not obj.views
    assert np.allclose(obj.beyond, [0.0, 1.0, -5.0])
    memory.observe(0, look([MIDDLE], tracked=True))
    assert obj.beyond is None and np.allclose(obj.middle, [0.0, 1.0, -2.0])
    assert memory.observe(0, look([LEFT], metres=5.0)) == [], "untracked it could not be found again"


def test_untracked_things_beyond_the_depth_range_are_directions_until_something_is_found_there():
    settings = replace(SMALL, far_apart=1.5)
    memory = InstanceMemory(1, settings)
    (first,) = memory.observe(0, look([MIDDLE], metres=5.0))
    (far,) = memory.instances(0)
    assert np.allclose(far.beyond, [0, 1, -5]) and not len(far.points) and len(far.views) == 1
    assert memory.observe(0, look([MIDDLE], pose(z=-0.25), 5.0)) == [first], "a step nearer, the same"
    assert np.allclose(far.beyond, [0, 1, -5.25])
    assert memory.observe(0, look([MIDDLE], metres=0.3)) == [], "too near tells no direction"
    # from the middle of the way it is seen 4 m ahead, 8 m from where it was a direction
    (found,) = memory.observe(0, look([MIDDLE], pose(z=-4.0), 4.0))
    assert [one.number for one in memory.instances(0)] == [found] and found != first
    assert memory.observe(0, look([MIDDLE], metres=5.0)) == [], "what is known there is no news"
    other = {1: "bed"}
    assert len(memory.observe(0, look([MIDDLE], metres=5.0, categories=other))) == 1
    assert len(memory.observe(0, look([LEFT], metres=5.0))) == 1, "6 m aside of what is known"


def test_a_direction_that_leads_to_nothing_is_forgotten_there():
    memory = InstanceMemory(1, replace(SMALL, far_apart=1.5))
    memory.observe(0, look([MIDDLE], metres=5.0))
    memory.observe(0, look([], pose(z=-3.4)))
    assert len(memory.instances(0)) == 1, "1.6 m before it"
    memory.observe(0, look([], pose(z=-3.6)))
    assert memory.instances(0) == []


def test_one_view_from_each_side_and_the_better_one_stays():
    memory = InstanceMemory(1, SMALL)
    memory.observe(0, look([MIDDLE], color=10))
    memory.observe(0, look([MIDDLE], color=20))
    (obj,) = memory.instances(0)
    assert [view.crop.max() for view in obj.views] == [10] and obj.version == 1
    large = ((14, 26), (14, 26))
    memory.observe(0, look([large], color=30))
    assert [(view.crop.max(), view.quality, view.moment) for view in obj.views] == [(30, 144.0, 3)]
    memory.observe(0, look([MIDDLE], pose(z=-4.0, yaw=math.pi), color=40))
    assert sorted(view.crop.max() for view in obj.views) == [30, 40]
    assert len({view.sector for view in obj.views}) == 2 and obj.quality == 144.0
    assert sorted(view.color.tolist() for view in obj.views) == [[30.0] * 3, [40.0] * 3]


def test_memories_are_bounded_and_the_worst_seen_makes_room():
    memory = InstanceMemory(1, InstanceSettings(stride=1, min_pixels=1, max_instances=2, max_points=8))
    seen = memory.observe(0, look([((0, 2), (0, 2)), ((10, 20), (10, 20)), ((30, 36), (30, 36))]))
    assert seen == [1, 2] and [one.number for one in memory.instances(0)] == [1, 2]
    assert all(1 <= len(one.points) <= 8 for one in memory.instances(0))
    spread = memory.instances(0)[0].points
    assert np.ptp(spread[:, 0]) >= 0.6, "fewer points still cover it"


def test_agents_and_resets_do_not_touch_one_another():
    memory = InstanceMemory(2, SMALL)
    memory.observe(0, look([MIDDLE]))
    memory.observe(1, look([LEFT, MIDDLE]))
    memory.reset([0])
    assert memory.instances(0) == [] and len(memory.instances(1)) == 2
    assert memory.observe(0, look([LEFT])) == [0]


def test_features_find_the_most_similar():
    memory = InstanceMemory(1, InstanceSettings(stride=1, min_pixels=2, features=2))
    memory.observe(0, look([LEFT, MIDDLE]))
    objects = memory.instances(0)
    assert memory.similarities(objects, np.array([1, 0], np.float32)).tolist() == [-1.0, -1.0]
    views = memory.missing_features(0)
    memory.set_features(views, np.array([[1, 0], [0.6, 0.8]], np.float32))
    assert memory.missing_features(0) == []
    assert np.allclose(memory.similarities(objects, np.array([0, 1], np.float32)), [0.0, 0.8])
    with pytest.raises(InputError, match="finite features of shape \\(2, 2\\)"):
        memory.set_features(views, np.full((2, 2), np.nan, np.float32))
    with pytest.raises(InputError, match="feature of shape \\(2,\\)"):
        memory.similarities(objects, np.zeros(3, np.float32))


def test_a_matcher_judges_every_view_and_the_best_counts():
    memory = InstanceMemory(1, SMALL)
    memory.observe(0, look([LEFT], color=10))
    memory.observe(0, look([MIDDLE], color=20))
    memory.observe(0, look([MIDDLE], pose(z=-4.0, yaw=math.pi), color=90))
    objects = memory.instances(0)
    brightness = lambda crops: np.array([crop.mean() / 100 for crop in crops], np.float32)  # noqa: E731
    assert np.allclose(memory.match(objects, brightness), [0.1, 0.9])
    assert memory.match([], brightness).shape == (0,)
    with pytest.raises(InputError, match="expected 3 scores"):
        memory.match(objects, lambda crops: np.zeros(1, np.float32))


def test_segments_that_say_nothing_are_overlooked():
    memory = InstanceMemory(1, SMALL)
    assert memory.observe(0, look([MIDDLE], categories={7: "chair"})) == [], "no category"
    assert memory.observe(0, look([((0, 1), (0, 1))])) == [], "one pixel"
    assert memory.observe(0, look([MIDDLE], metres=np.nan)) == []
    assert memory.observe(0, look([])) == []


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="at most 1,000 bytes"):
        InstanceMemory(2, InstanceSettings(limit_bytes=1000))
    with pytest.raises(InputError, match="positive numbers"):
        InstanceSettings(views=0)
    with pytest.raises(InputError, match="overlap within"):
        InstanceSettings(overlap=0.0)
    with pytest.raises(InputError, match="margin"):
        InstanceSettings(margin=-1.0)
    with pytest.raises(InputError, match="far_apart of at least 0, got 0.3 and -1.0"):
        InstanceSettings(far_apart=-1.0)
    with pytest.raises(InputError, match="finite camera poses"):
        look([MIDDLE], np.full((4, 4), np.nan))
    with pytest.raises(InputError, match="hfov"):
        look([MIDDLE], hfov=4.0)
    image = look([MIDDLE])
    with pytest.raises(InputError, match="colours and depths for segments of 40 x 40"):
        SegmentedImage(image.segments, {}, image.rgb[:3], image.depth, pose(), 1.0)


def test_crops_have_margins_and_shrink_by_whole_factors():
    image = np.arange(64 * 64 * 3).reshape(64, 64, 3).astype(np.uint8)
    assert np.array_equal(cut_out(image, (10, 13, 20, 23), 0.5, 32), image[8:16, 18:26])
    assert np.array_equal(cut_out(image, (0, 3, 0, 3), 0.5, 32), image[:6, :6]), "cut at the border"
    even = np.full((64, 64, 3), 7, np.uint8)
    even[::2] = 9
    shrunk = cut_out(even, (0, 63, 0, 63), 0.0, 32)
    assert shrunk.shape == (32, 32, 3) and (shrunk == 8).all()
    assert cut_out(image, (5, 5, 0, 63), 0.0, 8).shape[1] == 64, "too thin to shrink"


SIDES = [(0.1, 5, 0), (-0.1, 5, 0), (4.9, 5, 0), (5.1, 5, 1), (0.1, -5, 2), (-0.1, -5, 2), (-5, 0.1, 3)]


@pytest.mark.parametrize(("x", "z", "sector"), SIDES)
def test_sides_are_counted_from_the_south_to_the_east(x, z, sector):
    assert sector_of(pose(x, z), np.zeros(3), 4) == sector


POINTS = st.lists(st.tuples(*[st.floats(-1, 1)] * 3), min_size=1, max_size=20)


@settings(max_examples=25, deadline=None)
@given(POINTS, st.floats(0.05, 1.0))
def test_points_that_are_kept_are_apart_and_cover_the_rest(points, apart):
    fresh = np.array(points)
    room = np.zeros((32, 3))
    count = add_apart(room, 0, fresh, apart)
    gaps = np.linalg.norm(room[:count, None] - room[None, :count], axis=2)
    assert (gaps[~np.eye(count, dtype=bool)] >= apart - 1e-9).all()
    assert (np.linalg.norm(fresh[:, None] - room[None, :count], axis=2).min(1) < apart + 1e-9).all()
    assert count_near(room, count, fresh, apart) == len(fresh)
