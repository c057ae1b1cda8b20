"""Commands for tests of motion."""

import math

import numpy as np

STEP, TURN = 0.25, math.radians(30)

FORWARD = (STEP, 0.0, 0.0, 0.0)
LEFT = (0.0, 0.0, TURN, 0.0)
RIGHT = (0.0, 0.0, -TURN, 0.0)
UP = (0.0, 0.0, 0.0, TURN)
STAY = (0.0, 0.0, 0.0, 0.0)


def repeat(command, count):
    """(count, 4) of one command."""
    return np.tile(np.array(command), (count, 1))


def carry_out(corruption, command, drawn, floors=None):
    """What `corruption` makes of one command with each row of `drawn`."""
    commanded = repeat(command, len(drawn))
    floors = np.zeros(len(drawn), np.int64) if floors is None else np.asarray(floors)
    changed = corruption.change(commanded.copy(), commanded, drawn, floors)
    assert changed.shape == commanded.shape
    return changed
