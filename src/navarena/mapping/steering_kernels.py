"""From a path over cells to the next turn or step of a body with discrete actions."""

# mypy: disable-error-code="no-untyped-def"

import math

from navarena.core.kernels import kernel
from navarena.mapping.terrain_kernels import is_clear


@kernel
def farthest_in_sight(weights, path, row, column, sight, roomy, tight):
    """Index of the last cell of the path (P, 2) that a straight line of at most `sight` cells leads to.

    Lines keep to cells of weight up to `roomy` where that leads anywhere, else up to `tight`; where neither
    does, it is the third cell of the path.
    """
    for most in (roomy, tight):
        best = -1
        for k in range(path.shape[0]):
            r, c = path[k, 0] + 0.5, path[k, 1] + 0.5
            if math.hypot(r - row, c - column) > sight and k > 2:
                break
            if is_clear(weights, row, column, r, c, most):
                best = k
        if best > 0:
            return best
    return min(2, path.shape[0] - 1)


@kernel
def choose_turns(weights, row, column, heading, to_row, to_column, turn, step, turns, most, roomy):
    """How many turns (positive to the left) lead best to a place in sight; `turns + 1` where all is blocked.

    Every heading is tried with a walk of up to `most` steps: it costs its turns, its steps (dearer where
    there is little room), and the turns and steps that are then still missing. heading: radians from up,
    counter-clockwise; step: cells.
    """
    best_cost, best_turns = math.inf, turns + 1
    for trial in range(-turns, turns + 1):
        angle = heading + trial * turn
        down, right = -math.cos(angle) * step, -math.sin(angle) * step
        cost = 0.8 * abs(trial) + (0.01 if trial < 0 else 0.0)
        r, c = row, column
        for _ in range(most):
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
