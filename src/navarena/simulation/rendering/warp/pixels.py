# mypy: ignore-errors
"""Kernels that change images where they are: depth as sensors give it, and corruptions of images."""

import warp as wp


@wp.kernel(enable_backward=False)
def clip_depth(
    rows: wp.array(dtype=wp.int32),
    metres: wp.array3d(dtype=wp.float32),
    offset: float,
    scale: float,
    minimum: float,
    maximum: float,
    out: wp.array4d(dtype=wp.float32),
):
    """Write (metres - least) * scale, clipped to [low, high]; threads are (row, y, x).

    rows (K,) int32 of metres (N, H, W) and out (N, H, W, 1) float32.
    """
    k, y, x = wp.tid()
    row = rows[k]
    out[row, y, x, 0] = wp.clamp((metres[row, y, x] - offset) * scale, minimum, maximum)


@wp.kernel(enable_backward=False)
def clip_depth_to_halves(
    rows: wp.array(dtype=wp.int32),
    metres: wp.array3d(dtype=wp.float32),
    offset: float,
    scale: float,
    minimum: float,
    maximum: float,
    out: wp.array4d(dtype=wp.float16),
):
    """As clip_depth, into out (N, H, W, 1) float16."""
    k, y, x = wp.tid()
    row = rows[k]
    out[row, y, x, 0] = wp.float16(wp.clamp((metres[row, y, x] - offset) * scale, minimum, maximum))


@wp.kernel(enable_backward=False)
def clip_depth_to_bytes(
    rows: wp.array(dtype=wp.int32),
    metres: wp.array3d(dtype=wp.float32),
    offset: float,
    scale: float,
    minimum: float,
    maximum: float,
    out: wp.array4d(dtype=wp.uint8),
):
    """As clip_depth, rounded into out (N, H, W, 1) uint8."""
    k, y, x = wp.tid()
    row = rows[k]
    value = wp.clamp((metres[row, y, x] - offset) * scale, minimum, maximum)
    out[row, y, x, 0] = wp.uint8(wp.int32(value + 0.5))


@wp.kernel(enable_backward=False)
def look_up_by_brightness(
    rows: wp.array(dtype=wp.int32), table: wp.array2d(dtype=wp.uint8), images: wp.array4d(dtype=wp.uint8)
):
    """Pixel p becomes table[max(p), p], channel by channel; threads are (row, y, x).

    rows (K,) int32 of images (N, H, W, 3) uint8; table (256, 256) uint8.
    """
    k, y, x = wp.tid()
    row = rows[k]
    red = images[row, y, x, 0]
    green = images[row, y, x, 1]
    blue = images[row, y, x, 2]
    brightness = int(wp.max(red, wp.max(green, blue)))
    images[row, y, x, 0] = table[brightness, int(red)]
    images[row, y, x, 1] = table[brightness, int(green)]
    images[row, y, x, 2] = table[brightness, int(blue)]


@wp.kernel(enable_backward=False)
def limit_depth(
    rows: wp.array(dtype=wp.int32), near: float, far: float, loses: int, depths: wp.array3d(dtype=wp.float32)
):
    """Metres outside [near, far] become the nearer bound, or 0 where `loses` is 1; 0 stays 0.

    Threads are (row, y, x); rows (K,) int32 of depths (N, H, W) float32.
    """
    k, y, x = wp.tid()
    row = rows[k]
    depth = depths[row, y, x]
    limited = wp.clamp(depth, near, far)
    if loses == 1 and limited != depth:
        limited = 0.0
    if depth <= 0.0:
        limited = 0.0
    depths[row, y, x] = limited
