"""Images as vectors, without weights: histograms of colours and of the directions of edges."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Float, Float32, UInt8
from scipy.ndimage import gaussian_filter

from navarena.core.elementary import arctan2, exp
from navarena.episodes.encoding.encoder import GoalEncoder, require_image, unit_rows

CHROMA = (64, 192)
"""CIELAB bytes (128 is grey) that colours of rooms keep to; what lies beyond counts with the outermost."""


@dataclass(frozen=True)
class ImageSettings:
    """Settings of the histograms. Chosen among a few dozen by retrieval of objects in three houses.

    Attributes:
        side: pixels to which an image is brought, squashed.
        colour_bins: of each of lightness, green to red, blue to yellow (CIELAB).
        spread: standard deviation of the weight of colours about the middle, as a share of the side.
        blur: standard deviation, in boxes of colours, by which counts are smoothed.
        directions: of edges, over half a turn.
        cells: parts of each side in which the directions are counted apart.
        middle: share of each side, in the middle, in which edges are counted.
        colour_share: of likeness; the rest is that of edges.
    """

    side: int = 96
    colour_bins: tuple[int, int, int] = (6, 16, 16)
    spread: float = 0.16
    blur: float = 0.5
    directions: int = 9
    cells: int = 4
    middle: float = 0.7
    colour_share: float = 0.8


class ImagesEncoder(GoalEncoder):
    """Histograms of colours and edge directions in the middle of images; Hellinger affinity.

    Colours count by how near the middle they are, edges by direction in each of a grid of cells. A view
    should be centred on the object that it shows, as the images of goals are.

    Args:
        settings: sizes and weights.
    """

    reads_words = False
    sees_images = True

    def __init__(self, settings: ImageSettings = ImageSettings()) -> None:
        self.name = "images" if settings == ImageSettings() else f"images {settings}"
        self.settings = settings
        self._colours = int(np.prod(settings.colour_bins))
        self.dimension = self._colours + settings.directions * settings.cells**2

    def encode_images(self, images: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32 of N images (H, W, 3) uint8; raises InputError for one without pixels."""
        settings = self.settings
        vectors = np.zeros((len(images), self.dimension))
        for row, image in enumerate(images):
            colours = count_colours(
                shrink(image, settings.side), settings.colour_bins, settings.spread, settings.blur
            )
            middle = shrink(cut_middle(image, settings.middle), settings.side)
            edges = count_directions(middle, settings.directions, settings.cells)
            vectors[row, : self._colours] = np.sqrt(settings.colour_share * colours)
            vectors[row, self._colours :] = np.sqrt((1 - settings.colour_share) * edges)
        return unit_rows(vectors)


def cut_middle(image: UInt8[np.ndarray, "h w 3"], share: float) -> UInt8[np.ndarray, "_ _ 3"]:
    """(H, W, 3) uint8 sRGB bytes, smaller: the middle `share` of each side, at least a pixel."""
    height, width = image.shape[:2]
    top, left = (int(side * (1 - share) / 2) for side in (height, width))
    return image[top : max(top + 1, height - top), left : max(left + 1, width - left)]


def shrink(image: UInt8[np.ndarray, "h w 3"], side: int) -> UInt8[np.ndarray, "side side 3"]:
    """(side, side, 3) uint8, averaged over areas; raises InputError unless given a uint8 image."""
    require_image(image)
    return np.asarray(cv2.resize(np.ascontiguousarray(image), (side, side), interpolation=cv2.INTER_AREA))


def count_colours(
    image: UInt8[np.ndarray, "s s 3"], bins: tuple[int, int, int], spread: float, blur: float
) -> Float[np.ndarray, "c"]:
    """(C,) shares, sum 1, of boxes of CIELAB, smoothed over neighbouring ones.

    Args:
        image: (S, S, 3) uint8.
        bins: boxes along lightness, green to red, blue to yellow.
        spread: of the weight about the middle, share of the side.
        blur: of the smoothing, boxes.
    """
    lab = cv2.cvtColor(image, cv2.COLOR_RGB2LAB).astype(np.int64)
    low, high = CHROMA
    chroma = (np.clip(lab[..., 1:], low, high - 1) - low) * np.array(bins[1:]) // (high - low)
    numbers = (lab[..., 0] * bins[0] // 256 * bins[1] + chroma[..., 0]) * bins[2] + chroma[..., 1]
    away = (np.arange(len(image)) + 0.5) / len(image) - 0.5
    near = exp(-0.5 * (away / spread) ** 2)
    counts = np.bincount(numbers.reshape(-1), np.outer(near, near).reshape(-1), int(np.prod(bins)))
    counts = gaussian_filter(counts.reshape(bins), blur, mode="nearest").reshape(-1)
    return np.asarray(counts / counts.sum())


def count_directions(
    image: UInt8[np.ndarray, "s s 3"], directions: int, cells: int
) -> Float[np.ndarray, "e"]:
    """(cells * cells * directions,) shares of the strength of edges by cell and direction over half a turn.

    Sum 1; zeros for an image without edges.
    """
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)
    across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    strength = np.hypot(across, down).astype(float)
    turn = np.floor(arctan2(down, across) / np.pi % 1.0 * directions).astype(np.int64) % directions
    cell = np.arange(len(grey)) * cells // len(grey)
    numbers = (cell[:, None] * cells + cell) * directions + turn
    counts = np.bincount(numbers.reshape(-1), strength.reshape(-1), cells * cells * directions)
    total = counts.sum()
    return np.asarray(counts / total if total else counts)
