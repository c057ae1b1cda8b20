"""Pictures as vectors, without weights: histograms of colours and of the directions of edges."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Float, Float32, UInt8

from navarena.agents.encoders.encoder import GoalEncoder, require_picture, unit_rows


@dataclass(frozen=True)
class PictureSettings:
    """How pictures are counted. Our choice.

    Attributes:
        side: pixels to which a picture is brought, squashed.
        colour_bins: of each of lightness, green to red, blue to yellow (CIELAB).
        directions: of edges, over half a turn.
        cells: parts of each side in which the directions are counted apart.
        colour_weight: length of the part for colours; the rest, squared, is that for edges.
    """

    side: int = 96
    colour_bins: tuple[int, int, int] = (6, 8, 8)
    directions: int = 9
    cells: int = 4
    colour_weight: float = 0.8


class PicturesEncoder(GoalEncoder):
    """Colour and orientation histograms; likeness is Hellinger's affinity of the counts.

    Colours are counted over the whole picture, the middle twice as much as the rim; edges by direction in
    each of a grid of cells.

    Args:
        settings: sizes and weights.
    """

    reads_words = False
    sees_pictures = True

    def __init__(self, settings: PictureSettings = PictureSettings()) -> None:
        self.name = "pictures" if settings == PictureSettings() else f"pictures {settings}"
        self.settings = settings
        self._colours = int(np.prod(settings.colour_bins))
        self.dimension = self._colours + settings.directions * settings.cells**2

    def encode_pictures(self, pictures: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32 of N pictures (H, W, 3) uint8; raises InputError for one without pixels."""
        vectors = np.zeros((len(pictures), self.dimension))
        for row, picture in enumerate(pictures):
            small = shrink(picture, self.settings.side)
            weight = self.settings.colour_weight
            vectors[row, : self._colours] = weight * np.sqrt(count_colours(small, self.settings.colour_bins))
            edges = count_directions(small, self.settings.directions, self.settings.cells)
            vectors[row, self._colours :] = np.sqrt((1 - weight**2) * edges)
        return unit_rows(vectors)


def shrink(picture: UInt8[np.ndarray, "h w 3"], side: int) -> UInt8[np.ndarray, "side side 3"]:
    """(side, side, 3) uint8: averages over areas. Raises InputError for what is no picture of bytes."""
    require_picture(picture)
    return np.asarray(cv2.resize(np.ascontiguousarray(picture), (side, side), interpolation=cv2.INTER_AREA))


def count_colours(picture: UInt8[np.ndarray, "s s 3"], bins: tuple[int, int, int]) -> Float[np.ndarray, "c"]:
    """(C,) shares, sum 1, of boxes of CIELAB; pixels of the middle half (both ways) count twice."""
    lab = cv2.cvtColor(picture, cv2.COLOR_RGB2LAB).astype(np.int64)
    places = [lab[..., k] * bins[k] // 256 for k in range(3)]
    numbers = (places[0] * bins[1] + places[1]) * bins[2] + places[2]
    side = len(picture)
    weights = np.ones((side, side))
    weights[side // 4 : side - side // 4, side // 4 : side - side // 4] = 2.0
    counts = np.bincount(numbers.reshape(-1), weights.reshape(-1), int(np.prod(bins)))
    return np.asarray(counts / counts.sum())


def count_directions(
    picture: UInt8[np.ndarray, "s s 3"], directions: int, cells: int
) -> Float[np.ndarray, "e"]:
    """(cells * cells * directions,) shares of the strength of edges by cell and direction over half a turn.

    Sum 1; zeros for a picture without edges.
    """
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)
    across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    strength = np.hypot(across, down).astype(float)
    turn = np.floor(np.arctan2(down, across) / np.pi % 1.0 * directions).astype(np.int64) % directions
    cell = np.arange(len(grey)) * cells // len(grey)
    numbers = (cell[:, None] * cells + cell) * directions + turn
    counts = np.bincount(numbers.reshape(-1), strength.reshape(-1), cells * cells * directions)
    total = counts.sum()
    return np.asarray(counts / total if total else counts)
