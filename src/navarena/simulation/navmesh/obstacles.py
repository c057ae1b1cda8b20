# mypy: disable-error-code="no-untyped-def"
"""Kernels for the distance from a point to the border of the navmesh around it."""

import numpy as np

from navarena.core.kernels import kernel
from navarena.simulation.navmesh.layout import CORNERS, LINKS, floats, ints
from navarena.simulation.navmesh.plane import segment_share, wrap3
from navarena.simulation.navmesh.snapping import snap


@kernel
def border_distance(table, row, px, py, pz, most, stamps, stamp, pending):
    """Least plan distance (metres, at most `most`) to a border side, spreading from the point's triangle.

    Borders of other storeys do not count, since the spread follows neighbours. Infinite where the
    point cannot be snapped. stamps and pending are (T,) int32 scratch; triangles stamped with
    `stamp` have been visited.
    """
    corners = floats(table, row, CORNERS)
    links = ints(table, row, LINKS)
    t, x, _, z = snap(table, row, px, py, pz)
    if t < 0:
        return np.inf
    best2 = most * most
    stamps[t], pending[0] = stamp, t
    count, at = 1, 0
    while at < count:
        t = np.int64(pending[at])
        at += 1
        for k in range(3):
            i, j = 6 * t + 2 * k, 6 * t + 2 * wrap3(k + 1)
            ax, az, bx, bz = corners[i], corners[i + 1], corners[j], corners[j + 1]
            share = segment_share(ax, az, bx, bz, x, z)
            far2 = (ax + share * (bx - ax) - x) ** 2 + (az + share * (bz - az) - z) ** 2
            if far2 >= best2:
                continue
            across = links[3 * t + k]
            if across < 0:
                best2 = far2
            elif stamps[across // 3] != stamp:
                stamps[across // 3] = stamp
                pending[count] = across // 3
                count += 1
    return np.sqrt(best2)


@kernel
def border_distances(table, meshes, points, most, stamps, pending, distances):
    """`border_distance` for each point (N, 3); stamps must be zero."""
    for i in range(points.shape[0]):
        distances[i] = border_distance(
            table, meshes[i], points[i, 0], points[i, 1], points[i, 2], most, stamps, i + 1, pending
        )
