"""Maps around a body as images, for people and for models that see."""

import numpy as np
from jaxtyping import UInt8

from navarena.mapping.occupancy import FREE, OCCUPIED

PIXELS = 4
"""Along each side of a cell."""


def draw_map(cells: UInt8[np.ndarray, "w w 1"]) -> UInt8[np.ndarray, "h h 3"]:
    """(H, H, 3) uint8 sRGB image of a map (W, W, 1) of the states of cells.

    Free floor is white, what is occupied black, what is unknown grey; the middle, where the body is, is red.
    """
    colors = np.full((256, 3), 128, np.uint8)
    colors[FREE], colors[OCCUPIED] = 255, 0
    image = colors[cells[..., 0]]
    middle = len(image) // 2
    image[middle - 1 : middle + 1, middle - 1 : middle + 1] = (220, 0, 0)
    return np.asarray(image.repeat(PIXELS, 0).repeat(PIXELS, 1))
