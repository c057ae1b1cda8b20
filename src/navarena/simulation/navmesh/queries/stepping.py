# mypy: disable-error-code="no-untyped-def"
"""Kernels that move bodies over the navmesh.

The rules are those of the field's standard simulator (habitat-sim PathFinder::tryStep, Detour
moveAlongSurface): a step stays where it is when its end point snaps to another island; without
sliding it is cut where it first meets the border; with sliding it goes to the border point nearest
to its end, among triangles near the step; the new height is that of the ground there. On the polygons
of a loaded file steps are those of polygon_queries, to the last digit.
"""

import numpy as np

from navarena.core.kernels import kernel
from navarena.simulation.navmesh.queries.mesh_arrays import (
    CORNERS,
    DETAIL,
    DETAIL_OFFSETS,
    ISLANDS,
    LINKS,
    PLANES,
    floats,
    ints,
    longs,
)
from navarena.simulation.navmesh.queries.plan_geometry import (
    TOUCH,
    ground_height,
    is_over,
    segment_share,
    turn,
    wrap3,
)
from navarena.simulation.navmesh.queries.point_queries import snap
from navarena.simulation.navmesh.queries.polygon_queries import MAX_NODES, has_polygons, step_on_polygons

NUDGE = 1e-4
"""Metres by which a point on a border shared by two islands is moved into its own triangle."""

REACH_SLACK = 1e-3
"""Metres added to half a step for the circle in which sliding looks for borders (Detour)."""

MAX_TRIANGLES = 64
"""Triangles that sliding visits at most."""

SCRATCH = max(MAX_TRIANGLES, 3 * MAX_NODES)
"""Length of the int32 scratch `visited` of a step."""

COLLISION_SLACK = 1e-5
"""Square metres: a step collided when moved^2 + COLLISION_SLACK < intended^2 (habitat-sim Agent)."""

MAX_CROSSINGS = 4096


@kernel
def walk_straight(corners, links, triangle, sx, sz, ex, ez):
    """(triangle, x, z, blocked) at the end e of a straight walk from s, or where it meets the border.

    A walk through a corner may leave a triangle by two sides at once, or along a third side. It goes
    round the corner on one of them, and where that path meets the border there it takes the spare one:
    a corner of the border that is only touched does not block.
    """
    t, entry = triangle, np.int64(-1)
    walked, same = 0.0, TOUCH / max(TOUCH, np.sqrt((ex - sx) ** 2 + (ez - sz) ** 2))
    spare, spare_share = np.int64(-1), 0.0
    for _ in range(MAX_CROSSINGS):
        base = 6 * t
        exit_side, exit_share, along, tied = -1, np.inf, np.int64(-1), False
        for k in range(3):
            if k == entry:
                continue
            i, j = base + 2 * k, base + 2 * wrap3(k + 1)
            ax, az, bx, bz = corners[i], corners[i + 1], corners[j], corners[j + 1]
            end = turn(ax, az, bx, bz, ex, ez)
            begin = turn(ax, az, bx, bz, sx, sz)
            touching2 = TOUCH * TOUCH * ((bx - ax) ** 2 + (bz - az) ** 2)
            if end >= 0.0 or end * end <= touching2:
                if end * end <= touching2 and begin * begin <= touching2:
                    along = np.int64(links[3 * t + k])
                continue
            share = max(walked, begin / (begin - end) if begin > 0.0 else 0.0)
            if abs(share - exit_share) <= same:
                spare, spare_share, tied = np.int64(links[3 * t + k]), share, True
            elif share < exit_share:
                exit_side, exit_share = k, share
        if exit_side < 0:
            return t, ex, ez, False
        if along >= 0 and not tied:
            spare, spare_share = along, exit_share
        across = np.int64(links[3 * t + exit_side])
        if across < 0:
            if spare < 0 or exit_share > spare_share + same:
                return t, sx + exit_share * (ex - sx), sz + exit_share * (ez - sz), True
            across, exit_share, spare = spare, spare_share, np.int64(-1)
        t, entry, walked = across // 3, across % 3, exit_share
    return triangle, sx, sz, True


@kernel
def slide(corners, links, triangle, sx, sz, ex, ez, visited):
    """(triangle, x, z) where a step from s to e ends when it may slide along the border.

    Visits triangles from the first one on through sides that meet the circle around the step, and
    takes e itself if one contains it, else the nearest point of their border sides.
    """
    mx, mz = (sx + ex) / 2, (sz + ez) / 2
    reach = np.sqrt((ex - sx) ** 2 + (ez - sz) ** 2) / 2 + REACH_SLACK
    best, found, fx, fz = np.inf, triangle, sx, sz
    visited[0] = triangle
    count, at = 1, 0
    while at < count:
        t = np.int64(visited[at])
        at += 1
        if is_over(corners, t, ex, ez):
            return t, ex, ez
        for k in range(3):
            i, j = 6 * t + 2 * k, 6 * t + 2 * wrap3(k + 1)
            ax, az, bx, bz = corners[i], corners[i + 1], corners[j], corners[j + 1]
            across = links[3 * t + k]
            if across < 0:
                share = segment_share(ax, az, bx, bz, ex, ez)
                x, z = ax + share * (bx - ax), az + share * (bz - az)
                far2 = (x - ex) ** 2 + (z - ez) ** 2
                if far2 < best:
                    best, found, fx, fz = far2, t, x, z
                continue
            share = segment_share(ax, az, bx, bz, mx, mz)
            x, z = ax + share * (bx - ax), az + share * (bz - az)
            if (x - mx) ** 2 + (z - mz) ** 2 > reach * reach:
                continue
            there, known = across // 3, count >= MAX_TRIANGLES
            for n in range(count):
                if visited[n] == there:
                    known = True
            if not known:
                visited[count] = there
                count += 1
    return found, fx, fz


