# mypy: disable-error-code="no-untyped-def"
"""Windows: intervals of edges through which shortest paths pass, and their successors.

The method is Polyanya (Cui, Harabor, Grastien: Compromise-free Pathfinding on a Navigation Mesh,
IJCAI 2017) on triangles. A window is a stretch of a half-edge that is seen from a root through the
triangles crossed so far. A shortest path is straight between roots, and roots are reflex border
vertices; following windows in the order of a lower bound on the path length finds exact shortest
paths in the plan. The length of a path is the sum of its straight 3-D segments.
"""

import numpy as np

from navarena.core.kernels import kernel
from navarena.simulation.navmesh.queries.plan_geometry import TOUCH, is_on_line, segment_share, turn, wrap3

SAME_ROOT, LEFT_ROOT, RIGHT_ROOT = np.int64(0), np.int64(1), np.int64(2)
"""From where a stretch is seen: the window's own root, its left end, its right end."""

LEFT_SIDE, RIGHT_SIDE = np.int64(2), np.int64(1)
"""Steps from the entered half-edge to the sides c a and b c of its triangle. (The constants are NumPy
integers since Numba compiles a kernel anew for every literal Python integer.)"""


@kernel
def bend_of(rx, rz, lx, lz, ex, ez, tx, tz):
    """Whether the path from root r to t passes straight through the window l..e or bends at an end.

    SAME_ROOT: straight; LEFT_ROOT, RIGHT_ROOT: round that end. A root on the window's own line
    sees everything beyond if it stands inside the window, else the path bends at the end it stands
    before; signs of areas say nothing there.
    """
    if is_on_line(lx, lz, ex, ez, rx, rz):
        along = (rx - lx) * (ex - lx) + (rz - lz) * (ez - lz)
        whole = (ex - lx) * (ex - lx) + (ez - lz) * (ez - lz)
        if along < 0.0:
            return LEFT_ROOT
        return RIGHT_ROOT if along > whole else SAME_ROOT
    if turn(rx, rz, lx, lz, tx, tz) > 0.0:
        return LEFT_ROOT
    return RIGHT_ROOT if turn(rx, rz, ex, ez, tx, tz) < 0.0 else SAME_ROOT


@kernel
def plan_reach(rx, rz, lx, lz, ex, ez, tx, tz):
    """Least plan length from root r through the window l..e (left, right) to the point t.

    A target on the root's side is mirrored at the window, which keeps the bound valid.
    """
    dx, dz = ex - lx, ez - lz
    side = turn(lx, lz, ex, ez, tx, tz)
    if side < 0.0:  # `side` is the length of the window times the distance to its left
        shift = 2.0 * side / (dx * dx + dz * dz)
        tx -= shift * dz
        tz += shift * dx
    bend = bend_of(rx, rz, lx, lz, ex, ez, tx, tz)
    if bend == SAME_ROOT:
        return np.sqrt((tx - rx) ** 2 + (tz - rz) ** 2)
    bx, bz = (lx, lz) if bend == LEFT_ROOT else (ex, ez)
    return np.sqrt((bx - rx) ** 2 + (bz - rz) ** 2) + np.sqrt((tx - bx) ** 2 + (tz - bz) ** 2)


@kernel
def _crossing(ox, oz, px, pz, ax, az, bx, bz):
    """Share along a b at which the line o p crosses it, clamped to [0, 1], ends made exact."""
    at_a, at_b = turn(ox, oz, px, pz, ax, az), turn(ox, oz, px, pz, bx, bz)
    whole = at_a - at_b
    if whole == 0.0:
        return 0.0
    share = at_a / whole
    slack = TOUCH / (abs(bx - ax) + abs(bz - az) + 1e-300)
    if share < slack:
        return 0.0
    if share > 1.0 - slack:
        return 1.0
    return share


@kernel
def _offer(candidates, count, edge_step, left, right, root):
    """Note a candidate window: which side of the triangle it leaves by, its stretch, its root."""
    candidates[4 * count] = edge_step
    candidates[4 * count + 1] = left
    candidates[4 * count + 2] = right
    candidates[4 * count + 3] = root
    return count + 1


