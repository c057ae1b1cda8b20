"""View points and generated episodes of ObjectNav keep the rules of the challenges."""

import math
from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import SceneError
from navarena.episodes.catalog import get_recipe
from navarena.episodes.goal_words import word_for
from navarena.episodes.object_nav import OBJECTNAV_HM3D2022_V1, ObjectNavRecipe, object_center
from navarena.episodes.recipe import Stream
from navarena.episodes.view_points import (
    ViewPointSettings,
    box_distance,
    compute_view_points,
    find_view_points,
)
from navarena.scenes.scene import SceneObject
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.world import World, open_world
from navarena.tasks.catalog import get_task
from navarena.tasks.protocols.success_zone import sight_objects
from worlds import HALL, draw_navmesh, draw_scene

STREAM = Stream("drawn", "test")
HALF_MM = 5.001e-4
SETTINGS = ViewPointSettings(("bed",), LOCOBOT)


def make_world(category="bed", hidden=False):
    """The hall with a box of 1 m by 1 m, 2 m high; when hidden, high walls stand around the box's object."""
    rows = list(HALL)
    rows[5] = ".....#...."
    scene = draw_scene(rows, scene_id="furnished")
    size, height = (0.2, 0.2, 0.2) if hidden else (0.5, 1.0, 0.5), 1.0
    obj = SceneObject(3 if hidden else 2, category, (5.5, height, 5.5), size)
    return World.of(replace(scene, objects=(scene.objects[0], obj)), draw_navmesh(rows))


def test_a_category_without_starts_is_left_out_by_name(caplog):
    """No place of the hall is 8 m from the bed in its middle, some are from the chair in its corner."""
    rows = list(HALL)
    rows[1], rows[5] = ".#........", ".....#...."
    scene = draw_scene(rows, scene_id="furnished")
    owners = np.where(np.arange(len(scene.triangles)) < 12, 3, 2).astype(np.int32)
    owners[:2] = 1
    things = (
        scene.objects[0],
        SceneObject(2, "bed", (5.5, 1.0, 5.5), (0.5, 1.0, 0.5)),
        SceneObject(3, "chair", (1.5, 1.0, 1.5), (0.5, 1.0, 0.5)),
    )
    world = World.of(replace(scene, objects=things, triangle_object=owners), draw_navmesh(rows))
    recipe = replace(OBJECTNAV_HM3D2022_V1, min_distance=8.0, min_ratio=0.0)
    episodes = recipe.make(world, 4, STREAM).episodes
    assert {episode.goal.category for episode in episodes} == {"chair"} and len(episodes) == 4
    (told,) = caplog.messages
    assert told.startswith("1 of 2 categories of furnished have no episodes: bed (expected starts for 'bed'")
    assert recipe.make(world, 1, STREAM, first=3).episodes == episodes[3:]
    assert len(caplog.messages) == 1
    with pytest.raises(SceneError, match="expected starts for 'chair'"):
        replace(recipe, min_distance=20.0).make(world, 1, STREAM)


@pytest.mark.parametrize(
    ("yaw", "point", "distance"),
    [
        (0.0, (3, 0, 0), 1.0),
        (0.0, (0, 0, 3), 2.5),
        (0.0, (5, 0, 4.5), 5.0),
        (0.0, (1, 0.2, 0.1), 0.0),
        (math.pi / 2, (3, 0, 0), 2.5),
        (math.pi / 2, (0, 0, -3), 1.0),
        (0.0, (0, 3, 0), 2.0),
    ],
)
def test_distance_to_an_oriented_box(yaw, point, distance):
    """Half sizes 2, 1 and 0.5 m."""
    obj = SceneObject(1, "bed", (10.0, 5.0, -3.0), (2.0, 1.0, 0.5), yaw)
    assert box_distance(obj, np.array([obj.center]) + np.array([point]))[0] == pytest.approx(distance)


def test_view_points_of_a_box():
    world = make_world()
    found = find_view_points(world, SETTINGS)
    assert found.objects.tolist() == [2] and found.categories == ("bed",)
    obj = world.scene.objects[1]
    level = found.positions + [0.0, 1.0, 0.0]
    assert (box_distance(obj, level) <= 1 + 1e-9).all() and (box_distance(obj, level) > 0).all()
    assert (found.coverage > 0).all() and (np.diff(found.coverage) <= 0).all() and found.coverage[0] <= 3
    ahead = np.stack([-np.sin(found.yaws), np.zeros(len(found.yaws)), -np.cos(found.yaws)], 1)
    towards = np.array(obj.center) - level
    assert (ahead * towards).sum(1) == pytest.approx(np.linalg.norm(towards, axis=1))
    offsets = (found.positions[:, [0, 2]] - (5.5 - 1.5)) / (LOCOBOT.radius / 2)
    assert np.abs(offsets - offsets.round()).max() < 1e-6
    area = 9 - 4 + math.pi - 1  # 1 m around the box, without the box
    assert len(found.positions) == pytest.approx(area / (LOCOBOT.radius / 2) ** 2, rel=0.05)


