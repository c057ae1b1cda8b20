"""Random changes of colour images during training: crop, shift and colour jitter.

Robustness benchmarks train agents with these (Chattopadhyay et al. 2021, section 5; RobustNav's
parameters): the image is shifted, then cropped, then jittered, each image by itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from jaxtyping import Int, UInt8

from navarena.core.errors import InputError
from navarena.core.threads import run_in_shares
from navarena.corruptions.augmentation_kernels import (
    scale_brightness,
    scale_contrast,
    scale_saturation,
    turn_hue,
)
from navarena.corruptions.one_by_one import require_generators, require_images


class Augmentation(ABC):
    """Changes colour images at random, for training."""

    @abstractmethod
    def augment(
        self, images: UInt8[np.ndarray, "k h w 3"], generators: Sequence[np.random.Generator]
    ) -> UInt8[np.ndarray, "k H W 3"]:
        """Changed copies of `images`, (K, H, W, 3) uint8 sRGB bytes, which stay as they are.

        generators: K, one for each image; what happens to one image depends on no other.

        Raises InputError for another shape or dtype, and for another number of generators.
        """


class RandomShift(Augmentation):
    """Moves the image by up to a share of its size; uncovered pixels are black.

    Args:
        share: of width and of height, at most; RobustNav's 0.2.
    """

    def __init__(self, share: float = 0.2) -> None:
        if not 0 <= share <= 1:
            raise InputError(f"expected a share from 0 to 1 for random_shift, got {share}")
        self.share = share

    def augment(
        self, images: UInt8[np.ndarray, "k h w 3"], generators: Sequence[np.random.Generator]
    ) -> UInt8[np.ndarray, "k h w 3"]:
        """(K, H, W, 3) uint8: shifted, each by whole pixels evenly drawn."""
        require_images(images, 3, np.uint8)
        require_generators(generators, len(images))
        reach = self.share * np.array(images.shape[1:3])
        offsets = [np.rint(one.uniform(-reach, reach)) for one in generators]
        return shift_images(images, np.array(offsets, np.int64).reshape(-1, 2))


class RandomCrop(Augmentation):
    """Keeps a window of the image.

    Args:
        height_px, width_px: size of the window in pixels; RobustNav's 240 x 320 of 300 x 400.
    """

    def __init__(self, height_px: int = 240, width_px: int = 320) -> None:
        if min(height_px, width_px) < 1:
            raise InputError(f"expected a window of pixels for random_crop, got {height_px} x {width_px}")
        self.height_px, self.width_px = height_px, width_px

    def augment(
        self, images: UInt8[np.ndarray, "k h w 3"], generators: Sequence[np.random.Generator]
    ) -> UInt8[np.ndarray, "k H W 3"]:
        """(K, height_px, width_px, 3) uint8: windows evenly drawn.

        Raises InputError for images that are smaller than the window.
        """
        require_images(images, 3, np.uint8)
        require_generators(generators, len(images))
        room = np.array(images.shape[1:3]) - np.array((self.height_px, self.width_px))
        if (room < 0).any():
            raise InputError(
                f"expected images of at least {self.height_px} x {self.width_px} pixels for random_crop, "
                f"got {images.shape[1]} x {images.shape[2]}"
            )
        windows = np.zeros((len(images), self.height_px, self.width_px, 3), np.uint8)
        for window, image, generator in zip(windows, images, generators, strict=True):
            top, left = generator.integers(0, room + 1)
            window[:] = image[top : top + self.height_px, left : left + self.width_px]
        return windows


class ColorJitter(Augmentation):
    """Changes brightness, contrast, saturation and hue, in an order drawn for each image.

    Args:
        strength: brightness, contrast and saturation are multiplied by 1 - strength to 1 + strength, and
            the hue turns by up to `strength` of the circle to both sides; RobustNav's 0.4.
    """

    def __init__(self, strength: float = 0.4) -> None:
        if not 0 <= strength <= 0.5:
            raise InputError(f"expected a strength from 0 to 0.5 for color_jitter, got {strength}")
        self.strength = strength

    def augment(
        self, images: UInt8[np.ndarray, "k h w 3"], generators: Sequence[np.random.Generator]
    ) -> UInt8[np.ndarray, "k h w 3"]:
        """(K, H, W, 3) uint8: jittered; after each change bytes are clipped and truncated (hue: rounded)."""
        require_images(images, 3, np.uint8)
        require_generators(generators, len(images))
        jittered = np.array(images, order="C")

        def work(_: int, first: int, last: int) -> None:
            for k in range(first, last):
                order = generators[k].permutation(4)
                amounts = generators[k].uniform(-self.strength, self.strength, 4)
                for change in order:
                    change_colors(jittered[k].reshape(-1, 3), int(change), float(amounts[change]))

        run_in_shares(work, len(images))
        return jittered


def change_colors(pixels: UInt8[np.ndarray, "p 3"], change: int, amount: float) -> None:
    """Change `pixels`, (P, 3) uint8, in place.

    Args:
        pixels: contiguous.
        change: 0 brightness, 1 contrast, 2 saturation, 3 hue.
        amount: the factor is 1 + amount; the hue turns by `amount` circles.
    """
    if change == 3:
        turn_hue(pixels, np.float32(amount))
        return
    scale = (scale_brightness, scale_contrast, scale_saturation)[change]
    scale(pixels, np.float32(1) + np.float32(amount))


def shift_images(
    images: UInt8[np.ndarray, "k h w 3"], offsets: Int[np.ndarray, "k 2"]
) -> UInt8[np.ndarray, "k h w 3"]:
    """(K, H, W, 3) uint8: `images` moved by `offsets`, (K, 2) pixels down and right, on black."""
    height, width = images.shape[1:3]
    shifted = np.zeros_like(images)
    for moved, image, (down, right) in zip(shifted, images, offsets, strict=True):
        rows, columns = max(height - abs(down), 0), max(width - abs(right), 0)
        to_row, to_column = max(down, 0), max(right, 0)
        from_row, from_column = max(-down, 0), max(-right, 0)
        moved[to_row : to_row + rows, to_column : to_column + columns] = image[
            from_row : from_row + rows, from_column : from_column + columns
        ]
    return shifted
