"""What holds of every corruption of images and depth."""

import inspect

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.core.threads import THREADS_VARIABLE
from navarena.corruptions import (
    CORRUPTIONS,
    DepthCorruption,
    ImageCorruption,
    find_corruption,
)
from navarena.corruptions.one_by_one import EachDepth, EachImage

from .images import draw_depth, draw_image

IMAGES = (
    "camera_crack",
    "defocus_blur",
    "gaussian_noise",
    "lighting",
    "motion_blur",
    "spatter",
    "speckle_noise",
)
DEPTHS = ("depth_holes", "depth_range", "redwood_depth")
GRADED = [name for name in (*IMAGES, *DEPTHS) if name not in ("camera_crack", "redwood_depth")]


def make_batch(name: str, height: int = 60, width: int = 80, count: int = 3) -> np.ndarray:
    if name.partition(":")[0] in DEPTHS:
        return np.stack([draw_depth(height, width) + np.float32(0.1 * k) for k in range(count)])[..., None]
    return np.stack([draw_image(height, width, k) for k in range(count)])


def generators(count: int) -> list[np.random.Generator]:
    return [make_generator("sight", k) for k in range(count)]


def test_nothing_is_forgotten() -> None:
    kinds = {name: CORRUPTIONS.get(name) for name in CORRUPTIONS.names()}
    assert {name for name, kind in kinds.items() if issubclass(kind, ImageCorruption)} == set(IMAGES)
    assert {name for name, kind in kinds.items() if issubclass(kind, DepthCorruption)} == set(DEPTHS)


@pytest.mark.parametrize("name", [*IMAGES, *DEPTHS])
def test_an_image_depends_on_its_own_generator_only(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    corruption = find_corruption(name)
    batch = make_batch(name)
    kept = batch.copy()
    together = corruption.corrupt(batch, generators(3))
    assert together.dtype == batch.dtype and together.shape == batch.shape
    assert np.array_equal(batch, kept), "the input stays as it is"
    assert not np.array_equal(together, batch)
    for k in range(3):
        alone = corruption.corrupt(batch[k : k + 1], generators(3)[k : k + 1])
        assert np.array_equal(alone[0], together[k])
    backwards = corruption.corrupt(batch[::-1], generators(3)[::-1])
    assert np.array_equal(backwards[::-1], together)
    monkeypatch.setenv(THREADS_VARIABLE, "1")
    assert np.array_equal(corruption.corrupt(batch, generators(3)), together)


@pytest.mark.parametrize("name", GRADED)
def test_severity_takes_more_and_more_away(name: str) -> None:
    batch = make_batch(name, 150, 200, 2)
    losses = []
    for severity in (1, 2, 3, 4, 5):
        spoilt = find_corruption(f"{name}:{severity}").corrupt(batch, generators(2))
        losses.append(float(np.abs(spoilt.astype(np.float64) - batch).mean()))
    assert losses == sorted(losses) and len(set(losses)) == 5, losses


@pytest.mark.parametrize("name", [*IMAGES, *DEPTHS])
@pytest.mark.parametrize("size", [(1, 1), (2, 7), (31, 5)])
def test_small_images_and_empty_batches(name: str, size: tuple[int, int]) -> None:
    batch = make_batch(name, 40, 40, 1)[:, : size[0], : size[1]]
    assert find_corruption(name).corrupt(batch, generators(1)).shape == batch.shape
    assert find_corruption(name).corrupt(batch[:0], []).shape == batch[:0].shape


@pytest.mark.parametrize(
    ("owner", "wrong", "count", "message"),
    [
        (EachImage, np.zeros((2, 4, 5, 3)), 2, r"uint8, got \(2, 4, 5, 3\) of float64"),
        (EachImage, np.zeros((4, 5, 3), np.uint8), 4, r"expected images \(K, H, W, 3\)"),
        (EachImage, np.zeros((2, 4, 5, 4), np.uint8), 2, r"got \(2, 4, 5, 4\) of uint8"),
        (EachImage, np.zeros((1, 0, 5, 3), np.uint8), 1, r"got \(1, 0, 5, 3\)"),
        (EachImage, np.zeros((2, 4, 5, 3), np.uint8), 1, "a generator for each of 2 images, got 1"),
        (EachImage, [[0]], 1, "as an array, got list"),
        (EachDepth, np.zeros((2, 4, 5, 1)), 2, r"\(K, H, W, 1\) of float32, got \(2, 4, 5, 1\) of float64"),
        (EachDepth, np.zeros((2, 4, 5), np.float32), 2, r"got \(2, 4, 5\) of float32"),
        (EachDepth, np.zeros((2, 4, 5, 1), np.float32), 3, "got 3"),
    ],
)
def test_wrong_input_is_refused(owner: type, wrong: object, count: int, message: str) -> None:
    corruption = find_corruption("speckle_noise" if owner is EachImage else "depth_range")
    unchecked = inspect.unwrap(owner.corrupt)
    with pytest.raises(InputError, match=message):
        unchecked(corruption, wrong, generators(count))
