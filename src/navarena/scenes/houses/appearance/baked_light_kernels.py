# mypy: disable-error-code="no-untyped-def"
"""Kernels of the baked light.

Only +, -, *, / and square roots, in a fixed order and without fast-math, so that every machine
rounds likewise.
"""

import numpy as np

from navarena.core.kernels import kernel
from navarena.core.kernels import unsigned as U

LAMP_STRENGTH = 0.30
LAMP_REACH_MM = 2600.0
WINDOW_STRENGTH = 0.5
AMBIENT = 0.78
SKYWARD = 0.05
OCCLUSION_STRENGTH = 0.65
ROOM_OCCLUSION_STRENGTH, CONTACT_STRENGTH = 0.45, 0.6
"""On floors, walls and ceilings, what is far darkens broadly and what is near throws a contact shadow."""

BRIGHT = 0.75
"""Where a floor, wall or ceiling is lit too unevenly, dark parts grow lighter more than light ones darker."""

CONTACT_MM = 250.0
"""Contact shadows are as wide."""

DARKEST = 0.08
STEPS = 256.0


@kernel
def entry_distance(boxes, k, ox, oy, oz, ix, iy, iz):
    """Distance at which a ray (origin, reciprocal direction) enters box k; negative if it misses."""
    ax, bx = (boxes[U(k), 0] - ox) * ix, (boxes[U(k), 3] - ox) * ix
    ay, by = (boxes[U(k), 1] - oy) * iy, (boxes[U(k), 4] - oy) * iy
    az, bz = (boxes[U(k), 2] - oz) * iz, (boxes[U(k), 5] - oz) * iz
    near = max(min(ax, bx), min(ay, by), min(az, bz))
    far = min(max(ax, bx), max(ay, by), max(az, bz))
    if far < max(near, 0.0):
        return -1.0
    return max(near, 0.0)


@kernel
def nearest_hit(boxes, starts, items, x0, z0, cell, own, i, j, ox, oy, oz, ix, iy, iz, reach):
    """Distance to the nearest box other than `own` along a ray, at most `reach`; walks the plan grid.

    The ray begins at (ox, oy, oz), in cell (i, j); its reciprocal direction is (ix, iy, iz).
    """
    nx, nz = starts.shape[0], starts.shape[1] - 1
    step_i, step_j = (1 if ix > 0 else -1), (1 if iz > 0 else -1)
    next_x = (x0 + (i + (ix > 0)) * cell - ox) * ix
    next_z = (z0 + (j + (iz > 0)) * cell - oz) * iz
    best, at = reach, 0.0
    while at < best and 0 <= i < nx and 0 <= j < nz:
        for slot in range(starts[U(i), U(j)], starts[U(i), U(j + 1)]):
            k = items[U(slot)]
            if k != own:
                t = entry_distance(boxes, k, ox, oy, oz, ix, iy, iz)
                if 0.0 <= t < best:
                    best = t
        if next_x < next_z:
            at, i = next_x, i + step_i
            next_x += cell * abs(ix)
        else:
            at, j = next_z, j + step_j
            next_z += cell * abs(iz)
    return best


