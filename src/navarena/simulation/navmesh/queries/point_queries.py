# mypy: disable-error-code="no-untyped-def"
"""Kernels that snap points onto the navmesh, and measure the distance to its border.

The rule is that of the field's standard simulator (habitat-sim PathFinder, Detour findNearestPoly):
among triangles that meet a box of half extents SNAP_BOX around the point, the nearest one wins;
a triangle under or over the point counts as nearer by the body's climb, and a point is moved
straight up or down onto such a triangle; onto others it moves to the nearest point of their sides
in the plan. On the polygons of a loaded file, polygon_queries does the same for whole polygons.
"""

import numpy as np

from navarena.core.kernels import kernel
from navarena.simulation.navmesh.queries.mesh_arrays import (
    CLIMB,
    CORNERS,
    DETAIL,
    DETAIL_OFFSETS,
    GRID_FRAME,
    GRID_ITEMS,
    GRID_OFFSETS,
    HEIGHTS,
    ISLANDS,
    LINKS,
    PLANES,
    floats,
    ints,
    longs,
)
from navarena.simulation.navmesh.queries.plan_geometry import (
    ground_height,
    is_over,
    nearest_on_border,
    segment_share,
    wrap3,
)
from navarena.simulation.navmesh.queries.polygon_queries import has_polygons, snap_to_polygons

SNAP_SIDE = 2.0
SNAP_HEIGHT = 4.0
"""Half extents (metres) of the search box, sideways and up; habitat-sim uses (2, 4, 2)."""

NAVIGABLE_SLACK = 1e-2
"""Metres in the plan within which a point counts as on the navmesh (habitat-sim isNavigable)."""


@kernel
def _cell_of(value, low, scale, count):
    """Column or row of a coordinate; NaN and far-off values land outside [0, count)."""
    place = (value - low) * scale
    if not (place >= 0.0):
        return -1
    if place >= count:
        return count
    return int(place)


@kernel
def snap(table, row, px, py, pz):
    """(triangle, x, y, z) of the nearest point of the navmesh; triangle -1 when there is none."""
    if has_polygons(table, row):
        return snap_to_polygons(table, row, px, py, pz)
    corners = floats(table, row, CORNERS)
    planes = floats(table, row, PLANES)
    offsets = longs(table, row, DETAIL_OFFSETS)
    detail = floats(table, row, DETAIL)
    heights = floats(table, row, HEIGHTS)
    frame = floats(table, row, GRID_FRAME)
    starts = ints(table, row, GRID_OFFSETS)
    items = ints(table, row, GRID_ITEMS)
    climb = floats(table, row, CLIMB)[0]

    found, fx, fy, fz = np.int64(-1), np.nan, np.nan, np.nan
    best, best_rise = np.inf, np.inf
    if not (np.isfinite(px) and np.isfinite(py) and np.isfinite(pz)):
        return found, fx, fy, fz
    scale, columns, rows = frame[2], int(frame[3]), int(frame[4])
    column, line = _cell_of(px, frame[0], scale, columns), _cell_of(pz, frame[1], scale, rows)

    # straight above or below: only the triangles of the point's own cell
    if 0 <= column < columns and 0 <= line < rows:
        cell = line * columns + column
        for i in range(starts[cell], starts[cell + 1]):
            t = np.int64(items[i])
            if heights[2 * t] > py + SNAP_HEIGHT or heights[2 * t + 1] < py - SNAP_HEIGHT:
                continue
            if not is_over(corners, t, px, pz):
                continue
            y = ground_height(planes, offsets, detail, t, px, pz)
            rise = abs(y - py)
            cost = max(0.0, rise - climb) ** 2
            if cost < best or (cost == best and rise < best_rise):
                best, best_rise = cost, rise
                found, fx, fy, fz = t, px, y, pz
        if best == 0.0:
            return found, fx, fy, fz

    # sideways: cells in growing rings, until no nearer triangle can follow
    left = _cell_of(px - SNAP_SIDE, frame[0], scale, columns)
    right = _cell_of(px + SNAP_SIDE, frame[0], scale, columns)
    near = _cell_of(pz - SNAP_SIDE, frame[1], scale, rows)
    far = _cell_of(pz + SNAP_SIDE, frame[1], scale, rows)
    for ring in range(max(right - left, far - near) + 1):
        if ring > 0 and ((ring - 1) / scale) ** 2 > best:
            break
        for r in range(max(line - ring, near, 0), min(line + ring, far, rows - 1) + 1):
            on_edge = r == line - ring or r == line + ring
            step = 1 if on_edge or ring == 0 else 2 * ring
            for c in range(column - ring, column + ring + 1, step):
                if c < max(left, 0) or c > min(right, columns - 1):
                    continue
                cell = r * columns + c
                for i in range(starts[cell], starts[cell + 1]):
                    t = np.int64(items[i])
                    k = 6 * t
                    if (
                        heights[2 * t] > py + SNAP_HEIGHT
                        or heights[2 * t + 1] < py - SNAP_HEIGHT
                        or min(corners[k], corners[k + 2], corners[k + 4]) > px + SNAP_SIDE
                        or max(corners[k], corners[k + 2], corners[k + 4]) < px - SNAP_SIDE
                        or min(corners[k + 1], corners[k + 3], corners[k + 5]) > pz + SNAP_SIDE
                        or max(corners[k + 1], corners[k + 3], corners[k + 5]) < pz - SNAP_SIDE
                    ):
                        continue
                    x, z = nearest_on_border(corners, t, px, pz)
                    cost = (x - px) ** 2 + (z - pz) ** 2
                    if cost >= best or is_over(corners, t, px, pz):
                        continue
                    y = ground_height(planes, offsets, detail, t, x, z)
                    rise = abs(y - py)
                    cost += rise * rise
                    if cost < best:
                        best = cost
                        found, fx, fy, fz = t, x, y, z
    return found, fx, fy, fz


