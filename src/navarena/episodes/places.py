"""Places and headings in whole millimetres and milliradians, as lists of episodes keep them.

What is drawn is rounded before any rule looks at it, so that a list that was written down says exactly
what was checked, and the last bits of other machines cannot move it.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.arrays import Points
from navarena.simulation.navmesh.navmesh import NavMesh

PER_METRE = 1000
"""Whole numbers of a place; of a distance, too."""

PER_RADIAN = 1000
"""Whole numbers of a heading."""

LARGEST_YAW = 3141
"""Milliradians: headings are drawn from -LARGEST_YAW to LARGEST_YAW, which is all but 0.4 of the circle."""

ON_FLOOR = 1e-6
"""Metres sideways by which a point on the floor may seem off it."""


def round_places(points: Points) -> Points:
    """(N, 3) metres, to whole millimetres; zeros are positive."""
    return np.round(np.asarray(points, float) * PER_METRE) / PER_METRE + 0.0


def round_distance(metres: float) -> float:
    """Metres, to whole millimetres."""
    return round(metres * PER_METRE) / PER_METRE


def sample_places(
    navmesh: NavMesh, generator: np.random.Generator, count: int
) -> tuple[Points, Bool[np.ndarray, "n"]]:
    """(N, 3) points in whole millimetres, uniform over the floor, and (N,) which are on it.

    Rounding moves some of those at a border off the floor: they must not be taken.
    """
    points = round_places(navmesh.random_point(generator, count))
    offset = (navmesh.snap_point(points) - points)[:, [0, 2]]
    return points, (np.abs(offset) <= ON_FLOOR).all(1)


def sample_yaws(generator: np.random.Generator, count: int) -> Float[np.ndarray, "n"]:
    """(N,) radians in whole milliradians, uniform over the circle."""
    return generator.integers(-LARGEST_YAW, LARGEST_YAW, count, endpoint=True) / PER_RADIAN


def as_tuple(point: Float[np.ndarray, "3"] | Sequence[float]) -> tuple[float, float, float]:
    """A point (3,), metres, as plain floats."""
    x, y, z = (float(value) for value in point)
    return x, y, z
