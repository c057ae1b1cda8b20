"""Noise on colour pictures."""

import numpy as np
from jaxtyping import UInt8

from navarena.corruptions.corruption import Corruption

SPECKLE_SIGMA = (0.15, 0.20, 0.35, 0.45, 0.60)
"""Standard deviation by severity (Hendrycks and Dietterich 2019, as in RobustNav)."""


class SpeckleNoise(Corruption):
    """Multiplies every channel of every pixel by 1 + N(0, sigma)."""

    def corrupt(
        self, picture: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """The spoilt copy of `picture`, (H, W, 3) uint8 sRGB bytes: x + x N(0, sigma), clipped, truncated."""
        sigma = SPECKLE_SIGMA[self.severity - 1]
        factor = 1 + sigma * generator.standard_normal(picture.shape, np.float32)
        return np.clip(picture * factor, 0, 255).astype(np.uint8)
