"""Stages 1 and 2: clusters that may be seen, front to back, and those behind what is drawn already."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from navarena.core.kernels import kernel
from navarena.core.kernels import unsigned as U
from navarena.simulation.rendering.memory_layout import CAMERA_FAR, DEPTH_BUCKETS, FAR_AWAY, NEAR, TILE
from navarena.simulation.rendering.simd_raster import tile_minimum

ZERO, HALF, ONE = np.float32(0), np.float32(0.5), np.float32(1)
BUCKETS_PER_METRE = np.float32(16)
LAST_BUCKET = np.float32(DEPTH_BUCKETS - 1)


@kernel(fastmath=True)
def cull_clusters(box, cone, camera, width, height, min_depth, candidates):
    """Test clusters against the view frustum, its far end included, and their normals against the camera.

    box (6 C) and cone (4 C) float32 are those of RenderMesh, camera (16) float32 that of memory_layout.
    nearest (>= C) float32 receives the nearest view depth, or -FAR_AWAY if culled;
    candidates (>= C) int32 receives the clusters that remain. Returns their number.
    """
    count = box.size // 6
    ox, oy, oz = camera[0], camera[1], camera[2]
    rx, ry, rz, dx, dy, dz = camera[3], camera[4], camera[5], camera[6], camera[7], camera[8]
    fx, fy, fz = camera[9], camera[10], camera[11]
    far = camera[CAMERA_FAR]
    half_w, half_h = np.float32(width) * HALF / camera[12], np.float32(height) * HALF / camera[12]
    lx, ly, lz = half_w * fx + rx, half_w * fy + ry, half_w * fz + rz  # inward normals: left,
    gx, gy, gz = half_w * fx - rx, half_w * fy - ry, half_w * fz - rz  # right,
    tx, ty, tz = half_h * fx + dx, half_h * fy + dy, half_h * fz + dz  # top,
    bx, by, bz = half_h * fx - dx, half_h * fy - dy, half_h * fz - dz  # bottom
    for c in range(count):  # no branches: LLVM vectorises this loop
        x, y, z = box[U(c)] - ox, box[U(count + c)] - oy, box[U(2 * count + c)] - oz
        ex, ey, ez = box[U(3 * count + c)], box[U(4 * count + c)], box[U(5 * count + c)]
        left = lx * x + ly * y + lz * z + abs(lx) * ex + abs(ly) * ey + abs(lz) * ez
        right = gx * x + gy * y + gz * z + abs(gx) * ex + abs(gy) * ey + abs(gz) * ez
        top = tx * x + ty * y + tz * z + abs(tx) * ex + abs(ty) * ey + abs(tz) * ez
        bottom = bx * x + by * y + bz * z + abs(bx) * ex + abs(by) * ey + abs(bz) * ez
        depth = fx * x + fy * y + fz * z
        reach = abs(fx) * ex + abs(fy) * ey + abs(fz) * ez
        # all normals face away when axis . offset >= sine |offset| + radius (1 + sine)
        sine = cone[U(3 * count + c)]
        radius = np.sqrt(ex * ex + ey * ey + ez * ez)
        distance = np.sqrt(x * x + y * y + z * z)
        away = cone[U(c)] * x + cone[U(count + c)] * y + cone[U(2 * count + c)] * z
        facing = sine * distance + radius * (ONE + sine) - away
        along = min(depth + reach - NEAR, far - (depth - reach))
        inside = min(min(min(left, right), min(top, bottom)), min(along, facing))
        min_depth[U(c)] = depth - reach if inside >= ZERO else -FAR_AWAY
    found = 0
    for c in range(count):
        candidates[U(found)] = c
        found += min_depth[U(c)] > -FAR_AWAY
    return found


@kernel(fastmath=True)
def order_clusters(candidates, found, min_depth, buckets, order):
    """Sort the first `found` candidates front to back by counting, in buckets of 1/16 m."""
    buckets[:] = 0
    for k in range(found):
        depth = max(min_depth[U(candidates[U(k)])], ZERO) * BUCKETS_PER_METRE
        buckets[np.int64(min(depth, LAST_BUCKET)) + 1] += 1
    for k in range(DEPTH_BUCKETS):
        buckets[U(k + 1)] += buckets[U(k)]
    for k in range(found):
        depth = max(min_depth[U(candidates[U(k)])], ZERO) * BUCKETS_PER_METRE
        bucket = np.int64(min(depth, LAST_BUCKET))
        order[U(buckets[U(bucket)])] = candidates[U(k)]
        buckets[U(bucket)] += 1


@kernel(fastmath=True)
def build_hiz(inverse_depth, pitch, height, stride, tiles):
    """tiles[row * stride + column] = smallest inverse depth in an 8 x 8 tile (0: a gap)."""
    for ty in range((height + TILE - 1) // TILE):
        rows = min(TILE, height - ty * TILE)
        for tx in range(0, stride, 2):
            offset = ty * TILE * pitch + tx * TILE
            tile_minimum(inverse_depth, offset, pitch, rows, tiles, ty * stride + tx)


@kernel(fastmath=True)
def is_occluded(box, c, camera, width, height, min_depth, stride, tiles):
    """Whether cluster `c`, all of it at view depth >= nearest > 0, lies behind every tile it meets."""
    count = box.size // 6
    x, y, z = box[U(c)] - camera[0], box[U(count + c)] - camera[1], box[U(2 * count + c)] - camera[2]
    ex, ey, ez = box[U(3 * count + c)], box[U(4 * count + c)], box[U(5 * count + c)]
    across = camera[3] * x + camera[4] * y + camera[5] * z
    across_reach = abs(camera[3]) * ex + abs(camera[4]) * ey + abs(camera[5]) * ez
    down = camera[6] * x + camera[7] * y + camera[8] * z
    down_reach = abs(camera[6]) * ex + abs(camera[7]) * ey + abs(camera[8]) * ez
    depth = camera[9] * x + camera[10] * y + camera[11] * z
    depth_reach = abs(camera[9]) * ex + abs(camera[10]) * ey + abs(camera[11]) * ez
    near_scale, far_scale = camera[12] / (depth - depth_reach), camera[12] / (depth + depth_reach)
    left, right = across - across_reach, across + across_reach
    top, bottom = down - down_reach, down + down_reach
    x0 = camera[13] + left * (near_scale if left < ZERO else far_scale)
    x1 = camera[13] + right * (far_scale if right < ZERO else near_scale)
    y0 = camera[14] + top * (near_scale if top < ZERO else far_scale)
    y1 = camera[14] + bottom * (far_scale if bottom < ZERO else near_scale)
    tx0 = np.int64(max(x0, ZERO)) // TILE
    tx1 = np.int64(max(min(x1 + ONE, np.float32(width - 1)), ZERO)) // TILE
    ty0 = np.int64(max(y0, ZERO)) // TILE
    ty1 = np.int64(max(min(y1 + ONE, np.float32(height - 1)), ZERO)) // TILE
    limit = ONE / min_depth
    for ty in range(ty0, ty1 + 1):
        for tx in range(tx0, tx1 + 1):
            if tiles[U(ty * stride + tx)] < limit:
                return False
    return True
