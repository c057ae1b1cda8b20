"""Poses at which maps are drawn: true, estimated by gps and compass, or of odometry from depth images."""

import math
from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.geometry import wrap_angle
from navarena.mapping.oracle_map import crop_oracle, oracle_grid
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.corruption_checks import require_applicable
from tasks.small import episodes_for
from worlds import HALL, ROOMS, draw_world

WORLDS = [draw_world(HALL, scene_id="hall"), draw_world(ROOMS, scene_id="rooms")]
MAPS = ("oracle_map", "oracle_ego_map", "occupancy_map", "semantic_map")
ESTIMATED = "+poses=estimated"
FOUND, AHEAD, LEFT, RIGHT = range(4)
WALK = (AHEAD, LEFT, LEFT, AHEAD, AHEAD, RIGHT, AHEAD, LEFT, AHEAD, RIGHT, RIGHT, AHEAD)


def make_batch(options="", sensors=("gps", "compass"), corruptions=(), slots=1):
    task = get_task(f"multion-2on-v1{options}")
    worlds = WorldCache(task.embodiment)
    for world in WORLDS:
        worlds.add(world)
    return NavigationBatch(task, slots, 1, sensors, worlds, corruptions), episodes_for(task)


def watch(batch, actions=WALK):
    """Observations at the start and after each action, copied."""
    seen = [{name: value.copy() for name, value in batch.observations.items()}]
    for action in actions:
        batch.step(np.full(batch.slots, action))
        seen.append({name: value.copy() for name, value in batch.observations.items()})
    return seen


@pytest.mark.parametrize("name", MAPS)
def test_estimated_poses_are_the_true_ones_until_they_are_corrupted(name):
    shown = []
    for options, corruptions in (("", ()), (ESTIMATED, ()), (ESTIMATED, ("localisation_noise:5",))):
        batch, episodes = make_batch(options, (name,), corruptions)
        batch.start([0], episodes[:1])
        shown.append([seen[name] for seen in watch(batch)])
    true, exact, noisy = shown
    assert all(np.array_equal(one, other) for one, other in zip(true, exact, strict=True))
    assert sum(not np.array_equal(one, other) for one, other in zip(true, noisy, strict=True)) >= 6


def test_corruptions_of_poses_leave_maps_at_true_poses_alone():
    plain, episodes = make_batch("", ("occupancy_map",))
    noisy, _ = make_batch("", ("occupancy_map", "gps"), ("localisation_noise:5",))
    for batch in (plain, noisy):
        batch.start([0], episodes[:1])
    pairs = zip(watch(plain), watch(noisy), strict=True)
    assert all(np.array_equal(one["occupancy_map"], other["occupancy_map"]) for one, other in pairs)


def test_an_oracle_map_is_read_where_gps_and_compass_say():
    """The window is that of the whole map around the start plus what gps and compass show."""
    batch, episodes = make_batch(
        "+poses=estimated", ("oracle_map", "gps", "compass"), ("localisation_bias:5",)
    )
    batch.start([0], episodes[:1])
    sensor = batch._goal_sensors[0]
    whole = sensor._drawings(batch.state).maps[0]
    for seen in watch(batch):
        ahead, right = seen["gps"][0].astype(float)
        start, yaw = batch.simulator.bodies.start_positions[0], batch.simulator.bodies.start_yaws[0]
        x = start[0] - math.sin(yaw) * ahead + math.cos(yaw) * right
        z = start[2] - math.cos(yaw) * ahead - math.sin(yaw) * right
        believed = np.array([[x, start[1], z]])
        turn = np.array([yaw + seen["compass"][0, 0]])
        assert np.array_equal(seen["oracle_map"], crop_oracle(whole, oracle_grid(300), believed, turn, 50))


def test_odometry_follows_exact_motions():
    """Within 5 cm and 1.5 degrees of gps and compass after 12 actions."""
    batch, episodes = make_batch("+poses=odometry")
    true, _ = make_batch()
    for episode in episodes[:4]:
        for one in (batch, true):
            one.start([0], [episode])
        for found, exact in zip(watch(batch), watch(true), strict=True):
            assert np.abs(found["gps"] - exact["gps"]).max() < 0.05
            assert np.degrees(abs(wrap_angle(found["compass"] - exact["compass"])[0, 0])) < 1.5


def test_odometry_corrects_commands_by_depth_images():
    """Turns of 30 degrees that are 35: commands alone are 60 degrees off after a circle."""
    batch, episodes = make_batch("+poses=odometry", corruptions=("motion_bias_constant",))
    for episode in [one for one in episodes if one.scene_id == "rooms"]:
        batch.start([0], [episode])
        seen = watch(batch, [LEFT] * 12)
        turned = batch.simulator.yaws[0] - batch.simulator.bodies.start_yaws[0]
        assert math.degrees(abs(wrap_angle(turned))) == pytest.approx(60)
        assert math.degrees(abs(wrap_angle(turned - seen[-1]["compass"][0, 0]))) < 40


