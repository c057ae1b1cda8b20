"""PyRobot's noise against its table and SciPy's truncated normal distribution."""

import math

import numpy as np
import pytest
from scipy.stats import truncnorm

from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption
from navarena.corruptions.motion_kernels import truncated_normal

from .movements import FORWARD, LEFT, RIGHT, STEP, TURN, carry_out

MANY = 20_000

TABLE = {
    "ilqr": ".014,.009|.006,.005 .008|.004 .003,.003|.002,.003 .023|.012",
    "proportional": ".017,.042|.007,.023 .031|.026 .001,.005|.001,.004 .043|.017",
    "movebase": ".074,.036|.019,.033 .189|.038 .002,.003|0,.002 .219|.019",
    "lite_ilqr": ".142,.023|.008,.008 .031|.028 .002,.002|.001,.002 .122|.03",
    "lite_proportional": ".135,.043|.007,.009 .049|.009 .002,.002|.002,.001 .054|.061",
    "lite_movebase": ".192,.117|.055,.144 .128|.143 .002,.001|.001,.001 .173|.025",
}
"""Means | variances: of a move's translation (along, across) and rotation, of a turn's."""


def read_row(row):
    """For moves and turns: (3,) means and (3,) standard deviations."""
    parts = [part.split("|") for part in row.split()]
    numbers = [[[float(x) for x in side.split(",")] for side in part] for part in parts]
    return [
        (np.array(shift[0] + angle[0]), np.sqrt(shift[1] + angle[1]))
        for shift, angle in (numbers[:2], numbers[2:])
    ]


def moments(mean, sigma, lowest=-math.inf):
    """Mean and deviation of a normal distribution cut at 3 sigmas, and at `lowest`."""
    if sigma == 0:
        return mean, 0.0
    cut = truncnorm(max((lowest - mean) / sigma, -3), 3, mean, sigma)
    return cut.mean(), cut.std()


def noise_of(text, command):
    model = find_corruption(text)
    drawn = model.draw(make_generator(text), MANY)
    return carry_out(model, command, drawn)[:, :3] - command[:3]


@pytest.mark.parametrize("controller", TABLE)
def test_moments_follow_the_table(controller):
    moving, turning = read_row(TABLE[controller])
    for command, (means, sigmas), cut in ((FORWARD, moving, 0), (LEFT, turning, 2)):
        noise = noise_of(f"pyrobot:{controller}", command)
        for k in range(3):
            lowest = -0.95 * (STEP, 0, TURN)[k] if k == cut else -math.inf
            mean, sigma = moments(means[k], sigmas[k], lowest)
            error = sigma / math.sqrt(MANY) + 1e-12
            assert abs(noise[:, k].mean() - mean) < 4 * error
            assert abs(noise[:, k].std() - sigma) < 4 * error
            assert noise[:, k].min() >= max(means[k] - 3 * sigmas[k], lowest) - 1e-9
            assert noise[:, k].max() <= means[k] + 3 * sigmas[k] + 1e-9


def test_a_turn_to_the_right_strays_to_the_right_and_a_walk_backwards_backwards():
    model = find_corruption("pyrobot:movebase")
    drawn = np.array([[0.5, 0.5, 0.5]])
    left, right = carry_out(model, LEFT, drawn)[0], carry_out(model, RIGHT, drawn)[0]
    assert right[2] == pytest.approx(-left[2]) and left[2] > TURN
    assert np.allclose(right[:2], left[:2]), "a turn commands no metres, whose sign then is +1"
    ahead = carry_out(model, FORWARD, drawn)[0]
    behind = carry_out(model, (-STEP, 0.0, 0.0, 0.0), drawn)[0]
    assert np.allclose(behind[:2], -ahead[:2]) and behind[2] == pytest.approx(ahead[2])


def test_words_halve_noise_and_mistake_radians_for_degrees():
    full, half = noise_of("pyrobot:movebase", FORWARD), noise_of("pyrobot:movebase:half", FORWARD)
    assert abs(half.mean(0) - full.mean(0) / 2).max() < 0.005
    assert half[:, 0].min() >= -0.95 * STEP / 2, "halved after it was cut"
    drawn = np.array([[0.9, 0.9, 0.9]])
    right = carry_out(find_corruption("pyrobot"), LEFT, drawn)[0]
    wrong = carry_out(find_corruption("pyrobot:added_to_degrees"), LEFT, drawn)[0]
    assert math.degrees(wrong[2]) == pytest.approx(30 + (right[2] - TURN))
    assert np.array_equal(wrong[:2], right[:2])
    assert find_corruption("pyrobot:teleport").stays_when_blocked
    assert not find_corruption("pyrobot").stays_when_blocked


def test_quantiles_are_those_of_scipy():
    quantiles = np.linspace(0, 0.999, 25)
    for mean, sigma, lowest in ((0.1, 0.2, -math.inf), (0.1, 0.2, 0.05), (-0.3, 0.01, -0.29)):
        ours = [truncated_normal(quantile, mean, sigma, lowest, 3.0) for quantile in quantiles]
        low = max((lowest - mean) / sigma, -3)
        assert np.allclose(ours, truncnorm.ppf(quantiles, low, 3, mean, sigma), atol=1e-9)
    nothing = np.array([truncated_normal(quantile, 0.3, 0.0, -math.inf, 3.0) for quantile in quantiles])
    assert (nothing == 0.3).all()
