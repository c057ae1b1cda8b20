"""From actions to movements of bodies."""

# mypy: disable-error-code="no-untyped-def"

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.kernels import kernel
from navarena.core.suggest import unknown_name
from navarena.simulation.body import Embodiment

ACTIONS = ("stop", "move_forward", "turn_left", "turn_right", "look_up", "look_down")
"""Every discrete action that moves a body, or ends the episode without moving it."""

ALONG, ACROSS, TURN, TILT = range(4)
"""Columns of a movement: metres forward, metres to the right, radians to the left, radians upwards."""

COLLISION_SLACK = 1e-5
"""A step collided when moved^2 + slack < intended^2 (habitat-sim, AgentControls)."""

Actuation = Callable[[Int64[np.ndarray, "n"], Float[np.ndarray, "n 4"]], Float[np.ndarray, "n 4"]]
"""Turns commanded movements (N, 4) of actions (N,) into executed ones; None means exactly."""


def movement_table(body: Embodiment, actions: Sequence[str]) -> Float[np.ndarray, "a 4"]:
    """(A, 4) the movement [along, across, turn, tilt] of each action of `body`; metres and radians.

    Names that move nothing ("stop", and the declarations of a task such as "found") must be
    among ACTIONS or start with no movement at all; unknown names raise UnknownNameError.
    """
    movements = {
        "stop": (0.0, 0.0, 0.0, 0.0),
        "move_forward": (body.forward_step, 0.0, 0.0, 0.0),
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
def translate(positions, yaws, movements, ends):
    """Write into `ends` (N, 3) where the bodies would be if nothing stood in the way.

    positions: (N, 3) float64 metres; yaws: (N,) float64 radians; movements: (N, 4) float64.
    """
    for i in range(positions.shape[0]):
        along, across = movements[i, ALONG], movements[i, ACROSS]
        sine, cosine = math.sin(yaws[i]), math.cos(yaws[i])
        ends[i, 0] = positions[i, 0] - along * sine + across * cosine
        ends[i, 1] = positions[i, 1]
        ends[i, 2] = positions[i, 2] - along * cosine - across * sine


@kernel
def mark_collisions(starts, intended, reached, collided):
    """Write into `collided` (N,) whether the way from `starts` to `intended` (N, 3) was cut short."""
    for i in range(starts.shape[0]):
        asked = 0.0
        moved = 0.0
        for axis in range(3):
            asked += (intended[i, axis] - starts[i, axis]) ** 2
            moved += (reached[i, axis] - starts[i, axis]) ** 2
        collided[i] = moved + COLLISION_SLACK < asked
