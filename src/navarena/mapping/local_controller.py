"""A local controller: discrete turns and steps along a path, and what to do when a step fails."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.errors import InputError
from navarena.mapping.steering_kernels import choose_turns, farthest_in_sight
from navarena.mapping.terrain import Terrain

Move = Literal["forward", "left", "right", "arrived", "blocked"]
"""What a body should do next."""


@dataclass(frozen=True)
class SteeringSettings:
    """What a body can do.

    Attributes:
        step: metres of one step ahead.
        turn: radians of one turn.
        arrival: metres from the end of a path at which it is reached.
        sight: metres, how far ahead a path is cut short.
    """

    step: float = 0.25
    turn: float = math.radians(30)
    arrival: float = 0.2
    sight: float = 2.5

    def __post_init__(self) -> None:
        if not (self.step > 0 and 0 < self.turn <= math.pi and self.arrival > 0 and self.sight > 0):
            raise InputError(
                "expected a positive step, arrival and sight (metres) and a turn within 0..pi (radians), got "
                f"{self.step}, {self.arrival}, {self.sight} and {self.turn}"
            )


def steer(
    terrain: Terrain,
    path: Int64[np.ndarray, "p 2"],
    position: Float[np.ndarray, "3"],
    yaw: float,
    settings: SteeringSettings,
) -> Move:
    """The move that follows a path best.

    Args:
        terrain: what is in the way.
        path: (P, 2) cells of the terrain, from the body to its aim.
        position: (3,) metres, in the frame of the terrain.
        yaw: radians.
        settings: what the body can do.

    Returns:
        "arrived" near the end of the path (and for an empty one), "blocked" where no step is open.
    """
    if not len(path):
        return "arrived"
    row, column = terrain.grid.coordinates_of(position).tolist()
    cell, one = terrain.grid.cell, terrain.settings
    end = path[-1] + 0.5
    if math.hypot(end[0] - row, end[1] - column) * cell < settings.arrival:
        return "arrived"
    roomy = one.near_weight + one.unknown_weight
    index = farthest_in_sight(
        terrain.weights,
        path,
        row,
        column,
        settings.sight / cell,
        roomy,
        one.tight_weight + one.unknown_weight,
    )
    aim = path[index] + 0.5
    turns = choose_turns(
        terrain.weights,
        row,
        column,
        float(terrain.grid.heading_of(yaw)),
        float(aim[0]),
        float(aim[1]),
        settings.turn,
        settings.step / cell,
        round(math.pi / settings.turn),
        max(1, math.ceil(settings.sight / settings.step)),
        roomy,
    )
    if turns == 0:
        return "forward"
    if turns > round(math.pi / settings.turn):
        return "blocked"
    return "left" if turns > 0 else "right"
