"""What a movement of a body is: rows of four numbers, walked first and then turned."""

import numpy as np
from jaxtyping import Bool, Float

ALONG, ACROSS, TURN, TILT = range(4)
"""Columns of a movement: metres forward, metres to the right, radians to the left, radians upwards."""


def walks(movements: Float[np.ndarray, "n 4"]) -> Bool[np.ndarray, "n"]:
    """(N,) whether a movement leaves its place."""
    return (movements[:, ALONG] != 0) | (movements[:, ACROSS] != 0)
