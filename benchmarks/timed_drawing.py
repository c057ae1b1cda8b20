"""One view drawn with a clock and a choice of clusters: `draw_view` repeats draw.draw_mesh.

Whoever draws with it checks the images against those of the renderer.
"""

import time

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from navarena.core.kernels import kernel
from navarena.core.pointers import AddressTable, address_of, flat_view
from navarena.simulation.rendering import Frames, RenderMesh, Views, engine
from navarena.simulation.rendering import memory_layout as at
from navarena.simulation.rendering import triangles as field
from navarena.simulation.rendering.culling import build_hiz, cull_clusters, is_occluded, order_clusters
from navarena.simulation.rendering.draw import AHEAD, BYTES_PER_PIXEL, FIRST_HIZ, _clear
from navarena.simulation.rendering.fetching import fetch_cluster
from navarena.simulation.rendering.raster import draw_triangles
from navarena.simulation.rendering.shade import TEXTURED, shade_view
from navarena.simulation.rendering.triangles import (
    assemble_clipped,
    assemble_triangles,
    set_up_triangles,
    transform_vertices,
)

ROUNDS = 9
STAGES = (
    "clear", "cull", "sort", "occlusion, fetch", "transform", "assemble", "set-up", "raster", "depth tiles",
    "shade", "whole",
)  # fmt: skip
CLEAR, CULL, SORT, OCCLUSION, TRANSFORM, ASSEMBLE, SET_UP, RASTER, TILES, SHADE, WHOLE = range(len(STAGES))
SET_UP_MARK, BACK_MARK, SMALL_MARK, COVERS_MARK = 1, 2, 4, 8
"""Of a triangle: it was set up; shows its back or its edge; is smaller than half a pixel; covers a pixel."""
SILENT, CLOCK, MARK = 0, 1, 2
HALF_PIXEL = np.float32(0.5)
ALL = np.zeros(0, np.uint8)


@intrinsic
def ticks(typingctx):
    """The processor's counter of cycles."""

    def codegen(context, builder, signature, args):
        function = builder.module.declare_intrinsic(
            "llvm.readcyclecounter", (), ir.FunctionType(ir.IntType(64), [])
        )
        return builder.call(function, [])

    return types.int64(), codegen


@kernel(fastmath=True)
def mark_set_up(table, count, idents, marks):
    """Write to marks (T) uint8 what became of the triangles that were set up."""
    for k in range(count):
        x0, x1, x2 = table[field.X0 + k], table[field.X1 + k], table[field.X2 + k]
        y0, y1, y2 = table[field.Y0 + k], table[field.Y1 + k], table[field.Y2 + k]
        wide, high = max(x0, max(x1, x2)) - min(x0, min(x1, x2)), max(y0, max(y1, y2)) - min(y0, min(y1, y2))
        mark = SET_UP_MARK
        if (x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0) <= 0:
            mark |= BACK_MARK
        if max(wide, high) < HALF_PIXEL:
            mark |= SMALL_MARK
        if table[field.DRAWN + k] >= 0:
            for row in range(int(table[field.BOX_H + k]) + 1):
                for column in range(int(table[field.BOX_W + k]) + 1):
                    inside = True
                    for e, a, b in (
                        (field.E0, field.A0, field.B0), (field.E1, field.A1, field.B1),
                        (field.E2, field.A2, field.B2),
                    ):  # fmt: skip
                        inside &= table[e + k] + column * table[a + k] + row * table[b + k] >= 0
                    if inside:
                        mark |= COVERS_MARK
        marks[idents[k]] |= mark


