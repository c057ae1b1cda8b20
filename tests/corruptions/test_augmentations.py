"""Augmentations against plain statements, and color changes against Pillow and colorsys."""

import colorsys
import inspect

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.seeding import make_generator
from navarena.corruptions import AUGMENTATIONS
from navarena.corruptions.augmentations import (
    ColorJitter,
    RandomCrop,
    RandomShift,
    change_colors,
    shift_images,
)

from .images import draw_image


def generators(count: int) -> list[np.random.Generator]:
    return [make_generator("augment", k) for k in range(count)]


def test_the_papers_parameters() -> None:
    assert AUGMENTATIONS.get("random_shift")().share == 0.2
    crop = AUGMENTATIONS.get("random_crop")()
    assert (crop.height_px, crop.width_px) == (240, 320)
    assert AUGMENTATIONS.get("color_jitter")().strength == 0.4
    with pytest.raises(UnknownNameError, match="Did you mean 'random_crop'"):
        AUGMENTATIONS.get("random_corp")


def test_shift_by_hand() -> None:
    image = np.arange(1, 7, dtype=np.uint8).reshape(1, 2, 3, 1).repeat(3, 3)
    shifts = {(0, 1): [[0, 1, 2], [0, 4, 5]], (1, -1): [[0, 0, 0], [2, 3, 0]], (-2, 0): [[0] * 3] * 2}
    for offset, expected in shifts.items():
        assert shift_images(image, np.array([offset]))[0, :, :, 0].tolist() == expected


def test_shifts_and_windows_are_evenly_drawn() -> None:
    """A bright pixel says where it went: all offsets up to a fifth, all windows."""
    count = 400
    images = np.zeros((count, 30, 40, 3), np.uint8)
    images[:, 15, 20] = 255
    shifted = RandomShift().augment(images, generators(count))
    _, down, right, _ = np.nonzero(shifted[..., :1])
    assert len(down) == count
    assert (np.ptp(down), np.ptp(right)) == (12, 16) and down.min() == 9 and right.min() == 12
    assert abs(down.mean() - 15) < 0.7 and abs(right.mean() - 20) < 0.9
    windows = RandomCrop(24, 32).augment(images, generators(count))
    assert windows.shape == (count, 24, 32, 3)
    _, down, right, _ = np.nonzero(windows[..., :1])
    assert len(down) == count and {*down} == {*range(9, 16)} and {*right} == {*range(12, 21)}


@pytest.mark.parametrize(
    ("change", "enhancer"),
    [(0, ImageEnhance.Brightness), (1, ImageEnhance.Contrast), (2, ImageEnhance.Color)],
)
@pytest.mark.parametrize("amount", [-0.4, -0.1, 0.27, 0.4])
def test_brightness_contrast_and_saturation_are_those_of_pillow(change: int, enhancer, amount: float) -> None:
    image = draw_image(40, 50)
    expected = np.array(enhancer(Image.fromarray(image)).enhance(1 + amount))
    change_colors(image.reshape(-1, 3), change, amount)
    difference = np.abs(image.astype(int) - expected)
    assert difference.max() <= 1 and (difference > 0).mean() < 0.01


@pytest.mark.parametrize("amount", [-0.4, 0.05, 0.31])
def test_hue_turns(amount: float) -> None:
    image = make_generator("hue").integers(0, 256, (20, 20, 3), np.uint8)
    turned = image.copy()
    change_colors(turned.reshape(-1, 3), 3, amount)
    for before, after in zip(image.reshape(-1, 3), turned.reshape(-1, 3), strict=True):
        hue, saturation, value = colorsys.rgb_to_hsv(*(before / 255))
        expected = np.array(colorsys.hsv_to_rgb((hue + amount) % 1, saturation, value)) * 255
        assert np.abs(after - expected).max() <= 0.51


@pytest.mark.parametrize("augmentation", [RandomShift(), RandomCrop(20, 30), ColorJitter()])
def test_an_image_depends_on_its_own_generator_only(augmentation) -> None:
    images = np.stack([draw_image(30, 40, k) for k in range(3)])
    kept = images.copy()
    together = augmentation.augment(images, generators(3))
    assert np.array_equal(images, kept)
    for k in range(3):
        alone = augmentation.augment(images[k : k + 1], generators(3)[k : k + 1])
        assert np.array_equal(alone[0], together[k])
    assert not np.array_equal(together[0], augmentation.augment(images[:1], [make_generator("other")])[0])
    assert len(augmentation.augment(images[:0], [])) == 0


def test_bad_input() -> None:
    for wrong in (lambda: RandomShift(1.5), lambda: RandomCrop(0, 5), lambda: ColorJitter(0.6)):
        with pytest.raises(InputError, match="expected a"):
            wrong()
    images = np.zeros((1, 30, 40, 3), np.uint8)
    with pytest.raises(InputError, match="at least 240 x 320 pixels for random_crop, got 30 x 40"):
        RandomCrop().augment(images, generators(1))
    for augmentation in (RandomShift(), RandomCrop(3, 3), ColorJitter()):
        unchecked = inspect.unwrap(type(augmentation).augment)
        with pytest.raises(InputError, match="of uint8, got"):
            unchecked(augmentation, images.astype(float), generators(1))
        with pytest.raises(InputError, match="a generator for each"):
            unchecked(augmentation, images, generators(2))
