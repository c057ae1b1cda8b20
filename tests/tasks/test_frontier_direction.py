"""The way to the nearest frontier: a room by hand, things that are not seen, memory."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.simulation.world import World, WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from tasks.small import AHEAD
from worlds import draw_navmesh, draw_scene

ROOMS = [
    "##########",
    "#........#",
    "#........#",
    "##.#######",
    "#........#",
    "#........#",
    "##########",
]
"""Two rooms of 8 by 2 metres, one behind the other, with a door of a metre at the left."""

PLACE = (5.5, 0.0, 5.0)
FORWARD, LEFT, RIGHT = 1, 2, 3
CLOCK = [LEFT] * 12
"""Once around, by turns of 30 degrees."""


def begin(walkable=ROOMS, seen=ROOMS, place=PLACE, slots=1):
    """A batch at `place` in what looks like `seen`, where a body can go where `walkable` says."""
    task = get_task("pointnav-v1")
    camera = replace(task.embodiment.cameras[0], width_px=64, height_px=48)
    task.embodiment = replace(task.embodiment, cameras=(camera,))
    worlds = WorldCache(task.embodiment)
    worlds.add(World.of(draw_scene(seen, scene_id="hall"), draw_navmesh(walkable)))
    batch = NavigationBatch(task, slots, 1, ("frontier_direction",), worlds)
    start(batch, place)
    return batch


def start(batch, place=PLACE):
    batch.start(range(batch.slots), [replace(AHEAD, start_position=place)] * batch.slots)
    assert batch.observations


def act(batch, actions):
    """(metres, degrees) after `actions`, in the first slot."""
    for action in actions:
        batch.step(np.full(batch.slots, action))
        metres, radians = batch.observations["frontier_direction"][0].tolist()
    return metres, np.rad2deg(radians)


def test_the_path_leads_to_the_door():
    """The doorway is 2.5 to 3.5 m to the left of the body, and 1 to 2 m ahead."""
    batch = begin()
    metres, degrees = act(batch, CLOCK)
    assert np.hypot(2.5, 1.0) < metres < 3.5 + 2.0
    assert round(degrees) in (60, 90)
    for turns, expected in (([LEFT] * 3, (-30, 0)), ([RIGHT] * 6, (150, 180)), ([RIGHT] * 3, (240, 270))):
        again, degrees = act(batch, turns)
        assert again == pytest.approx(metres, abs=0.01)
        assert any(abs((degrees - one + 180) % 360 - 180) < 1 for one in expected)


def test_it_comes_nearer():
    batch = begin()
    before, _ = act(batch, [*CLOCK, LEFT, LEFT, LEFT])
    after, degrees = act(batch, [FORWARD] * 4)
    assert 0.7 < before - after < 1.1 and -40 < degrees <= 0


def test_without_frontiers_both_are_0():
    """A closed room of 3 by 3 metres is known after a turn."""
    closed = ["#####", "#...#", "#...#", "#...#", "#####"]
    assert act(begin(closed, closed, (2.5, 0.0, 2.5)), CLOCK) == (0, 0)


def test_a_path_that_was_stopped_leads_elsewhere():
    """A wall that is not seen keeps the body from the door: what stopped it is remembered as occupied."""
    stopped = [row[:4] + "#" + row[5:] if k in (4, 5) else row for k, row in enumerate(ROOMS)]
    batch = begin(stopped)
    act(batch, [*CLOCK, LEFT, LEFT, LEFT])
    free = act(batch, [FORWARD] * 2)
    assert not batch.simulator.collided[0]
    blocked = act(batch, [FORWARD])
    assert batch.simulator.collided[0]
    assert blocked[0] > free[0] + 0.05 and abs(blocked[1] - free[1]) > 15


def test_episodes_begin_anew_and_slots_do_not_mix():
    batch, alone = begin(slots=2), begin()
    first = batch.observations["frontier_direction"].copy()
    assert np.array_equal(first[0], first[1])
    assert act(batch, CLOCK) == act(alone, CLOCK)
    start(batch)
    assert np.array_equal(batch.observations["frontier_direction"], first)


def test_bodies_that_wait_beside_another_see_what_they_saw():
    """A frontier near a body is left alone after 14 of its own steps, whatever another body does."""
    batch, alone = begin(slots=2), begin()
    before = batch.observations["frontier_direction"][0].tolist()
    for _ in range(20):
        batch.step(np.full(2, LEFT), np.array([False, True]))
        assert batch.observations["frontier_direction"][0].tolist() == before
    assert act(batch, [LEFT] * 3) == act(alone, [LEFT] * 3)
