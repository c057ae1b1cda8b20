"""Lower field of view and cracked glass."""

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.corruptions import CameraCorruption, find_corruption
from navarena.corruptions.crack import crack_glass

from .images import draw_image


def test_field_of_view_is_halved_as_in_the_paper() -> None:
    lower = find_corruption("lower_fov")
    assert isinstance(lower, CameraCorruption) and not lower.rgb_only
    hfov = lower.change(np.radians(79))
    assert np.degrees(hfov) == pytest.approx(39.5)
    vertical = 2 * np.arctan(np.tan(hfov / 2) * 300 / 400)
    assert np.degrees(vertical) == pytest.approx(30.142, abs=1e-3)
    assert find_corruption("lower_fov:rgb_only").rgb_only


def test_a_camera_sees_less_than_it_is_said_to() -> None:
    for severity in (1, 2, 3, 4, 5):
        camera = find_corruption(f"camera_calibration:{severity}")
        assert isinstance(camera, CameraCorruption)
        assert np.degrees(camera.change(np.radians(79))) == pytest.approx(79 - severity)
    assert find_corruption("camera_calibration").severity == 2
    with pytest.raises(InputError, match="expected a field of view above 2 degrees, got 1"):
        find_corruption("camera_calibration").change(np.radians(1))


def test_one_crack_for_each_generator() -> None:
    crack = find_corruption("camera_crack")
    assert crack.per == "scene" and crack.severity is None
    images = np.stack([draw_image(60, 80, k) for k in (0, 0, 0)])
    scenes = [make_generator("scene", name) for name in ("a", "a", "b")]
    spoilt = crack.corrupt(images, scenes)
    assert np.array_equal(spoilt[0], spoilt[1]) and not np.array_equal(spoilt[0], spoilt[2])


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_glass_has_lines_shards_and_shifts(seed: int) -> None:
    height, width = 300, 400
    glass = crack_glass(seed, height, width)
    assert glass.source.min() >= 0 and glass.source.max() < height * width
    assert (glass.gain >= 0).all() and (glass.gain <= 1).all() and (glass.glow >= 0).all()
    down, right = np.divmod(glass.source.reshape(height, width), width)
    shift = np.hypot(down - np.arange(height)[:, None], right - np.arange(width))
    assert shift.max() <= np.ceil(0.035 * width) + 1
    assert (shift >= 2).mean() > 0.02, "some shards displace what is seen"
    assert 0.01 < (glass.gain < 0.6).mean() < 0.2, "dark lines, but few"
    assert 0.005 < (glass.glow > 20).mean() < 0.25, "bright rims, but few"
    assert (glass.gain > 0.8).mean() > 0.6, "much is seen almost as before"


def test_glass_fits_any_image() -> None:
    for height, width in ((1, 1), (3, 90), (480, 640)):
        glass = crack_glass(7, height, width)
        assert glass.source.shape == glass.gain.shape == glass.glow.shape == (height * width,)
