"""Corruptions that spoil one picture after the other: what they share is checking, and threads."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float32, UInt8

from navarena.core.errors import InputError
from navarena.core.threads import run_in_shares
from navarena.corruptions.corruption import DepthCorruption, PictureCorruption


class EachPicture(PictureCorruption):
    """Spoils colour pictures one by one, side by side on all threads."""

    def corrupt(
        self, pictures: UInt8[np.ndarray, "k h w 3"], generators: Sequence[np.random.Generator]
    ) -> UInt8[np.ndarray, "k h w 3"]:
        """Spoilt copies of `pictures`, (K, H, W, 3) uint8 sRGB bytes.

        generators: K, one for each picture.

        Raises InputError for another shape or dtype, and for another number of generators.
        """
        require_pictures(pictures, 3, np.uint8)
        require_generators(generators, len(pictures))
        spoilt = np.zeros(pictures.shape, np.uint8)

        def work(_: int, first: int, last: int) -> None:
            for k in range(first, last):
                spoilt[k] = self.spoil(np.ascontiguousarray(pictures[k]), generators[k])

        run_in_shares(work, len(pictures))
        return spoilt

    @abstractmethod
    def spoil(
        self, picture: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """The spoilt copy of `picture`, (H, W, 3) uint8 sRGB bytes, contiguous; it stays as it is."""


class EachDepth(DepthCorruption):
    """Spoils depth pictures one by one, side by side on all threads."""

    def corrupt(
        self, depths: Float32[np.ndarray, "k h w 1"], generators: Sequence[np.random.Generator]
    ) -> Float32[np.ndarray, "k h w 1"]:
        """Spoilt copies of `depths`, (K, H, W, 1) float32 metres, 0 where nothing was hit.

        generators: K, one for each picture.

        Raises InputError for another shape or dtype, and for another number of generators.
        """
        require_pictures(depths, 1, np.float32)
        require_generators(generators, len(depths))
        spoilt = np.zeros(depths.shape, np.float32)

        def work(_: int, first: int, last: int) -> None:
            for k in range(first, last):
                spoilt[k, :, :, 0] = self.spoil(np.ascontiguousarray(depths[k, :, :, 0]), generators[k])

        run_in_shares(work, len(depths))
        return spoilt

    @abstractmethod
    def spoil(
        self, depth: Float32[np.ndarray, "h w"], generator: np.random.Generator
    ) -> Float32[np.ndarray, "h w"]:
        """The spoilt copy of `depth`, (H, W) float32 metres, 0 where nothing was hit; it stays as it is."""


def require_pictures(pictures: Any, channels: int, dtype: type[np.generic]) -> None:
    """Raise InputError unless `pictures` is a (K, H, W, channels) array of `dtype` with pixels in it."""
    if not isinstance(pictures, np.ndarray):
        raise InputError(f"expected pictures as an array, got {type(pictures).__name__}")
    right = pictures.ndim == 4 and pictures.shape[3] == channels and min(pictures.shape[1:]) > 0
    if not right or pictures.dtype != dtype:
        raise InputError(
            f"expected pictures (K, H, W, {channels}) of {np.dtype(dtype).name}, "
            f"got {pictures.shape} of {pictures.dtype}"
        )


def require_generators(generators: Sequence[np.random.Generator], pictures: int) -> None:
    """Raise InputError unless there is one generator for each of so many pictures."""
    if len(generators) != pictures:
        raise InputError(f"expected a generator for each of {pictures} pictures, got {len(generators)}")
