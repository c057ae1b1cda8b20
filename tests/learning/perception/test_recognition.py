"""Static recognition: pictures of single objects, corruptions told apart, and ranks of drops."""

import numpy as np
import pytest
from msgspec.structs import replace as change

torch = pytest.importorskip("torch")

from evaluation.analyses.written import make_row, write_run  # noqa: E402
from navarena.cli.scenes.recognition import describe_rank, read_drops  # noqa: E402
from navarena.core.errors import InputError  # noqa: E402
from navarena.learning.perception.images import LabelledImages  # noqa: E402
from navarena.learning.perception.lite0 import FrozenTrunk  # noqa: E402
from navarena.learning.perception.recognition import (  # noqa: E402
    CLEAN,
    RecognitionSettings,
    corrupt_images,
    cut_objects,
    score_recognition,
)
from navarena.learning.perception.settings import ImageSettings  # noqa: E402

pytestmark = pytest.mark.learn

IMAGES = ImageSettings(
    vocabulary="robothor",
    cameras=("robustnav-objectnav-v1",),
    size=(96, 128),
    scenes="robothor-like-v1",
    houses=2,
    images=12,
)


class ColourTrunk(FrozenTrunk):
    """Features are means and deviations of colours in quarters, and of the differences of neighbours."""

    def __init__(self):
        self.digest = "colours"

    def load_or_encode(self, images, layer="pooled", name=""):
        values = images.astype(np.float64) / 255
        height, width = values.shape[1] // 2, values.shape[2] // 2
        quarters = [values[:, y : y + height, x : x + width] for y in (0, height) for x in (0, width)]
        edges = [np.abs(np.diff(values, axis=axis)).mean((1, 2)) for axis in (1, 2)]
        parts = [kind(one, axis=(1, 2)) for one in quarters for kind in (np.mean, np.std)]
        return np.concatenate([*parts, *edges], 1).astype(np.float16)


def drawn(labels):
    shape = labels.shape
    rgb = np.repeat((labels * 40)[..., None], 3, -1).astype(np.uint8)
    return rgb, LabelledImages(rgb, np.ones(shape, np.float16), labels)


def test_pictures_show_whole_objects_of_one_class():
    """Of five parts one is cut by the border and one is too small; the others keep their classes."""
    labels = np.zeros((1, 96, 128), np.uint8)
    labels[0, 20:40, 20:50] = 3
    labels[0, 20:40, 50:70] = 5  # touches the one before
    labels[0, 60:80, 20:40] = 3
    labels[0, 70:96, 100:120] = 4  # at the border
    labels[0, 5:8, 5:8] = 2  # 9 pixels
    pictures, classes = cut_objects(
        *drawn(labels), RecognitionSettings(images=IMAGES, crop_px=32, margin=0.0)
    )
    assert classes.tolist() == [3, 3, 5] and pictures.shape == (3, 32, 32, 3)
    assert [set(np.unique(one)) for one in pictures] == [{120}, {120}, {200}]
    none, no_classes = cut_objects(
        *drawn(np.zeros((2, 96, 128), np.uint8)), RecognitionSettings(images=IMAGES)
    )
    assert none.shape == (0, 128, 128, 3) and not len(no_classes)


def test_corruptions_of_single_images():
    images = np.random.default_rng(0).integers(0, 256, (3, 48, 64, 3)).astype(np.uint8)
    noisy = corrupt_images(images, "speckle_noise:5", 0, "val", 1)
    assert not np.array_equal(noisy, images) and np.array_equal(
        noisy[2], corrupt_images(images, "speckle_noise:5", 0, "val", 1)[2]
    )
    assert not np.array_equal(noisy, corrupt_images(images, "speckle_noise:5", 0, "val", 2))
    assert corrupt_images(images, CLEAN, 0) is images
    with pytest.raises(InputError, match="corruption of images, got 'motion_drift'"):
        corrupt_images(images, "motion_drift", 0)


def test_noise_is_identified():
    """Differences of neighbours alone tell noise from clean images."""
    settings = RecognitionSettings(images=IMAGES, crop_px=32, image_size=(96, 128), together=6)
    clean, noisy = score_recognition(ColourTrunk(), settings, ("speckle_noise:5",))
    assert (clean.corruption, noisy.corruption) == ("clean", "speckle_noise:5")
    for one in (clean, noisy):
        assert (one.images, one.groups) == (24, 4) and one.n == clean.n > 5
        assert one.identified >= 20 and one.identified_together == 4
    assert 0 < clean.right <= clean.n and clean.accuracy == clean.right / clean.n
    with pytest.raises(InputError, match="expected corruptions of images, such as .* got 'motion_drift'"):
        score_recognition(ColourTrunk(), settings, ("motion_drift",))
    few = RecognitionSettings(images=IMAGES, min_pixels=96 * 128)
    with pytest.raises(InputError, match="draw more images, or take min_pixels down"):
        score_recognition(ColourTrunk(), few, ())


def write(folder, successes, corrupt="", agent="test"):
    rows = [make_row(k, success=float(one)) for k, one in enumerate(successes)]
    return write_run(folder, [change(row, goals=None) for row in rows], ("success",), corrupt=corrupt)


def test_drops_of_navigation(tmp_path):
    write(tmp_path / "clean", [1, 1, 1, 1])
    write(tmp_path / "mud", [1, 0, 0, 0], "spatter:5")
    write(tmp_path / "dark", [1, 1, 0, 0], "lighting:5")
    assert read_drops([tmp_path]) == {"spatter:5": 0.75, "lighting:5": 0.5}
    assert read_drops([]) == {}
    assert describe_rank(None, 2) == "no rank correlation: expected 3 corruptions in common at least, got 2"
    assert describe_rank(1 / 3, 4) == "Kendall's tau between both drops: 0.33 over 4 corruptions"
