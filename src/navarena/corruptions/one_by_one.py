"""Base classes of corruptions that work on one image at a time: checks of the input, and threads."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float32, UInt8

from navarena.core.errors import InputError
from navarena.core.threads import run_in_shares
from navarena.corruptions.corruption import DepthCorruption, ImageCorruption


class EachImage(ImageCorruption):
    """Corrupts colour images one by one, side by side on all threads."""

    def corrupt(
        self, images: UInt8[np.ndarray, "k h w 3"], generators: Sequence[np.random.Generator]
    ) -> UInt8[np.ndarray, "k h w 3"]:
        """Corrupted copies of `images`, (K, H, W, 3) uint8 sRGB bytes.

        generators: K, one for each image.

        Raises InputError for another shape or dtype, and for another number of generators.
        """
        require_images(images, 3, np.uint8)
        require_generators(generators, len(images))
        corrupted = np.zeros(images.shape, np.uint8)

        def work(_: int, first: int, last: int) -> None:
            for k in range(first, last):
                corrupted[k] = self.corrupt_one(np.ascontiguousarray(images[k]), generators[k])

        run_in_shares(work, len(images))
        return corrupted

    @abstractmethod
    def corrupt_one(
        self, image: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """A corrupted copy of `image`, (H, W, 3) uint8 sRGB bytes, contiguous."""


class EachDepth(DepthCorruption):
    """Corrupts depth images one by one, side by side on all threads."""

    def corrupt(
        self, depths: Float32[np.ndarray, "k h w 1"], generators: Sequence[np.random.Generator]
    ) -> Float32[np.ndarray, "k h w 1"]:
        """Corrupted copies of `depths`, (K, H, W, 1) float32 metres, 0 where nothing was hit.

        generators: K, one for each image.

        Raises InputError for another shape or dtype, and for another number of generators.
        """
        require_images(depths, 1, np.float32)
        require_generators(generators, len(depths))
        corrupted = np.zeros(depths.shape, np.float32)

        def work(_: int, first: int, last: int) -> None:
            for k in range(first, last):
                corrupted[k, :, :, 0] = self.corrupt_one(
                    np.ascontiguousarray(depths[k, :, :, 0]), generators[k]
                )

        run_in_shares(work, len(depths))
        return corrupted

    @abstractmethod
    def corrupt_one(
        self, depth: Float32[np.ndarray, "h w"], generator: np.random.Generator
    ) -> Float32[np.ndarray, "h w"]:
        """A corrupted copy of `depth`, (H, W) float32 metres, 0 where nothing was hit."""


def require_images(images: Any, channels: int, dtype: type[np.generic]) -> None:
    """Raise InputError unless `images` is a (K, H, W, channels) array of `dtype` with pixels in it."""
    if not isinstance(images, np.ndarray):
        raise InputError(f"expected images as an array, got {type(images).__name__}")
    right = images.ndim == 4 and images.shape[3] == channels and min(images.shape[1:]) > 0
    if not right or images.dtype != dtype:
        raise InputError(
            f"expected images (K, H, W, {channels}) of {np.dtype(dtype).name}, "
            f"got {images.shape} of {images.dtype}"
        )


def require_generators(generators: Sequence[np.random.Generator], images: int) -> None:
    """Raise InputError unless there is one generator per image."""
    if len(generators) != images:
        raise InputError(f"expected a generator for each of {images} images, got {len(generators)}")
