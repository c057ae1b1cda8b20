"""Kernels of graphs of places: local maps laid over one another, and scans fitted into them."""

# mypy: disable-error-code="no-untyped-def"

import math

from navarena.core.kernels import kernel


@kernel
def is_stronger(one, other):
    """Whether evidence is more than other evidence; that for an obstacle where both are alike."""
    return abs(one) > abs(other) or (abs(one) == abs(other) and one > other)


@kernel
def lay_over(target, source, box, x, z, yaw, cell):
    """Take evidence (S, S) into the cells (R, R) of `target` that hold less, as of `is_stronger`.

    So what is put together does not depend on where it is looked at from. Both maps have their origin in the
    middle and cells of `cell` metres. box: (4,) first row, last row + 1, first column, last column + 1 of the
    source outside which there is nothing. x, z (metres) and yaw (radians): of the source's frame in that of
    the target.
    """
    side, size = target.shape[0], source.shape[0]
    half, middle = 0.5 * side, 0.5 * size
    if yaw == 0.0:
        down = math.floor(z / cell + half - middle + 0.5)
        right = math.floor(x / cell + half - middle + 0.5)
        for i in range(max(box[0], -down), min(box[1], side - down)):
            for j in range(max(box[2], -right), min(box[3], side - right)):
                if is_stronger(source[i, j], target[i + down, j + right]):
                    target[i + down, j + right] = source[i, j]
        return
    cosine, sine = math.cos(yaw), math.sin(yaw)
    reach = math.ceil(middle * (abs(cosine) + abs(sine))) + 1
    row, column = math.floor(z / cell + half), math.floor(x / cell + half)
    for r in range(max(0, row - reach), min(side, row + reach + 1)):
        back = r + 0.5 - half - z / cell
        for c in range(max(0, column - reach), min(side, column + reach + 1)):
            aside = c + 0.5 - half - x / cell
            i = math.floor(sine * aside + cosine * back + middle)
            j = math.floor(cosine * aside - sine * back + middle)
            if box[0] <= i < box[1] and box[2] <= j < box[3] and is_stronger(source[i, j], target[r, c]):
                target[r, c] = source[i, j]


@kernel
def rate_fit(scores, points, count, x, z, yaw, cell):
    """Share, by weight, of a scan that falls on obstacles, or beside one, of a local map (S, S).

    points (P, 4): of which `count` count, as of `read_scan`. x, z (metres), yaw (radians): of the body.
    """
    cosine, sine = math.cos(yaw), math.sin(yaw)
    size = scores.shape[0]
    middle = 0.5 * size
    total, weights = 0.0, 0.0
    for k in range(count):
        right, back, weight = points[k, 0], points[k, 1], points[k, 2]
        weights += weight
        j = math.floor((x + cosine * right + sine * back) / cell + middle)
        i = math.floor((z - sine * right + cosine * back) / cell + middle)
        if not (1 <= i < size - 1 and 1 <= j < size - 1):
            continue
        if scores[i, j] > 0:
            total += weight
        elif scores[i - 1, j] > 0 or scores[i + 1, j] > 0 or scores[i, j - 1] > 0 or scores[i, j + 1] > 0:
            total += 0.5 * weight
    return total / weights if weights > 0.0 else 0.0


@kernel
def fit_scan(scores, points, count, cell, steps, stride, turns, turn, pose):
    """Move `pose` (3,) [x, z, yaw] to where a scan fits best into a local map; return its `rate_fit`.

    All poses on a grid around it are tried: `steps` strides of metres to each side, `turns` turns of radians.
    Where several fit alike the one nearest to the first is taken.
    """
    best = rate_fit(scores, points, count, pose[0], pose[1], pose[2], cell)
    x, z, yaw = pose[0], pose[1], pose[2]
    nearest = 0
    for a in range(-turns, turns + 1):
        for i in range(-steps, steps + 1):
            for j in range(-steps, steps + 1):
                away = i * i + j * j + a * a
                fit = rate_fit(scores, points, count, x + j * stride, z + i * stride, yaw + a * turn, cell)
                if fit > best or (fit == best and away < nearest):
                    best, nearest = fit, away
                    pose[0], pose[1], pose[2] = x + j * stride, z + i * stride, yaw + a * turn
    return best
