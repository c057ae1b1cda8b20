"""The headings that a body reaches by turning, and how many turns each takes."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.errors import InputError
from navarena.core.kernels import kernel
from navarena.simulation.body import Embodiment
from navarena.simulation.motion import turned

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


def headings_after(
    yaws: Float[np.ndarray, "k"], turns: Int64[np.ndarray, "h"], angle: float
) -> Float[np.ndarray, "k h"]:
    """(K, H) radians after each number of `turns` by `angle`, rounded exactly as single turns round."""
    out = np.zeros((len(yaws), len(turns)))
    turn_each(np.asarray(yaws, float), turns, float(angle), out)
    return out


@kernel
def turn_each(yaws, turns, angle, out):
    """Write into `out` (K, H) the yaws (K,) after each number of `turns` (H,) by `angle` radians."""
    for i in range(yaws.shape[0]):
        for j in range(turns.shape[0]):
            yaw = yaws[i]
            for _ in range(abs(turns[j])):
                yaw = turned(yaw, angle if turns[j] > 0 else -angle)
            out[i, j] = yaw
