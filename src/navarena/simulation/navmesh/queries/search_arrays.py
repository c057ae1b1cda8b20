# mypy: disable-error-code="no-untyped-def"
"""Arrays of the state of a search: windows, the roots they are seen from, and a queue of windows.

A state is one row of an address table (capacity C windows and roots, V vertices), so that states
of different sizes serve one native call. Kernels take the arrays they need one by one and keep the
counts in local variables: named tuples of arrays cost a factor of two to four here.

windows: (2 C,) float64, left and right share of a window's half-edge.
tags: (2 C,) int32, a window's half-edge and root.
roots: (5 C,) float64, x, y, z, plan length and 3-D length of the path from the source to a root.
root_tags: (2 C,) int32, vertex of a root (or -1 - triangle for a source) and the root before it.
keys: (C,) float64 and queue: (C,) int32, binary heap of windows by lower bound.
reached: (V,) float64 and stamps: (V,) int32, least plan length at which a vertex became a root, and
    the search in which it did.
candidates: (24,) float64, see windows.find_successors.
counts: (4,) int64, windows, roots and queue between calls, and the number of the search.
"""

import numpy as np

from navarena.core.kernels import kernel
from navarena.simulation.navmesh.queries.mesh_arrays import (
    BRANCHES,
    CORNERS,
    LINKS,
    TRIANGLES,
    TURNABLE,
    VERTICES,
    floats,
    ints,
    longs,
    octets,
)
from navarena.simulation.navmesh.queries.plan_geometry import TOUCH, wrap3
from navarena.simulation.navmesh.queries.windows import LEFT_ROOT, SAME_ROOT, bend_of

ROOTS, ROOT_TAGS = np.int64(2), np.int64(3)
"""Slots of two of them."""

FIRST_SLOT = np.int64(0)
"""The only row of a table that holds one state."""

COUNT_WINDOWS, COUNT_ROOTS, COUNT_QUEUE, COUNT_SEARCHES = 0, 1, 2, 3

LAST_SEARCH = 2**31 - 1
"""Searches after which the stamps (int32) start anew."""

PER_WINDOW = 8
"""Room that must be left before a window is opened: it adds at most four windows and two roots."""


def state_arrays(capacity: int, vertex_count: int) -> tuple[np.ndarray, ...]:
    """The (n,) float64 and int32 arrays of a fresh state, in the order of the module's docstring."""
    return (
        np.zeros(2 * capacity),
        np.zeros(2 * capacity, np.int32),
        np.zeros(5 * capacity),
        np.zeros(2 * capacity, np.int32),
        np.zeros(capacity),
        np.zeros(capacity, np.int32),
        np.zeros(vertex_count),
        np.zeros(vertex_count, np.int32),
        np.zeros(24),
        np.zeros(4, np.int64),
    )


@kernel
def view_mesh(table, row):
    """Corners, links, triangles, vertices, turnable and branches of a navmesh."""
    return (
        floats(table, row, CORNERS),
        ints(table, row, LINKS),
        ints(table, row, TRIANGLES),
        floats(table, row, VERTICES),
        octets(table, row, TURNABLE),
        ints(table, row, BRANCHES),
    )


@kernel
def view_state(states, row):
    """The ten arrays of a state."""
    return (
        floats(states, row, np.int64(0)),
        ints(states, row, np.int64(1)),
        floats(states, row, np.int64(2)),
        ints(states, row, np.int64(3)),
        floats(states, row, np.int64(4)),
        ints(states, row, np.int64(5)),
        floats(states, row, np.int64(6)),
        ints(states, row, np.int64(7)),
        floats(states, row, np.int64(8)),
        longs(states, row, np.int64(9)),
    )


@kernel
def begin_search(stamps, counts):
    """The number of a new search, which makes all vertex lengths of earlier ones void."""
    if counts[COUNT_SEARCHES] == LAST_SEARCH:
        counts[COUNT_SEARCHES] = 0
        stamps[:] = 0
    counts[COUNT_SEARCHES] += 1
    return np.int32(counts[COUNT_SEARCHES])


@kernel
def heap_push(keys, queue, count, key, item):
    """Add an item to a binary heap that holds `count`."""
    i = count
    while i > 0:
        parent = (i - 1) >> 1
        if keys[parent] <= key:
            break
        keys[i], queue[i] = keys[parent], queue[parent]
        i = parent
    keys[i], queue[i] = key, item


@kernel
def heap_drop(keys, queue, count):
    """Remove the least item of a binary heap that holds `count`."""
    last = count - 1
    key, item, i = keys[last], queue[last], 0
    while True:
        child = 2 * i + 1
        if child >= last:
            break
        if child + 1 < last and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[i], queue[i] = keys[child], queue[child]
        i = child
    keys[i], queue[i] = key, item


@kernel
def queue_window(windows, tags, keys, queue, window, waiting, half, left, right, root, key):
    """Store a window under the number `window` and add it to a queue that holds `waiting`."""
    windows[2 * window], windows[2 * window + 1] = left, right
    tags[2 * window], tags[2 * window + 1] = half, root
    heap_push(keys, queue, waiting, key, window)


