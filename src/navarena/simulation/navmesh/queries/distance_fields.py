# mypy: disable-error-code="no-untyped-def, assignment"
"""Kernels of distance fields: exact distances to fixed goals from many points.

A field spreads windows (see `windows`) from its goals over the navmesh, nearest first, and keeps
them by triangle. The distance of a point is the least over the windows into its own triangle once
no unopened window can bring a shorter path; so the first question pays for the ball between goal
and point, later ones from nearby cost a few dozen nanoseconds. Answers do not depend on what was
asked before: windows are opened in one order, whoever asks.
"""

import numpy as np

from navarena.core.kernels import kernel
from navarena.simulation.navmesh.queries.mesh_arrays import ISLANDS, floats, ints, longs
from navarena.simulation.navmesh.queries.plan_geometry import segment_share, wrap3
from navarena.simulation.navmesh.queries.point_queries import snap
from navarena.simulation.navmesh.queries.search_arrays import (
    COUNT_QUEUE,
    COUNT_ROOTS,
    COUNT_SEARCHES,
    COUNT_WINDOWS,
    FIRST_SLOT,
    PER_WINDOW,
    ROOTS,
    begin_search,
    finish_through,
    heap_drop,
    is_overtaken,
    leave_triangle,
    queue_window,
    state_arrays,
    view_mesh,
    view_state,
    write_end,
    write_source,
    write_turn,
    write_turns,
)
from navarena.simulation.navmesh.queries.windows import LEFT_ROOT, SAME_ROOT, find_successors, open_triangle

HEADS, NEXTS, SOURCES = np.int64(10), np.int64(11), np.int64(12)
"""Slots of a field after those of a state: (T,) int32 last window into each triangle or -1,
(C,) int32 the window before it in the same triangle, (1,) int64 number of sources."""


FIELD_SLOTS = 13


def field_arrays(capacity: int, vertex_count: int, triangle_count: int) -> tuple[np.ndarray, ...]:
    """The (n,) float64 and int32 arrays of a fresh field, in the order in which kernels view them."""
    return (
        *state_arrays(capacity, vertex_count),
        np.full(triangle_count, -1, np.int32),
        np.full(capacity, -1, np.int32),
        np.zeros(1, np.int64),
    )


@kernel
def _spread(table, row, fields, slot, half, left, right, root):
    """Store and queue the windows behind a window, or (half -1) around the source `root`."""
    corners, links, triangles, vertices, turnable, _ = view_mesh(table, row)
    state = view_state(fields, slot)
    windows, tags, roots, root_tags, keys, queue, reached, stamps, candidates, counts = state
    heads, nexts = ints(fields, slot, HEADS), ints(fields, slot, NEXTS)
    search = np.int32(counts[COUNT_SEARCHES])
    if half < 0:
        here, k = -1 - root_tags[2 * root], 0
        found = open_triangle(candidates)
    else:
        here = half // 3
        k = half - 3 * here
        found = find_successors(
            corners,
            half,
            left,
            right,
            roots[5 * root],
            roots[5 * root + 2],
            left == 0.0 and turnable[triangles[half]] == 1,
            right == 1.0 and turnable[triangles[3 * here + wrap3(k + 1)]] == 1,
            candidates,
        )
    left_root, right_root = -2, -2
    for c in range(found):
        next_half, lx, lz, ex, ez = leave_triangle(corners, links, candidates, c, here, k)
        if next_half < 0:
            continue
        there = next_half // 3
        kind = int(candidates[4 * c + 3])
        new_root = root
        if kind == SAME_ROOT:
            if root_tags[2 * root] == -1 - there:
                continue
        else:
            new_root = left_root if kind == LEFT_ROOT else right_root
            if new_root == -2:
                vertex = triangles[half] if kind == LEFT_ROOT else triangles[3 * here + wrap3(k + 1)]
                fresh, new_root = counts[COUNT_ROOTS], -1
                if write_turn(vertices, roots, root_tags, reached, stamps, search, fresh, vertex, root):
                    new_root = fresh
                    counts[COUNT_ROOTS] += 1
                if kind == LEFT_ROOT:
                    left_root = new_root
                else:
                    right_root = new_root
            if new_root < 0:
                continue
        rx, rz = roots[5 * new_root], roots[5 * new_root + 2]
        share = segment_share(lx, lz, ex, ez, rx, rz)
        nx, nz = lx + share * (ex - lx) - rx, lz + share * (ez - lz) - rz
        key = roots[5 * new_root + 3] + np.sqrt(nx * nx + nz * nz)
        window, waiting = counts[COUNT_WINDOWS], counts[COUNT_QUEUE]
        nexts[window], heads[there] = heads[there], window
        next_left, next_right = candidates[4 * c + 1], candidates[4 * c + 2]
        queue_window(
            windows, tags, keys, queue, window, waiting, next_half, next_left, next_right, new_root, key
        )
        counts[COUNT_WINDOWS] += 1
        counts[COUNT_QUEUE] += 1


