"""Target places in front of remembered instances, from which the goal counts as reached."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from navarena.agents.explorers.explorer import Aim
from navarena.mapping import Instance

MAX_REACH, MIN_REACH = 0.85, 0.45
"""Metres from the seen surface of an instance to stand at: view points lie within 1 m of its box, and paths
end up to 0.2 m short of where they lead."""

MIN_COVERAGE = 0.05
"""Share of square images, 90 degrees wide, that an instance fills at its view points, summed over three tilts
(spec ivln_goat 4.5, OVON)."""

TILTS_SHOWING = 2.0
"""Of the three images, 30 degrees apart, how many show an instance whole. Our estimate."""

SHIFT = 0.25
"""Metres by which points are moved to where they were seen from, so that nothing is gone to from behind the
wall that it hangs on."""

SPARE = 0.1
"""Metres before the moved points within which something may stand."""

FALLBACKS = ((0.0, 0.35), (0.15, 0.35))
"""(Metres farther away, spare) where that fails: over what is low, from as far as may be. Less than SHIFT and
a wall together."""


def reach_of(size: Float[np.ndarray, "3"]) -> float:
    """Metres from an instance of `size` (3,) metres from which it still fills enough of the images.

    An image 90 degrees wide shows a square of side 2 d at distance d, so that an area A fills the share
    A / (2 d)^2 of it; the greatest face of the box counts as the area.
    """
    sides = np.sort(np.maximum(size, 0.05))
    area = float(sides[1] * sides[2])
    return float(np.clip(0.5 * math.sqrt(TILTS_SHOWING * area / MIN_COVERAGE), MIN_REACH, MAX_REACH))


def aim_at(instances: Sequence[Instance], is_sure: bool = True) -> Aim | None:
    """Go to whichever of `instances` is nearest; to where one lies at least while none has points; else None.

    `is_sure` says whether being there fulfils the goal.
    """
    seen = [one for one in instances if len(one.points)]
    if not seen:
        far = [one.beyond for one in instances if one.beyond is not None]
        return (
            Aim(np.array(far), np.zeros(len(far)), max_distance=1.0, spare=1.0, is_sure=False)
            if far
            else None
        )
    points = np.concatenate([towards(one.points, one.sides, SHIFT) for one in seen])
    most = min(reach_of(one.size) for one in seen) - SHIFT
    fallbacks = tuple((most + farther, spare) for farther, spare in FALLBACKS)
    return Aim(points, np.zeros(len(points)), most, SPARE, is_sure=is_sure, fallbacks=fallbacks)


def towards(
    points: Float[np.ndarray, "k 3"], sides: Float[np.ndarray, "k 3"], metres: float
) -> Float[np.ndarray, "k 3"]:
    """(K, 3) metres: points moved along the floor to where they were seen from, by unit vectors (K, 3)."""
    level = sides * [1.0, 0.0, 1.0]
    return points + metres * level / np.maximum(np.linalg.norm(level, axis=1, keepdims=True), 1e-9)


def stay_at(pose: Float[np.ndarray, "4 4"]) -> Aim:
    """The aim to stay at a camera `pose` (4, 4), metres."""
    return Aim(pose[None, :3, 3], np.zeros(1), MAX_REACH, MAX_REACH, arrival=MAX_REACH)
