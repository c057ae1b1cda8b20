"""RobustNav's readings: resized images, noise, cached distances, zero shaping, its SPL."""

import math
from dataclasses import replace

import numpy as np
import pytest

from navarena.metrics import compute_metrics
from navarena.metrics.navigation import spl, success
from navarena.metrics.robustnav import spl_robustnav, success_robustnav, travelled
from navarena.metrics.seen_goal import SeenGoalTrajectory
from navarena.metrics.statistics import estimate_mean
from navarena.metrics.trajectory import Trajectory
from navarena.simulation.sensors.resized import resize
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from tasks.small import AHEAD, FAR, make_episode
from worlds import HALL, ROOMS, draw_world

WORLDS = [draw_world(HALL, scene_id="hall"), draw_world(ROOMS, scene_id="rooms")]
FORWARD, LEFT, RIGHT, STOP = range(4)


def begin(protocol_id, episode=AHEAD, sensors=()):
    task = get_task(protocol_id)
    cache = WorldCache(task.embodiment)
    for world in WORLDS:
        cache.add(world)
    batch = NavigationBatch(task, 1, sensors=sensors, worlds=cache)
    batch.start([0], [episode])
    return batch


def act(batch, *actions):
    return [batch.step(np.array([action])) for action in actions][-1]


def track(points, stopped, start=2.0):
    count = len(points)
    return Trajectory(
        positions=np.array([(x, 5.0 * x, z) for x, z in points], float),
        yaws=np.zeros(count),
        actions=np.zeros(count - 1, np.int64),
        collided=np.zeros(count - 1, bool),
        distance_to_goal=np.zeros(count),
        start_distance=start,
        stopped=stopped,
        success_distance=0.2,
    )


@pytest.mark.parametrize(
    ("points", "stopped", "metres"),
    [
        ([(0, 0)], False, 0.0),
        ([(0, 0), (0, 0)], True, 0.0),  # End at once
        ([(0, 0), (1, 0), (1, 0)], True, 1.0),  # the only step: left out, then counted at End
        ([(0, 0), (1, 0), (1, 2), (1, 2)], True, 4.0),  # 2, and 2 again
        ([(0, 0), (1, 0), (1, 2), (1, 2), (1, 2)], True, 2.0),  # a turn before End: 0 is counted again
        ([(0, 0), (1, 0), (1, 2), (4, 2)], False, 5.0),  # cut off: only the first is left out
    ],
)
def test_the_way_that_robustnav_counts(points, stopped, metres):
    """Only the plan view counts: the heights of these points differ, too."""
    assert travelled(track(points, stopped)) == pytest.approx(metres)


def test_spl_of_robustnav():
    way = [(0, 0), (1, 0), (1, 2), (1, 2)]
    assert spl_robustnav(track(way, True)) == pytest.approx(0.5)
    assert spl_robustnav(track(way, False)) == 0
    assert spl_robustnav(track(way, True, 0.0)) == 0
    assert spl_robustnav(track([(0, 0), (0, 0)], True, 0.0)) == 1
    assert spl_robustnav(track(way, True, math.inf)) == 0


def test_the_code_forgets_episodes_that_end_where_there_is_no_way():
    """End out of reach: None there. Without End, or by sight, it is a failure like any other."""
    away = replace(track([(0, 0), (1, 0), (1, 0)], True, math.inf), distance_to_goal=np.full(3, math.inf))
    assert (success(away), spl(away)) == (0.0, 0.0)
    assert (success_robustnav(away), spl_robustnav(away)) == (math.inf, math.inf)
    for other in (replace(away, stopped=False), SeenGoalTrajectory(**vars(away), goal_seen=False)):
        assert (success_robustnav(other), spl_robustnav(other)) == (0.0, 0.0)
    near = track([(0, 0), (1, 0), (1, 0)], True)
    assert (success_robustnav(near), success_robustnav(replace(near, stopped=False))) == (1.0, 0.0)
    estimate = estimate_mean(
        np.array([success_robustnav(one) for one in (away, near)]), ["a", "b"], np.random.default_rng(0)
    )
    assert (estimate.mean, estimate.n, estimate.infinite) == (1.0, 2, 1)


