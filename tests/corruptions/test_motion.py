"""RobustNav's corruptions of motion against their statements in words."""

import math

import numpy as np
import pytest

from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption

from .movements import FORWARD, LEFT, RIGHT, STAY, STEP, TURN, UP, carry_out, repeat

MANY = 20_000


def drawn(corruption, count=MANY, name="draws"):
    return corruption.draw(make_generator(name), count)


def close_to(values, mean, sigma):
    """Whether mean and deviation are those of a normal distribution, within 4 standard errors."""
    error = sigma / math.sqrt(len(values))
    return abs(values.mean() - mean) < 4 * error and abs(values.std() - sigma) < 4 * error


@pytest.mark.parametrize(
    ("text", "metres", "degrees"), [("native_noise", 0.005, 0.5), ("motion_bias_stochastic", 0.1, 10.0)]
)
def test_walks_turn_a_little_and_then_go_a_little_farther(text, metres, degrees):
    noise = find_corruption(text)
    walked = carry_out(noise, FORWARD, drawn(noise))
    assert close_to(np.rad2deg(walked[:, 2]), 0.0, degrees / 2), "the heading jitter stays"
    length = walked[:, 0] / np.cos(walked[:, 2])
    assert close_to(length, STEP + 0.001, metres)
    assert np.allclose(walked[:, 1], -length * np.sin(walked[:, 2])), "a turn to the left leads to the left"
    for command, sign in ((LEFT, 1), (RIGHT, -1)):
        turned = carry_out(noise, command, drawn(noise))
        assert close_to(sign * np.rad2deg(turned[:, 2]), 30.0, degrees)
        assert not turned[:, :2].any(), "turns stay in place"


def test_the_paper_has_no_heading_jitter():
    noise = find_corruption("native_noise:paper")
    walked = carry_out(noise, FORWARD, drawn(noise))
    assert close_to(walked[:, 0], STEP, 0.005) and not walked[:, 1:].any()
    assert close_to(np.rad2deg(carry_out(noise, LEFT, drawn(noise))[:, 2]), 30.0, 0.5)


@pytest.mark.parametrize(
    "text",
    [
        "native_noise",
        "motion_bias_stochastic",
        "motion_bias_constant",
        "motion_drift",
        "motor_failure",
        "pyrobot",
    ],
)
def test_looking_up_and_stopping_are_exact(text):
    corruption = find_corruption(text)
    for command in (UP, STAY):
        numbers = drawn(corruption, 50)
        assert np.array_equal(carry_out(corruption, command, numbers), repeat(command, 50))


def test_stochastic_bias_may_lead_backwards():
    noise = find_corruption("motion_bias_stochastic")
    backwards = (carry_out(noise, FORWARD, drawn(noise))[:, 0] < 0).mean()
    expected = 0.5 * math.erfc(0.251 / 0.1 / math.sqrt(2))
    assert abs(backwards - expected) < 0.003


def test_constant_bias_is_one_of_six_pairs_with_a_shared_sign():
    bias = find_corruption("motion_bias_constant")
    pairs = set()
    for scene in range(300):
        numbers = drawn(bias, 3, f"scene {scene}")
        walked, left = carry_out(bias, FORWARD, numbers), carry_out(bias, LEFT, numbers)
        right = carry_out(bias, RIGHT, numbers)
        assert (walked == walked[0]).all() and (left == left[0]).all(), "constant"
        assert np.allclose(right, -left), "too far to both sides, or too little"
        pairs.add((round(walked[0, 0] - STEP, 6), round(float(np.rad2deg(left[0, 2])) - 30, 6)))
    expected = {
        (sign * metres, sign * degrees)
        for sign in (-1, 1)
        for metres in (0.05, 0.1, 0.15)
        for degrees in (5.0, 10.0, 15.0)
    }
    assert pairs == expected
    assert bias.per == "scene" and find_corruption("motion_bias_constant:episode").per == "episode"


def test_drift_of_the_code_turns_before_each_walk_and_never_back():
    drift = find_corruption("motion_drift")
    sides = {float(drawn(drift, 1, f"scene {k}")[0, 0]) for k in range(20)}
    assert sides == {math.radians(10), -math.radians(10)} and drift.per == "scene"
    walked = carry_out(drift, FORWARD, np.array([[math.radians(10)]]))[0]
    expected = (STEP * math.cos(math.radians(10)), -STEP * math.sin(math.radians(10)), math.radians(10), 0)
    assert np.allclose(walked, expected)
    assert np.allclose(carry_out(drift, LEFT, np.array([[math.radians(10)]]))[0], LEFT), "turns are exact"


def test_drift_of_the_paper_keeps_the_heading():
    drift = find_corruption("motion_drift:paper")
    walked = carry_out(drift, FORWARD, np.array([[-math.radians(10)]]))[0]
    assert walked[1] == pytest.approx(0.043, abs=5e-4), "the paper's figure, here to the right"
    assert walked[2] == 0.0 and drift.per == "episode"


def test_a_failed_motor_ignores_one_side():
    failure = find_corruption("motor_failure")
    for side, failing, working in ((1.0, LEFT, RIGHT), (-1.0, RIGHT, LEFT)):
        numbers = np.array([[side]])
        assert not carry_out(failure, failing, numbers).any()
        assert np.array_equal(carry_out(failure, working, numbers)[0], working)
        assert np.array_equal(carry_out(failure, FORWARD, numbers)[0], FORWARD)
    assert {float(drawn(failure, 1, f"{k}")[0, 0]) for k in range(20)} == {1.0, -1.0}
    assert failure.per == "scene" and find_corruption("motor_failure:episode").per == "episode"
    assert drawn(find_corruption("motor_failure:left"), 5).tolist() == [[1.0]] * 5
    assert drawn(find_corruption("motor_failure:right"), 5).tolist() == [[-1.0]] * 5


def test_a_failed_motor_makes_no_noise():
    commanded = repeat(LEFT, 1)
    noisy = np.array([[0.01, 0.02, TURN + 0.1, 0.0]])
    changed = find_corruption("motor_failure").change(noisy, commanded, np.ones((1, 1)), np.zeros(1, int))
    assert not changed.any()


def test_native_noise_comes_on_top_of_a_drift():
    """Both begin with a turn, so their angles add up."""
    drift, noise = find_corruption("motion_drift"), find_corruption("native_noise")
    commanded = repeat(FORWARD, 1)
    changed = drift.change(commanded.copy(), commanded, np.array([[0.2]]), np.zeros(1, int))
    changed = noise.change(changed, commanded, np.array([[0.0, 0.03, 9.9]]), np.zeros(1, int))
    assert np.allclose(changed[0], (STEP * math.cos(0.23), -STEP * math.sin(0.23), 0.23, 0.0))
