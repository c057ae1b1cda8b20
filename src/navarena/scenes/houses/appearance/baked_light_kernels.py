# mypy: disable-error-code="no-untyped-def"
"""Kernels of the baked light.

Only +, -, *, / and square roots, in a fixed order and without fast-math, so that every machine
rounds likewise.
"""

import numpy as np

from navarena.core.kernels import kernel

LAMP_STRENGTH = 0.30
LAMP_REACH_MM = 2600.0
WINDOW_STRENGTH = 0.5
AMBIENT = 0.78
SKYWARD = 0.05
OCCLUSION_STRENGTH = 0.65
DARKEST = 0.08
STEPS = 256.0


@kernel
def entry_distance(boxes, k, ox, oy, oz, ix, iy, iz):
    """Where a ray (origin, reciprocal direction) enters box k; negative when it misses."""
    ax, bx = (boxes[k, 0] - ox) * ix, (boxes[k, 3] - ox) * ix
    ay, by = (boxes[k, 1] - oy) * iy, (boxes[k, 4] - oy) * iy
    az, bz = (boxes[k, 2] - oz) * iz, (boxes[k, 5] - oz) * iz
    near = max(min(ax, bx), min(ay, by), min(az, bz))
    far = min(max(ax, bx), max(ay, by), max(az, bz))
    if far < max(near, 0.0):
        return -1.0
    return max(near, 0.0)


@kernel
def nearest_hit(boxes, starts, items, x0, z0, cell, own, ox, oy, oz, dx, dy, dz, reach):
    """Distance to the nearest box other than `own` along a ray, at most `reach`; walks the plan grid."""
    nx, nz = starts.shape[0], starts.shape[1] - 1
    ix, iy, iz = 1.0 / dx, 1.0 / dy, 1.0 / dz
    i, j = int((ox - x0) // cell), int((oz - z0) // cell)
    step_i, step_j = (1 if dx > 0 else -1), (1 if dz > 0 else -1)
    next_x = (x0 + (i + (dx > 0)) * cell - ox) * ix
    next_z = (z0 + (j + (dz > 0)) * cell - oz) * iz
    best, at = reach, 0.0
    while at < best and 0 <= i < nx and 0 <= j < nz:
        for slot in range(starts[i, j], starts[i, j + 1]):
            k = items[slot]
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
def occlusion(boxes, starts, items, x0, z0, cell, own, ceiling, p, n, directions, weights, reach):
    """Share of the hemisphere about `n` that is blocked near `p`, nearer objects counting more; 0 to 1."""
    blocked, total = 0.0, 0.0
    for d in range(len(directions)):
        dx, dy, dz = directions[d, 0], directions[d, 1], directions[d, 2]
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
        t = nearest_hit(boxes, starts, items, x0, z0, cell, own, p[0], p[1], p[2], dx, dy, dz, limit)
        blocked += weight * (1.0 - t / reach)
    return blocked / total


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
    first,
    last,
    points,
    normals,
    part,
    room,
    glows,
    boxes,
    starts,
    items,
    frame,
    lamps,
    windows,
    directions,
    weights,
):
    """Fill light[first:last], multiples of 1/256 in (0, 1].

    Per vertex: `light` (V,) float32 is written; `points` (V, 3) float64 millimetres, already lifted off
    their surface; `normals` (V, 3); `part` and `room` (V,) int32 (room -1 is outside); `glows` (V,) bool.
    Shared: `boxes` (B, 6) lowest and highest corners; `starts` (nx, nz + 1) and `items`, the plan grid's
    lists of boxes; `frame` (5,) x0, z0, cell, ceiling, reach; `lamps` (L, 4) x, y, z, room; `windows`
    (W, 7) x, y, z, inward x, inward z, area, room; `directions` (D, 3) and their solid angles `weights`.
    """
    for v in range(first, last):
        if glows[v]:
            light[v] = 1.0
            continue
        p, n = points[v], normals[v]
        value = AMBIENT + SKYWARD * n[1]
        if room[v] < 0:
            value = 0.86 + 0.1 * n[1] + 0.04 * n[0]
        else:
            value += lamp_light(lamps, room[v], p, n) + window_light(windows, room[v], p, n)
            blocked = occlusion(
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
                weights,
                frame[4],
            )
            value *= 1.0 - OCCLUSION_STRENGTH * blocked
        light[v] = np.floor(min(1.0, max(DARKEST, value)) * STEPS + 0.5) / STEPS
