"""Stages 1 to 4 for one mesh seen by one camera."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from navarena.core.kernels import kernel
from navarena.core.pointers import flat_view
from navarena.simulation.rendering import layout as at
from navarena.simulation.rendering.cull import cull_clusters, order_clusters
from navarena.simulation.rendering.hiz import build_hiz, is_occluded
from navarena.simulation.rendering.layout import NEAR
from navarena.simulation.rendering.raster import draw_triangles
from navarena.simulation.rendering.triangles import (
    assemble_clipped,
    assemble_triangles,
    set_up_triangles,
    transform_vertices,
)

FIRST_HIZ = 8
"""Clusters drawn before the first hierarchical depth; later after every eighth part more."""


@kernel(fastmath=True)
def draw_mesh(meshes, row, scratch, share, camera, width, height, pitch, stride, ident, ident_step, has_hiz):
    """Draw mesh `row` of the table of meshes into the visibility buffer of scratch row `share`.

    Triangle t gets the id ident + t * ident_step. `has_hiz` tells whether the hierarchical
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
