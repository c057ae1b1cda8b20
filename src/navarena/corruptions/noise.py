"""Noise on colour pictures."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import UInt8

from navarena.corruptions.corruption import PictureCorruption

SPECKLE_SIGMA = (0.15, 0.20, 0.35, 0.45, 0.60)
"""Standard deviation by severity (Hendrycks and Dietterich 2019, as in RobustNav)."""


class SpeckleNoise(PictureCorruption):
    """Multiplies every channel of every pixel by 1 + N(0, sigma)."""

    def corrupt(
        self, pictures: UInt8[np.ndarray, "k h w 3"], generators: Sequence[np.random.Generator]
    ) -> UInt8[np.ndarray, "k h w 3"]:
        """Spoilt copies of (K, H, W, 3) uint8 sRGB bytes: x + x N(0, sigma), clipped, truncated."""
        sigma = self.of_severity(SPECKLE_SIGMA)
        spoilt = np.zeros_like(pictures)
        for picture, out, generator in zip(pictures, spoilt, generators, strict=True):
            factor = 1 + sigma * generator.standard_normal(picture.shape, np.float32)
            out[:] = np.clip(picture * factor, 0, 255)
        return spoilt