def test_view_points_lie_in_the_zone_of_the_consensus():
    """Within 1 m of the box, and in candidate view; a body that stops up to 0.1 m beside one may not be."""
    world = make_world()
    found, obj = find_view_points(world, SETTINGS), world.scene.objects[1]
    far = found.positions[np.argmax(box_distance(obj, found.positions + [0.0, 1.0, 0.0]))]
    outwards = (far - obj.center) * [1, 0, 1] / np.linalg.norm((far - obj.center) * [1, 0, 1])
    for row in range(0, len(found.positions), 97):
        pose = (found.positions[row], float(found.yaws[row]), 0.0)
        seen = sight_objects(world, LOCOBOT, pose, (obj,), 1.0 + 1e-9)
        assert seen.distances[0] <= 1.0 + 1e-9 and seen.framed[0] > 0 and seen.seen[0] > 0
    beside = sight_objects(world, LOCOBOT, (far + 0.099 * outwards, 0.0, 0.0), (obj,), 1.0)
    assert 1.0 < beside.distances[0] < 1.1 and beside.framed[0] == 0


def test_view_points_are_kept_and_repeat():
    first, second = make_world(), make_world()
    assert find_view_points(first, SETTINGS) is find_view_points(first, SETTINGS)
    assert find_view_points(first, SETTINGS).hash == find_view_points(second, SETTINGS).hash
    fresh = compute_view_points(second, SETTINGS)
    assert np.array_equal(fresh["positions"], find_view_points(first, SETTINGS).positions)


def test_what_no_render_shows_has_no_view_point():
    found = find_view_points(make_world(hidden=True), SETTINGS)
    assert not len(found.objects) and not len(found.rows_of("bed"))


def test_recipes_and_protocols_agree():
    for name in ("objectnav-habitat2020-v1", "objectnav-hm3d2022-v1"):
        task, recipe = get_task(name), get_recipe(name)
        assert (recipe.protocol_id, recipe.embodiment, recipe.categories) == (
            task.protocol_id,
            task.embodiment,
            task.categories,
        )
        assert (recipe.success_distance, recipe.max_steps) == (task.success_distance, task.max_steps)


@pytest.fixture(scope="module")
def house():
    return open_world("houses-v1/val/00003", LOCOBOT)


def test_the_rules_in_a_house(house):
    recipe = OBJECTNAV_HM3D2022_V1
    batch = recipe.make(house, 12, STREAM)
    views = find_view_points(house, recipe.view_points)
    counts = {}
    for episode in batch.episodes:
        goal = episode.goal
        places = views.positions[views.rows_of(goal.category)]
        start = np.array([episode.start_position])
        distance = house.navmesh.geodesic_to_nearest(start, places)[0]
        assert 1 <= distance <= 30 and distance == pytest.approx(episode.geodesic_distance, abs=HALF_MM)
        way = house.navmesh.geodesic_distance(start, np.array([goal.arrival]))[0]
        assert way == pytest.approx(distance, abs=4 * HALF_MM)
        obj = next(one for one in house.scene.objects if one.object_id == int(goal.closest))
        assert word_for(obj, recipe.categories) == goal.category
        assert box_distance(obj, np.array([goal.arrival]) * [1, 0, 1] + [0, obj.center[1], 0])[0] <= 1.05
        counts[goal.category] = counts.get(goal.category, 0) + 1
    assert set(counts) <= set(recipe.categories) and max(counts.values()) - min(counts.values()) <= 1
    assert recipe.make(house, 3, STREAM).episodes == batch.episodes[:3]
    assert recipe.make(house, 3, STREAM, 7).episodes == batch.episodes[7:10]


def test_a_scene_without_goals():
    with pytest.raises(SceneError, match="expected an object of a category of objectnav-hm3d2022-v1"):
        OBJECTNAV_HM3D2022_V1.make(make_world("lamp"), 1, STREAM)


def test_a_scene_without_room():
    near = ObjectNavRecipe("near", LOCOBOT, ("bed",), min_distance=20.0)
    with pytest.raises(SceneError, match="expected starts for 'bed' in 'furnished'"):
        near.make(make_world(), 1, STREAM)


def test_centres():
    assert object_center(make_world().scene, 2).tolist() == [5.5, 1.0, 5.5]