@kernel
def _open_next(table, row, fields, slot):
    """Open the first window of the queue, which must hold one."""
    windows, tags, roots, root_tags, keys, queue, reached, _, _, counts = view_state(fields, slot)
    w = queue[0]
    heap_drop(keys, queue, counts[COUNT_QUEUE])
    counts[COUNT_QUEUE] -= 1
    root = np.int64(tags[2 * w + 1])
    if not is_overtaken(roots, root_tags, reached, root):
        _spread(table, row, fields, slot, np.int64(tags[2 * w]), windows[2 * w], windows[2 * w + 1], root)


@kernel
def start_field(table, row, fields, slot, triangles, points):
    """Empty the field and plant a source at each point (G, 3) in its triangle (-1 = left out)."""
    _, _, roots, root_tags, _, _, _, stamps, _, counts = view_state(fields, slot)
    ints(fields, slot, HEADS)[:] = -1
    counts[COUNT_WINDOWS], counts[COUNT_ROOTS], counts[COUNT_QUEUE] = 0, 0, 0
    begin_search(stamps, counts)
    for g in range(points.shape[0]):
        if triangles[g] >= 0:
            root = counts[COUNT_ROOTS]
            write_source(
                roots, root_tags, root, np.int64(triangles[g]), points[g, 0], points[g, 1], points[g, 2]
            )
            counts[COUNT_ROOTS] += 1
    sources = counts[COUNT_ROOTS]
    longs(fields, slot, SOURCES)[0] = sources
    for root in range(sources):
        _spread(table, row, fields, slot, np.int64(-1), 0.0, 1.0, np.int64(root))


@kernel
def ask_field(table, row, fields, slot, t, px, py, pz, bound):
    """Shortest path from p in triangle t to the sources, if its plan length is below `bound`.

    Returns:
        (status ok, plan length, 3-D length, root, half, via); ok is False when the field is too
        small to go on, root is -1 when there is no path below the bound.
    """
    corners, _, triangles, vertices, _, _ = view_mesh(table, row)
    windows, tags, roots, root_tags, keys, _, _, _, _, counts = view_state(fields, slot)
    heads, nexts = ints(fields, slot, HEADS), ints(fields, slot, NEXTS)
    room = keys.shape[0] - PER_WINDOW
    best, best_full, best_root, best_half, best_via = bound, np.inf, -1, -1, SAME_ROOT
    for root in range(longs(fields, slot, SOURCES)[0]):
        if root_tags[2 * root] == -1 - t:
            i = 5 * root
            flat2 = (roots[i] - px) ** 2 + (roots[i + 2] - pz) ** 2
            if np.sqrt(flat2) < best:
                best, best_full = np.sqrt(flat2), np.sqrt(flat2 + (roots[i + 1] - py) ** 2)
                best_root, best_half, best_via = root, -1, SAME_ROOT
    seen = np.int32(-1)
    while True:
        w = heads[t]
        while w != seen:
            root = np.int64(tags[2 * w + 1])
            plan, full, via = finish_through(
                corners,
                triangles,
                vertices,
                roots,
                np.int64(tags[2 * w]),
                windows[2 * w],
                windows[2 * w + 1],
                root,
                px,
                py,
                pz,
            )
            if plan < best:
                best, best_full, best_root, best_half, best_via = plan, full, root, tags[2 * w], via
            w = nexts[w]
        seen = heads[t]
        if counts[COUNT_QUEUE] == 0 or keys[0] >= best:
            return True, best, best_full, best_root, best_half, best_via
        if counts[COUNT_WINDOWS] > room or counts[COUNT_ROOTS] > room:
            return False, best, best_full, best_root, best_half, best_via
        _open_next(table, row, fields, slot)