@kernel
def is_inside(boxes, starts, items, x0, z0, cell, p):
    """Whether a point lies in a box."""
    i, j = int((p[0] - x0) // cell), int((p[2] - z0) // cell)
    if not (0 <= i < starts.shape[0] and 0 <= j < starts.shape[1] - 1):
        return False
    for slot in range(starts[i, j], starts[i, j + 1]):
        box = boxes[items[slot]]
        if box[0] < p[0] < box[3] and box[1] < p[1] < box[4] and box[2] < p[2] < box[5]:
            return True
    return False


@kernel
def occlusion(boxes, starts, items, x0, z0, cell, own, ceiling, p, n, directions, inverse, weights, reach):
    """Shares of the hemisphere about `n` that are blocked, nearer objects counting more; 0 to 1.

    `inverse` (D, 3) is 1 / `directions`.
    The first within `reach` of `p`, the second within CONTACT_MM.
    """
    blocked, close, total = 0.0, 0.0, 0.0
    i, j = int((p[0] - x0) // cell), int((p[2] - z0) // cell)
    for d in range(len(directions)):
        dx, dy, dz = directions[U(d), 0], directions[U(d), 1], directions[U(d), 2]
        cosine = dx * n[0] + dy * n[1] + dz * n[2]
        if cosine <= 0.05:
            continue
        weight = cosine * weights[d]
        total += weight
        limit = reach
        if dy < 0.0:
            limit = min(limit, max(0.0, p[1] / -dy))
        else:
            limit = min(limit, max(0.0, (ceiling - p[1]) / dy))
        t = nearest_hit(
            boxes, starts, items, x0, z0, cell, own, i, j, p[0], p[1], p[2],
            inverse[U(d), 0], inverse[U(d), 1], inverse[U(d), 2], limit,
        )  # fmt: skip
        blocked += weight * (1.0 - t / reach)
        close += weight * max(0.0, 1.0 - t / CONTACT_MM)
    return blocked / total, close / total


@kernel
def lamp_light(lamps, room, p, n):
    """Light of the ceiling lamps of `room`."""
    light = 0.0
    for k in range(len(lamps)):
        if lamps[k, 3] != room:
            continue
        x, y, z = lamps[k, 0] - p[0], lamps[k, 1] - p[1], lamps[k, 2] - p[2]
        square = x * x + y * y + z * z + 1.0
        cosine = (x * n[0] + y * n[1] + z * n[2]) / np.sqrt(square)
        light += max(0.0, 0.35 + 0.65 * cosine) / (1.0 + square / (LAMP_REACH_MM * LAMP_REACH_MM))
    return LAMP_STRENGTH * light


@kernel
def window_light(windows, room, p, n):
    """Light through the windows of `room`, each an area that faces inwards."""
    light = 0.0
    for k in range(len(windows)):
        if windows[k, 6] != room:
            continue
        x, y, z = windows[k, 0] - p[0], windows[k, 1] - p[1], windows[k, 2] - p[2]
        square = x * x + y * y + z * z + 1.0
        length = np.sqrt(square)
        facing = max(0.0, -(x * windows[k, 3] + z * windows[k, 4]) / length)
        cosine = max(0.0, 0.15 + 0.85 * (x * n[0] + y * n[1] + z * n[2]) / length)
        area = windows[k, 5]
        light += facing * cosine * area / (area + square)
    return WINDOW_STRENGTH * min(light, 0.8)


@kernel
def bake(
    light,
    contact,
    first,
    last,
    points,
    normals,
    part,
    room,
    glows,
    flat,
    boxes,
    starts,
    items,
    frame,
    lamps,
    windows,
    directions,
    weights,
):
    """Fill light[first:last], multiples of 1/256 in (0, 1]; -1 on floors, walls and ceilings inside of boxes.

    On floors, walls and ceilings contact[first:last], 0 to 1, is what contact shadows leave of that light.

    Per vertex: `light` and `contact` (V,) float32 are written; `points` (V, 3) float64 millimetres,
    already lifted off their surface; `normals` (V, 3); `part` and `room` (V,) int32 (room -1 is outside);
    `glows` (V,) bool; the first `flat` are those of floors, walls and ceilings.
    Shared: `boxes` (B, 6) lowest and highest corners; `starts` (nx, nz + 1) and `items`, the plan grid's
    lists of boxes; `frame` (5,) x0, z0, cell, ceiling, reach; `lamps` (L, 4) x, y, z, room; `windows`
    (W, 7) x, y, z, inward x, inward z, area, room; `directions` (D, 3) and their solid angles `weights`.
    """
    inverse = 1.0 / directions
    for v in range(first, last):
        if glows[v]:
            light[v] = 1.0
            continue
        p, n = points[v], normals[v]
        if v < flat and room[v] >= 0 and is_inside(boxes, starts, items, frame[0], frame[1], frame[2], p):
            light[v] = -1.0
            continue
        value = AMBIENT + SKYWARD * n[1]
        if room[v] < 0:
            value = 0.86 + 0.1 * n[1] + 0.04 * n[0]
        else:
            value += lamp_light(lamps, room[v], p, n) + window_light(windows, room[v], p, n)
            blocked, close = occlusion(
                boxes,
                starts,
                items,
                frame[0],
                frame[1],
                frame[2],
                part[v],
                frame[3],
                p,
                n,
                directions,
                inverse,
                weights,
                frame[4],
            )
            if v < flat:
                value *= 1.0 - ROOM_OCCLUSION_STRENGTH * blocked
                contact[v] = 1.0 - CONTACT_STRENGTH * close
            else:
                value *= 1.0 - OCCLUSION_STRENGTH * blocked
        light[v] = np.floor(min(1.0, max(DARKEST, value)) * STEPS + 0.5) / STEPS


@kernel
def limit_slopes(light, seen, first, second, slope):
    """Light that changes by at most `slope` per millimetre.

    It lies between the least such light above the given one and the greatest below, BRIGHT of the way up.

    `light` (A, B) float64; points that are not `seen` have no say; `first` (A,), `second` (B,) millimetres.
    """
    upper, lower = np.where(seen, light, -1e9), np.where(seen, light, 1e9)
    rows, columns = light.shape
    changed = True
    while changed:
        changed = False
        for turn in range(2):
            step = 1 if turn == 0 else -1
            for a in range(rows):
                i = a if turn == 0 else rows - 1 - a
                for b in range(columns):
                    j = b if turn == 0 else columns - 1 - b
                    for k in range(4):
                        # behind in this sweep: (-1, -1), (-1, 0), (-1, 1) and (0, -1)
                        x = i - step if k < 3 else i
                        y = j - step if k == 3 else j + step * (k - 1)
                        if not (0 <= x < rows and 0 <= y < columns):
                            continue
                        wide, deep = first[i] - first[x], second[j] - second[y]
                        rise = slope * np.sqrt(wide * wide + deep * deep)
                        if upper[x, y] - rise > upper[i, j] + 1e-9:
                            upper[i, j] = upper[x, y] - rise
                            changed = True
                        if lower[x, y] + rise < lower[i, j] - 1e-9:
                            lower[i, j] = lower[x, y] + rise
                            changed = True
    return BRIGHT * upper + (1.0 - BRIGHT) * lower
