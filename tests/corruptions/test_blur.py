"""Blurs against plain sums over their taps, and against the program whose motion blur the source calls."""

import shutil
import subprocess
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption
from navarena.corruptions.blur import DEFOCUS, MOTION, blur_along, defocus_disc, motion_taps

from .images import draw_image


def test_tables() -> None:
    assert DEFOCUS == ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5))
    assert MOTION == ((10, 3.0), (15, 5.0), (15, 8.0), (15, 12.0), (20, 15.0))


def test_smallest_disc_is_the_29_points_within_three_pixels() -> None:
    disc = defocus_disc(3, 0.1)
    assert disc.shape == (17, 17)
    for j in range(-8, 9):
        for k in range(-8, 9):
            expected = 1 / 29 if j * j + k * k <= 9 else 0
            assert disc[8 + j, 8 + k] == pytest.approx(expected, abs=1e-6)


def plain_gaussian(taps: int, sigma: float) -> np.ndarray:
    places = np.arange(taps) - taps // 2
    weights = np.exp(-(places**2) / (2 * sigma**2))
    return weights / weights.sum()


@pytest.mark.parametrize(("radius", "softness"), DEFOCUS)
def test_disc_is_softened_after_it_sums_to_one(radius: int, softness: float) -> None:
    half, taps = (8, 3) if radius <= 8 else (radius, 5)
    disc = np.zeros((2 * half + 1, 2 * half + 1))
    for j in range(-half, half + 1):
        for k in range(-half, half + 1):
            disc[half + j, half + k] = j * j + k * k <= radius * radius
    padded = np.pad(disc / disc.sum(), taps // 2, mode="reflect")
    line = plain_gaussian(taps, softness)
    expected = sum(
        line[a] * line[b] * padded[a : a + 2 * half + 1, b : b + 2 * half + 1]
        for a in range(taps)
        for b in range(taps)
    )
    assert np.allclose(defocus_disc(radius, softness), expected, atol=1e-7)


@pytest.mark.parametrize("severity", [1, 2, 3, 4, 5])
def test_defocus_is_the_clipped_and_truncated_sum_under_the_disc(severity: int) -> None:
    image = draw_image(50, 71, severity)
    disc = defocus_disc(*DEFOCUS[severity - 1]).astype(np.float64)
    half = len(disc) // 2
    padded = np.pad(image / 255, ((half, half), (half, half), (0, 0)), mode="reflect")
    summed = sum(
        disc[a, b] * padded[a : a + 50, b : b + 71] for a in range(len(disc)) for b in range(len(disc))
    )
    expected = (np.clip(summed, 0, 1) * 255 + 1e-3).astype(np.uint8)
    corrupted = find_corruption(f"defocus_blur:{severity}").corrupt(image[None], [make_generator("unused")])[
        0
    ]
    difference = np.abs(corrupted.astype(int) - expected)
    assert difference.max() <= 1 and (difference > 0).mean() < 2e-3


@pytest.mark.parametrize("severity", [1, 2, 3])
def test_an_even_image_stays_as_it_is(severity: int) -> None:
    image = np.zeros((1, 30, 40, 3), np.uint8) + np.array([0, 97, 255], np.uint8)
    corrupted = find_corruption(f"defocus_blur:{severity}").corrupt(image, [make_generator("unused")])
    assert np.array_equal(corrupted, image)


def test_taps_of_motion() -> None:
    down, right, weights = motion_taps(2, 3.0, 0.0)
    assert down.tolist() == [0, 0, 0, 0, 0] and right.tolist() == [0, 1, 2, 3, 4]
    bare = [np.exp(-(k**2) / 18) for k in range(5)]
    assert np.allclose(weights, np.array(bare) / sum(bare))
    down, right, _ = motion_taps(2, 3.0, np.radians(40))
    assert down.tolist() == [0, 1, 1, 2, 3], "0.643 k - 0.5, rounded up"
    assert right.tolist() == [0, 1, 2, 2, 3], "0.766 k - 0.5, rounded up"
    assert motion_taps(2, 3.0, np.radians(-40))[0].tolist() == [0, -1, -1, -2, -3]
    assert len(motion_taps(20, 15.0, 0.3)[0]) == 41


@pytest.mark.parametrize("angle", [-44.0, -10.0, 0.0, 33.0])
def test_motion_blur_is_the_truncated_sum_of_its_taps(angle: float) -> None:
    image = draw_image(40, 56)
    down, right, weights = motion_taps(15, 8.0, float(np.radians(angle)))
    rows, columns = np.arange(40), np.arange(56)
    summed = sum(
        w * image[np.clip(rows + a, 0, 39)][:, np.clip(columns + b, 0, 55)].astype(np.float64)
        for a, b, w in zip(down, right, weights, strict=True)
    )
    corrupted = blur_along(image, 15, 8.0, float(np.radians(angle)))
    difference = np.abs(corrupted.astype(int) - np.floor(summed + 1 / 514))
    assert difference.max() <= 1 and (difference > 0).mean() < 2e-3


@pytest.mark.parametrize("severity", range(1, 6))
def test_motion_blur_leaves_even_images_as_they_are(severity: int) -> None:
    for level in (0, 1, 127, 254, 255):
        image = np.full((20, 20, 3), level, np.uint8)
        for angle in np.linspace(-0.75, 0.75, 7):
            assert (blur_along(image, *MOTION[severity - 1], float(angle)) == level).all()


def test_motion_blur_draws_its_angle_evenly() -> None:
    """A single bright pixel shows where the taps lie: at most 45 degrees up or down, to the left."""
    image = np.zeros((64, 101, 101, 3), np.uint8)
    image[:, 50, 50] = 255
    corrupted = find_corruption("motion_blur:5").corrupt(
        image, [make_generator("angle", k) for k in range(64)]
    )
    angles = []
    for one in corrupted[..., 0]:
        down, right = np.nonzero(one)
        assert right.max() <= 50 and np.abs(down - 50).max() <= 29
        farthest = right.argmin()
        angles.append(np.degrees(np.arctan2(down[farthest] - 50, 50 - right[farthest])))
    assert min(angles) < -35 and max(angles) > 35 and abs(np.mean(angles)) < 12
    assert np.std(angles) == pytest.approx(90 / np.sqrt(12), rel=0.2)


def image_magick() -> str | None:
    """The convert program of ImageMagick, where it is installed."""
    for name in ("convert-im6.q16", "magick", "convert"):
        program = shutil.which(name)
        if program:
            said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
            if said.stdout.startswith("Version: ImageMagick"):
                return program
    return None


@pytest.mark.parametrize("angle", [-45.0, -17.3, 0.0, 21.8, 45.0])
@pytest.mark.parametrize(("radius", "sigma"), [MOTION[0], MOTION[4]])
def test_motion_blur_is_that_of_image_magick(tmp_path: Path, radius: int, sigma: float, angle: float) -> None:
    program = image_magick()
    if program is None:
        pytest.skip("ImageMagick is not installed (Debian: apt-get install imagemagick)")
    image = draw_image(60, 90)
    Image.fromarray(image).save(tmp_path / "in.ppm")
    asked = f"{radius}x{sigma}{angle:+}"
    command = [program, str(tmp_path / "in.ppm"), "-motion-blur", asked, str(tmp_path / "out.png")]
    subprocess.run(command, check=True)
    theirs = np.array(Image.open(tmp_path / "out.png"))
    ours = blur_along(image, radius, sigma, float(np.radians(angle)))
    difference = np.abs(ours.astype(int) - theirs)
    assert difference.max() <= 1 and (difference > 0).mean() < 5e-3


def test_libraries_agree_on_mirrored_edges() -> None:
    """The source leaves the border to OpenCV, whose default is the mirror that the sums above assume."""
    line = np.arange(6, dtype=np.uint8)[None, :]
    assert cv2.copyMakeBorder(line, 0, 0, 2, 2, cv2.BORDER_DEFAULT)[0].tolist() == [2, 1, *range(6), 4, 3]
