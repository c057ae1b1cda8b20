# mypy: disable-error-code="no-untyped-def"
"""Kernels on the convex polygons of a loaded navmesh file, in single precision.

They follow the field's standard simulator number by number (habitat-sim 0.3.3 PathFinder, Detour
1.6.0): what rounding decides on a border, such as which polygon a point belongs to, is decided as
there. Points are float32 throughout, polygons and sides are visited in the order of the file.
"""

import numpy as np

from navarena.core.kernels import kernel
from navarena.core.pointers import flat_view
from navarena.simulation.navmesh.queries.mesh_arrays import (
    CORNERS,
    POLYGON_BOXES,
    POLYGON_CORNERS,
    POLYGON_FRAME,
    POLYGON_GROUND,
    POLYGON_HEADS,
    POLYGON_LINKS,
    POLYGON_SIDES,
    floats,
    ints,
    octets,
)
from navarena.simulation.navmesh.queries.plan_geometry import is_over, nearest_on_border

ZERO, HALF, ONE, TWO = np.float32(0), np.float32(0.5), np.float32(1), np.float32(2)
FAR = np.float32(3.4028235e38)
"""FLT_MAX, where a search for the smallest begins."""
FLAT = np.float32(1e-6)
"""Square metres: smallest cross product that counts (dtIntersectSegSeg2D, dtClosestHeightPointTriangle)."""
SNAP_SIDE, SNAP_HEIGHT = np.float32(2), np.float32(4)
"""Half extents (metres) of the search box (habitat-sim projectToPoly)."""
REACH_SLACK = np.float32(1e-3)
"""Metres added to half a step for the circle in which a step looks for polygons (moveAlongSurface)."""
NUDGE = np.float32(1e-4)
"""Metres by which an end that snaps to another island is moved into its polygon (habitat-sim tryStep)."""

HEAD = 4
"""Numbers in a polygon's head: corners, island, first triangle, first ground piece."""
MAX_NODES, MAX_PENDING = 64, 48
"""Polygons that a step looks at, and that may wait at once (moveAlongSurface)."""


@kernel
def singles(table, row, slot):
    """The float32 array in a slot."""
    return flat_view(table, row, slot, np.float32)


@kernel
def has_polygons(table, row):
    """Whether the navmesh was loaded from a file of polygons."""
    return table[row, 2 * POLYGON_HEADS + 1] > 0


@kernel
def is_inside(corners, polygon, count, x, z):
    """Whether the plan point is in the polygon: by the parity of sides that a ray along x crosses."""
    inside, base = False, 18 * polygon
    j = base + 3 * (count - 1)
    for i in range(base, base + 3 * count, 3):
        ax, az, bx, bz = corners[i], corners[i + 2], corners[j], corners[j + 2]
        if (az > z) != (bz > z) and x < (bx - ax) * (z - az) / (bz - az) + ax:
            inside = not inside
        j = i
    return inside


@kernel
def near_segment(px, pz, ax, az, bx, bz):
    """(squared plan distance of p from the segment a b, share of its nearest point)."""
    abx, abz = bx - ax, bz - az
    length2 = abx * abx + abz * abz
    share = abx * (px - ax) + abz * (pz - az)
    if length2 > ZERO:
        share /= length2
    if share < ZERO:
        share = ZERO
    elif share > ONE:
        share = ONE
    dx, dz = ax + share * abx - px, az + share * abz - pz
    return dx * dx + dz * dz, share


@kernel
def nearest_on_ground(table, row, polygon, x, z, border_only):
    """(x, y, z) of the point nearest in the plan on the sides of the polygon's ground pieces."""
    ground, sides = singles(table, row, POLYGON_GROUND), octets(table, row, POLYGON_SIDES)
    heads = ints(table, row, POLYGON_HEADS)
    best, fx, fy, fz = FAR, x, ZERO, z
    for piece in range(heads[HEAD * polygon + 3], heads[HEAD * polygon + HEAD + 3]):
        marks = sides[piece] if border_only else sides[piece] >> 3
        j = 2
        for k in range(3):
            a, b = 9 * piece + 3 * j, 9 * piece + 3 * k
            if (marks >> j) & 1:
                far2, share = near_segment(x, z, ground[a], ground[a + 2], ground[b], ground[b + 2])
                if far2 < best:
                    best = far2
                    fx = ground[a] + (ground[b] - ground[a]) * share
                    fy = ground[a + 1] + (ground[b + 1] - ground[a + 1]) * share
                    fz = ground[a + 2] + (ground[b + 2] - ground[a + 2]) * share
            j = k
    return fx, fy, fz


