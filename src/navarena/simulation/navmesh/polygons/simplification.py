# mypy: disable-error-code="no-untyped-def"
"""Kernels that simplify traced outlines without moving, crossing or tearing them.

A corner is kept or dropped for all outlines that share it, so two layers keep identical
borders. Corners where the neighbour changes are always kept; between two kept corners the
farthest one is kept while it lies too far from their segment. Ties are broken by position,
so the direction of tracing does not matter. Segments that would touch or cross another
outline of their layer then take back their farthest corner until none does.
"""

import numpy as np

from navarena.core.kernels import kernel

BUCKET_CELLS = 32


@kernel
def _deviation(i, a, b, x, z):
    """Squared distance, in cells, of point i from the segment between points a and b."""
    if x[b] < x[a] or (x[b] == x[a] and z[b] < z[a]):
        a, b = b, a
    dx, dz = float(x[b] - x[a]), float(z[b] - z[a])
    px, pz = float(x[i] - x[a]), float(z[i] - z[a])
    length = dx * dx + dz * dz
    t = 0.0
    if length > 0.0:
        t = min(max((px * dx + pz * dz) / length, 0.0), 1.0)
    ex, ez = px - t * dx, pz - t * dz
    return ex * ex + ez * ez


@kernel
def _farthest(first, last, start, size, x, z):
    """Position (between first and last, counted along the loop) farthest from their segment.

    Positions count from 0 at the loop's start and may pass its end. Returns the position,
    -1 when there is none between them, and its squared distance.
    """
    best, where = -1.0, -1
    a, b = start + first % size, start + last % size
    for position in range(first + 1, last):
        i = start + position % size
        away = _deviation(i, a, b, x, z)
        if away > best:
            best, where = away, position
        elif away == best:
            j = start + where % size
            if x[i] < x[j] or (x[i] == x[j] and z[i] < z[j]):
                where = position
    return where, best


@kernel
def keep_corners(offsets, corners, x, z, nodes, max_error, kept):
    """Mark the corners that the simplified outlines keep (Douglas and Peucker's rule).

    Args:
        offsets: (L + 1,) outline l has the positions offsets[l]:offsets[l + 1].
        corners: (E,) corner index of each position.
        x: (E,) grid line of each position.
        z: (E,) grid line of each position.
        nodes: (C,) bool, corners that must stay.
        max_error: cells.
        kept: (C,) bool, equal to `nodes` before; changed in place.
    """
    longest = 1
    for loop in range(offsets.size - 1):
        longest = max(longest, offsets[loop + 1] - offsets[loop])
    stack = np.zeros((longest + 2, 2), np.int64)
    limit = max_error * max_error
    for loop in range(offsets.size - 1):
        start, size = offsets[loop], offsets[loop + 1] - offsets[loop]
        first = -1
        for position in range(size):
            if nodes[corners[start + position]]:
                first = position
                break
        if first < 0:  # no neighbour changes: anchor the lowest corner and the farthest from it
            first = 0
            for position in range(1, size):
                i, j = start + position, start + first
                if x[i] < x[j] or (x[i] == x[j] and z[i] < z[j]):
                    first = position
            kept[corners[start + first]] = True
            where, _ = _farthest(first, first + size, start, size, x, z)
            kept[corners[start + where % size]] = True
            anchors = kept
        else:
            anchors = nodes
        # every run between two anchors
        opened = first
        for position in range(first + 1, first + size + 1):
            if not anchors[corners[start + position % size]]:
                continue
            stack[0, 0], stack[0, 1] = opened, position
            opened = position
            depth = 1
            while depth > 0:
                depth -= 1
                low, high = stack[depth, 0], stack[depth, 1]
                where, away = _farthest(low, high, start, size, x, z)
                if where >= 0 and away > limit:
                    kept[corners[start + where % size]] = True
                    stack[depth, 0], stack[depth, 1] = low, where
                    stack[depth + 1, 0], stack[depth + 1, 1] = where, high
                    depth += 2


@kernel
def _turn(ax, az, bx, bz, cx, cz):
    return (bx - ax) * (cz - az) - (bz - az) * (cx - ax)


@kernel
def _on_segment(ax, az, bx, bz, px, pz):
    """Whether p lies on the segment ab, its ends apart."""
    if _turn(ax, az, bx, bz, px, pz) != 0 or (px == ax and pz == az) or (px == bx and pz == bz):
        return False
    return min(ax, bx) <= px <= max(ax, bx) and min(az, bz) <= pz <= max(az, bz)


