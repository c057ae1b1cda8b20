"""Kernels that draw a share of the views of a batch: culling, occlusion, rasterisation, shading.

Stage 1 lists the clusters that may be seen, front to back; stage 2 skips those behind what is drawn
already (hierarchical depth); stages 3 and 4 set up and rasterise triangles (`triangles`, `raster`).
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from navarena.core.kernels import kernel
from navarena.core.kernels import unsigned as U
from navarena.core.pointers import flat_view
from navarena.simulation.rendering import memory_layout as at
from navarena.simulation.rendering.culling import build_hiz, cull_clusters, is_occluded, order_clusters
from navarena.simulation.rendering.fetching import fetch_cluster
from navarena.simulation.rendering.memory_layout import NEAR
from navarena.simulation.rendering.raster import draw_triangles
from navarena.simulation.rendering.shade import shade_view
from navarena.simulation.rendering.triangles import (
    assemble_clipped,
    assemble_triangles,
    set_up_triangles,
    transform_vertices,
)

AHEAD = 2
"""Clusters between asking memory for one and drawing it."""
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
    drawn, next_hiz, untested = 0, FIRST_HIZ, 0
    considered, ready, taken = 0, 0, 0
    while True:
        while considered < found and ready <= taken + AHEAD:
            c = order[U(considered)]
            considered += 1
            if has_hiz and nearest[U(c)] > NEAR:
                if is_occluded(box, c, camera, width, height, nearest[U(c)], stride, tiles):
                    continue
            fetch_cluster(
                meshes, row, vertex_offset[U(c)], vertex_offset[U(c + 1)] - vertex_offset[U(c)],
                triangle_offset[U(c)], triangle_offset[U(c + 1)] - triangle_offset[U(c)],
            )  # fmt: skip
            order[U(ready)] = c
            ready += 1
        if taken == ready:
            break
        c = order[U(taken)]
        taken += 1
        if taken <= untested and nearest[U(c)] > NEAR:  # more is drawn since it was tested
            if is_occluded(box, c, camera, width, height, nearest[U(c)], stride, tiles):
                continue
        first_vertex, vertex_count = vertex_offset[U(c)], vertex_offset[U(c + 1)] - vertex_offset[U(c)]
        first, count = triangle_offset[U(c)], triangle_offset[U(c + 1)] - triangle_offset[U(c)]
        transform_vertices(vertex, first_vertex, vertex_count, camera, vertices)
        if nearest[U(c)] < NEAR:
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
            has_hiz, untested = True, ready
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
