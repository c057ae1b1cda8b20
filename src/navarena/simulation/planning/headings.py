"""The headings that a body reaches by whole turns."""

import numpy as np
from jaxtyping import Int64

from navarena.core.errors import InputError
from navarena.simulation.body import Embodiment

FULL_TURN_SLACK = 1e-9


def turns_of(body: Embodiment) -> Int64[np.ndarray, "h"]:
    """(H,) number of turns to the left (negative: to the right) to every heading, the fewest first.

    Raises InputError when a whole turn is no multiple of the body's turn angle.
    """
    count = round(2 * np.pi / body.turn_angle)
    if abs(count * body.turn_angle - 2 * np.pi) > FULL_TURN_SLACK:
        raise InputError(
            f"expected a turn angle that divides a whole turn, got {np.degrees(body.turn_angle):g} "
            f"degrees of {body.name!r}; no lattice of headings exists for it"
        )
    lefts = range(1, count // 2 + 1)
    rights = range(-1, -((count - 1) // 2) - 1, -1)
    return np.array(sorted([0, *lefts, *rights], key=lambda turns: (abs(turns), -turns)), np.int64)