@kernel
def height_over(table, row, polygon, x, z):
    """(whether the plan point is over the polygon, y of the ground there)."""
    corners, ground = singles(table, row, POLYGON_CORNERS), singles(table, row, POLYGON_GROUND)
    heads = ints(table, row, POLYGON_HEADS)
    if not is_inside(corners, polygon, heads[HEAD * polygon], x, z):
        return False, ZERO
    for piece in range(heads[HEAD * polygon + 3], heads[HEAD * polygon + HEAD + 3]):
        a, b, c = 9 * piece, 9 * piece + 3, 9 * piece + 6
        cx, cy, cz = ground[c] - ground[a], ground[c + 1] - ground[a + 1], ground[c + 2] - ground[a + 2]
        bx, by, bz = ground[b] - ground[a], ground[b + 1] - ground[a + 1], ground[b + 2] - ground[a + 2]
        px, pz = x - ground[a], z - ground[a + 2]
        whole = cx * bz - cz * bx
        if abs(whole) < FLAT:
            continue
        u, v = bz * px - bx * pz, cx * pz - cz * px
        if whole < ZERO:
            whole, u, v = -whole, -u, -v
        if u >= ZERO and v >= ZERO and u + v <= whole:
            return True, ground[a + 1] + (cy * u + by * v) / whole
    _, y, _ = nearest_on_ground(table, row, polygon, x, z, False)
    return True, y


@kernel
def _grid_span(center, half, low, high, scale):
    """(first, last) cell of the search tree's grid that the range center +- half meets."""
    least = min(max(center - half, low), high) - low
    most = min(max(center + half, low), high) - low
    return int(scale * least) & 0xFFFE, int(scale * most + ONE) | 1


@kernel
def _nearest_in_box(table, row, x, y, z, side, height, over_only):
    """(polygon, over it, x, y, z) nearest to a point among polygons whose boxes meet a box around it."""
    boxes, frame = ints(table, row, POLYGON_BOXES), singles(table, row, POLYGON_FRAME)
    found, is_above, fx, fy, fz, best = np.int64(-1), False, x, y, z, FAR
    x0, x1 = _grid_span(x, side, frame[0], frame[3], frame[6])
    y0, y1 = _grid_span(y, height, frame[1], frame[4], frame[6])
    z0, z1 = _grid_span(z, side, frame[2], frame[5], frame[6])
    at = 0
    while at < boxes.shape[0]:
        meets = (
            x0 <= boxes[at + 3]
            and x1 >= boxes[at]
            and y0 <= boxes[at + 4]
            and y1 >= boxes[at + 1]
            and z0 <= boxes[at + 5]
            and z1 >= boxes[at + 2]
        )
        polygon = np.int64(boxes[at + 6])
        if meets and polygon >= 0:
            over, ground = height_over(table, row, polygon, x, z)
            if over:
                cx, cy, cz = x, ground, z
                rise = abs(y - ground) - frame[7]
                cost = rise * rise if rise > ZERO else ZERO
            elif over_only:
                cx, cy, cz, cost = x, y, z, FAR
            else:
                cx, cy, cz = nearest_on_ground(table, row, polygon, x, z, True)
                cost = (x - cx) * (x - cx) + (y - cy) * (y - cy) + (z - cz) * (z - cz)
            if cost < best:
                best, found, is_above, fx, fy, fz = cost, polygon, over, cx, cy, cz
            if best == ZERO and over_only:
                break
        if meets or polygon >= 0:
            at += 7
        else:
            at -= 7 * int(polygon)
    if over_only and best > ZERO:
        found = np.int64(-1)
    return found, is_above, fx, fy, fz