@kernel
def segments_clash(ax, az, bx, bz, cx, cz, dx, dz):
    """Whether segments ab and cd (integer ends) meet anywhere but in a common end."""
    if (ax == cx and az == cz and bx == dx and bz == dz) or (ax == dx and az == dz and bx == cx and bz == cz):
        return True
    if _on_segment(ax, az, bx, bz, cx, cz) or _on_segment(ax, az, bx, bz, dx, dz):
        return True
    if _on_segment(cx, cz, dx, dz, ax, az) or _on_segment(cx, cz, dx, dz, bx, bz):
        return True
    c_side, d_side = _turn(ax, az, bx, bz, cx, cz), _turn(ax, az, bx, bz, dx, dz)
    a_side, b_side = _turn(cx, cz, dx, dz, ax, az), _turn(cx, cz, dx, dz, bx, bz)
    return ((c_side > 0 and d_side < 0) or (c_side < 0 and d_side > 0)) and (
        (a_side > 0 and b_side < 0) or (a_side < 0 and b_side > 0)
    )


@kernel
def _fill_buckets(x, z, ends, width, deep):
    """Segments by the bucket of the plan that their boxes touch: starts and members."""
    starts = np.zeros(width * deep + 1, np.int64)
    members = np.zeros(0, np.int64)
    for fill in range(2):
        for s in range(ends.shape[0]):
            a, b = ends[s, 0], ends[s, 1]
            u0, u1 = min(x[a], x[b]) // BUCKET_CELLS, max(x[a], x[b]) // BUCKET_CELLS
            v0, v1 = min(z[a], z[b]) // BUCKET_CELLS, max(z[a], z[b]) // BUCKET_CELLS
            for v in range(v0, v1 + 1):
                for u in range(u0, u1 + 1):
                    bucket = v * width + u
                    if fill == 0:
                        starts[bucket + 1] += 1
                    else:
                        starts[bucket] -= 1
                        members[starts[bucket]] = s
        if fill == 0:
            for bucket in range(1, starts.size):
                starts[bucket] += starts[bucket - 1]
            members = np.zeros(starts[-1], np.int64)
            for bucket in range(starts.size - 1):
                starts[bucket] = starts[bucket + 1]
    return starts, members


@kernel
def restore_clashing(segments, offsets, loop_layers, corners, x, z, kept):
    """Give clashing segments their farthest dropped corner back; returns how many were given.

    Args:
        segments: (S, 3) rows (outline, first position, last position) between kept corners;
            positions count from the outline's start and may pass its end.
        offsets: (L + 1,) outline l has the positions offsets[l]:offsets[l + 1].
        loop_layers: (L,) layer of each outline; only outlines of one layer can clash.
        corners: (E,) corner index of each position.
        x: (E,) grid line of each position.
        z: (E,) grid line of each position.
        kept: (C,) bool, changed in place.
    """
    width, deep = 1, 1
    for i in range(x.size):
        width, deep = max(width, x[i] // BUCKET_CELLS + 1), max(deep, z[i] // BUCKET_CELLS + 1)
    ends = np.zeros((segments.shape[0], 2), np.int64)
    for s in range(segments.shape[0]):
        start = offsets[segments[s, 0]]
        size = offsets[segments[s, 0] + 1] - start
        ends[s, 0], ends[s, 1] = start + segments[s, 1], start + segments[s, 2] % size
    starts, members = _fill_buckets(x, z, ends, width, deep)
    clashing = np.zeros(segments.shape[0], np.bool_)
    for bucket in range(width * deep):
        for m in range(starts[bucket], starts[bucket + 1]):
            s = members[m]
            a, b = ends[s, 0], ends[s, 1]
            for n in range(m + 1, starts[bucket + 1]):
                t = members[n]
                if loop_layers[segments[s, 0]] != loop_layers[segments[t, 0]]:
                    continue
                c, d = ends[t, 0], ends[t, 1]
                if segments_clash(x[a], z[a], x[b], z[b], x[c], z[c], x[d], z[d]):
                    clashing[s] = clashing[t] = True
    restored = 0
    for s in range(segments.shape[0]):
        start = offsets[segments[s, 0]]
        size = offsets[segments[s, 0] + 1] - start
        if ends[s, 0] == ends[s, 1]:  # a single corner is no outline
            clashing[s] = True
        if clashing[s]:
            where, _ = _farthest(segments[s, 1], segments[s, 2], start, size, x, z)
            if where >= 0:
                kept[corners[start + where % size]] = True
                restored += 1
    return restored
