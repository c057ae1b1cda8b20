"""What a movement of a body is: rows of four numbers, walked first and then turned."""

import numpy as np
from jaxtyping import Bool, Float

ALONG, ACROSS, TURN, TILT = range(4)
"""Columns of a movement: metres forward, metres to the right, radians to the left, radians upwards."""


def walks(movements: Float[np.ndarray, "n 4"]) -> Bool[np.ndarray, "n"]:
    """(N,) whether a movement leaves its place."""
    return (movements[:, ALONG] != 0) | (movements[:, ACROSS] != 0)


def turn_first(movements: Float[np.ndarray, "n 4"], angles: Float[np.ndarray, "n"]) -> None:
    """Let each of `movements` (N, 4), in place, begin with a turn by `angles` (N,) radians to the left.

    Turning first and then walking is walking in that direction and turning afterwards.
    """
    sines, cosines = np.sin(angles), np.cos(angles)
    along, across = movements[:, ALONG].copy(), movements[:, ACROSS].copy()
    movements[:, ALONG] = cosines * along + sines * across
    movements[:, ACROSS] = cosines * across - sines * along
    movements[:, TURN] += angles