@kernel
def find_polygon(table, row, x, y, z):
    """(polygon, over it, x, y, z) of the nearest point of the polygons; polygon -1 when none is near."""
    frame = singles(table, row, POLYGON_FRAME)
    if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
        return np.int64(-1), False, x, y, z
    if not (
        (x - SNAP_SIDE - frame[8]) / frame[10] < ONE
        and (x + SNAP_SIDE - frame[8]) / frame[10] >= ZERO
        and (z - SNAP_SIDE - frame[9]) / frame[11] < ONE
        and (z + SNAP_SIDE - frame[9]) / frame[11] >= ZERO
    ):
        return np.int64(-1), False, x, y, z
    # nothing is nearer than the first polygon within the climb, and all of those meet a small box
    nearest = _nearest_in_box(table, row, x, y, z, ZERO, frame[7], True)
    if nearest[0] >= 0:
        return nearest
    return _nearest_in_box(table, row, x, y, z, SNAP_SIDE, SNAP_HEIGHT, False)


@kernel
def triangle_under(table, row, polygon, x, z):
    """The triangle of the polygon that contains the plan point, or the nearest one."""
    corners, heads = floats(table, row, CORNERS), ints(table, row, POLYGON_HEADS)
    best, found = np.inf, np.int64(heads[HEAD * polygon + 2])
    for t in range(heads[HEAD * polygon + 2], heads[HEAD * polygon + HEAD + 2]):
        if is_over(corners, t, x, z):
            return np.int64(t)
        bx, bz = nearest_on_border(corners, t, x, z)
        far2 = (bx - x) ** 2 + (bz - z) ** 2
        if far2 < best:
            best, found = far2, np.int64(t)
    return found


@kernel
def snap_to_polygons(table, row, px, py, pz):
    """(triangle, x, y, z) of the nearest point of the polygons; triangle -1 and NaN when none is near."""
    polygon, over, x, y, z = find_polygon(table, row, np.float32(px), np.float32(py), np.float32(pz))
    if polygon < 0:
        return np.int64(-1), np.nan, np.nan, np.nan
    if over:  # the point itself, not rounded
        return triangle_under(table, row, polygon, px, pz), px, np.float64(y), pz
    fx, fy, fz = np.float64(x), np.float64(y), np.float64(z)
    return triangle_under(table, row, polygon, fx, fz), fx, fy, fz


@kernel
def _slide(table, row, polygon, sx, sy, sz, ex, ey, ez, scratch):
    """(node, x, y, z): where a step from s on `polygon` that may slide ends; node -1 when nowhere.

    scratch: (3 MAX_NODES,) int32, written: the polygon of each node, the node it was entered from
    (-2: not entered), and the nodes in the order of entry.
    """
    corners, links = singles(table, row, POLYGON_CORNERS), ints(table, row, POLYGON_LINKS)
    heads = ints(table, row, POLYGON_HEADS)
    parents, queue = scratch[MAX_NODES : 2 * MAX_NODES], scratch[2 * MAX_NODES : 3 * MAX_NODES]
    mx, mz = sx + (ex - sx) * HALF, sz + (ez - sz) * HALF
    length2 = (ex - sx) * (ex - sx) + (ey - sy) * (ey - sy) + (ez - sz) * (ez - sz)
    reach = np.sqrt(length2) / TWO + REACH_SLACK
    best, found, fx, fy, fz = FAR, np.int64(-1), sx, sy, sz
    scratch[0], parents[0], queue[0] = polygon, -1, 0
    nodes, first, last = 1, 0, 1
    while first < last:
        node = np.int64(queue[first])
        first += 1
        here = np.int64(scratch[node])
        count = heads[HEAD * here]
        if is_inside(corners, here, count, ex, ez):
            return node, ex, ey, ez
        j = count - 1
        for i in range(count):
            a, b, there = 18 * here + 3 * j, 18 * here + 3 * i, links[6 * here + j]
            j = i
            ax, az, bx, bz = corners[a], corners[a + 2], corners[b], corners[b + 2]
            if there < 0:
                far2, share = near_segment(ex, ez, ax, az, bx, bz)
                if far2 < best:
                    best, found = far2, node
                    fx, fz = ax + (bx - ax) * share, az + (bz - az) * share
                    fy = corners[a + 1] + (corners[b + 1] - corners[a + 1]) * share
                continue
            other = 0
            while other < nodes and scratch[other] != there:
                other += 1
            if other == nodes:
                if nodes == MAX_NODES:
                    continue
                scratch[nodes], parents[nodes] = there, -2
                nodes += 1
            if parents[other] == -2 and near_segment(mx, mz, ax, az, bx, bz)[0] <= reach * reach:
                if last - first < MAX_PENDING:
                    parents[other], queue[last] = node, other
                    last += 1
    return found, fx, fy, fz


