"""Kernels that draw a share of the views of a batch: culling, occlusion, rasterisation, shading.

Stage 1 lists the clusters that may be seen, front to back; stage 2 skips those behind what is drawn
already (hierarchical depth); stages 3 and 4 set up and rasterise triangles (`triangles`, `raster`).
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from navarena.core.kernels import kernel
from navarena.core.pointers import flat_view
from navarena.simulation.rendering import memory_layout as at
from navarena.simulation.rendering.memory_layout import DEPTH_BUCKETS, FAR_AWAY, NEAR, TILE
from navarena.simulation.rendering.raster import draw_triangles
from navarena.simulation.rendering.shade import shade_view
from navarena.simulation.rendering.simd_raster import tile_minimum
from navarena.simulation.rendering.triangles import (
    assemble_clipped,
    assemble_triangles,
    set_up_triangles,
    transform_vertices,
)

ZERO, HALF, ONE = np.float32(0), np.float32(0.5), np.float32(1)
BUCKETS_PER_METRE = np.float32(16)
LAST_BUCKET = np.float32(DEPTH_BUCKETS - 1)


@kernel(fastmath=True)
def cull_clusters(box, cone, camera, width, height, nearest, candidates):
    """Test clusters against the view frustum and their normals against the camera's position.

    box (6 C) and cone (4 C) float32 are those of RenderMesh, camera (16) float32 that of memory_layout.
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


FIRST_HIZ = 8
"""Clusters drawn before the first hierarchical depth; later after every eighth part more."""


@kernel(fastmath=True)
def draw_mesh(meshes, row, scratch, share, camera, width, height, pitch, stride, ident, ident_step, has_hiz):
    """Draw mesh `row` of the table of meshes into the visibility buffer of scratch row `share`.

    Triangle t gets the id ident + t * ident_step. `has_hiz`: whether the hierarchical
    depth of this frame exists already; returns whether it does now.
    """
    box = flat_view(meshes, row, at.MESH_BOX, np.float32)
    cone = flat_view(meshes, row, at.MESH_CONE, np.float32)
    vertex_offset = flat_view(meshes, row, at.MESH_VERTEX_OFFSET, np.int32)
    triangle_offset = flat_view(meshes, row, at.MESH_TRIANGLE_OFFSET, np.int32)
    vertex = flat_view(meshes, row, at.MESH_VERTEX, np.float32)
    corner = flat_view(meshes, row, at.MESH_CORNER, np.int16)
    vertices = flat_view(scratch, share, at.SCRATCH_VERTEX, np.float32)
    triangles = flat_view(scratch, share, at.SCRATCH_TRIANGLE, np.float32)
    idents = flat_view(scratch, share, at.SCRATCH_ID, np.int32)
    kept = flat_view(scratch, share, at.SCRATCH_LIST, np.int32)
    candidates = flat_view(scratch, share, at.SCRATCH_CANDIDATE, np.int32)
    nearest = flat_view(scratch, share, at.SCRATCH_NEAREST, np.float32)
    order = flat_view(scratch, share, at.SCRATCH_ORDER, np.int32)
    buckets = flat_view(scratch, share, at.SCRATCH_BUCKET, np.int32)
    tiles = flat_view(scratch, share, at.SCRATCH_HIZ, np.float32)
    spans = flat_view(scratch, share, at.SCRATCH_SPAN, np.int32)
    inverse_depth = flat_view(scratch, share, at.SCRATCH_INVERSE_DEPTH, np.float32)
    visible = flat_view(scratch, share, at.SCRATCH_VISIBLE, np.int32)

    found = cull_clusters(box, cone, camera, width, height, nearest, candidates)
    order_clusters(candidates, found, nearest, buckets, order)
    drawn, next_hiz = 0, FIRST_HIZ
    for k in range(found):
        c = order[k]
        if has_hiz and nearest[c] > NEAR:
            if is_occluded(box, c, camera, width, height, nearest[c], stride, tiles):
                continue
        first_vertex, vertex_count = vertex_offset[c], vertex_offset[c + 1] - vertex_offset[c]
        first, count = triangle_offset[c], triangle_offset[c + 1] - triangle_offset[c]
        transform_vertices(vertex, first_vertex, vertex_count, camera, vertices)
        if nearest[c] < NEAR:
            count = assemble_clipped(
                corner, first, count, ident, ident_step, vertices, vertex_count, camera, triangles, idents
            )
        else:
            count = assemble_triangles(corner, first, count, ident, ident_step, vertices, triangles, idents)
        set_up_triangles(triangles, count, width, height)
        draw_triangles(triangles, count, idents, kept, spans, width, pitch, inverse_depth, visible)
        drawn += 1
        if drawn == next_hiz:
            build_hiz(inverse_depth, pitch, height, stride, tiles)
            has_hiz = True
            next_hiz = drawn + max(FIRST_HIZ, drawn // 8)
    return has_hiz


BYTES_PER_PIXEL = (3, 4, 4, 4)


@kernel
def _clear(inverse_depth, width, height, pitch):
    """Nothing is seen yet; what lies right of the image hides nothing and is never drawn."""
    inverse_depth[: pitch * (height + 1)] = np.float32(0)
    right = pitch - at.PITCH_SLACK
    if right > width:
        for row in range(height):
            inverse_depth[row * pitch + width : row * pitch + right] = at.FAR_AWAY


@kernel
def render_views(
    share, first, last, meshes, scratch, cameras, scenes, extra_offset, extra_mesh, extra_cameras,
    extra_words, outputs, width, height, pitch, stride, shading,
):  # fmt: skip
    """Draw views first..last - 1 with the scratch memory of thread `share`.

    meshes, scratch (R, 2 K) int64 are address tables with slots as in memory_layout; cameras (N, 16)
    float32; scenes (N,) int32 are rows of `meshes`. Extra objects [extra_offset[v],
    extra_offset[v + 1]) belong to view v: extra_mesh (E,) int32 are their rows of `meshes`,
    extra_cameras (E, 16) float32 the camera in their own frames, extra_words (E, EXTRA_WORDS)
    int32 their surface, paint and detail. outputs (4,) int64 are the addresses of rgb, depth,
    instance and semantic, N first, 0 = not wanted. pitch and stride are memory_layout.row_pitch(width)
    and memory_layout.hiz_stride(width); shading is a ceiling, see shade.
    """
    inverse_depth = flat_view(scratch, share, at.SCRATCH_INVERSE_DEPTH, np.float32)
    mine = np.zeros(4, np.int64)
    for view in range(first, last):
        _clear(inverse_depth, width, height, pitch)
        camera, row = cameras[view], scenes[view]
        ready = draw_mesh(meshes, row, scratch, share, camera, width, height, pitch, stride, 0, 1, False)
        for extra in range(extra_offset[view], extra_offset[view + 1]):
            ready = draw_mesh(
                meshes, extra_mesh[extra], scratch, share, extra_cameras[extra], width, height, pitch,
                stride, ~extra, 0, ready,
            )  # fmt: skip
        for k in range(4):
            size = width * height * BYTES_PER_PIXEL[k]
            mine[k] = outputs[k] + view * size if outputs[k] != 0 else 0
        shade_view(
            meshes, row, scratch, share, camera, width, height, pitch, shading,
            extra_words.ctypes.data, mine,
        )  # fmt: skip
