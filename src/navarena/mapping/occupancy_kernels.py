"""One depth image carved into one layer of an occupancy map.

Every pixel is a ray. Where it ends in the band of heights that block a body, its cell is hit; where
it ends on the floor, its cell is free; where it falls through the floor, over stairs or an edge, the
cell is hit, too. Seen from above the rays form a fan: for each direction of
the fan the nearest hit (or drop of the floor) bounds what may be carved free, and cells are then
asked one by one which direction they lie in, so that no cell is missed or counted twice.
"""

# mypy: disable-error-code="no-untyped-def"

import math

import numpy as np

from navarena.core.kernels import kernel

WIDEST = 4.0
"""Tangent of the widest direction of a fan."""

INFINITE_BITS = np.int32(0x7F800000)
"""The bits of an infinite float32."""

BORDER = 1e-9
"""Share of a direction; rays on the border of two (all of them, in images of odd width) fall to the right
one, however they are rounded, so that no direction goes without a ray."""


@kernel
def fan_layout(pose, focal, height, width, stride):
    """(bins, bins per unit of tangent, greatest tangent) of the fan of directions of a camera.

    A level camera has one bin for each column of pixels that is read; a tilted one, whose columns spread
    out on the floor, has half as many.
    """
    level = math.sqrt(pose[0, 2] ** 2 + pose[2, 2] ** 2)
    side = 0.5 * width / focal
    least = level
    for row in (0, height):
        up = (0.5 * height - row) / focal
        least = min(least, level + up * pose[1, 2])
    widest = min(WIDEST, side / max(least, 1e-3))
    per_tangent = focal / stride * (1.0 if level > 0.9999 else 0.5)
    bins = 2 * math.ceil(widest * per_tangent) + 2
    return bins, per_tangent, widest


@kernel
def passes_over(depths, eye, slope, max_height):
    """Whether no ray of a row (K,) float32 metres that rises by `slope` per metre ends below `max_height`.

    Positive floats sort like their bits, whose least is found for many at once; NaN is the greatest.
    """
    bits, least = depths.view(np.int32), INFINITE_BITS
    for k in range(bits.size):
        least = min(least, bits[k] if bits[k] > 0 else INFINITE_BITS)
    return eye + np.float64(np.array([least]).view(np.float32)[0]) * slope >= max_height


@kernel
def gather_fan(sides, stops, sights, limit, reach):
    """Let what each column (K,) found bound its direction of the fan; see `read_rays`. Forgets it there."""
    for k in range(sides.size):
        side = sides[k]
        limit[side] = min(limit[side], stops[k])
        reach[side] = max(reach[side], sights[k])
    stops[:] = math.inf
    sights[:] = 0.0


