"""SlotWorlds 1: which clusters may be seen, and in what order to draw them."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from navarena.core.kernels import kernel
from navarena.simulation.rendering.layout import DEPTH_BUCKETS, FAR_AWAY, NEAR

ZERO, HALF, ONE = np.float32(0), np.float32(0.5), np.float32(1)
BUCKETS_PER_METRE = np.float32(16)
LAST_BUCKET = np.float32(DEPTH_BUCKETS - 1)


@kernel(fastmath=True)
def cull_clusters(box, cone, camera, width, height, nearest, candidates):
    """Test clusters against the view frustum and their normals against the camera's position.

    box (6 C) and cone (4 C) float32 are those of RenderMesh, camera (16) float32 that of layout.
    nearest (>= C) float32 receives the nearest view depth, or -FAR_AWAY if culled;
    candidates (>= C) int32 receives the clusters that remain. Returns their number.
    """
    count = box.size // 6
    ox, oy, oz = camera[0], camera[1], camera[2]
    rx, ry, rz, dx, dy, dz = camera[3], camera[4], camera[5], camera[6], camera[7], camera[8]
    fx, fy, fz = camera[9], camera[10], camera[11]
    half_w, half_h = np.float32(width) * HALF / camera[12], np.float32(height) * HALF / camera[12]
    lx, ly, lz = half_w * fx + rx, half_w * fy + ry, half_w * fz + rz  # inward normals: left,
    gx, gy, gz = half_w * fx - rx, half_w * fy - ry, half_w * fz - rz  # right,
    tx, ty, tz = half_h * fx + dx, half_h * fy + dy, half_h * fz + dz  # top,
    bx, by, bz = half_h * fx - dx, half_h * fy - dy, half_h * fz - dz  # bottom
    for c in range(count):  # no branches: LLVM vectorises this loop
        x, y, z = box[c] - ox, box[count + c] - oy, box[2 * count + c] - oz
        ex, ey, ez = box[3 * count + c], box[4 * count + c], box[5 * count + c]
        left = lx * x + ly * y + lz * z + abs(lx) * ex + abs(ly) * ey + abs(lz) * ez
        right = gx * x + gy * y + gz * z + abs(gx) * ex + abs(gy) * ey + abs(gz) * ez
        top = tx * x + ty * y + tz * z + abs(tx) * ex + abs(ty) * ey + abs(tz) * ez
        bottom = bx * x + by * y + bz * z + abs(bx) * ex + abs(by) * ey + abs(bz) * ez
        depth = fx * x + fy * y + fz * z
        reach = abs(fx) * ex + abs(fy) * ey + abs(fz) * ez
        # all normals face away when axis . offset >= sine |offset| + radius (1 + sine)
        sine = cone[3 * count + c]
        radius = np.sqrt(ex * ex + ey * ey + ez * ez)
        distance = np.sqrt(x * x + y * y + z * z)
        away = cone[c] * x + cone[count + c] * y + cone[2 * count + c] * z
        facing = sine * distance + radius * (ONE + sine) - away
        inside = min(min(min(left, right), min(top, bottom)), min(depth + reach - NEAR, facing))
        nearest[c] = depth - reach if inside >= ZERO else -FAR_AWAY
    found = 0
    for c in range(count):
        candidates[found] = c
        found += nearest[c] > -FAR_AWAY
    return found


@kernel(fastmath=True)
def order_clusters(candidates, found, nearest, buckets, order):
    """Sort the first `found` candidates front to back by counting, in buckets of 1/16 m."""
    buckets[:] = 0
    for k in range(found):
        depth = max(nearest[candidates[k]], ZERO) * BUCKETS_PER_METRE
        buckets[np.int64(min(depth, LAST_BUCKET)) + 1] += 1
    for k in range(DEPTH_BUCKETS):
        buckets[k + 1] += buckets[k]
    for k in range(found):
        depth = max(nearest[candidates[k]], ZERO) * BUCKETS_PER_METRE
        bucket = np.int64(min(depth, LAST_BUCKET))
        order[buckets[bucket]] = candidates[k]
        buckets[bucket] += 1
