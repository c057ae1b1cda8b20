"""Speckle noise against its formula."""

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption
from navarena.corruptions.noise import SPECKLE_SIGMA, SpeckleNoise
from navarena.corruptions.normals import draw_normals


@pytest.mark.parametrize("severity", [1, 5])
def test_speckle_multiplies(severity: int) -> None:
    picture = np.full((100, 100, 3), 60, np.uint8)
    picture[:50] = 0
    spoilt = SpeckleNoise(severity).corrupt(picture[None], [make_generator("speckle", severity)])[0]
    assert spoilt.dtype == np.uint8 and spoilt.shape == picture.shape
    assert not spoilt[:50].any(), "black stays black"
    drawn = draw_normals(make_generator("speckle", severity), *picture.shape)
    expected = np.clip(60 + 60 * SPECKLE_SIGMA[severity - 1] * drawn[50:], 0, 255)
    assert np.abs(spoilt[50:] - expected).max() <= 1
    assert picture[99, 99, 0] == 60, "the input stays as it is"


def test_names_and_severities() -> None:
    assert find_corruption("speckle_noise").severity == 3
    assert find_corruption("speckle_noise:5").severity == 5
    with pytest.raises(UnknownNameError, match="Did you mean 'speckle_noise'"):
        find_corruption("speckle_nose:5")
    with pytest.raises(InputError, match="severity among"):
        find_corruption("speckle_noise:6")
    with pytest.raises(InputError, match="expected severity or words"):
        find_corruption("speckle_noise:")
    with pytest.raises(UnknownNameError, match="unknown word of SpeckleNoise 'high'"):
        find_corruption("speckle_noise:high")