@kernel
def read_rays(
    depth, scale, offset, stride, focal, pose, foot, min_range, max_range, min_height, max_height, corner_x,
    corner_z, cell, first_row, first_column, tall, wide, per_tangent, limit, reach, marks,
):  # fmt: skip
    """Mark the cells in which rays end, and find how far each direction of the fan is open.

    depth: (H, W) float32, offset + scale * depth in metres, exact between min_range and max_range; what ends
    between min_height and max_height over the foot is a hit; limit, reach: (B + 1,) nearest hit and farthest
    sight, metres ahead on the floor, of the B directions and of all rays beside the fan; marks:
    (2 (S * T + 1),) uint8, FLOOR and HIT of each cell of the window of S = tall rows and T = wide columns
    whose first cell is (first_row, first_column), and of all rays that end off it. The camera does not roll,
    so each row of pixels has one slope. What its rays say is worked out without branches, for many at once,
    and written down afterwards; columns of pixels that keep their direction from row to row, as those of a
    level camera, are written down once.
    """
    level = math.sqrt(pose[0, 2] ** 2 + pose[2, 2] ** 2)
    eye = pose[1, 3] - foot
    height, width = depth.shape
    bins, cells = limit.size - 1, tall * wide
    middle, aside, nowhere = bins // 2, np.float64(bins), np.float64(cells)
    first, is_metres = stride // 2, offset == 0.0 and scale == 1.0
    count = max(0, (width - first + stride - 1) // stride)
    stops, sights = np.full(count, math.inf), np.zeros(count)
    sides, places = np.zeros(count, np.int32), np.zeros(count, np.int32)
    kept, acrosses = np.zeros(count, np.float32), np.zeros(count)
    per_focal, per_cell = 1.0 / focal, 1.0 / cell
    start_z, start_x = pose[2, 3] - corner_z - first_row * cell, pose[0, 3] - corner_x - first_column * cell
    for k in range(count):
        acrosses[k] = (first + k * stride + 0.5 - 0.5 * width) * per_focal
    sides_of = math.nan  # the bins per unit of tangent that `sides` hold for
    for i in range(first, height, stride):
        up = (0.5 * height - i - 0.5) * per_focal
        slope, ahead = pose[1, 1] * up - pose[1, 2], level + up * pose[1, 2]
        if ahead <= 1e-3:
            continue
        depths = depth[i]
        if stride > 1:
            for k in range(count):
                kept[k] = depths[first + k * stride]
            depths = kept
        if is_metres and slope > 0.0 and passes_over(depths, eye, slope, max_height):
            continue
        base_x, base_z = pose[0, 1] * up - pose[0, 2], pose[2, 1] * up - pose[2, 2]
        turn_x, turn_z = pose[0, 0], pose[2, 0]
        per_across = per_tangent / ahead
        if per_across != sides_of:
            if not math.isnan(sides_of):
                gather_fan(sides, stops, sights, limit, reach)
            for k in range(count):
                side = np.floor(acrosses[k] * per_across + BORDER) + middle
                sides[k] = np.int32(side if (side >= 0.0) & (side < aside) else aside)
            sides_of = per_across
        falls = False
        for k in range(count):
            metres = offset + scale * np.float64(depths[k])
            is_known = (metres > 0.0) & (metres < math.inf)
            metres = metres if is_known else 0.0
            over = eye + metres * slope
            is_known &= over < max_height
            is_far = is_known & (metres > min_range)
            is_end = is_far & (metres < max_range)
            distance = min(metres, max_range) * ahead
            stop = distance if is_end & (over > min_height) else math.inf
            stop = 0.0 if is_known & (metres <= min_range) & (over > min_height) else stop
            stops[k] = min(stops[k], stop)
            sights[k] = max(sights[k], distance if is_far & (over >= -min_height) else 0.0)
            falls |= is_far & (over < -min_height)
            z = np.floor((start_z + metres * (base_z + turn_z * acrosses[k])) * per_cell)
            x = np.floor((start_x + metres * (base_x + turn_x * acrosses[k])) * per_cell)
            is_inside = is_end & (z >= 0.0) & (z < tall) & (x >= 0.0) & (x < wide)
            place = 2.0 * (z * wide + x if is_inside else nowhere)
            places[k] = np.int32(place + 1.0 if abs(over) > min_height else place)
        for k in range(count):  # no mark is read here: neighbours mark the same cell and would wait
            marks[places[k]] = 1
        if falls:
            for k in range(count):
                metres = offset + scale * np.float64(depths[k])
                if min_range < metres < math.inf and eye + metres * slope < -min_height:
                    crossing = -eye / slope  # where it crosses the height of the floor there is none
                    limit[sides[k]] = min(limit[sides[k]], crossing * ahead)
                    z = (start_z + crossing * (base_z + turn_z * acrosses[k])) * per_cell
                    x = (start_x + crossing * (base_x + turn_x * acrosses[k])) * per_cell
                    if 0.0 <= z < tall and 0.0 <= x < wide:
                        marks[2 * (math.floor(z) * wide + math.floor(x)) + 1] = 1
    gather_fan(sides, stops, sights, limit, reach)


@kernel
def bottom_slope(pose, focal, height):
    """Rise per metre ahead of the ray at the middle of the bottom row."""
    level = math.sqrt(pose[0, 2] ** 2 + pose[2, 2] ** 2)
    up = (0.5 - 0.5 * height) / focal
    ahead = level + up * pose[1, 2]
    return (pose[1, 1] * up - pose[1, 2]) / ahead if ahead > 1e-3 else -math.inf


@kernel
def update_window(
    scores, marks, first_row, first_column, tall, wide, pose, corner_x, corner_z, cell, per_tangent, limit,
    reach, max_range, blind, hit, miss, max_score,
):  # fmt: skip
    """Weigh every cell of the window and clear its marks; see `read_rays`.

    The evidence of a cell is positive for occupied, negative for free, 0 for never seen. A cell that is
    open and less than `blind` metres ahead, where the image does not reach the floor, is free only if nothing
    was known of it.
    """
    level = math.sqrt(pose[0, 2] ** 2 + pose[2, 2] ** 2)
    ahead_x, ahead_z = -pose[0, 2] / level, -pose[2, 2] / level
    middle = limit.size // 2
    half = 0.5 * cell
    widest = middle / per_tangent
    sides, aheads = np.zeros(wide, np.int32), np.zeros(wide)
    for side in range(limit.size):
        limit[side] = min(limit[side], reach[side])
    for s in range(tall):
        z = corner_z + (first_row + s + 0.5) * cell - pose[2, 3]
        line = scores[first_row + s, first_column : first_column + wide]
        own = marks[2 * s * wide : 2 * (s + 1) * wide].reshape((wide, 2))
        for t in range(wide):
            x = corner_x + (first_column + t + 0.5) * cell - pose[0, 3]
            ahead, across = x * ahead_x + z * ahead_z, z * ahead_x - x * ahead_z
            is_within = (ahead > 1e-3) & (ahead < max_range) & (abs(across) < widest * ahead)
            side = np.floor(across / (ahead if is_within else 1.0) * per_tangent)
            sides[t] = np.int32(side if is_within else 0.0) + middle
            aheads[t] = ahead if is_within else math.inf
        for t in range(wide):
            is_open = aheads[t] + half <= limit[sides[t]]
            score = np.int32(line[t])
            occupied = min(score + hit, max_score)
            occupied = occupied if occupied != 0 else 1
            free = max(score - miss, -max_score)
            free = free if free != 0 else -1
            unsure = -1 if is_open & (score == 0) else score
            seen = free if (own[t, 0] != 0) | (is_open & (aheads[t] > blind)) else unsure
            line[t] = occupied if own[t, 1] != 0 else seen
            own[t, 0] = own[t, 1] = 0


@kernel
def carve_image(
    scores, depth, scale, offset, stride, focal, pose, foot, min_range, max_range, min_height, max_height,
    corner_x, corner_z, cell, hit, miss, max_score, limit, reach, marks, box,
):  # fmt: skip
    """Add one depth image (H, W) to the evidence (R, C) int8; False where the camera is off the map.

    pose: (4, 4) world_from_camera; foot: world y of the floor under the body; limit, reach: scratch of more
    bins than `fan_layout` says; marks: (M,) uint8 scratch, two more than twice the cells of the window, zero
    before and after; box: (4,) first row, last row + 1, first column, last column + 1 that images have
    reached.
    """
    level = math.sqrt(pose[0, 2] ** 2 + pose[2, 2] ** 2)
    rows, columns = scores.shape
    row, column = (pose[2, 3] - corner_z) / cell, (pose[0, 3] - corner_x) / cell
    if not (0 <= row < rows and 0 <= column < columns):
        return False
    if level < 0.1:  # straight up or down: there is no ahead
        return True
    height, width = depth.shape
    bins, per_tangent, widest = fan_layout(pose, focal, height, width, stride)
    lateral = max_range * 0.5 * width / focal
    knee = min(max_range, lateral / widest)
    ahead_x, ahead_z = -pose[0, 2] / level, -pose[2, 2] / level
    top, bottom, left, right = row, row, column, column
    for ahead in (knee, max_range):
        for side in (-lateral, lateral):
            r = row + (ahead * ahead_z + side * ahead_x) / cell
            c = column + (ahead * ahead_x - side * ahead_z) / cell
            top, bottom, left, right = min(top, r), max(bottom, r), min(left, c), max(right, c)
    first_row, first_column = max(0, math.floor(top)), max(0, math.floor(left))
    high_row, high_column = min(rows, math.floor(bottom) + 1), min(columns, math.floor(right) + 1)
    tall, wide = high_row - first_row, high_column - first_column
    cells = tall * wide
    box[0], box[1] = min(box[0], first_row), max(box[1], high_row)
    box[2], box[3] = min(box[2], first_column), max(box[3], high_column)
    limit, reach = limit[: bins + 1], reach[: bins + 1]
    limit[:] = math.inf
    reach[:] = 0.0
    read_rays(
        depth, scale, offset, stride, focal, pose, foot, min_range, max_range, min_height, max_height,
        corner_x, corner_z, cell, first_row, first_column, tall, wide, per_tangent, limit, reach,
        marks[: 2 * cells + 2],
    )  # fmt: skip
    marks[2 * cells : 2 * cells + 2] = 0
    falling = bottom_slope(pose, focal, height)
    blind = (min_height - pose[1, 3] + foot) / falling if falling < 0 else math.inf
    update_window(
        scores, marks, first_row, first_column, tall, wide, pose, corner_x, corner_z, cell, per_tangent,
        limit[:bins], reach[:bins], max_range, blind, hit, miss, max_score,
    )  # fmt: skip
    return True


@kernel
def carve_images(
    scores, layers, active, depths, scale, offset, stride, focal, poses, feet, min_range, max_range,
    min_height, max_height, corners, cell, hit, miss, max_score, limit, reach, marks, boxes, first,
    last, on_map,
):  # fmt: skip
    """`carve_image` for the agents first to last - 1: scores (N, L, R, C), boxes (N, L, 4)."""
    for n in range(first, last):
        if active[n]:
            on_map[n] = carve_image(
                scores[n, layers[n]], depths[n], scale, offset, stride, focal, poses[n], feet[n], min_range,
                max_range, min_height, max_height, corners[n, 0], corners[n, 1], cell, hit, miss, max_score,
                limit, reach, marks, boxes[n, layers[n]],
            )  # fmt: skip
