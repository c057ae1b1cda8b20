"""Drops of water and mud on the lens, in colour images."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float32, UInt8

from navarena.corruptions.normals import draw_normals
from navarena.corruptions.one_by_one import EachImage
from navarena.corruptions.opencv import (
    blur_box,
    blur_gaussian,
    equalise,
    filter_bytes,
    find_edges,
    measure_distances,
)
from navarena.corruptions.pixel_kernels import add_colour, cover_with_colour


@dataclass(frozen=True)
class Drops:
    """Settings of drops on the lens.

    Attributes:
        level, spread: mean and standard deviation of the liquid per pixel before it runs together.
        reach: how far it runs, standard deviation in pixels.
        threshold: liquid from which a drop stays.
        strength: water: its largest share of WATER; mud: softness of its rim, standard deviation in pixels.
        kind: water adds light, mud covers.
    """

    level: float
    spread: float
    reach: float
    threshold: float
    strength: float
    kind: Literal["water", "mud"]


DROPS = (
    Drops(0.65, 0.3, 4, 0.69, 0.6, "water"),
    Drops(0.65, 0.3, 3, 0.68, 0.6, "water"),
    Drops(0.65, 0.3, 2, 0.68, 0.5, "water"),
    Drops(0.65, 0.3, 1, 0.65, 1.5, "mud"),
    Drops(0.67, 0.4, 1, 0.65, 1.5, "mud"),
)
"""By severity (Hendrycks and Dietterich 2019, as in RobustNav)."""

WATER = (175, 238, 238)
MUD = (63, 42, 20)
"""Colours, sRGB bytes (the same source)."""

CANNY = (50, 150)
"""Thresholds of the edges of drops of water (the same source)."""

FARTHEST = 20.0
"""Pixels from the edge beyond which water is as bright as there (the same source)."""

SLOPE = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])
"""Lights drops from one side (the same source)."""

MIN_MUD = 0.8
"""Mud that covers less than this share is none (the same source)."""


class Spatter(EachImage):
    """Drops on the lens, new ones in each image: water at severities 1 to 3, mud at 4 and 5."""

    def corrupt_one(
        self, image: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """(H, W, 3) uint8: with drops, clipped, truncated."""
        drops = self.of_severity(DROPS)
        return put_on_lens(image, draw_normals(generator, *image.shape[:2]), drops)


def put_on_lens(
    image: UInt8[np.ndarray, "h w 3"], noise: Float32[np.ndarray, "h w"], drops: Drops
) -> UInt8[np.ndarray, "h w 3"]:
    """(H, W, 3) uint8: `image` (H, W, 3) uint8 seen through the drops that `noise` makes.

    noise: (H, W) float32, normal of mean 0 and standard deviation 1.
    """
    liquid = blur_gaussian(np.float32(drops.level) + np.float32(drops.spread) * noise, drops.reach)
    pixels, corrupted = image.reshape(-1, 3), np.zeros_like(image)
    if drops.kind == "water":
        mask = water_mask(liquid, drops)
        add_colour(pixels, mask.reshape(-1), np.array(WATER, np.float32), corrupted.reshape(-1, 3))
    else:
        mask = mud_mask(liquid, drops)
        cover_with_colour(pixels, mask.reshape(-1), np.array(MUD, np.float32), corrupted.reshape(-1, 3))
    return corrupted


def water_mask(liquid: Float32[np.ndarray, "h w"], drops: Drops) -> Float32[np.ndarray, "h w"]:
    """(H, W) float32 share of WATER that each pixel gets; zeros where no drop is.

    liquid: (H, W) float32, a level of about 0 to 1 that has run together.
    """
    layer = (np.where(liquid < drops.threshold, 0, liquid) * np.float32(255)).astype(np.uint8)
    distance = np.minimum(measure_distances(255 - find_edges(layer, *CANNY)), np.float32(FARTHEST))
    relief = filter_bytes(equalise(blur_box(distance).astype(np.uint8)), SLOPE)
    mask = layer * blur_box(relief).astype(np.float32)
    brightest = mask.max()
    return mask if brightest == 0 else mask / brightest * np.float32(drops.strength)


def mud_mask(liquid: Float32[np.ndarray, "h w"], drops: Drops) -> Float32[np.ndarray, "h w"]:
    """(H, W) float32 share of each pixel that mud covers.

    liquid: (H, W) float32, a level of about 0 to 1 that has run together.
    """
    covered = blur_gaussian((liquid > drops.threshold).astype(np.float32), drops.strength)
    return np.where(covered < MIN_MUD, np.float32(0), covered)
