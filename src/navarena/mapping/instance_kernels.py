"""The inner loops of instance memory: pixels of segments to points, and points that are kept apart."""

# mypy: disable-error-code="no-untyped-def"

import math

import numpy as np

from navarena.core.kernels import kernel


@kernel
def measure_segments(segments, depths, min_range, max_range, scale, offset, stride, counts, known, boxes):
    """Count the pixels of segments 1..S in images (H, W), reading every `stride`-th pixel along both axes.

    counts, known: (S + 1,) int64, pixels and those whose depth lies between the bounds (metres, exclusive;
    metres are offset + scale * depth); boxes: (S + 1, 4) int64 first row, last row, first and last column.
    """
    for i in range(0, segments.shape[0], stride):
        for j in range(0, segments.shape[1], stride):
            one = segments[i, j]
            if one <= 0:
                continue
            if counts[one] == 0:
                boxes[one, 0], boxes[one, 1], boxes[one, 2], boxes[one, 3] = i, i, j, j
            counts[one] += 1
            metres = offset + scale * np.float64(depths[i, j])
            if metres > min_range and metres < max_range:  # NaN compares false
                known[one] += 1
            boxes[one, 1] = i  # rows come in order
            boxes[one, 2] = min(boxes[one, 2], j)
            boxes[one, 3] = max(boxes[one, 3], j)


@kernel
def write_segment_points(segments, depths, min_range, max_range, scale, offset, stride, one, every, box,
                         focal, pose, points):  # fmt: skip
    """Write every `every`-th point of segment `one` whose depth is known; returns how many.

    points: (P, 6), metres, and a unit vector from there to the camera; box: (4,) rows and columns that it
    lies in, as of `measure_segments`; pose: (4, 4) world_from_camera.
    """
    found, written = 0, 0
    middle_row, middle_column = segments.shape[0] / 2, segments.shape[1] / 2
    for i in range(box[0], box[1] + 1, stride):
        for j in range(box[2], box[3] + 1, stride):
            if segments[i, j] != one:
                continue
            metres = offset + scale * np.float64(depths[i, j])
            if not (metres > min_range and metres < max_range):
                continue
            if found % every == 0 and written < points.shape[0]:
                right = (j + 0.5 - middle_column) / focal * metres
                up = (middle_row - i - 0.5) / focal * metres
                away = math.sqrt(right * right + up * up + metres * metres)
                for axis in range(3):
                    offset_there = pose[axis, 0] * right + pose[axis, 1] * up - pose[axis, 2] * metres
                    points[written, axis] = offset_there + pose[axis, 3]
                    points[written, 3 + axis] = -offset_there / away
                written += 1
            found += 1
    return written


@kernel
def count_near(points, count, fresh, reach):
    """How many of `fresh` (K, 3 or more) lie within `reach` metres of one of the first `count` points."""
    near = 0
    for k in range(fresh.shape[0]):
        for p in range(count):
            x, y, z = fresh[k, 0] - points[p, 0], fresh[k, 1] - points[p, 1], fresh[k, 2] - points[p, 2]
            if x * x + y * y + z * z <= reach * reach:
                near += 1
                break
    return near


@kernel
def add_apart(points, count, fresh, apart):
    """Add those rows of `fresh` to the first `count` rows of `points` that lie `apart` metres from all.

    Rows are places (3,) and whatever is known of them. Returns the new count, or -1 where there is no room
    for one: then some were added, and adding all of them again changes nothing that is there.
    """
    for k in range(fresh.shape[0]):
        is_near = False
        for p in range(count):
            x, y, z = fresh[k, 0] - points[p, 0], fresh[k, 1] - points[p, 1], fresh[k, 2] - points[p, 2]
            if x * x + y * y + z * z < apart * apart:
                is_near = True
                break
        if is_near:
            continue
        if count == points.shape[0]:
            return -1
        for column in range(points.shape[1]):
            points[count, column] = fresh[k, column]
        count += 1
    return count
