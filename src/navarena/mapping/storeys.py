"""The storeys of a scene, from samples of its floor, and those that bodies have found while they walked."""

import math

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import SceneError
from navarena.core.seeding import make_generator
from navarena.simulation.navmesh.navmesh import NavMesh

SAMPLES_PER_SQUARE_METRE = 20
"""Points of a floor: a point stands for a square of 22 cm."""

MIN_SHARE = 0.05
"""Of the floor, from which on a height is a storey; stairs have less at any one height."""

LEVEL = 0.1
"""Metres of height within which places lie on one storey."""

STOREY = 1.5
"""Metres between two storeys, at least."""


def sample_floor(navmesh: NavMesh, island: int | None = None) -> Float[np.ndarray, "s 3"]:
    """(S, 3) metres: points spread evenly over one island or all, the same ones every time."""
    area = navmesh.navigable_area if island is None else float(navmesh.island_areas[island])
    count = max(1, math.ceil(SAMPLES_PER_SQUARE_METRE * area))
    return navmesh.random_point(make_generator("mapping", "floor"), count, island)


def find_storeys(points: Float[np.ndarray, "s 3"]) -> Float[np.ndarray, "l"]:
    """(L,) metres, rising: the heights at which much of a floor lies.

    Args:
        points: (S, 3) metres, spread evenly over the floor.

    Raises SceneError where no height has MIN_SHARE of the points, as on a slope.
    """
    heights = points[:, 1]
    bins, counts = np.unique(np.round(heights / LEVEL).astype(np.int64), return_counts=True)
    found: list[float] = []
    for index in np.argsort(-counts, kind="stable").tolist():
        height = float(np.median(heights[np.abs(heights - bins[index] * LEVEL) < LEVEL]))
        if counts[index] >= MIN_SHARE * len(heights) and all(abs(height - h) >= STOREY for h in found):
            found.append(height)
    if not found:
        raise SceneError(
            f"expected a height at which at least {MIN_SHARE:.0%} of the floor lies, got none among "
            f"{len(heights)} points; use a map that is made while walking"
        )
    return np.sort(np.array(found))


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
        """Select the storeys of the `active` (N,) bool bodies by their heights `feet` (N,) metres.

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
