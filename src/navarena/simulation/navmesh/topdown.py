"""Maps of where one can stand, seen from above."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.arrays import Points


@dataclass(frozen=True)
class TopDownMap:
    """A grid over the plan; row r, column c covers x from origin[0] + c * cell, z from origin[1] + r * cell.

    Attributes:
        grid: (H, W) bool, whether the point (origin + (c, r) * cell) can be stood on.
        origin: (2,) metres, world x and z of the corner of grid[0, 0].
        cell: metres, side of a cell.
    """

    grid: Bool[np.ndarray, "h w"]
    origin: Float[np.ndarray, "2"]
    cell: float

    def to_grid(self, points: Points) -> Float[np.ndarray, "n 2"]:
        """(N, 2) row and column, fractional, of world points (N, 3) in metres."""
        plan = np.asarray(points, float)[:, [2, 0]]
        return np.asarray((plan - self.origin[::-1]) / self.cell)
