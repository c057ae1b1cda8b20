"""Compiled corruptions of motion beside the same in plain NumPy."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from navarena.core.geometry import ACROSS, ALONG, TURN
from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption
from navarena.corruptions.motion_kernels import normal_quantile
from navarena.corruptions.pyrobot import CONTROLLERS

MANY = 500


def commands(name):
    """(MANY, 4) walks, turns, walks with turns, looks up and rests; and what others made of them."""
    generator = make_generator("commands", name)
    commanded = generator.normal(0, 0.2, (MANY, 4)) * generator.integers(0, 2, (MANY, 4))
    return generator, commanded, commanded * generator.uniform(0.5, 1.5, (MANY, 1))


def walks(commanded):
    return (commanded[:, ALONG] != 0) | (commanded[:, ACROSS] != 0)


def turned_first(movements, angles):
    along, across = movements[:, ALONG], movements[:, ACROSS]
    turned = movements.copy()
    turned[:, ALONG] = np.cos(angles) * along + np.sin(angles) * across
    turned[:, ACROSS] = np.cos(angles) * across - np.sin(angles) * along
    turned[:, TURN] += angles
    return turned


def lengthened(movements, commanded, metres, radians):
    longer = movements.copy()
    longer[:, ALONG] += np.sign(commanded[:, ALONG]) * metres
    longer[:, TURN] += np.sign(commanded[:, TURN]) * radians
    return longer


def plain(text, movements, commanded, drawn):
    if text.startswith(("native_noise", "motion_bias_stochastic")):
        longer = lengthened(movements, commanded, drawn[:, 0], drawn[:, 2])
        return turned_first(longer, np.where(walks(commanded), drawn[:, 1], 0.0))
    if text == "motion_bias_constant":
        return lengthened(movements, commanded, drawn[:, 0], drawn[:, 1])
    if text.startswith("motion_drift"):
        angles = np.where(walks(commanded), drawn[:, 0], 0.0)
        drifted = turned_first(movements, angles)
        drifted[:, TURN] -= angles * text.endswith("paper")
        return drifted
    failing = commanded[:, TURN] * drawn[:, 0] > 0
    failed = movements.copy()
    failed[failing, TURN] = 0.0
    failed[failing & ~walks(commanded), : ACROSS + 1] = 0.0
    return failed


@pytest.mark.parametrize(
    "text",
    [
        "native_noise",
        "native_noise:paper",
        "motion_bias_stochastic",
        "motion_bias_constant",
        "motion_drift",
        "motion_drift:paper",
        "motor_failure",
    ],
)
def test_robustnav(text):
    corruption = find_corruption(text)
    generator, commanded, movements = commands(text)
    drawn = corruption.draw(generator, MANY)
    expected = plain(text, movements, commanded, drawn)
    found = corruption.change(movements.copy(), commanded, drawn, np.zeros(MANY, np.int64))
    assert np.allclose(found, expected, rtol=0, atol=1e-15)
    alone = [
        corruption.change(
            movements[k : k + 1].copy(), commanded[k : k + 1], drawn[k : k + 1], np.zeros(1, int)
        )
        for k in range(20)
    ]
    assert np.array_equal(np.concatenate(alone), found[:20]), "the same bits in any batch"


@pytest.mark.parametrize("text", ["pyrobot", "pyrobot:movebase:half", "pyrobot:lite_ilqr:added_to_degrees"])
def test_pyrobot(text):
    corruption = find_corruption(text)
    generator, commanded, movements = commands(text)
    drawn = corruption.draw(generator, MANY)
    noise = CONTROLLERS[corruption.choices["controller"]]
    walking = walks(commanded)
    turning = ~walking & (commanded[:, TURN] != 0)
    kinds = turning.astype(int)
    means, sigmas = np.array(noise.means)[kinds], np.sqrt(np.array(noise.variances))[kinds]
    lowest = np.full_like(means, -np.inf)
    lowest[walking, 0] = -0.95 * np.abs(movements[walking, ALONG])
    lowest[turning, 2] = -0.95 * np.abs(movements[turning, TURN])
    safe = np.where(sigmas > 0, sigmas, 1.0)
    low = ndtr(np.maximum((lowest - means) / safe, -3.0))
    values = means + sigmas * ndtri(low + drawn * (ndtr(3.0) - low))
    strength = 0.5 if corruption.choices["strength"] == "half" else 1.0
    in_degrees = corruption.choices["heading"] == "added_to_degrees"
    values = values * strength * np.array([1, 1, np.deg2rad(1.0) if in_degrees else 1.0])
    values[:, :2] *= np.sign(movements[:, ALONG] + 1e-8)[:, None]
    values[:, 2] *= np.sign(movements[:, TURN] + 1e-8)
    values[~(walking | turning)] = 0.0
    expected = movements.copy()
    expected[:, [ALONG, ACROSS, TURN]] += values
    found = corruption.change(movements.copy(), commanded, drawn, np.zeros(MANY, np.int64))
    assert np.allclose(found, expected, rtol=0, atol=1e-13)


def test_the_inverse_normal_distribution():
    shares = np.concatenate([np.linspace(1e-3, 1 - 1e-3, 999), [1e-12, 1e-6, 0.5, 1 - 1e-9]])
    assert np.allclose([normal_quantile(share) for share in shares], ndtri(shares), rtol=1e-13, atol=1e-15)
