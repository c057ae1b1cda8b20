"""Noise on colour images."""

from typing import ClassVar

import numpy as np
from jaxtyping import Float32, UInt8

from navarena.corruptions.normals import draw_normals
from navarena.corruptions.one_by_one import EachImage
from navarena.corruptions.pixel_kernels import add_noise

SPECKLE_SIGMA = (0.15, 0.20, 0.35, 0.45, 0.60)
"""Standard deviation by severity, as a share of the brightness (Hendrycks and Dietterich 2019, as in
RobustNav)."""

GAUSSIAN_SIGMA = (0.08, 0.12, 0.18, 0.26, 0.38)
"""Standard deviation by severity, as a share of full brightness (Hendrycks and Dietterich 2019)."""

CHALLENGE_SIGMA = 0.1
"""The same in Habitat's PointNav challenge of 2020 (its intensity)."""


class SpeckleNoise(EachImage):
    """Multiplies every channel of every pixel by 1 + N(0, sigma)."""

    def spoil(
        self, image: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """(H, W, 3) uint8: x + x N(0, sigma), clipped, truncated."""
        noise = draw_normals(generator, *image.shape)
        return spread_noise(image, noise, 0.0, self.of_severity(SPECKLE_SIGMA))


class GaussianNoise(EachImage):
    """Adds N(0, sigma) to every channel of every pixel; sigma without a severity is the challenge's 0.1."""

    default_severity: ClassVar[int | None] = None

    def spoil(
        self, image: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """(H, W, 3) uint8: x + 255 N(0, sigma), clipped, truncated."""
        sigma = CHALLENGE_SIGMA if self.severity is None else self.of_severity(GAUSSIAN_SIGMA)
        return spread_noise(image, draw_normals(generator, *image.shape), 255 * sigma, 0.0)


def spread_noise(
    image: UInt8[np.ndarray, "h w 3"],
    noise: Float32[np.ndarray, "h w 3"],
    constant: float,
    proportional: float,
) -> UInt8[np.ndarray, "h w 3"]:
    """(H, W, 3) uint8: image + (constant + proportional image) noise, clipped to bytes, truncated.

    Args:
        image: (H, W, 3) uint8, contiguous.
        noise: (H, W, 3) float32 of standard deviation 1.
        constant: standard deviation of the noise in black pixels, bytes.
        proportional: what is added to it for each byte of brightness.
    """
    spoilt = np.zeros_like(image)
    add_noise(
        image.reshape(-1),
        noise.reshape(-1),
        np.float32(constant),
        np.float32(proportional),
        spoilt.reshape(-1),
    )
    return spoilt