@kernel
def _cut(table, row, path, sx, sz, ex, ez):
    """(whether a border is met, x, y, z): where the line s e meets a border of the polygons of `path`.

    Where it meets several, the one nearest to e counts. path: polygons.
    """
    corners, links = singles(table, row, POLYGON_CORNERS), ints(table, row, POLYGON_LINKS)
    heads = ints(table, row, POLYGON_HEADS)
    best, met, fx, fy, fz = FAR, False, sx, ZERO, sz
    vx, vz = ex - sx, ez - sz
    for polygon in path:
        count = heads[HEAD * polygon]
        j = count - 1
        for i in range(count):
            a, b, there = 18 * polygon + 3 * j, 18 * polygon + 3 * i, links[6 * polygon + j]
            j = i
            if there >= 0:
                continue
            ax, ay, az = corners[a], corners[a + 1], corners[a + 2]
            ux, uy, uz = corners[b] - ax, corners[b + 1] - ay, corners[b + 2] - az
            wx, wz = ax - sx, az - sz
            whole = ux * vz - uz * vx
            if abs(whole) < FLAT:
                continue
            share, along = (vx * wz - vz * wx) / whole, (ux * wz - uz * wx) / whole
            if not (ZERO <= share <= ONE and ZERO <= along <= ONE):
                continue
            x, z = ax + ux * share, az + uz * share
            far2 = (ex - x) * (ex - x) + (ez - z) * (ez - z)
            if far2 < best:
                best, met, fx, fy, fz = far2, True, x, ay + uy * share, z
    return met, fx, fy, fz


@kernel
def step_on_polygons(table, row, px, py, pz, qx, qy, qz, slides, scratch):
    """(triangle, x, y, z) after a step from p towards q; triangle -1 where it stays.

    A step that does not slide is first made with sliding; then the straight line is cut at a border of the
    polygons that the sliding step went through. Where it meets none, the end of the sliding step holds.
    """
    heads, corners = ints(table, row, POLYGON_HEADS), singles(table, row, POLYGON_CORNERS)
    stay = np.int64(-1), px, py, pz
    ex, ey, ez = np.float32(qx), np.float32(qy), np.float32(qz)
    start, _, sx, sy, sz = find_polygon(table, row, np.float32(px), np.float32(py), np.float32(pz))
    if start < 0:
        return stay
    island = heads[HEAD * start + 1]
    aim = find_polygon(table, row, ex, ey, ez)[0]
    if aim < 0 or heads[HEAD * aim + 1] != island:
        return stay
    node, x, y, z = _slide(table, row, start, sx, sy, sz, ex, ey, ez, scratch)
    if node < 0:
        return stay
    polygon, first = np.int64(scratch[node]), MAX_NODES
    if not slides:
        while node >= 0:  # the order of entry is no longer needed
            first -= 1
            scratch[2 * MAX_NODES + first] = scratch[node]
            node = np.int64(scratch[MAX_NODES + node])
        met, cx, cy, cz = _cut(table, row, scratch[2 * MAX_NODES + first : 3 * MAX_NODES], sx, sz, ex, ez)
        if met:
            x, y, z = cx, cy, cz
    over, ground = height_over(table, row, polygon, x, z)
    if over:
        y = ground
    again = find_polygon(table, row, x, y, z)[0]  # where the next step begins
    if again < 0 or heads[HEAD * again + 1] != island:
        count, ax, ay, az = heads[HEAD * polygon], ZERO, ZERO, ZERO
        for i in range(18 * polygon, 18 * polygon + 3 * count, 3):
            ax, ay, az = ax + corners[i], ay + corners[i + 1], az + corners[i + 2]
        size = np.float32(count)
        ax, ay, az = ax / size - x, ay / size - y, az / size - z
        inverse = ONE / np.sqrt(ax * ax + ay * ay + az * az)
        x, y, z = x + NUDGE * (ax * inverse), y + NUDGE * (ay * inverse), z + NUDGE * (az * inverse)
        again = polygon
    fx, fy, fz = np.float64(x), np.float64(y), np.float64(z)
    return triangle_under(table, row, again, fx, fz), fx, fy, fz