@kernel
def nudge_inside(corners, triangle, x, z):
    """(x, z) moved by NUDGE towards the centre of the triangle, at most onto it."""
    i = 6 * triangle
    dx = (corners[i] + corners[i + 2] + corners[i + 4]) / 3 - x
    dz = (corners[i + 1] + corners[i + 3] + corners[i + 5]) / 3 - z
    far = np.sqrt(dx * dx + dz * dz)
    share = NUDGE / far if far > NUDGE else 1.0
    return x + share * dx, z + share * dz


@kernel
def step(table, row, triangle, sx, sy, sz, ex, ey, ez, slides, visited):
    """(triangle, x, y, z) after a step from s on `triangle` towards e."""
    corners = floats(table, row, CORNERS)
    links = ints(table, row, LINKS)
    planes = floats(table, row, PLANES)
    offsets = longs(table, row, DETAIL_OFFSETS)
    detail = floats(table, row, DETAIL)
    islands = ints(table, row, ISLANDS)
    own = islands[triangle]
    t, x, z, blocked = walk_straight(corners, links, triangle, sx, sz, ex, ez)
    if blocked:
        aim, _, _, _ = snap(table, row, ex, ey, ez)
        if aim < 0 or islands[aim] != own:
            return triangle, sx, sy, sz
        if slides:
            t, x, z = slide(corners, links, triangle, sx, sz, ex, ez, visited)
    y = ground_height(planes, offsets, detail, t, x, z)
    again, _, _, _ = snap(table, row, x, y, z)
    if again >= 0 and islands[again] != own:
        x, z = nudge_inside(corners, t, x, z)
        y = ground_height(planes, offsets, detail, t, x, z)
    return t, x, y, z


@kernel
def try_steps(table, meshes, start, end, slides, ends):
    """End of each step from (N, 3) towards (N, 3); a start that cannot be snapped stays."""
    visited = np.zeros(SCRATCH, np.int32)
    for i in range(start.shape[0]):
        row, x, y, z = meshes[i], start[i, 0], start[i, 1], start[i, 2]
        ends[i, 0], ends[i, 1], ends[i, 2] = x, y, z
        if has_polygons(table, row):
            t, x, y, z = step_on_polygons(
                table, row, x, y, z, end[i, 0], end[i, 1], end[i, 2], slides, visited
            )
        else:
            t, x, y, z = snap(table, row, x, y, z)
            if t >= 0:
                t, x, y, z = step(table, row, t, x, y, z, end[i, 0], end[i, 1], end[i, 2], slides, visited)
        if t >= 0:
            ends[i, 0], ends[i, 1], ends[i, 2] = x, y, z


@kernel
def step_body(table, row, triangle, x, y, z, yaw, ahead, slides, visited):
    """(triangle, x, y, z, collided) after a body's step of `ahead` metres along `yaw` from `triangle`.

    A triangle of -1 is looked up first. A body that cannot be snapped stays, and collides.
    """
    t, on_polygons = np.int64(triangle), has_polygons(table, row)
    fx, fy, fz = x, y, z
    if t < 0 and not on_polygons:
        t, fx, fy, fz = snap(table, row, x, y, z)
        if t < 0:
            return np.int64(triangle), x, y, z, True
    ex, ez = fx - ahead * np.sin(yaw), fz - ahead * np.cos(yaw)
    if on_polygons:
        t, nx, ny, nz = step_on_polygons(table, row, fx, fy, fz, ex, fy, ez, slides, visited)
        if t < 0:
            return np.int64(triangle), x, y, z, True
    else:
        t, nx, ny, nz = step(table, row, t, fx, fy, fz, ex, fy, ez, slides, visited)
    moved2 = (nx - fx) ** 2 + (ny - fy) ** 2 + (nz - fz) ** 2
    return t, nx, ny, nz, moved2 + COLLISION_SLACK < ahead * ahead


@kernel
def step_bodies(table, meshes, triangles, positions, yaws, forward, slides, visited, collided):
    """Move each body (N,) by `forward` metres along its yaw; updates triangles and positions in place.

    A triangle of -1 is looked up first. Bodies whose forward distance is 0 stay and do not collide.
    """
    for i in range(positions.shape[0]):
        collided[i] = False
        if forward[i] == 0.0:
            continue
        x, y, z = positions[i, 0], positions[i, 1], positions[i, 2]
        triangles[i], positions[i, 0], positions[i, 1], positions[i, 2], collided[i] = step_body(
            table, meshes[i], triangles[i], x, y, z, yaws[i], forward[i], slides, visited
        )
