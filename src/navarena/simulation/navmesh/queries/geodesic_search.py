# mypy: disable-error-code="no-untyped-def, assignment"
"""Kernels of the shortest path between two points of one navmesh.

Searches run from the goal to the start, so that a distance equals that of the goal's field (see
`distance_fields`) to the last bits. Among all paths the one that is shortest in the plan counts; its length
is the sum of its straight 3-D segments, and its end points keep the heights they were asked for.
"""

import numpy as np

from navarena.core.kernels import kernel
from navarena.simulation.navmesh.queries.mesh_arrays import ISLANDS, ints
from navarena.simulation.navmesh.queries.plan_geometry import wrap3
from navarena.simulation.navmesh.queries.point_queries import snap
from navarena.simulation.navmesh.queries.search_arrays import (
    FIRST_SLOT,
    PER_WINDOW,
    begin_search,
    finish_through,
    heap_drop,
    is_overtaken,
    leave_triangle,
    queue_window,
    view_mesh,
    view_state,
    write_source,
    write_turn,
    write_turns,
)
from navarena.simulation.navmesh.queries.windows import (
    LEFT_ROOT,
    SAME_ROOT,
    find_successors,
    open_triangle,
    plan_reach,
)

FOUND, FULL, UNREACHABLE = 0, 1, 2
"""Results of a search; FULL asks for another try with a larger state."""


@kernel
def search_path(table, row, states, slot, st, sx, sy, sz, tt, tx, ty, tz):
    """Shortest path from the source s in triangle st to the target t in triangle tt.

    Returns:
        (status, 3-D length, root, half, via): the last root of the path, and the half-edge and end
        (see finish_through) by which the path enters the target's triangle.
    """
    corners, links, triangles, vertices, turnable, branches = view_mesh(table, row)
    state = view_state(states, slot)
    windows, tags, roots, root_tags, keys, queue, reached, stamps, candidates, counts = state
    search = begin_search(stamps, counts)
    room = keys.shape[0] - PER_WINDOW
    window_count, root_count, queue_count, first_root = np.int64(0), np.int64(1), np.int64(0), np.int64(0)
    target_branch = branches[2 * tt]

    write_source(roots, root_tags, first_root, np.int64(st), sx, sy, sz)
    if st == tt:
        return FOUND, np.sqrt((sx - tx) ** 2 + (sy - ty) ** 2 + (sz - tz) ** 2), 0, -1, SAME_ROOT
    best, best_full, best_root, best_half, best_via = np.inf, np.inf, -1, -1, SAME_ROOT
    half, left, right, root = np.int64(-1), 0.0, 1.0, first_root
    here, k = st, 0
    found = open_triangle(candidates)
    while True:
        # the candidate with the least bound goes on at once, the others wait in the queue
        ahead, ahead_half, ahead_left, ahead_right, ahead_root = np.inf, -1, 0.0, 1.0, first_root
        left_root, right_root = -2, -2
        for c in range(found):
            next_half, lx, lz, ex, ez = leave_triangle(corners, links, candidates, c, here, k)
            if next_half < 0:
                continue
            there = next_half // 3
            first, last = branches[2 * there], branches[2 * there + 1]
            if first >= 0 and not (first <= target_branch < last or first <= branches[2 * here] < last):
                continue  # a dead end without the target
            next_left, next_right = candidates[4 * c + 1], candidates[4 * c + 2]
            kind = int(candidates[4 * c + 3])
            new_root = root
            if kind == SAME_ROOT:
                if root_tags[2 * root] == -1 - there:
                    continue  # a source has seen all of its own triangle
            else:
                new_root = left_root if kind == LEFT_ROOT else right_root
                if new_root == -2:
                    vertex = triangles[half] if kind == LEFT_ROOT else triangles[3 * here + wrap3(k + 1)]
                    new_root = -1
                    if write_turn(
                        vertices, roots, root_tags, reached, stamps, search, root_count, vertex, root
                    ):
                        new_root = root_count
                        root_count += 1
                    if kind == LEFT_ROOT:
                        left_root = new_root
                    else:
                        right_root = new_root
                if new_root < 0:
                    continue

            if there == tt:
                plan, full, via = finish_through(
                    corners,
                    triangles,
                    vertices,
                    roots,
                    next_half,
                    next_left,
                    next_right,
                    new_root,
                    tx,
                    ty,
                    tz,
                )
                if plan < best:
                    best, best_full, best_root, best_half, best_via = plan, full, new_root, next_half, via
                continue
            r = 5 * new_root
            key = roots[r + 3] + plan_reach(roots[r], roots[r + 2], lx, lz, ex, ez, tx, tz)
            if key >= best:
                continue
            if key < ahead:
                key, ahead = ahead, key
                next_half, ahead_half = ahead_half, next_half
                next_left, ahead_left = ahead_left, next_left
                next_right, ahead_right = ahead_right, next_right
                new_root, ahead_root = ahead_root, new_root
            if next_half >= 0:
                queue_window(
                    windows,
                    tags,
                    keys,
                    queue,
                    window_count,
                    queue_count,
                    next_half,
                    next_left,
                    next_right,
                    new_root,
                    key,
                )
                window_count += 1
                queue_count += 1

        if root_count > room or window_count > room:
            return FULL, np.inf, -1, -1, SAME_ROOT
        if ahead < best and (queue_count == 0 or ahead <= keys[0]):
            half, left, right, root = ahead_half, ahead_left, ahead_right, ahead_root
        else:
            if ahead < best:
                queue_window(
                    windows,
                    tags,
                    keys,
                    queue,
                    window_count,
                    queue_count,
                    ahead_half,
                    ahead_left,
                    ahead_right,
                    ahead_root,
                    ahead,
                )
                window_count += 1
                queue_count += 1
            half = -1
            while half < 0 and queue_count > 0 and keys[0] < best:
                w = queue[0]
                heap_drop(keys, queue, queue_count)
                queue_count -= 1
                root = np.int64(tags[2 * w + 1])
                if not is_overtaken(roots, root_tags, reached, root):
                    half, left, right = np.int64(tags[2 * w]), windows[2 * w], windows[2 * w + 1]
            if half < 0:
                break
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
    status = FOUND if best_root >= 0 else UNREACHABLE
    return status, best_full, best_root, best_half, best_via


