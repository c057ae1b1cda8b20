"""Exploring without a sensor of the pose, and what holes in depth mean."""

import math

import numpy as np
import pytest

from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.mapping_agent import forget_clipped
from navarena.agents.explorers.pose_sources import FilteredPoses, OdometryPoses
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.episodes.goals import PointGoal
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_body_task, get_task
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
    distances = []
    for name in "abcdefgh":
        batch.start([0], [Episode(name, "roomy", (2.5, 0.0, 2.2), 0.4, PointGoal((9.1, 0.0, 4.1)), None)])
        agent.reset([Start(0, name, "roomy", Boundary.SCENE, 0)])
        while batch.running[0]:
            batch.step(agent.act(batch.observations, np.ones(1, bool)))
        assert batch.state.stopped[0]
        distances.append(float(batch.state.distance[0]))
    # metres, of 7 to the goal; actions alone are off by far more, as `test_scan_odometry` shows
    assert np.median(distances) < 0.9 and max(distances) < 2.0


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


@pytest.mark.parametrize("kind", ["odometry", "filter"])
def test_what_is_expected_of_a_body_is_what_it_did_last_whatever_others_do(kind):
    """By odometry the expected motion is all there is where nothing is seen."""
    motions = np.array([[0.0, 0.0, 0.0], [0.25, 0.0, 0.0], [0.0, 0.0, math.pi / 6]])
    camera = Camera(width_px=32, height_px=32, hfov=math.pi / 2)
    source = OdometryPoses(camera, motions, (1.0, 0.0)) if kind == "odometry" else FilteredPoses(motions)
    bodies, both, second = Bodies(2), np.ones(2, bool), np.array([False, True])
    seen = {"gps": np.zeros((2, 2), np.float32), "compass": np.zeros((2, 1), np.float32)}
    unseen = np.full((2, 32, 32), np.nan if kind == "odometry" else 0.0, np.float32)
    source.update(seen, unseen, [0, 1], both, bodies)
    source.note(np.array([1, 1]), both)
    source.update(seen, unseen, [], second, bodies)
    source.note(np.array([2, 2]), second)
    assert source._expected.tolist() == [[0.25, 0.0, 0.0], [0.0, 0.0, math.pi / 6]]
    if kind == "odometry":
        source.update(seen, unseen, [], both, bodies)
        np.testing.assert_allclose(bodies.positions[:, 2], [-0.25, -0.25], atol=1e-9)
        np.testing.assert_allclose(bodies.yaws, [0.0, math.pi / 6], atol=1e-9)


def test_measured_walks_count_instead_of_the_commanded():
    motions = np.array([[0.0, 0.0, 0.0], [0.25, 0.0, 0.0]])
    source = OdometryPoses(Camera(width_px=32, height_px=32, hfov=math.pi / 2), motions, (1.0, 0.0))
    source.doubt_depth()
    bodies, every = Bodies(3), np.ones(3, bool)
    unseen = np.full((3, 32, 32), np.nan, np.float32)
    source.update({}, unseen, [0, 1, 2], every, bodies)
    source.note(np.array([1, 1, 0]), every)
    source.update({"walked": np.array([0.1, np.nan, np.nan])}, unseen, [], every, bodies)
    np.testing.assert_allclose(bodies.positions[:, 2], [-0.1, -0.25, 0.0], atol=1e-9)


@pytest.mark.parametrize(
    ("agent", "protocol", "inputs"),
    [
        ("frontier", "pointnav-v1", ()),
        ("frontier", "multion-3on-v1", ("semantic images", "names of the scene's categories")),
        (
            "frontier",
            "robustnav-objectnav-v1",
            ("semantic images", "names of the scene's categories", "pose"),
        ),
        ("frontier-odometry", "pointnav-habitat2020-v1", ()),
        (
            "frontier-odometry",
            "objectnav-habitat2020-v1",
            ("semantic images", "names of the scene's categories"),
        ),
    ],
)
def test_labels_count_as_privileged_where_they_are_looked_at(agent, protocol, inputs):
    task = get_body_task(protocol)
    for told in (declare_agent(agent, task), load_agent(agent, task)):
        assert (told.privileged_inputs, told.privileged) == (inputs, bool(inputs))
