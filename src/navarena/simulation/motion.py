"""Movements of bodies, from their actions."""

# mypy: disable-error-code="no-untyped-def"

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.errors import unknown_name
from navarena.core.geometry import ACROSS, ALONG, TILT, TURN
from navarena.core.kernels import kernel
from navarena.simulation.body import Embodiment

ACTIONS = ("stop", "move_forward", "turn_left", "turn_right", "look_up", "look_down", "move_backward")
"""Every discrete action that moves a body, or ends the episode without moving it."""

Actuation = Callable[[Int64[np.ndarray, "n"], Float[np.ndarray, "n 4"]], Float[np.ndarray, "n 4"]]
"""Turns commanded movements (N, 4) of actions (N,) into executed ones; None means exactly."""


def movement_table(body: Embodiment, actions: Sequence[str]) -> Float[np.ndarray, "a 4"]:
    """(A, 4) the movement [along, across, turn, tilt] of each action of `body`; metres and radians.

    "stop", "found" and "subtask_stop" are declarations: they move nothing.

    Raises UnknownNameError.
    """
    movements = {
        "stop": (0.0, 0.0, 0.0, 0.0),
        "found": (0.0, 0.0, 0.0, 0.0),
        "subtask_stop": (0.0, 0.0, 0.0, 0.0),
        "move_forward": (body.forward_step, 0.0, 0.0, 0.0),
        "move_backward": (-body.forward_step, 0.0, 0.0, 0.0),
        "turn_left": (0.0, 0.0, body.turn_angle, 0.0),
        "turn_right": (0.0, 0.0, -body.turn_angle, 0.0),
        "look_up": (0.0, 0.0, 0.0, body.tilt_angle),
        "look_down": (0.0, 0.0, 0.0, -body.tilt_angle),
    }
    for name in actions:
        if name not in movements:
            raise unknown_name("action", name, movements)
    return np.array([movements[name] for name in actions], float).reshape(-1, 4)


@kernel
def turned(yaw, turn):
    """Yaw + turn (radians), moved into [-pi, pi)."""
    return (yaw + turn + math.pi) % (2 * math.pi) - math.pi


@kernel
def walk_of(yaw, along, across):
    """(direction, metres) of a walk of `along` metres ahead and `across` to the right at a yaw."""
    if across == 0.0 and along >= 0.0:
        return yaw, along
    return yaw - math.atan2(across, along), math.sqrt(along * along + across * across)


@kernel
def execute(movements, low_tilt, high_tilt, yaws, tilts, directions, distances):
    """Turn and tilt N bodies in place, and say where each of them walks before it turns.

    movements: (N, 4) float64; low_tilt, high_tilt: radians; yaws, tilts: (N,) float64, updated;
    directions, distances: (N,) float64, written: yaw along which to walk, and metres.
    """
    for i in range(movements.shape[0]):
        directions[i], distances[i] = walk_of(yaws[i], movements[i, ALONG], movements[i, ACROSS])
        yaws[i] = turned(yaws[i], movements[i, TURN])
        tilts[i] = min(max(tilts[i] + movements[i, TILT], low_tilt), high_tilt)