def test_the_protocols():
    points, objects = get_task("robustnav-pointnav-v1"), get_task("robustnav-objectnav-v1")
    assert points.max_steps == objects.max_steps == 300
    assert points.corruptions == objects.corruptions == ("native_noise",)
    assert get_task("robustnav-pointnav-v1+max_steps=500").max_steps == 500
    assert get_task("pointnav-robothor-v1").max_steps == 500
    assert "depth" not in get_task("robustnav-objectnav-v1+track=rgb").sensors


def test_images_are_resized_as_pillow_does():
    batch = begin("robustnav-pointnav-v1", FAR, ("rgb", "depth"))
    seen = batch.observations
    assert seen["rgb"].shape == (1, 224, 224, 3) and seen["depth"].shape == (1, 224, 224, 1)
    whole = begin("pointnav-robothor-v1", FAR, ("rgb", "depth")).observations
    assert np.array_equal(seen["rgb"][0], resize(whole["rgb"][0], 224, 224))
    assert np.allclose(seen["depth"][0, ..., 0], resize(whole["depth"][0, ..., 0], 224, 224), atol=1e-5)


def test_resizing_against_the_triangle_filter():
    """A row of 4 pixels onto 2: each is the mean of a triangle of half-width 2 around it."""
    row = np.repeat(np.array([[0.0, 1.0, 2.0, 9.0]], np.float32), 2, 0)
    weights = np.array([0.75, 0.75, 0.25])  # distances 0.5, 0.5 and 1.5 of 2
    left = (weights * row[0, :3]).sum() / weights.sum()
    right = (weights[::-1] * row[0, 1:]).sum() / weights.sum()
    assert resize(row, 2, 2)[0] == pytest.approx([left, right], abs=1e-6)


def test_the_engine_s_noise_moves_nearly_as_commanded():
    batch = begin("robustnav-pointnav-v1", make_episode("away", (5.0, 0, 9.0), (5.0, 0, 1.0), distance=8))
    ways = []
    for _ in range(20):
        before = batch.simulator.positions[0].copy()
        act(batch, FORWARD)
        ways.append(float(np.linalg.norm(batch.simulator.positions[0] - before)))
    assert len(set(ways)) == 20 and np.mean(ways) == pytest.approx(0.251, abs=0.006)


def test_cached_distances_are_those_of_the_first_position_of_a_cell():
    episode = replace(AHEAD, start_position=(5.0, 0.0, 5.02))
    exact, cached = (
        begin("pointnav-robothor-v1", episode),
        begin("pointnav-robothor-v1+distances=cached", episode),
    )
    assert cached.state.distance[0] == exact.state.distance[0] == pytest.approx(1.02)
    turn_round = [LEFT] * 6
    for batch in (exact, cached):
        act(batch, FORWARD, *turn_round, FORWARD)
        batch.simulator.bodies.positions[0, 2] -= 0.03  # another place in the cell of the start: 4.99
        batch.state.measure(np.array([0]), batch.simulator)
    assert exact.state.distance[0] == pytest.approx(0.99)
    assert cached.state.distance[0] == pytest.approx(1.02)


def test_shaping_once_or_never():
    assert act(begin("pointnav-robothor-v1"), FORWARD).reward[0] == pytest.approx(0.24)
    zero = begin("pointnav-robothor-v1+shaping=zero")
    assert act(zero, FORWARD).reward[0] == pytest.approx(-0.01)
    assert act(zero, FORWARD, FORWARD, FORWARD, STOP).reward[0] == pytest.approx(9.99)
    assert compute_metrics(("success", "spl_robustnav"), zero.trajectory(0)) == {
        "success": 1.0,
        "spl_robustnav": 1.0,
    }
