# mypy: disable-error-code="no-untyped-def"
"""Plane geometry for kernels: x and z in metres, seen from above with x right and z down."""

import numpy as np

from navarena.core.kernels import kernel

TOUCH = 1e-9
"""Metres within which a point counts as on a line; far below any length that matters."""


@kernel
def turn(ox, oz, px, pz, qx, qz):
    """Twice the area of o, p, q: positive when q lies left of the ray from o to p."""
    return (pz - oz) * (qx - ox) - (px - ox) * (qz - oz)


@kernel
def wrap3(k):
    """K modulo 3 for k from 0 to 5; several times faster than `%`."""
    return k - 3 if k >= 3 else k


@kernel
def is_left(ax, az, bx, bz, px, pz):
    """Whether p lies left of the line a b, or at most TOUCH right of it."""
    area = turn(ax, az, bx, bz, px, pz)
    if area >= 0.0:
        return True
    length2 = (bx - ax) * (bx - ax) + (bz - az) * (bz - az)
    return area * area <= TOUCH * TOUCH * length2


@kernel
def is_on_line(ax, az, bx, bz, px, pz):
    """Whether p lies within TOUCH of the line a b."""
    area = turn(ax, az, bx, bz, px, pz)
    return area * area <= TOUCH * TOUCH * ((bx - ax) * (bx - ax) + (bz - az) * (bz - az))


@kernel
def is_over(corners, triangle, px, pz):
    """Whether the plan point lies in the triangle or within TOUCH of it."""
    i = 6 * triangle
    ax, az, bx, bz = corners[i], corners[i + 1], corners[i + 2], corners[i + 3]
    cx, cz = corners[i + 4], corners[i + 5]
    return (
        is_left(ax, az, bx, bz, px, pz)
        and is_left(bx, bz, cx, cz, px, pz)
        and is_left(cx, cz, ax, az, px, pz)
    )


@kernel
def segment_share(ax, az, bx, bz, px, pz):
    """Share in [0, 1] of the segment from a to b of its point nearest to p."""
    dx, dz = bx - ax, bz - az
    length2 = dx * dx + dz * dz
    if length2 <= 0.0:
        return 0.0
    return min(1.0, max(0.0, ((px - ax) * dx + (pz - az) * dz) / length2))


@kernel
def nearest_on_border(corners, triangle, px, pz):
    """(x, z) of the point of the triangle's three sides nearest to p in the plan."""
    i = 6 * triangle
    best, bx, bz = np.inf, px, pz
    for k in range(3):
        j = i + 2 * wrap3(k + 1)
        ax, az, ex, ez = corners[i + 2 * k], corners[i + 2 * k + 1], corners[j], corners[j + 1]
        share = segment_share(ax, az, ex, ez, px, pz)
        x, z = ax + share * (ex - ax), az + share * (ez - az)
        far2 = (x - px) * (x - px) + (z - pz) * (z - pz)
        if far2 < best:
            best, bx, bz = far2, x, z
    return bx, bz


@kernel
def ground_height(planes, offsets, detail, triangle, px, pz):
    """World y of the ground at a plan point of the triangle.

    Among the ground pieces the one that contains the point (or misses it by the smallest distance) decides.
    """
    first, last = offsets[triangle], offsets[triangle + 1]
    if first == last:
        i = 3 * triangle
        return planes[i] * px + planes[i + 1] * pz + planes[i + 2]
    best, height = -np.inf, 0.0
    for piece in range(first, last):
        i = 9 * piece
        ax, ay, az = detail[i], detail[i + 1], detail[i + 2]
        bx, by, bz = detail[i + 3], detail[i + 4], detail[i + 5]
        cx, cy, cz = detail[i + 6], detail[i + 7], detail[i + 8]
        whole = turn(ax, az, bx, bz, cx, cz)
        if whole == 0.0:
            continue
        u = turn(bx, bz, cx, cz, px, pz) / whole
        v = turn(cx, cz, ax, az, px, pz) / whole
        inside = min(u, v, 1.0 - u - v)
        if inside > best:
            best, height = inside, u * ay + v * by + (1.0 - u - v) * cy
    if best == -np.inf:
        i = 3 * triangle
        return planes[i] * px + planes[i + 1] * pz + planes[i + 2]
    return height
