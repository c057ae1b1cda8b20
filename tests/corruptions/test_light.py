"""Low light against hue, saturation and value in exact fractions."""

import colorsys
from fractions import Fraction

import numpy as np
import pytest

from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption
from navarena.corruptions.light import TENTHS_DARKER

from .images import draw_image


def darken(pixel: tuple[int, ...], drop: Fraction) -> list[int]:
    """The pixel with its value dropped, hue and saturation kept, by the definition of HSV in fractions."""
    shares = [Fraction(int(c), 255) for c in pixel]
    value, least = max(shares), min(shares)
    dark = max(value - drop, Fraction(0))
    saturation = (value - least) / value if value else Fraction(0)
    spread = value - least
    made = []
    for share in shares:
        below = (value - share) / spread if spread else Fraction(0)
        made.append(int(255 * dark * (1 - saturation * below)))
    return made


@pytest.mark.parametrize("severity", [1, 2, 3, 4, 5])
def test_value_drops_and_nothing_else(severity: int) -> None:
    generator = make_generator("light", severity)
    image = generator.integers(0, 256, (12, 25, 3), np.uint8)
    image[0, 0], image[0, 1], image[0, 2] = (0, 0, 0), (255, 255, 255), (255, 0, 102)
    spoilt = find_corruption(f"lighting:{severity}").corrupt(image[None], [generator])[0]
    assert TENTHS_DARKER[severity - 1] == severity
    for pixel, dark in zip(image.reshape(-1, 3), spoilt.reshape(-1, 3), strict=True):
        assert dark.tolist() == darken(tuple(pixel), Fraction(severity, 10)), pixel


def test_agrees_with_a_library_to_a_level() -> None:
    image = draw_image(9, 14)
    spoilt = find_corruption("lighting:3").corrupt(image[None], [make_generator("unused")])[0]
    for pixel, dark in zip(image.reshape(-1, 3), spoilt.reshape(-1, 3), strict=True):
        hue, saturation, value = colorsys.rgb_to_hsv(*(pixel / 255))
        expected = np.array(colorsys.hsv_to_rgb(hue, saturation, max(value - 0.3, 0))) * 255
        assert np.abs(dark - np.floor(expected + 1e-9)).max() <= 1