@kernel
def ask_point(table, fields, slot, px, py, pz):
    """(status ok, 3-D length, root, half, via) of the shortest path from p; see `ask_field`.

    Row `slot` of both tables is asked. The length is infinite where there is no path.
    """
    t, x, _, z = snap(table, slot, px, py, pz)
    if t < 0:
        return True, np.inf, np.int64(-1), np.int64(-1), SAME_ROOT
    ok, _, full, root, half, via = ask_field(table, slot, fields, slot, np.int64(t), x, py, z, np.inf)
    return ok, full, np.int64(root), np.int64(half), via


@kernel
def ask_fields(table, fields, slots, points, lengths, corners_ahead):
    """Distance and next corner on the path for each point (N, 3) whose length is still negative.

    Row i of the mesh table belongs to slot i. The next corner is where the path from the point
    first turns, or the goal; NaN where there is no path.

    Returns:
        The first row whose field is too small, N when all are done.
    """
    for i in range(points.shape[0]):
        if lengths[i] >= 0.0:
            continue
        slot = slots[i]
        corners_ahead[i, 0], corners_ahead[i, 1], corners_ahead[i, 2] = np.nan, np.nan, np.nan
        ok, full, root, half, via = ask_point(table, fields, slot, points[i, 0], points[i, 1], points[i, 2])
        if not ok:
            return i
        lengths[i] = full
        if root < 0:
            continue
        if via == SAME_ROOT:
            roots = floats(fields, slot, ROOTS)
            for axis in range(3):
                corners_ahead[i, axis] = roots[5 * root + axis]
        else:
            write_end(table, slot, half, via, corners_ahead[i])
    return points.shape[0]


@kernel
def trace_field(table, fields, slot, px, py, pz, points):
    """Write the points of the shortest path from p to the nearest source into `points`, metres.

    Row `slot` of both tables is asked.

    Returns:
        How many: 0 without a path, -1 when the field is too small.
    """
    ok, _, root, half, via = ask_point(table, fields, slot, px, py, pz)
    if not ok:
        return -1
    if root < 0:
        return 0
    points[0, 0], points[0, 1], points[0, 2] = px, py, pz
    return write_turns(table, slot, fields, slot, root, half, via, points)


@kernel
def search_nearest(table, row, fields, start, goals, goal_triangles, lengths):
    """Length to the nearest goal (G, 3) for each start (N, 3) whose length is still negative.

    A field spreads from the start until it has met the nearest goal; the cost does not grow with
    the number of goals beyond looking at each once.

    Returns:
        The first start whose field was too small, N when all are done.
    """
    islands = ints(table, row, ISLANDS)
    point, triangle = np.zeros((1, 3)), np.zeros(1, np.int32)
    for i in range(start.shape[0]):
        if lengths[i] >= 0.0:
            continue
        py = start[i, 1]
        t, x, _, z = snap(table, row, start[i, 0], py, start[i, 2])
        best, best_full = np.inf, np.inf
        if t >= 0:
            point[0, 0], point[0, 1], point[0, 2], triangle[0] = x, py, z, t
            start_field(table, row, fields, FIRST_SLOT, triangle, point)
            nearest, nearest2 = 0, np.inf
            for g in range(goals.shape[0]):
                far2 = (goals[g, 0] - x) ** 2 + (goals[g, 2] - z) ** 2
                if far2 < nearest2:
                    nearest, nearest2 = g, far2
            for n in range(goals.shape[0]):  # the nearest in a straight line first: it bounds the others
                g = (nearest + n) % goals.shape[0]
                goal = np.int64(goal_triangles[g])
                if goal < 0 or islands[goal] != islands[t]:
                    continue
                gx, gy, gz = goals[g, 0], goals[g, 1], goals[g, 2]
                if (gx - x) ** 2 + (gz - z) ** 2 >= best * best:
                    continue
                ok, plan, full, root, _, _ = ask_field(table, row, fields, FIRST_SLOT, goal, gx, gy, gz, best)
                if not ok:
                    return i
                if root >= 0:
                    best, best_full = plan, full
        lengths[i] = best_full
    return start.shape[0]
