"""The storeys of a scene, and the floor that bodies can stand on."""

import math

import numpy as np
from jaxtyping import Float

from navarena.core.errors import SceneError
from navarena.core.seeding import make_generator
from navarena.simulation.navmesh.navmesh import NavMesh

SAMPLES_PER_SQUARE_METRE = 20
"""Points of a floor: a point stands for a square of 22 cm."""

LEAST_SHARE = 0.05
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

    Raises SceneError where no height has LEAST_SHARE of the points, as on a slope.
    """
    heights = points[:, 1]
    bins, counts = np.unique(np.round(heights / LEVEL).astype(np.int64), return_counts=True)
    found: list[float] = []
    for index in np.argsort(-counts, kind="stable").tolist():
        height = float(np.median(heights[np.abs(heights - bins[index] * LEVEL) < LEVEL]))
        if counts[index] >= LEAST_SHARE * len(heights) and all(abs(height - h) >= STOREY for h in found):
            found.append(height)
    if not found:
        raise SceneError(
            f"expected a height at which at least {LEAST_SHARE:.0%} of the floor lies, got none among "
            f"{len(heights)} points; use a map that is made while walking"
        )
    return np.sort(np.array(found))
