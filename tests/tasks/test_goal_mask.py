"""Where in the image the goal is: pixel by pixel, of every task whose goals are objects, and of no other."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.episodes.episode import LifelongGoal, ObjectGoal, ObjectInstance, ViewPoint
from navarena.episodes.goals import Subtask
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from tasks.small import AHEAD, as_objects
from worlds import draw_world

PILLARS = [*[".........."] * 2, "...##.....", *[".........."] * 7]
"""A hall with a box ahead and to the left of its middle."""

FLOOR, BOX = "1", "2"
PLACE = AHEAD.start_position
DECLARE, FOUND = 6, 0
FIRST_CYLINDER = 1_000_000


def instance(number):
    return ObjectInstance(number, "couch", PLACE, (ViewPoint(PLACE, 0.0),))


def begin(protocol_id, goal, slots=1):
    task = get_task(protocol_id)
    camera = replace(task.embodiment.cameras[0], width_px=36, height_px=64)
    task.embodiment = replace(task.embodiment, cameras=(camera,))
    worlds = WorldCache(task.embodiment)
    worlds.add(draw_world(PILLARS, scene_id="hall"))
    batch = NavigationBatch(task, slots, sensors=("goal_mask", "instance"), worlds=worlds)
    batch.start([0], [replace(AHEAD, goal=goal)])
    return batch


def require_mask(batch, *numbers):
    """What goal_mask shows of slot 0, after the same by hand."""
    mask, image = batch.observations["goal_mask"][0, :, :, 0], batch.observations["instance"][0, :, :, 0]
    assert mask.shape == image.shape == (64, 36) and mask.dtype == np.uint8
    for row in range(64):
        for column in range(36):
            assert mask[row, column] == (int(image[row, column]) in numbers)
    return mask


def test_of_objectnav_every_instance_shows():
    for listed in ((BOX,), (FLOOR,), (FLOOR, BOX)):
        goal = ObjectGoal("sofa", tuple(replace(instance(one), category="sofa") for one in listed))
        batch = begin("objectnav-habitat2020-v1", goal, slots=2)
        assert require_mask(batch, *map(int, listed)).any()
    assert not batch.observations["goal_mask"][1].any(), "the second slot is idle"


def test_of_goat_the_current_goal_alone_shows():
    subtasks = tuple(Subtask("object", "couch", (instance(one),), "", None) for one in (BOX, FLOOR))
    batch = begin("goat-v1", LifelongGoal(subtasks))
    assert 0 < require_mask(batch, 2).mean() < 1
    batch.step(np.array([DECLARE]))
    assert 0 < require_mask(batch, 1).mean() < 1


def test_of_multion_the_current_goal_alone_shows():
    batch = begin("multion-2on-v1", as_objects(AHEAD, (5.4, 0.0, 3.8)).goal, slots=2)
    first = require_mask(batch, FIRST_CYLINDER).copy()
    assert 0 < first.mean() < 0.5
    assert not batch.observations["goal_mask"][1].any(), "the second slot is idle"
    batch.step(np.array([FOUND, FOUND]), np.array([True, False]))
    second = require_mask(batch, FIRST_CYLINDER + 1)
    assert 0 < second.mean() < 0.5 and not (first & second).any()


def test_of_multion_hidden_goals_show_nowhere():
    goal = as_objects(AHEAD).goal
    assert begin("multion-1on-v1", goal).observations["goal_mask"].any()
    assert not begin("multion-1on-v1+hidden=true", goal).observations["goal_mask"].any()


def test_goals_that_the_scene_does_not_know_show_nowhere():
    batch = begin("goat-v1", LifelongGoal((Subtask("object", "couch", (instance("sofa-1"),), "", None),)))
    assert not require_mask(batch).any()


def test_it_is_privileged_and_other_tasks_have_none():
    task = get_task("ovon-v1")
    worlds = WorldCache(task.embodiment)
    assert NavigationBatch(task, 1, sensors=("goal_mask",), worlds=worlds).privileged_sensors == (
        "goal_mask",
    )
    point = get_task("pointnav-v1")
    with pytest.raises(InputError, match="whose goals are objects"):
        NavigationBatch(point, 1, sensors=("goal_mask",), worlds=WorldCache(point.embodiment))
