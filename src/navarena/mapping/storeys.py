"""Which layer of its map a body is on: one for each floor height that it stood at."""

import numpy as np
from jaxtyping import Bool, Float, Int64


class Storeys:
    """The floors that N bodies have found.

    Args:
        bodies: N.
        layers: L, floors that can be remembered.
        apart: metres between two floors, at least; what is nearer is the same floor (a step, a stair).

    Attributes:
        floors: (N, L) float64 metres, y of each floor; NaN where there is none yet.
        layer: (N,) int64, the floor that each body is on.
    """

    def __init__(self, bodies: int, layers: int, apart: float) -> None:
        self._apart = apart
        self.floors: Float[np.ndarray, "n l"] = np.full((bodies, layers), np.nan)
        self.layer: Int64[np.ndarray, n] = np.zeros(bodies, np.int64)

    def reset(self, bodies: Int64[np.ndarray, "k"]) -> None:
        """Forget the floors of `bodies` (K,) indices."""
        self.floors[bodies] = np.nan
        self.layer[bodies] = 0

    def nearest(self, body: int, foot: float) -> int:
        """The layer of the floor of `body` that is nearest to `foot` (metres); 0 where it has found none."""
        apart = np.abs(self.floors[body] - foot)
        return int(np.nanargmin(apart)) if np.isfinite(apart).any() else 0

    def enter(self, active: Bool[np.ndarray, "n"], feet: Float[np.ndarray, "n"]) -> Bool[np.ndarray, "n"]:
        """Turn the `active` (N,) bool bodies to the floors they stand on, `feet` (N,) metres high.

        Returns (N,) bool: those that have one; there is no room for a floor beyond the last.
        """
        known = np.isfinite(self.floors)
        apart = np.where(known, np.abs(self.floors - feet[:, None]), np.inf)
        rows, nearest = np.arange(len(apart)), apart.argmin(1)
        is_old = apart[rows, nearest] < self._apart
        is_new = ~is_old & ~known.all(1) & active
        self.layer[:] = np.where(is_old & active, nearest, np.where(is_new, known.argmin(1), self.layer))
        self.floors[is_new, self.layer[is_new]] = feet[is_new]
        return active & (is_old | is_new)
