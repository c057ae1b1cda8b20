"""Corruptions of bodies that are led outside the rules: movements are exact, draws and estimates go on."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption
from navarena.episodes.episode import Episode, InstructionGoal
from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.vln_ce import R2RCE
from worlds import HALL, draw_world

FORWARD, TURN_LEFT, TURN_RIGHT = 1, 2, 3


class ShortR2RCE(R2RCE):
    """r2r-ce-v1 with small images and 4 actions."""

    embodiment = replace(VLN_CE, cameras=(Camera(width_px=16, height_px=16, channels=("rgb",)),))
    max_steps = 4


def start_route(*corruptions, starts=((5.0, 0.0, 6.0),), sensors=("rgb", "gps", "compass", "odometry")):
    """A batch of routes through the hall, one from each of `starts`."""
    task = ShortR2RCE()
    cache = WorldCache(task.embodiment)
    cache.add(draw_world(HALL, scene_id="hall"))
    routes = [
        Episode("route", "hall", start, 0.0, InstructionGoal("Go on.", (start, (5.0, 0.0, 1.0)), "0"), 5.0)
        for start in starts
    ]
    batch = NavigationBatch(task, len(routes), None, sensors, cache, corruptions)
    batch.start(range(len(routes)), routes)
    return batch


def lead(batch, *actions):
    for action in actions:
        batch.step_unrecorded(np.array([action]), np.ones(1, bool))


def test_images_of_led_bodies_have_draws_of_their_own():
    clean, noisy = start_route(), start_route("speckle_noise")
    image = clean.observations["rgb"][0].copy()
    noisy.step(np.array([TURN_LEFT]))
    noisy.step(np.array([TURN_RIGHT]))
    for step in range(2, 12):  # further than the episode may last
        generator = make_generator("corruption", "speckle_noise:3", 0, "rgb", "hall", "route", step)
        expected = find_corruption("speckle_noise").corrupt(image[None], [generator])[0]
        assert np.array_equal(noisy.observations["rgb"][0], expected)
        lead(noisy, 0)


def test_led_bodies_move_exactly():
    corruptions = ("pyrobot:teleport", "motion_drift", "motor_failure:left")
    clean, noisy = start_route(), start_route(*corruptions)
    for batch in (clean, noisy):
        lead(batch, FORWARD, TURN_LEFT, FORWARD, FORWARD, TURN_RIGHT, FORWARD, *([FORWARD] * 30))
    assert noisy.simulator.positions.tolist() == clean.simulator.positions.tolist()
    assert noisy.simulator.yaws.tolist() == clean.simulator.yaws.tolist()
    assert clean.simulator.collided[0], "a body that is led goes up to obstacles"
    for batch in (clean, noisy):
        batch.step(np.array([TURN_LEFT]))
    assert noisy.simulator.yaws[0] == 0 != clean.simulator.yaws[0], "the agent's own turns fail"


def test_the_estimated_pose_drifts_on_while_a_body_is_led():
    batch = start_route("localisation_drift:5", "odometry_noise:5", "native_noise")
    errors, odometry = [], []
    for step in range(20):
        bodies = batch.simulator.bodies
        errors.append((bodies.estimated_positions - bodies.positions)[0].copy())
        odometry.append(batch.observations["odometry"][0].copy())
        if step < 2:
            batch.step(np.array([FORWARD]))
        else:
            lead(batch, FORWARD)
    assert np.linalg.norm(errors[1]) == pytest.approx(0.008)
    np.testing.assert_allclose(errors, np.arange(20)[:, None] * errors[1], atol=1e-9)
    assert len({value.tobytes() for value in odometry}) == 20, "no draw is used again"
    batch.step(np.array([FORWARD]))
    batch.step(np.array([FORWARD]))
    assert not batch.running[0], "steps of the oracle do not count"


def test_a_body_that_acts_measures_its_own_step_while_another_is_led():
    """The first bumps into the wall 0.1 m ahead, the second is led on by 0.25 m."""
    batch = start_route(starts=((5.0, 0.0, 0.1), (5.0, 0.0, 6.0)), sensors=("odometry", "collided"))
    batch.step(np.array([FORWARD, TURN_LEFT]))
    batch.step_unrecorded(np.array([0, FORWARD]), np.array([False, True]))
    seen = batch.observations
    east = 0.25 * np.sin(np.radians(15))
    assert seen["odometry"][0] == pytest.approx([0.1, 0.0, 0.0], abs=1e-3)
    assert seen["odometry"][1] == pytest.approx([0.25, 0.0, 0.0], abs=1e-6)
    assert seen["collided"][:, 0].tolist() == [1, 0]
    assert batch.simulator.positions[1, 0] == pytest.approx(5.0 - east)