@kernel
def find_successors(corners, half, left, right, rx, rz, turns_left, turns_right, candidates):
    """Candidates beyond the triangle that half-edge `half` enters, seen from r through [left, right].

    The half-edge runs from a (its left end, share 0) to b (its right end, share 1); c is the third
    corner. turns_left and turns_right state whether the window's left (right) end is a vertex where
    paths turn. A candidate is four numbers: the side it leaves by (LEFT_SIDE or RIGHT_SIDE), its
    stretch in shares of that side from a to c or from c to b (left end first again), and its root.
    Returns the number of candidates.
    """
    first = 3 * (half // 3)
    k = half - first
    i, j, m = 2 * half, 2 * (first + wrap3(k + 1)), 2 * (first + wrap3(k + 2))
    ax, az, bx, bz, cx, cz = (
        corners[i],
        corners[i + 1],
        corners[j],
        corners[j + 1],
        corners[m],
        corners[m + 1],
    )
    count = np.int64(0)
    if (ax - rx) ** 2 + (az - rz) ** 2 <= TOUCH * TOUCH:  # turning left about a
        count = _offer(candidates, count, LEFT_SIDE, 0.0, 1.0, SAME_ROOT)
        return _offer(candidates, count, RIGHT_SIDE, 0.0, 1.0, SAME_ROOT)
    if (bx - rx) ** 2 + (bz - rz) ** 2 <= TOUCH * TOUCH:  # turning right about b
        count = _offer(candidates, count, RIGHT_SIDE, 0.0, 1.0, SAME_ROOT)
        return _offer(candidates, count, LEFT_SIDE, 0.0, 1.0, SAME_ROOT)
    if is_on_line(ax, az, bx, bz, rx, rz) and 0.0 < segment_share(ax, az, bx, bz, rx, rz) < 1.0:
        count = _offer(candidates, count, LEFT_SIDE, 0.0, 1.0, SAME_ROOT)
        return _offer(candidates, count, RIGHT_SIDE, 0.0, 1.0, SAME_ROOT)

    lx, lz = ax + left * (bx - ax), az + left * (bz - az)
    ex, ez = ax + right * (bx - ax), az + right * (bz - az)
    c_left = turn(rx, rz, lx, lz, cx, cz)
    c_right = turn(rx, rz, ex, ez, cx, cz)
    slack_left = TOUCH * TOUCH * ((lx - rx) ** 2 + (lz - rz) ** 2)
    slack_right = TOUCH * TOUCH * ((ex - rx) ** 2 + (ez - rz) ** 2)
    if c_left * c_left <= slack_left:
        c_left = 0.0
    if c_right * c_right <= slack_right:
        c_right = 0.0

    if c_left > 0.0:  # c lies left of what is seen: all of it on c b
        hit = _crossing(rx, rz, lx, lz, cx, cz, bx, bz)
        if turns_left:
            count = _offer(candidates, count, LEFT_SIDE, 0.0, 1.0, LEFT_ROOT)
            count = _offer(candidates, count, RIGHT_SIDE, 0.0, hit, LEFT_ROOT)
        end = _crossing(rx, rz, ex, ez, cx, cz, bx, bz)
        count = _offer(candidates, count, RIGHT_SIDE, hit, end, SAME_ROOT)
        if turns_right:
            count = _offer(candidates, count, RIGHT_SIDE, end, 1.0, RIGHT_ROOT)
    elif c_right < 0.0:  # c lies right of what is seen: all of it on a c
        hit = _crossing(rx, rz, ex, ez, ax, az, cx, cz)
        if turns_right:
            count = _offer(candidates, count, RIGHT_SIDE, 0.0, 1.0, RIGHT_ROOT)
            count = _offer(candidates, count, LEFT_SIDE, hit, 1.0, RIGHT_ROOT)
        end = _crossing(rx, rz, lx, lz, ax, az, cx, cz)
        count = _offer(candidates, count, LEFT_SIDE, end, hit, SAME_ROOT)
        if turns_left:
            count = _offer(candidates, count, LEFT_SIDE, 0.0, end, LEFT_ROOT)
    else:  # c is seen: both sides
        hit = 1.0 if c_left == 0.0 else _crossing(rx, rz, lx, lz, ax, az, cx, cz)
        end = 0.0 if c_right == 0.0 else _crossing(rx, rz, ex, ez, cx, cz, bx, bz)
        count = _offer(candidates, count, LEFT_SIDE, hit, 1.0, SAME_ROOT)
        count = _offer(candidates, count, RIGHT_SIDE, 0.0, end, SAME_ROOT)
        if turns_left:
            count = _offer(candidates, count, LEFT_SIDE, 0.0, hit, LEFT_ROOT)
        if turns_right:
            count = _offer(candidates, count, RIGHT_SIDE, end, 1.0, RIGHT_ROOT)
    return count


@kernel
def open_triangle(candidates):
    """Candidates of a source: the three sides of its own triangle, whole; returns their number."""
    for side in range(3):
        i = 4 * side
        candidates[i], candidates[i + 1], candidates[i + 2], candidates[i + 3] = side, 0.0, 1.0, SAME_ROOT
    return 3
