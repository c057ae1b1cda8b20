"""Sampling that all recipes share: places and headings, labels of difficulty, candidates a planner can solve.

Places, distances and headings are rounded to whole millimetres and milliradians before any rule is checked.
So a list that was written to a file says exactly what was checked, and the last bits of another machine's
arithmetic cannot change it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import TypeVar

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.arrays import Points
from navarena.core.errors import SceneError
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


LABELS = ("easy", "medium", "hard")
"""As in the files of RoboTHOR and RobustNav."""


def label_difficulty(distance: float, limits: tuple[float, float]) -> str:
    """One of LABELS for a geodesic `distance` in metres.

    limits: metres; up to the first an episode is easy, up to the second it is medium.
    """
    return LABELS[sum(distance > limit for limit in limits)]


Candidate = TypeVar("Candidate")

MAX_DROPPED = 1000
"""Candidates of one episode that cannot be solved, after which there seem to be no others."""


def choose_solvable(
    streams: Sequence[Iterator[Candidate]],
    are_solved: Callable[[Mapping[int, Candidate]], Sequence[bool]],
) -> tuple[list[Candidate], int]:
    """The first candidate of each stream that can be solved, and how many could not.

    Args:
        streams: one for each episode, without end; what they raise passes through.
        are_solved: given the next candidate of every stream that is still open, by the number of the
            stream, says for each whether it is solved.

    Raises SceneError when MAX_DROPPED candidates of one stream in a row cannot be solved.
    """
    chosen: dict[int, Candidate] = {}
    dropped = 0
    still_open = list(range(len(streams)))
    for attempt in count():
        if not still_open:
            break
        if attempt == MAX_DROPPED:
            raise SceneError(
                f"expected an episode that the planner can solve, got {MAX_DROPPED} candidates in a row "
                "that it cannot; allow more actions, or choose another scene"
            )
        tried = {row: next(streams[row]) for row in still_open}
        solved = dict(zip(tried, are_solved(tried)))
        chosen.update({row: tried[row] for row in tried if solved[row]})
        still_open = [row for row in still_open if not solved[row]]
        dropped += len(still_open)
    return [chosen[row] for row in range(len(streams))], dropped
