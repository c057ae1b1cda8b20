"""Labels of which goal objects are in view: distance, angle and what hides them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.episodes.goals import MultiGoal, ObjectInstance
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from worlds import draw_world

WALLED = [
    "..........",
    "..........",
    "..........",
    ".########.",
    "..........",
    "..........",
]
RED, GREEN, BLUE, NONE = 0, 1, 2, 8
NAMES = ("nearest_seen_class", "nearest_seen_class_5m", "seen_goals")


def look(*goals, yaw_deg=0.0, protocol="multion-2on-v1", place=(5.0, 5.5)):
    """What the labels say of a body at `place` (x, z) of a hall with a wall at z of 3 to 4."""
    task = get_task(protocol)
    camera = replace(task.embodiment.cameras[0], width_px=64, height_px=64)
    task.embodiment = replace(task.embodiment, cameras=(camera,))
    worlds = WorldCache(task.embodiment)
    worlds.add(draw_world(WALLED, scene_id="walled"))
    batch = NavigationBatch(task, 1, sensors=NAMES, worlds=worlds)
    instances = tuple(
        ObjectInstance(str(k), f"cylinder_{color}", (x, 0.0, z)) for k, (color, x, z) in enumerate(goals)
    )
    start = (place[0], 0.0, place[1])
    batch.start([0], [Episode("one", "walled", start, math.radians(yaw_deg), MultiGoal(instances), None)])
    seen = batch.observations
    return (
        int(seen["nearest_seen_class"][0, 0]),
        int(seen["nearest_seen_class_5m"][0, 0]),
        np.flatnonzero(seen["seen_goals"][0]).tolist(),
    )


def test_the_nearest_in_view_is_named_within_both_reaches():
    assert look(("green", 5.0, 4.5), ("red", 5.0, 1.0)) == (GREEN, GREEN, [GREEN]), "red is behind the wall"
    near, far = ("green", 4.0, 5.5), ("red", 1.0, 5.2)  # 1 m and 4 m to the left
    assert look(near, far, yaw_deg=90) == (GREEN, GREEN, [RED, GREEN])
    assert look(("blue", 1.5, 5.2), far, yaw_deg=90)[:2] == (NONE, BLUE)
    assert look(near, far) == (NONE, NONE, []), "90 degrees aside"
    assert look(near, far, yaw_deg=-90) == (NONE, NONE, []), "behind"


def test_half_of_79_degrees_bounds_the_view():
    away = 2.0
    for degrees, is_seen in ((30, True), (50, False)):
        x, z = 8.0 - away * math.cos(math.radians(degrees)), 5.0 - away * math.sin(math.radians(degrees))
        found = look(("red", x, z), ("green", 9.5, 5.5), yaw_deg=90, place=(8.0, 5.0))
        assert found[0] == (RED if is_seen else NONE), degrees


def test_hidden_goals_are_not_seen():
    goals = ("green", 5.0, 4.5), ("red", 1.0, 5.5)
    assert look(*goals, protocol="multion-2on-v1+hidden=true") == (NONE, NONE, [])


def test_other_protocols_have_no_such_label():
    with pytest.raises(InputError, match="of MultiON"):
        NavigationBatch(get_task("pointnav-v1"), 1, sensors=("nearest_seen_class",))