@kernel
def snap_points(table, meshes, points, triangles, snapped):
    """`snap` for each point (N, 3) on the mesh in its row; misses give -1 and NaN."""
    for i in range(points.shape[0]):
        t, x, y, z = snap(table, meshes[i], points[i, 0], points[i, 1], points[i, 2])
        triangles[i] = t
        snapped[i, 0], snapped[i, 1], snapped[i, 2] = x, y, z


@kernel
def find_islands(table, meshes, points, islands):
    """Island of each point (N, 3) after snapping; -1 where it cannot be snapped."""
    for i in range(points.shape[0]):
        t, _, _, _ = snap(table, meshes[i], points[i, 0], points[i, 1], points[i, 2])
        islands[i] = ints(table, meshes[i], ISLANDS)[t] if t >= 0 else -1


@kernel
def is_on_mesh(table, row, px, py, pz, max_y_delta):
    """Whether the point lies on the navmesh, within NAVIGABLE_SLACK sideways."""
    t, x, y, z = snap(table, row, px, py, pz)
    if t < 0 or abs(y - py) > max_y_delta:
        return False
    return (x - px) ** 2 + (z - pz) ** 2 <= NAVIGABLE_SLACK * NAVIGABLE_SLACK


@kernel
def check_points(table, meshes, points, max_y_delta, navigable):
    """`is_on_mesh` for each point (N, 3)."""
    for i in range(points.shape[0]):
        navigable[i] = is_on_mesh(table, meshes[i], points[i, 0], points[i, 1], points[i, 2], max_y_delta)


@kernel
def draw_map(table, row, origin_x, origin_z, cell, height, max_y_delta, grid):
    """`is_on_mesh` at the corner of each cell of grid (H, W), z along H and x along W."""
    for r in range(grid.shape[0]):
        for c in range(grid.shape[1]):
            x, z = origin_x + c * cell, origin_z + r * cell
            grid[r, c] = is_on_mesh(table, row, x, height, z, max_y_delta)


@kernel
def border_distance(table, row, px, py, pz, max_distance, stamps, stamp, pending):
    """Plan distance (metres, at most `max_distance`) to the nearest border, from the point's triangle on.

    Borders of other storeys do not count, since the spread follows neighbours. Infinite where the
    point cannot be snapped. stamps and pending are (T,) int32 scratch; triangles stamped with
    `stamp` have been visited.
    """
    corners = floats(table, row, CORNERS)
    links = ints(table, row, LINKS)
    t, x, _, z = snap(table, row, px, py, pz)
    if t < 0:
        return np.inf
    best2 = max_distance * max_distance
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
def border_distances(table, meshes, points, max_distance, stamps, pending, distances):
    """`border_distance` for each point (N, 3); stamps must be zero."""
    for i in range(points.shape[0]):
        distances[i] = border_distance(
            table, meshes[i], points[i, 0], points[i, 1], points[i, 2], max_distance, stamps, i + 1, pending
        )