@kernel
def search_pairs(table, meshes, states, start, goal, lengths):
    """Path length for each pair (N, 3) whose length is still negative; inf where there is no path.

    Returns:
        The first pair for which the state was too small, N when all are done.
    """
    for i in range(start.shape[0]):
        if lengths[i] >= 0.0:
            continue
        row = meshes[i]
        islands = ints(table, row, ISLANDS)
        a, ax, _, az = snap(table, row, start[i, 0], start[i, 1], start[i, 2])
        b, bx, _, bz = snap(table, row, goal[i, 0], goal[i, 1], goal[i, 2])
        if a < 0 or b < 0 or islands[a] != islands[b]:
            lengths[i] = np.inf
            continue
        status, length, _, _, _ = search_path(
            table, row, states, FIRST_SLOT, b, bx, goal[i, 1], bz, a, ax, start[i, 1], az
        )
        if status == FULL:
            return i
        lengths[i] = length
    return start.shape[0]


@kernel
def trace_path(table, row, states, ends, points):
    """Write the points of the path between the two rows of `ends` (2, 3), metres.

    Returns:
        How many: 0 without a path, -1 when the state was too small.
    """
    islands = ints(table, row, ISLANDS)
    a, ax, _, az = snap(table, row, ends[0, 0], ends[0, 1], ends[0, 2])
    b, bx, _, bz = snap(table, row, ends[1, 0], ends[1, 1], ends[1, 2])
    if a < 0 or b < 0 or islands[a] != islands[b]:
        return 0
    status, _, root, half, via = search_path(
        table, row, states, FIRST_SLOT, b, bx, ends[1, 1], bz, a, ax, ends[0, 1], az
    )
    if status == FULL:
        return -1
    if status == UNREACHABLE:
        return 0
    points[0, 0], points[0, 1], points[0, 2] = ax, ends[0, 1], az
    return write_turns(table, row, states, FIRST_SLOT, np.int64(root), np.int64(half), via, points)