@kernel
def write_source(roots, root_tags, root, triangle, x, y, z):
    """Make `root` a source: length 0, inside a triangle."""
    i = 5 * root
    roots[i], roots[i + 1], roots[i + 2], roots[i + 3], roots[i + 4] = x, y, z, 0.0, 0.0
    root_tags[2 * root], root_tags[2 * root + 1] = -1 - triangle, -1


@kernel
def write_turn(vertices, roots, root_tags, reached, stamps, search, root, vertex, before):
    """Make `root` a turn at a vertex after the root `before`; False if a shorter path there is known."""
    x, y, z = vertices[3 * vertex], vertices[3 * vertex + 1], vertices[3 * vertex + 2]
    i, j = 5 * before, 5 * root
    flat2 = (roots[i] - x) ** 2 + (roots[i + 2] - z) ** 2
    plan = roots[i + 3] + np.sqrt(flat2)
    if stamps[vertex] == search and reached[vertex] < plan - TOUCH:
        return False
    stamps[vertex], reached[vertex] = search, plan
    roots[j], roots[j + 1], roots[j + 2], roots[j + 3] = x, y, z, plan
    roots[j + 4] = roots[i + 4] + np.sqrt(flat2 + (roots[i + 1] - y) ** 2)
    root_tags[2 * root], root_tags[2 * root + 1] = vertex, before
    return True


@kernel
def leave_triangle(corners, links, candidates, number, here, k):
    """The half-edge behind a candidate of the window that entered triangle `here` by side k.

    Returns:
        (half-edge entered next, x and z of the left end of the stretch, x and z of its right end);
        the half-edge is -1 at the border and where the stretch has no width.
    """
    half = np.int64(links[3 * here + wrap3(k + int(candidates[4 * number]))])
    if half < 0:
        return half, 0.0, 0.0, 0.0, 0.0
    first = 3 * (half // 3)
    i, j = 2 * half, 2 * (first + wrap3(half - first + 1))
    ax, az = corners[i], corners[i + 1]
    dx, dz = corners[j] - ax, corners[j + 1] - az
    left, right = candidates[4 * number + 1], candidates[4 * number + 2]
    if (right - left) * (abs(dx) + abs(dz)) <= TOUCH:
        half = np.int64(-1)
    return half, ax + left * dx, az + left * dz, ax + right * dx, az + right * dz


@kernel
def is_overtaken(roots, root_tags, reached, root):
    """Whether a shorter path to the root's vertex has been found since."""
    vertex = root_tags[2 * root]
    return vertex >= 0 and reached[vertex] < roots[5 * root + 3] - TOUCH


@kernel
def finish_through(corners, triangles, vertices, roots, half, left, right, root, px, py, pz):
    """(plan length, 3-D length, via) from the source through a window to p in the triangle it enters.

    via is SAME_ROOT when the window's root sees p, else the end round which the path bends.
    """
    first = 3 * (half // 3)
    last = first + wrap3(half - first + 1)
    i, j = 2 * half, 2 * last
    ax, az, bx, bz = corners[i], corners[i + 1], corners[j], corners[j + 1]
    lx, lz = ax + left * (bx - ax), az + left * (bz - az)
    ex, ez = ax + right * (bx - ax), az + right * (bz - az)
    r = 5 * root
    rx, ry, rz, plan, full = roots[r], roots[r + 1], roots[r + 2], roots[r + 3], roots[r + 4]
    via = bend_of(rx, rz, lx, lz, ex, ez, px, pz)
    if via != SAME_ROOT:
        share = left if via == LEFT_ROOT else right
        a = vertices[3 * triangles[half] + 1]
        b = vertices[3 * triangles[last] + 1]
        x, y, z = ax + share * (bx - ax), a + share * (b - a), az + share * (bz - az)
        flat2 = (rx - x) ** 2 + (rz - z) ** 2
        plan += np.sqrt(flat2)
        full += np.sqrt(flat2 + (ry - y) ** 2)
        rx, ry, rz = x, y, z
    flat2 = (rx - px) ** 2 + (rz - pz) ** 2
    return plan + np.sqrt(flat2), full + np.sqrt(flat2 + (ry - py) ** 2), via


@kernel
def write_end(table, row, half, via, point):
    """Write the vertex (3,) at the left or right end of a half-edge."""
    triangles = ints(table, row, TRIANGLES)
    vertices = floats(table, row, VERTICES)
    k = half % 3
    vertex = triangles[half] if via == LEFT_ROOT else triangles[half - k + (k + 1) % 3]
    for axis in range(3):
        point[axis] = vertices[3 * vertex + axis]


@kernel
def write_turns(table, row, states, slot, root, half, via, points):
    """Write the path that a search found into `points`, after its start in row 0; metres.

    First the end of `half` that `via` names (see finish_through; none for SAME_ROOT), then each root
    from `root` back to the source.

    Returns:
        The number of points with the start.
    """
    count = 1
    if via != SAME_ROOT:
        write_end(table, row, half, via, points[count])
        count += 1
    roots, root_tags = floats(states, slot, ROOTS), ints(states, slot, ROOT_TAGS)
    while root >= 0:
        for axis in range(3):
            points[count, axis] = roots[5 * root + axis]
        count += 1
        root = np.int64(root_tags[2 * root + 1])
    return count
