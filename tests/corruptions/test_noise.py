"""Noise of images against its formulas and statistics."""

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption
from navarena.corruptions.noise import CHALLENGE_SIGMA, GAUSSIAN_SIGMA, SPECKLE_SIGMA, spread_noise
from navarena.corruptions.normals import draw_normals

from .images import draw_image


def test_tables() -> None:
    assert SPECKLE_SIGMA == (0.15, 0.20, 0.35, 0.45, 0.60)
    assert GAUSSIAN_SIGMA == (0.08, 0.12, 0.18, 0.26, 0.38)
    assert CHALLENGE_SIGMA == 0.1


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("speckle_noise:5", lambda share, normal: share + share * 0.60 * normal),
        ("gaussian_noise:2", lambda share, normal: share + 0.12 * normal),
        ("gaussian_noise", lambda share, normal: share + 0.1 * normal),
    ],
)
def test_formula_with_the_same_normal_numbers(name, formula) -> None:
    image = draw_image(60, 80)
    spoilt = find_corruption(name).corrupt(image[None], [make_generator("noise")])[0]
    normal = draw_normals(make_generator("noise"), *image.shape).astype(np.float64)
    expected = (np.clip(formula(image / 255, normal), 0, 1) * 255).astype(np.uint8)
    difference = np.abs(spoilt.astype(int) - expected)
    assert difference.max() <= 1 and (difference > 0).mean() < 1e-3


@pytest.mark.parametrize(("grey", "constant", "proportional"), [(120, 10.0, 0.0), (60, 0.0, 0.2)])
def test_statistics(grey: int, constant: float, proportional: float) -> None:
    image = np.full((200, 200, 3), grey, np.uint8)
    noise = draw_normals(make_generator("statistics"), *image.shape)
    added = spread_noise(image, noise, constant, proportional) - float(grey) + 0.5
    assert abs(added.mean()) < 0.1, "half a level is lost by truncation"
    assert added.std() == pytest.approx(constant + proportional * grey, rel=0.01)
    assert abs(np.corrcoef(added[..., 0].ravel(), added[..., 1].ravel())[0, 1]) < 0.02, "per channel"


def test_speckle_leaves_black_black() -> None:
    spoilt = find_corruption("speckle_noise:5").corrupt(
        np.zeros((1, 9, 9, 3), np.uint8), [make_generator("b")]
    )
    assert not spoilt.any()


def test_names_and_severities() -> None:
    assert find_corruption("speckle_noise").severity == 3
    assert find_corruption("gaussian_noise").severity is None
    with pytest.raises(UnknownNameError, match="Did you mean 'speckle_noise'"):
        find_corruption("speckle_nose:5")
    for wrong in ("speckle_noise:6", "gaussian_noise:0"):
        with pytest.raises(InputError, match="severity among"):
            find_corruption(wrong)
    with pytest.raises(InputError, match="expected severity or words"):
        find_corruption("speckle_noise:")
    with pytest.raises(UnknownNameError, match="unknown word of SpeckleNoise 'high'"):
        find_corruption("speckle_noise:high")
