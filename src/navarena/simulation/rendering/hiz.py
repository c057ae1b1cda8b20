"""SlotWorlds 2: clusters that are hidden behind what has been drawn already."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from navarena.core.kernels import kernel
from navarena.simulation.rendering.layout import TILE
from navarena.simulation.rendering.simd_raster import tile_minimum

ZERO, ONE = np.float32(0), np.float32(1)


@kernel(fastmath=True)
def build_hiz(inverse_depth, pitch, height, stride, tiles):
    """tiles[row * stride + column] = smallest inverse depth in an 8 x 8 tile (0: a gap)."""
    for ty in range((height + TILE - 1) // TILE):
        rows = min(TILE, height - ty * TILE)
        for tx in range(0, stride, 2):
            offset = ty * TILE * pitch + tx * TILE
            tile_minimum(inverse_depth, offset, pitch, rows, tiles, ty * stride + tx)


@kernel(fastmath=True)
def is_occluded(box, c, camera, width, height, nearest, stride, tiles):
    """Whether cluster `c`, all of it at view depth >= nearest > 0, lies behind every tile it meets."""
    count = box.size // 6
    x, y, z = box[c] - camera[0], box[count + c] - camera[1], box[2 * count + c] - camera[2]
    ex, ey, ez = box[3 * count + c], box[4 * count + c], box[5 * count + c]
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
    limit = ONE / nearest
    for ty in range(ty0, ty1 + 1):
        for tx in range(tx0, tx1 + 1):
            if tiles[ty * stride + tx] < limit:
                return False
    return True
