"""Localisation corruptions against their statements in words."""

import math

import numpy as np
import pytest

from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption

MANY = 20_000
TRUE = np.array([[1.0, -2.0, 0.5]])


def walk(text, poses, name="walk"):
    """What is read at each of `poses` (T, 3) of one episode."""
    corruption = find_corruption(text)
    drawn = corruption.draw(make_generator(name), len(poses))
    last, read = poses[:1], []
    for t in range(len(poses)):
        last = corruption.corrupt(poses[t : t + 1], last, drawn[t : t + 1])
        read.append(last[0])
    return np.array(read)


def rest(text, steps=40, name="rest"):
    """Errors of the readings of a body at rest."""
    return walk(text, np.repeat(TRUE, steps, 0), name) - TRUE


def test_noise_is_normal_in_each_coordinate():
    corruption = find_corruption("localisation_noise:4")
    drawn = corruption.draw(make_generator("noise"), MANY)
    errors = corruption.corrupt(np.repeat(TRUE, MANY, 0), np.zeros((MANY, 3)), drawn) - TRUE
    sigmas = np.array([0.2, 0.2, math.radians(4)])
    assert (abs(errors.mean(0)) < 4 * sigmas / math.sqrt(MANY)).all()
    assert (abs(errors.std(0) / sigmas - 1) < 0.03).all()
    assert abs(np.corrcoef(errors.T) - np.eye(3)).max() < 0.03


def test_bias_has_one_length_in_any_direction():
    found = np.array([rest("localisation_bias:3", 5, f"episode {k}") for k in range(200)])
    assert np.allclose(found, found[:, :1]), "constant within an episode"
    assert np.allclose(np.hypot(found[:, 0, 0], found[:, 0, 1]), 0.1)
    assert np.allclose(abs(found[:, 0, 2]), math.radians(4))
    assert abs(found[:, 0].mean(0)).max() < 0.03, "no direction is preferred"


def test_drift_grows_evenly_from_nothing():
    errors = rest("localisation_drift:3", 101)
    assert not errors[0].any()
    assert np.allclose(np.diff(errors, axis=0), errors[1])
    assert math.hypot(*errors[100, :2]) == pytest.approx(0.2)
    assert abs(errors[100, 2]) == pytest.approx(math.radians(4))


def test_quantisation_rounds_to_the_nearest_cell():
    poses = np.array([[0.24, -0.26, math.radians(5)], [0.12, 1.13, math.radians(-179)]])
    read = walk("localisation_quantisation:2", poses)
    assert np.allclose(read, [[0.2, -0.3, math.radians(8)], [0.1, 1.1, math.radians(-176)]])


def test_dropout_repeats_what_arrived_last():
    poses = np.arange(300.0).reshape(100, 3)
    read = walk("localisation_dropout:3", poses)
    arrived = (read == poses).all(1)
    assert arrived[0] and 30 < arrived.sum() < 70
    for t in np.flatnonzero(~arrived):
        assert np.array_equal(read[t], read[t - 1])


@pytest.mark.parametrize("name", ["noise", "bias", "drift", "quantisation", "dropout"])
def test_words_leave_one_sensor_alone_and_severity_matters(name):
    poses = np.cumsum(make_generator("steps").uniform(0.01, 0.2, (200, 3)), axis=0)
    sizes = []
    for severity in (1, 2, 3, 4, 5):
        text = f"localisation_{name}:{severity}"
        gps, compass = walk(f"{text}:gps", poses) - poses, walk(f"{text}:compass", poses) - poses
        both = walk(text, poses) - poses
        assert not gps[:, 2].any() and not compass[:, :2].any()
        assert np.array_equal(both[:, :2], gps[:, :2]) and np.array_equal(both[:, 2], compass[:, 2])
        sizes.append(abs(both).mean(0))
    assert (np.diff(sizes, axis=0) > 0).all()


def test_odometry_noise_spares_resting_bodies():
    corruption = find_corruption("odometry_noise:5")
    assert corruption.sensors == ("odometry",)
    drawn = corruption.draw(make_generator("odometry"), MANY)
    moving = np.tile([0.25, 0.0, 0.0], (MANY, 1))
    errors = corruption.corrupt(moving, moving, drawn) - moving
    assert (abs(errors.std(0) / (0.04, 0.04, math.radians(4)) - 1) < 0.03).all()
    assert not corruption.corrupt(np.zeros((MANY, 3)), moving, drawn).any()
