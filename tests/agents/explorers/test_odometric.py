"""Exploring without a sensor of the pose, and what holes in depth mean."""

import numpy as np
import pytest

from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.mapping_agent import forget_clipped
from navarena.agents.loading import load_agent
from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.episodes.goals import PointGoal
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from worlds import draw_world

ROOMY = [
    "############",
    "#....#.....#",
    "#....#.....#",
    "#..........#",
    "#....#.....#",
    "############",
]


def test_a_point_is_reached_by_reckoning_under_noise_of_motion():
    task = get_task("pointnav-habitat2020-v1+rgb_noise=false+depth_noise=false")
    world = draw_world(ROOMY, scene_id="roomy")
    worlds = WorldCache(task.embodiment)
    worlds.add(world)
    agent = load_agent("frontier-odometry", task, 0)
    assert set(agent.sensors) == {"depth", "pointgoal"}
    batch = NavigationBatch(task, 1, 1, agent.sensors, worlds)
    agent.attach(batch)
    batch.start([0], [Episode("one", "roomy", (2.5, 0.0, 2.2), 0.4, PointGoal((9.1, 0.0, 4.1)), None)])
    agent.reset([Start(0, "one", "roomy", Boundary.SCENE, 0)])
    while batch.running[0]:
        batch.step(agent.act(batch.observations, np.ones(1, bool)))
    assert batch.state.stopped[0] and batch.state.distance[0] < task.success_distance


def test_protocols_without_a_pose_name_the_agent_that_needs_none():
    with pytest.raises(InputError, match="use frontier-odometry"):
        load_agent("frontier", get_task("pointnav-habitat2020-v1"), 0)
    with pytest.raises(InputError, match="which knows how far its camera is tilted"):
        load_agent("frontier-odometry", get_task("objectnav-robothor2021-v1"), 0)


def test_holes_are_no_obstacles():
    """What is clipped to the nearest depth says nothing; all else stays."""
    depths = np.array([[[0.0, 0.1, np.nan, 1.0]]], np.float32)
    np.testing.assert_array_equal(
        forget_clipped(depths, 0.0), np.array([[[np.nan, 0.1, np.nan, 1.0]]], np.float32)
    )
