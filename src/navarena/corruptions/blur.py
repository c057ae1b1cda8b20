"""Blurs of colour images: out of focus, and moved while the shutter was open."""

from functools import cache

import numpy as np
from jaxtyping import Float, Float32, Int32, Int64, UInt8

from navarena.core.elementary import exp
from navarena.corruptions.blur_kernels import WEIGHT_BITS, blur_symmetrically, sum_taps
from navarena.corruptions.one_by_one import EachImage
from navarena.corruptions.opencv import mirror_edges, repeat_edges, soften_kernel

DEFOCUS = ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5))
"""Radius in pixels and softness of the rim in pixels, by severity (Hendrycks and Dietterich 2019, as in
RobustNav)."""

SMALL_RADIUS = 8
"""Discs up to this radius are drawn on a grid of 17 x 17 and softened by 3 x 3 taps, larger ones on the
smallest grid that holds them and by 5 x 5 taps (the same source)."""

MOTION = ((10, 3.0), (15, 5.0), (15, 8.0), (15, 12.0), (20, 15.0))
"""Radius and standard deviation in pixels by severity (the same source)."""

LARGEST_ANGLE_DEG = 45.0
"""Each image is moved along an angle from minus this to this (the same source)."""


class DefocusBlur(EachImage):
    """The image seen through a disc, as by a lens out of focus.

    The disc is made to sum to 1 before its rim is softened, and softening mirrors it at the edge of
    its grid, so that at severities 4 and 5 images get 1 % brighter: as in the source.
    """

    def corrupt_one(
        self, image: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """(H, W, 3) uint8: sums under the disc, mirrored at the edges, clipped, truncated. Draws nothing."""
        weights = _defocus_weights(*self.of_severity(DEFOCUS))
        steps = weights - np.pad(weights[:, 1:], ((0, 0), (0, 1)))
        padded = mirror_edges(image, len(weights))
        corrupted = np.zeros_like(image)
        blur_symmetrically(
            padded.reshape(len(padded), -1), weights, steps, corrupted.reshape(len(corrupted), -1)
        )
        return corrupted


class MotionBlur(EachImage):
    """The image drawn out to one side along a line of random angle, as by moving the camera.

    The taps are ImageMagick's, which the source calls; it takes the image over as a PNG file, which cuts
    16 bits to 8.
    """

    def corrupt_one(
        self, image: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """(H, W, 3) uint8: sums of the taps, outermost pixels repeated, truncated."""
        angle = np.radians(generator.uniform(-LARGEST_ANGLE_DEG, LARGEST_ANGLE_DEG))
        return blur_along(image, *self.of_severity(MOTION), float(angle))


def blur_along(
    image: UInt8[np.ndarray, "h w 3"], radius: int, sigma: float, angle: float
) -> UInt8[np.ndarray, "h w 3"]:
    """(H, W, 3) uint8: `image` (H, W, 3) uint8 under `motion_taps`, outermost pixels repeated, truncated."""
    down, right, weights = motion_taps(radius, sigma, angle)
    margin = len(weights)
    padded = repeat_edges(image, margin)
    corrupted = np.zeros_like(image)
    sum_taps(
        padded.reshape(len(padded), -1),
        margin,
        down,
        right,
        _fixed(weights),
        corrupted.reshape(len(corrupted), -1),
    )
    return corrupted


def motion_taps(
    radius: int, sigma: float, angle: float
) -> tuple[Int64[np.ndarray, "t"], Int64[np.ndarray, "t"], Float[np.ndarray, "t"]]:
    """Places and weights of ImageMagick's motion blur: half a Gaussian along a line.

    Args:
        radius: pixels; there are T = 2 radius + 1 taps on one side, the first in the pixel itself.
        sigma: standard deviation in pixels.
        angle: radians from the right to below.

    Returns:
        (T,) pixels down, (T,) pixels to the right, (T,) weights that sum to 1.
    """
    along = np.arange(2 * radius + 1)
    weights = exp(-(along**2) / (2 * sigma**2))
    down, right = (np.ceil(along * share - 0.5).astype(np.int64) for share in (np.sin(angle), np.cos(angle)))
    return down, right, weights / weights.sum()


def defocus_disc(radius: int, softness: float) -> Float32[np.ndarray, "m m"]:
    """(M, M) float32 weights of a lens out of focus: a disc of `radius` pixels that sums to 1, its rim
    then softened by a Gaussian of `softness` pixels.
    """
    half = SMALL_RADIUS if radius <= SMALL_RADIUS else radius
    taps = 3 if radius <= SMALL_RADIUS else 5
    squares = np.arange(-half, half + 1) ** 2
    disc = (squares[:, None] + squares <= radius**2).astype(np.float32)
    return soften_kernel(disc / disc.sum(), taps, softness)


@cache
def _defocus_weights(radius: int, softness: float) -> Int32[np.ndarray, "r r"]:
    """Fixed-point weights of the disc by distance down and right from its centre, (R + 1, R + 1)."""
    disc = defocus_disc(radius, softness).astype(np.float64)
    half = len(disc) // 2
    weights = _fixed(disc)
    # An even image stays as even as under the disc itself: the centre takes what rounding lost.
    weights[half, half] += round(float(disc.sum()) * 2**WEIGHT_BITS) - int(weights.sum())
    quarter = np.ascontiguousarray(weights[half:, half:])
    quarter.flags.writeable = False
    return quarter


def _fixed(weights: np.ndarray) -> np.ndarray:
    return np.round(weights * 2**WEIGHT_BITS).astype(np.int32)
