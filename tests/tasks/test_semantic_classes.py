"""True classes of pixels: one number for one category in every scene, of any vocabulary."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import UnknownNameError
from navarena.mapping.vocabularies import class_names
from navarena.simulation.world import World, WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from tasks.small import AHEAD
from worlds import draw_navmesh, draw_scene

PILLARS = [*[".........."] * 2, "...##.....", *[".........."] * 7]


def make_world(name, floor, box):
    scene = draw_scene(PILLARS, scene_id=name)
    objects = tuple(
        replace(one, category=word) for one, word in zip(scene.objects, (floor, box), strict=True)
    )
    return World.of(replace(scene, objects=objects), draw_navmesh(PILLARS))


def look(sensor):
    """Numbers of the box, then of the floor, in two scenes whose own numbers of both differ."""
    task = get_task("pointnav-v1")
    worlds = WorldCache(task.embodiment)
    worlds.add(make_world("one", "rug", "sofa"))
    worlds.add(make_world("two", "sofa", "toilet"))
    batch = NavigationBatch(task, 3, sensors=(sensor, "semantic", "instance"), worlds=worlds)
    batch.start([0, 1], [replace(AHEAD, scene_id=name) for name in ("one", "two")])
    seen, own, objects = (batch.observations[name] for name in (sensor, "semantic", "instance"))
    assert seen.dtype == np.uint8 and seen.shape == own.shape and not seen[2].any()
    assert not seen[objects == 0].any(), "sky is void"
    assert {int(one) for one in own[0][objects[0] == 2]} != {int(one) for one in own[1][objects[1] == 1]}
    return [[set(seen[slot][objects[slot] == number].tolist()) for number in (2, 1)] for slot in (0, 1)]


def test_a_category_has_one_number_in_all_scenes():
    number = class_names("categories").index
    (box, floor), (other, ground) = look("semantic_classes")
    assert (box, floor) == ({number("sofa")}, {number("rug")})
    assert (other, ground) == ({number("toilet")}, {number("sofa")})


def test_a_vocabulary_has_its_words_and_void():
    number = class_names("habitat2020").index
    (box, floor), (other, ground) = look("semantic_classes:habitat2020")
    assert (box, floor) == ({number("sofa")}, {0}), "a rug is none of its words"
    assert (other, ground) == ({number("toilet")}, {number("sofa")})


def test_unknown_vocabularies_are_refused():
    with pytest.raises(UnknownNameError, match="vocabulary"):
        look("semantic_classes:words")
