"""A local controller: discrete turns and steps along a path over the cells of a map."""

# mypy: disable-error-code="no-untyped-def"

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.errors import InputError
from navarena.core.kernels import kernel
from navarena.mapping.terrain import Terrain
from navarena.mapping.terrain_kernels import is_clear


@kernel
def farthest_in_sight(weights, path, row, column, sight, roomy, tight):
    """Index of the last cell of the path (P, 2) that a straight line of at most `sight` cells leads to.

    Lines keep to cells of weight up to `roomy` where that leads anywhere, else up to `tight`; where neither
    does, it is the third cell of the path.
    """
    for weight in (roomy, tight):
        best = -1
        for k in range(path.shape[0]):
            r, c = path[k, 0] + 0.5, path[k, 1] + 0.5
            if math.hypot(r - row, c - column) > sight and k > 2:
                break
            if is_clear(weights, row, column, r, c, weight):
                best = k
        if best > 0:
            return best
    return min(2, path.shape[0] - 1)


@kernel
def choose_turns(weights, row, column, heading, to_row, to_column, turn, step, turns, max_steps, roomy):
    """Number of turns (positive to the left) that leads best to a visible place; `turns + 1` if blocked.

    Every heading is tried with a walk of up to `max_steps` steps: it costs its turns, its steps (dearer where
    there is little room), and the turns and steps that are then still missing. heading: radians from up,
    counter-clockwise; step: cells.
    """
    best_cost, best_turns = math.inf, turns + 1
    for trial in range(-turns, turns + 1):
        angle = heading + trial * turn
        down, right = -math.cos(angle) * step, -math.sin(angle) * step
        cost = 0.8 * abs(trial) + (0.01 if trial < 0 else 0.0)
        r, c = row, column
        for _ in range(max_steps):
            next_r, next_c = r + down, c + right
            if not is_clear(weights, r, c, next_r, next_c, 255):
                break
            cost += 1.0 if is_clear(weights, r, c, next_r, next_c, roomy) else 2.0
            r, c = next_r, next_c
            left = math.hypot(to_row - r, to_column - c)
            total = cost + 1.1 * left / step
            if left > step:
                aside = math.atan2(c - to_column, r - to_row) - angle
                total += 0.8 * abs((aside + math.pi) % (2 * math.pi) - math.pi) / turn
            if total < best_cost:
                best_cost, best_turns = total, trial
    return best_turns


Move = Literal["forward", "left", "right", "arrived", "blocked"]
"""Move of a body."""


@dataclass(frozen=True)
class SteeringSettings:
    """Settings of steering: the moves of a body.

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


def count_turns(
    terrain: Terrain,
    path: Int64[np.ndarray, "p 2"],
    position: Float[np.ndarray, "3"],
    yaw: float,
    settings: SteeringSettings,
) -> int:
    """Turns to the left before a step along a path, negative to the right; 2 pi's worth where none is open.

    Args:
        terrain: obstacles and costs.
        path: (P, 2) cells of the terrain, from the body to its aim, P at least 1.
        position: (3,) metres, in the frame of the terrain.
        yaw: radians.
        settings: what the body can do.
    """
    row, column = terrain.grid.coordinates_of(position).tolist()
    cell, one = terrain.grid.cell, terrain.settings
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
    aim, half = path[index] + 0.5, round(math.pi / settings.turn)
    turns = choose_turns(
        terrain.weights,
        row,
        column,
        float(terrain.grid.heading_of(yaw)),
        float(aim[0]),
        float(aim[1]),
        settings.turn,
        settings.step / cell,
        half,
        max(1, math.ceil(settings.sight / settings.step)),
        roomy,
    )
    return int(turns) if turns <= half else 2 * half


def steer(
    terrain: Terrain,
    path: Int64[np.ndarray, "p 2"],
    position: Float[np.ndarray, "3"],
    yaw: float,
    settings: SteeringSettings,
) -> Move:
    """The move that follows a path (P, 2) best; arguments (metres, radians) as of `count_turns`.

    Returns:
        "arrived" near the end of the path (and for an empty one), "blocked" where no step is open.
    """
    if not len(path):
        return "arrived"
    row, column = terrain.grid.coordinates_of(position).tolist()
    end = path[-1] + 0.5
    if math.hypot(end[0] - row, end[1] - column) * terrain.grid.cell < settings.arrival:
        return "arrived"
    turns = count_turns(terrain, path, position, yaw, settings)
    if turns == 0:
        return "forward"
    if turns > round(math.pi / settings.turn):
        return "blocked"
    return "left" if turns > 0 else "right"