@kernel(fastmath=True)
def draw_view(
    meshes, row, scratch, camera, width, height, pitch, stride, outputs, keep, mode, spent, marks
):  # fmt: skip
    """Draw one view of mesh `row`, only its clusters with keep (C) uint8, as draw.render_views does.

    mode CLOCK adds the cycles of each stage to spent (S) int64, MARK writes marks (T) uint8 and leaves
    the number of clusters in the view and of those set up in spent; the whole is always timed.
    """
    begin = ticks()
    box = flat_view(meshes, row, at.MESH_BOX, np.float32)
    cone = flat_view(meshes, row, at.MESH_CONE, np.float32)
    vertex_offset = flat_view(meshes, row, at.MESH_VERTEX_OFFSET, np.int32)
    triangle_offset = flat_view(meshes, row, at.MESH_TRIANGLE_OFFSET, np.int32)
    vertex = flat_view(meshes, row, at.MESH_VERTEX, np.float32)
    corner = flat_view(meshes, row, at.MESH_CORNER, np.int16)
    vertices = flat_view(scratch, 0, at.SCRATCH_VERTEX, np.float32)
    triangles = flat_view(scratch, 0, at.SCRATCH_TRIANGLE, np.float32)
    idents = flat_view(scratch, 0, at.SCRATCH_ID, np.int32)
    kept = flat_view(scratch, 0, at.SCRATCH_LIST, np.int32)
    candidates = flat_view(scratch, 0, at.SCRATCH_CANDIDATE, np.int32)
    nearest = flat_view(scratch, 0, at.SCRATCH_NEAREST, np.float32)
    order = flat_view(scratch, 0, at.SCRATCH_ORDER, np.int32)
    buckets = flat_view(scratch, 0, at.SCRATCH_BUCKET, np.int32)
    tiles = flat_view(scratch, 0, at.SCRATCH_HIZ, np.float32)
    spans = flat_view(scratch, 0, at.SCRATCH_SPAN, np.int32)
    inverse_depth = flat_view(scratch, 0, at.SCRATCH_INVERSE_DEPTH, np.float32)
    visible = flat_view(scratch, 0, at.SCRATCH_VISIBLE, np.int32)
    clock = mode == CLOCK
    last = begin
    _clear(inverse_depth, width, height, pitch)
    if clock:
        now = ticks()
        spent[CLEAR] += now - last
        last = now
    found = cull_clusters(box, cone, camera, width, height, nearest, candidates)
    if keep.size:
        passed, found = found, 0
        for k in range(passed):
            c = candidates[k]
            candidates[found] = c
            found += keep[c] != 0
    if clock:
        now = ticks()
        spent[CULL] += now - last
        last = now
    order_clusters(candidates, found, nearest, buckets, order)
    if clock:
        now = ticks()
        spent[SORT] += now - last
        last = now
    has_hiz, drawn, next_hiz, untested = False, 0, FIRST_HIZ, 0
    considered, ready, taken = 0, 0, 0
    while True:
        while considered < found and ready <= taken + AHEAD:
            c = order[considered]
            considered += 1
            if has_hiz and nearest[c] > at.NEAR:
                if is_occluded(box, c, camera, width, height, nearest[c], stride, tiles):
                    continue
            fetch_cluster(
                meshes, row, vertex_offset[c], vertex_offset[c + 1] - vertex_offset[c],
                triangle_offset[c], triangle_offset[c + 1] - triangle_offset[c],
            )  # fmt: skip
            order[ready] = c
            ready += 1
        if taken == ready:
            break
        c = order[taken]
        taken += 1
        if taken <= untested and nearest[c] > at.NEAR:
            if is_occluded(box, c, camera, width, height, nearest[c], stride, tiles):
                continue
        if clock:
            now = ticks()
            spent[OCCLUSION] += now - last
            last = now
        first_vertex, vertex_count = vertex_offset[c], vertex_offset[c + 1] - vertex_offset[c]
        first, count = triangle_offset[c], triangle_offset[c + 1] - triangle_offset[c]
        transform_vertices(vertex, first_vertex, vertex_count, camera, vertices)
        if clock:
            now = ticks()
            spent[TRANSFORM] += now - last
            last = now
        if nearest[c] < at.NEAR:
            count = assemble_clipped(
                corner, first, count, 0, 1, vertices, vertex_count, camera, triangles, idents
            )
        else:
            count = assemble_triangles(corner, first, count, 0, 1, vertices, triangles, idents)
        if clock:
            now = ticks()
            spent[ASSEMBLE] += now - last
            last = now
        set_up_triangles(triangles, count, width, height)
        if clock:
            now = ticks()
            spent[SET_UP] += now - last
            last = now
        if mode == MARK:
            mark_set_up(triangles, count, idents, marks)
        draw_triangles(triangles, count, idents, kept, spans, width, pitch, inverse_depth, visible)
        if clock:
            now = ticks()
            spent[RASTER] += now - last
            last = now
        drawn += 1
        if drawn == next_hiz:
            build_hiz(inverse_depth, pitch, height, stride, tiles)
            has_hiz, untested = True, ready
            next_hiz = drawn + max(FIRST_HIZ, drawn // 8)
            if clock:
                now = ticks()
                spent[TILES] += now - last
                last = now
    if mode == MARK:
        spent[CULL], spent[SET_UP] = found, drawn
    if clock:
        now = ticks()
        spent[OCCLUSION] += now - last
        last = now
    shade_view(meshes, row, scratch, 0, camera, width, height, pitch, TEXTURED, 0, outputs)
    now = ticks()
    if clock:
        spent[SHADE] += now - last
    spent[WHOLE] += now - begin


class ViewTimer:
    """Draws single views of some meshes with a clock, into `frames`."""

    def __init__(self, meshes: list[RenderMesh], views: Views, frames: Frames) -> None:
        self.meshes, self.views = meshes, views
        self._size = views.camera.width_px, views.camera.height_px
        self._layout = at.row_pitch(self._size[0]), at.hiz_stride(self._size[0])
        self._table = AddressTable([mesh.record() for mesh in meshes])
        self._arrays = engine._make_scratch(*self._size, max(mesh.cluster_count for mesh in meshes))
        self._scratch = AddressTable([self._arrays])
        self._cameras = engine.pack_cameras(views)
        self._outputs = np.zeros((len(views), 4), np.int64)
        for k, array in enumerate(frames.arrays()):
            if array is not None:
                size = self._size[0] * self._size[1] * BYTES_PER_PIXEL[k]
                self._outputs[:, k] = address_of(array) + size * np.arange(len(views))

    def draw(self, view: int, keep: np.ndarray, mode: int = SILENT, marks: np.ndarray = ALL) -> np.ndarray:
        """(S,) cycles, see draw_view."""
        spent = np.zeros(len(STAGES), np.int64)
        draw_view(
            self._table.table, int(self.views.scene_index[view]), self._scratch.table, self._cameras[view],
            *self._size, *self._layout, self._outputs[view], keep, mode, spent, marks,
        )  # fmt: skip
        return spent

    def winners(self) -> np.ndarray:
        """Triangles that the view drawn last shows."""
        width, height = self._size
        depth, ident = (
            self._arrays[slot][: self._layout[0] * height].reshape(height, -1)[:, :width]
            for slot in (at.SCRATCH_INVERSE_DEPTH, at.SCRATCH_VISIBLE)
        )
        return np.unique(ident[depth > 0])

    def cycles(self, keeps: list[np.ndarray], mode: int = SILENT, rounds: int = ROUNDS) -> np.ndarray:
        """(N, S) least cycles of each view and stage, over rounds through all views."""
        drawn = [[self.draw(view, keep, mode) for view, keep in enumerate(keeps)] for _ in range(rounds + 1)]
        return np.min(drawn[1:], 0)


@kernel
def read_clock(times):
    """The counter now, and the cycles that reading it takes."""
    begin = ticks()
    now = begin
    for _ in range(times):
        now = ticks()
    return now, (now - begin) / times


def cycles_per_microsecond() -> float:
    read_clock(1)
    begin, first = time.perf_counter(), read_clock(1)[0]
    time.sleep(0.3)
    last, end = read_clock(1)[0], time.perf_counter()
    return (last - first) / (end - begin) / 1e6