def test_a_blocked_walk_does_not_move_the_estimate():
    """Before a wall nearer than the sensor sees, the image alone says that nothing moved."""
    batch, episodes = make_batch("+poses=odometry")
    batch.start([0], episodes[:1])
    watch(batch, [AHEAD] * 40)
    collided = batch.simulator.collided.copy()
    before = batch.observations["gps"].copy()
    after = watch(batch, [AHEAD] * 5)[-1]["gps"]
    assert collided.all() and np.array_equal(before, after)


def test_estimates_depend_on_no_other_slot():
    alone, episodes = make_batch("+poses=odometry", ("gps", "compass", "occupancy_map"))
    alone.start([0], episodes[1:2])
    expected = watch(alone)
    beside, _ = make_batch("+poses=odometry", ("gps", "compass", "occupancy_map"), slots=3)
    beside.start([0, 2], [episodes[0], episodes[1]])
    seen = [{name: value.copy() for name, value in beside.observations.items()}]
    active = np.array([True, False, True])
    for k, action in enumerate(WALK):
        beside.step(np.full(3, action), active)
        if k == 4:
            beside.start([1], [episodes[0]])
            active[1] = True
        seen.append({name: value.copy() for name, value in beside.observations.items()})
    for one, other in zip(expected, seen, strict=True):
        assert all(np.array_equal(one[name][0], other[name][2]) for name in one)


def test_a_restored_batch_estimates_as_before():
    batch, episodes = make_batch("+poses=odometry", ("gps", "compass", "occupancy_map"))
    batch.start([0], episodes[:1])
    watch(batch, WALK[:5])
    saved = batch.save_state()
    expected = watch(batch, WALK[5:])
    other, _ = make_batch("+poses=odometry", ("gps", "compass", "occupancy_map"))
    other.restore_state(saved)
    for one, again in zip(expected, watch(other, WALK[5:]), strict=True):
        assert all(np.array_equal(one[name], again[name]) for name in one)


def test_goals_relative_to_the_pose_follow_odometry():
    task = get_task("pointnav-v1+poses=odometry")
    assert task.protocol_id == "pointnav-v1+custom+poses=odometry"
    worlds = WorldCache(task.embodiment)
    for world in WORLDS:
        worlds.add(world)
    batch = NavigationBatch(task, 1, 1, ("pointgoal_with_gps_compass", "gps"), worlds)
    batch.start([0], episodes_for(task)[:1])
    far = watch(batch, [AHEAD] * 3)
    assert far[0]["pointgoal_with_gps_compass"][0, 0] > far[-1]["pointgoal_with_gps_compass"][0, 0]
    estimated = batch.simulator.bodies.estimated_positions[0]
    away = np.linalg.norm((batch.state.goal_position[0] - estimated)[[0, 2]])
    assert far[-1]["pointgoal_with_gps_compass"][0, 0] == pytest.approx(away, abs=1e-4)


def test_what_has_no_such_poses_is_refused():
    task = get_task("multion-2on-v1+poses=odometry")
    with pytest.raises(
        InputError, match="expected poses that gps and compass estimate, not odometry, for the"
    ):
        require_applicable(task, ["localisation_noise:3"])
    require_applicable(task, ["motion_drift", "odometry_noise:2"], ("odometry",))
    require_applicable(get_task("multion-2on-v1+poses=estimated"), ["localisation_noise:3"])
    drift, maps = ["localisation_drift:3"], ["semantic_map_iterative"]
    for name, sensors in (("ir2r-ce-v1", maps), ("ir2r-ce-v1+poses=estimated", [])):
        with pytest.raises(InputError, match="expected a sensor of gps or compass for the corruption"):
            require_applicable(get_task(name), drift, sensors)
    require_applicable(get_task("ir2r-ce-v1+poses=estimated"), drift, maps)
    with pytest.raises(InputError, match="discrete actions, whose motions are known, for poses=odometry"):
        get_task("objectnav-stretch2023-v1+poses=odometry")
    with pytest.raises(InputError, match="that offers depth for poses=odometry, got pointnav-v1"):
        NavigationBatch(get_task("pointnav-v1+track=rgb+poses=odometry"), 1, 1, ("gps",))
    with pytest.raises(InputError, match="on graphs"):
        get_task("r2r-v1+poses=estimated")
    with pytest.raises(UnknownNameError, match="estimated, odometry"):
        get_task("multion-2on-v1+poses=guessed")
    blind = get_task("multion-2on-v1+poses=odometry")
    blind.embodiment = replace(blind.embodiment, cameras=())
    with pytest.raises(InputError, match="that takes 'depth', got none"):
        NavigationBatch(blind, 1, 1, ("gps",))
