"""Scans from depth images, and scan matching: the pose at which a scan fits earlier ones best.

A field has layers for heights over the floor. Each holds, cell by cell, how near the closest scanned point of
that height lies: a byte, 255 at the point itself, falling as a Gaussian. What lies in another layer never
attracts a point: a table's edge does not fit a wall. What was looked through is kept beside it, for all
heights together.
"""

# mypy: disable-error-code="no-untyped-def"

import math

from navarena.core.kernels import kernel

ROWS = 4
"""Rows of pixels of a band, of whose depths the median is taken."""

FINEST = 1e-3
"""Metres below which the search for a pose ends."""


@kernel
def median_depth(depth, first, step, column, min_range, max_range, kept):
    """Median of the ROWS depths of a column that lie in (nearest, farthest); 0 with fewer than half of them.

    kept: (ROWS,) scratch.
    """
    count = 0
    for k in range(ROWS):
        metres = depth[first + k * step, column]
        if min_range < metres < max_range:
            place = count
            while place > 0 and kept[place - 1] > metres:
                kept[place] = kept[place - 1]
                place -= 1
            kept[place] = metres
            count += 1
    return kept[count // 2] if 2 * count >= ROWS else 0.0


@kernel
def read_scan(
    depth, scale, offset, focal, body_from_camera, bands, row_step, column_step, min_range, max_range,
    softness, min_height, layer_height, layers, kept, points,
):  # fmt: skip
    """Write the scan of an image (H, W) to `points` (P, 4) and return how many there are.

    Of each band of rows (bands (B,): tangents over the middle of the image) and every `column_step`-th
    column it takes one depth, offset + scale * depth in metres. A point is [right, backward] metres in the
    frame of the body, its weight 1 / (1 + (softness * depth^2)^2), and its layer. kept: (ROWS,) scratch.
    """
    height, width = depth.shape
    nearest_unit, farthest_unit = (min_range - offset) / scale, (max_range - offset) / scale
    count = 0
    for band in range(bands.size):
        first = int(0.5 * height - bands[band] * focal) - ROWS // 2 * row_step
        if first < 0 or first + (ROWS - 1) * row_step >= height:
            continue
        up = (0.5 * height - first - 0.5 * (ROWS - 1) * row_step - 0.5) / focal
        for column in range(column_step // 2, width, column_step):
            found = median_depth(depth, first, row_step, column, nearest_unit, farthest_unit, kept)
            if found == 0.0:
                continue
            metres = offset + scale * found
            right = (column + 0.5 - 0.5 * width) / focal
            over = body_from_camera[1, 3] + metres * (
                body_from_camera[1, 0] * right + body_from_camera[1, 1] * up - body_from_camera[1, 2]
            )
            layer = math.floor((over - min_height) / layer_height)
            if layer < 0 or layer >= layers:
                continue
            for axis in range(2):
                points[count, axis] = body_from_camera[2 * axis, 3] + metres * (
                    body_from_camera[2 * axis, 0] * right
                    + body_from_camera[2 * axis, 1] * up
                    - body_from_camera[2 * axis, 2]
                )
            points[count, 2] = 1.0 / (1.0 + (softness * metres * metres) ** 2)
            points[count, 3] = layer
            count += 1
    return count


@kernel
def keep_seen(seen, points, count, pose, cell, margin, sideways):
    """Move the points of a scan that lie where earlier scans looked to the front; return how many there are.

    What a scan shows for the first time fits nowhere, and would draw it to where something is known. So a
    point, seen from `pose`, counts only if earlier scans looked through both places beside it that are
    `margin` metres nearer and `sideways` radians to either side. points (P, 4): see `read_scan`, of which
    `count` are looked at; seen: (S, S) bool, see `mark_seen`.
    """
    cosine, sine = math.cos(pose[2]), math.sin(pose[2])
    side = seen.shape[0]
    kept = 0
    for k in range(count):
        right, back = points[k, 0], points[k, 1]
        metres = math.sqrt(right * right + back * back)
        is_seen = metres > margin
        for sign in range(-1, 2, 2):
            if not is_seen:
                break
            nearer, across = 1.0 - margin / metres, sign * sideways
            beside_right, beside_back = nearer * right - across * back, nearer * back + across * right
            j = math.floor((pose[0] + cosine * beside_right + sine * beside_back) / cell + 0.5 * side)
            i = math.floor((pose[1] - sine * beside_right + cosine * beside_back) / cell + 0.5 * side)
            is_seen = 0 <= i < side and 0 <= j < side and seen[i, j]
        if is_seen:
            for axis in range(points.shape[1]):
                points[kept, axis], points[k, axis] = points[k, axis], points[kept, axis]
            kept += 1
    return kept


@kernel
def mark_seen(seen, points, count, pose, cell, reach):
    """Mark the cells (S, S) that a scan looks through from `pose`, to the farthest point of each bearing.

    reach: (B,) scratch, metres, for B bearings around.
    """
    side, bearings = seen.shape[0], reach.size
    reach[:] = 0.0
    for k in range(count):
        share = math.atan2(points[k, 0], -points[k, 1]) / (2.0 * math.pi) + 0.5
        place = int(share * bearings) % bearings
        reach[place] = max(reach[place], math.sqrt(points[k, 0] ** 2 + points[k, 1] ** 2))
    for place in range(bearings):
        bearing = ((place + 0.5) / bearings - 0.5) * 2.0 * math.pi - pose[2]
        east, south = math.sin(bearing), -math.cos(bearing)
        for step in range(int(reach[place] / cell) + 1):
            j = math.floor(pose[0] / cell + step * east + 0.5 * side)
            i = math.floor(pose[1] / cell + step * south + 0.5 * side)
            if 0 <= i < side and 0 <= j < side:
                seen[i, j] = True


@kernel
def rate_pose(field, points, count, stride, x, z, yaw, cell, is_smooth):
    """Weighted mean in [0, 1] of the field (L, S, S) under a scan seen from a pose; 0 where nothing counts.

    points (P, 4): see `read_scan`; of the first `count` every `stride`-th is used. x, z: metres from the
    middle of the field. is_smooth: whether the field is interpolated between the middles of its cells.
    """
    cosine, sine = math.cos(yaw), math.sin(yaw)
    side = field.shape[1]
    middle = 0.5 * side - (0.5 if is_smooth else 0.0)
    total, weights = 0.0, 0.0
    for k in range(0, count, stride):
        right, back, weight = points[k, 0], points[k, 1], points[k, 2]
        layer = int(points[k, 3])
        weights += weight
        column = (x + cosine * right + sine * back) / cell + middle
        row = (z - sine * right + cosine * back) / cell + middle
        j, i = math.floor(column), math.floor(row)
        if i < 0 or j < 0 or i + 1 >= side or j + 1 >= side:
            continue
        if is_smooth:
            s, t = row - i, column - j
            upper = (1 - t) * field[layer, i, j] + t * field[layer, i, j + 1]
            lower = (1 - t) * field[layer, i + 1, j] + t * field[layer, i + 1, j + 1]
            total += weight * ((1 - s) * upper + s * lower)
        else:
            total += weight * field[layer, i, j]
    return total / (255.0 * weights) if weights > 0.0 else 0.0


@kernel
def stamp_scan(field, points, count, pose, cell, spread, known, profile):
    """Raise the field (L, S, S) around each point of a scan seen from `pose` (3,): x, z, yaw.

    spread: metres, standard deviation; known: share of 255 above which a point's cell is left as it is;
    profile: (2, K) scratch, K odd, the cells of a stamp.
    """
    cosine, sine = math.cos(pose[2]), math.sin(pose[2])
    side, half = field.shape[1], profile.shape[1] // 2
    for k in range(count):
        column = (pose[0] + cosine * points[k, 0] + sine * points[k, 1]) / cell + 0.5 * side
        row = (pose[1] - sine * points[k, 0] + cosine * points[k, 1]) / cell + 0.5 * side
        j, i = math.floor(column), math.floor(row)
        if i < half or j < half or i + half >= side or j + half >= side:
            continue
        layer, strength = int(points[k, 3]), 255.0 * (0.4 + 0.6 * points[k, 2])
        if field[layer, i, j] > 255.0 * known:
            continue
        for n in range(-half, half + 1):
            profile[0, n + half] = math.exp(-0.5 * ((i + n + 0.5 - row) * cell / spread) ** 2)
            profile[1, n + half] = math.exp(-0.5 * ((j + n + 0.5 - column) * cell / spread) ** 2)
        for m in range(profile.shape[1]):
            for n in range(profile.shape[1]):
                value = int(strength * profile[0, m] * profile[1, n])
                if value > field[layer, i - half + m, j - half + n]:
                    field[layer, i - half + m, j - half + n] = value


@kernel
def rate_offset(field, points, count, stride, expected, offset, sigmas, trust, cell, is_smooth):
    """Log-likelihood of a motion that differs from the expected one by `offset`: [ahead, right, left turn].

    expected: (3,) pose x, z, yaw; sigmas: (3,) of the offset; trust: log-likelihood of a perfect fit.
    """
    cosine, sine = math.cos(expected[2]), math.sin(expected[2])
    x = expected[0] - sine * offset[0] + cosine * offset[1]
    z = expected[1] - cosine * offset[0] - sine * offset[1]
    fit = rate_pose(field, points, count, stride, x, z, expected[2] + offset[2], cell, is_smooth)
    unlikely = (offset[0] / sigmas[0]) ** 2 + (offset[1] / sigmas[1]) ** 2 + (offset[2] / sigmas[2]) ** 2
    return trust * fit - 0.5 * unlikely


@kernel
def search_offset(
    field, points, count, stride, expected, sigmas, max_sigmas, trust, cell, turn, trial, offset
):
    """Find the best `offset` (3,) on a grid of `cell` metres and `turn` radians; trial: (3,) scratch."""
    reach_ahead = math.ceil(max_sigmas * sigmas[0] / cell)
    reach_right = math.ceil(max_sigmas * sigmas[1] / cell)
    reach_turn = math.ceil(max_sigmas * sigmas[2] / turn)
    best = -math.inf
    for k in range(-reach_turn, reach_turn + 1):
        trial[2] = k * turn
        for m in range(-reach_ahead, reach_ahead + 1):
            trial[0] = m * cell
            for n in range(-reach_right, reach_right + 1):
                trial[1] = n * cell
                rated = rate_offset(field, points, count, stride, expected, trial, sigmas, trust, cell, False)
                if rated > best:
                    best = rated
                    offset[:] = trial


@kernel
def refine_offset(field, points, count, expected, sigmas, trust, cell, turn, trial, offset):
    """Climb from `offset` (3,) in ever smaller steps, until they are below FINEST; trial: (3,) scratch."""
    length, angle = 0.5 * cell, 0.5 * turn
    best = rate_offset(field, points, count, 1, expected, offset, sigmas, trust, cell, True)
    while length > FINEST:
        is_better = False
        for axis in range(3):
            for sign in (1.0, -1.0):
                trial[:] = offset
                trial[axis] += sign * (angle if axis == 2 else length)
                rated = rate_offset(field, points, count, 1, expected, trial, sigmas, trust, cell, True)
                if rated > best:
                    best, is_better = rated, True
                    offset[:] = trial
        if not is_better:
            length, angle = 0.5 * length, 0.5 * angle


@kernel
def match_scan(
    field, points, count, stride, max_points, expected, sigmas, max_sigmas, trust, cell, turn, scratch, pose
):
    """Write the `pose` (3,) in which a scan fits best, not far from the `expected` one; scratch: (2, 3).

    The fewer points a scan has of the `max_points` it could have, the less it is trusted.
    """
    offset, trial = scratch[0], scratch[1]
    offset[:] = 0.0
    if count > 0:
        trusted = trust * count / max_points
        search_offset(
            field, points, count, stride, expected, sigmas, max_sigmas, trusted, cell, turn, trial, offset
        )
        refine_offset(field, points, count, expected, sigmas, trusted, cell, turn, trial, offset)
    cosine, sine = math.cos(expected[2]), math.sin(expected[2])
    pose[0] = expected[0] - sine * offset[0] + cosine * offset[1]
    pose[1] = expected[1] - cosine * offset[0] - sine * offset[1]
    pose[2] = expected[2] + offset[2]
