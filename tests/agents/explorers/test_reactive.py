"""Reactive agents: free ways computed by hand, and what they do in drawn worlds."""

import math

import numpy as np
import pytest

from navarena.agents.explorers.reactive import FAR, find_obstacles, measure_free_way
from navarena.agents.explorers.sightings import DepthView
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import InputError
from navarena.episodes.goals import MultiGoal, ObjectInstance
from navarena.simulation.body import Camera
from navarena.tasks.catalog import get_task
from worlds import draw_world

from .episodes import begin

HALL = ["#######", "#.....#", "#.....#", "#.....#", "#######"]
TWO_ROOMS = ["#########", "#...#...#", "#.......#", "#...#...#", "#########"]

CAMERA = Camera(width_px=100, height_px=100, hfov=math.pi / 2)
"""Focal length 50 pixels."""


def view_of(metres, height=0.9):
    pose = np.eye(4)
    pose[1, 3] = height
    return DepthView(metres, 1.0, 0.0, (0.5, 10.0), CAMERA, pose)


@pytest.mark.parametrize(
    ("points", "angle", "free"),
    [
        ([(0.0, 2.0)], 0.0, 2.0),
        ([(0.0, 2.0), (0.1, 1.5), (0.0, -1.0)], 0.0, 1.5),  # what is behind is not in the way
        ([(0.3, 2.0)], 0.0, FAR),
        ([(-1.0, 1.0)], math.pi / 4, math.sqrt(2)),  # to the left of the camera
        ([(-1.0, 1.0)], -math.pi / 4, FAR),
        ([(1.0, 1.0)], -math.pi / 4, math.sqrt(2)),
        ([(0.0, 20.0)], 0.0, FAR),
    ],
)
def test_free_ways_by_hand(points, angle, free):
    assert measure_free_way(np.array(points), angle, 0.2) == pytest.approx(free)


def test_the_floor_what_is_above_and_the_goal_are_no_obstacles():
    """At 2 m a pixel is 4 cm: the floor is 22.5 rows below the middle, a height of 1.49 m 14.75 above."""
    depth = np.full((100, 100), 2.0)
    points = find_obstacles(view_of(depth), 1, 1.49)
    # rows 35 to 69: 0.9 + 0.04 * (50 - row - 0.5) lies between 0.1 and 1.49
    assert len(points) == 35 * 100
    assert points[:, 1].min() == points[:, 1].max() == 2.0
    assert points[:, 0].min() == pytest.approx(-1.98) and points[:, 0].max() == pytest.approx(1.98)
    goal = np.zeros((100, 100), bool)
    goal[:, :50] = True
    assert find_obstacles(view_of(depth), 1, 1.49, goal)[:, 0].min() > 0
    depth[:] = np.nan
    assert len(find_obstacles(view_of(depth), 1, 1.49)) == 0


def run(name, protocol_id, goals, world, start, steps=400, overruled=None):
    """The batch after an episode, and the actions chosen."""
    batch, agent = begin(name, protocol_id, goals, world, start)
    chosen = []
    for _ in range(steps):
        if not batch.running[0]:
            break
        actions = agent.act(batch.observations, np.ones(1, bool))
        chosen.append(int(actions[0]))
        if overruled is not None:
            actions = np.array([overruled])
            agent.overrule(actions)
        batch.step(actions)
    return batch, chosen


def goals_at(*places):
    kinds = ("cylinder_red", "cylinder_cyan")
    return MultiGoal(
        tuple(ObjectInstance(kind, kind, place) for kind, place in zip(kinds, places, strict=False))
    )


@pytest.mark.parametrize("name", ["reactive", "reactive-rgb"])
def test_goals_are_found_in_order_behind_walls(name):
    goals = goals_at((7.2, 0.0, 1.6), (1.6, 0.0, 3.3))
    world = draw_world(TWO_ROOMS, scene_id="two")
    batch, _ = run(name, "multion-2on-v1", goals, world, (2.5, 0.0, 2.5), steps=2000)
    assert batch.state.stopped[0] and len(batch.state.found_after[0]) == 2


def test_what_is_seen_ahead_is_walked_up_to_and_declared():
    """3 m ahead, found within 1.5 m, and it goes up to 1.25 m: seven or eight steps of 0.25 m."""
    world = draw_world(["#######", *["#.....#"] * 7, "#######"], scene_id="hall")
    _, chosen = run("reactive-rgb", "multion-1on-v1", goals_at((3.5, 0.0, 2.5)), world, (3.5, 0.0, 5.5))
    names = get_task("multion-1on-v1").actions
    assert [names[one] for one in chosen[:-1]] == ["move_forward"] * (len(chosen) - 1)
    assert names[chosen[-1]] == "found" and len(chosen) - 1 in (7, 8)


def test_a_move_that_was_overruled_is_what_it_did():
    """A learner that turns to the left all the time is not taken for one that goes ahead."""
    goals = goals_at((5.5, 0.0, 1.5))
    world = draw_world(HALL, scene_id="hall")
    names = get_task("multion-1on-v1").actions
    _, chosen = run(
        "reactive-rgb", "multion-1on-v1", goals, world, (1.5, 0.0, 3.5), 24, names.index("turn_left")
    )
    asked = {names[one] for one in chosen}
    assert "turn_right" not in asked and "move_forward" in asked


def test_a_body_that_is_held_up_turns():
    world = draw_world(HALL, scene_id="hall")
    goals = goals_at((5.5, 0.0, 1.5))
    names = get_task("multion-1on-v1").actions
    # it is told that it went ahead while it stood still: the image does not change
    _, chosen = run(
        "reactive-rgb", "multion-1on-v1", goals, world, (1.5, 0.0, 1.2), 6, names.index("move_forward")
    )
    assert {names[one] for one in chosen[1:]} <= {"turn_left", "turn_right"}


def test_it_declares_what_it_looks_at_and_refuses_other_tasks():
    assert declare_agent("reactive").privileged_inputs == ("instance images", "goal")
    assert not declare_agent("reactive-rgb").privileged
    with pytest.raises(InputError, match="MultiON with cylinders"):
        load_agent("reactive-rgb", get_task("multion-shapes-1on-v1"), 0)
    with pytest.raises(InputError, match="whose goals are objects"):
        load_agent("reactive", get_task("pointnav-v1"), 0)
    with pytest.raises(InputError, match="level at the start"):
        load_agent("reactive", get_task("objectnav-robothor2021-v1"), 0)
