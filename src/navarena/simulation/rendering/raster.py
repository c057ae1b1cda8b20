"""Stage 4: triangles into the visibility buffer."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from navarena.core.kernels import kernel
from navarena.core.kernels import unsigned as U
from navarena.simulation.rendering import triangles as f
from navarena.simulation.rendering.simd_raster import raster_small8, raster_small16, raster_span
from navarena.simulation.rendering.triangles import refine_triangle

ZERO, ONE = np.float32(0), np.float32(1)
NEVER = np.float32(1e9)
FAR_COLUMN = np.float32(1e5)


@kernel(fastmath=True)
def draw_triangles(table, count, idents, kept, spans, width, pitch, inverse_depth, visible):
    """Draw the triangles that the set-up kept, by the width of their pixel box."""
    drawn = 0
    for k in range(count):
        kept[U(drawn)] = k
        drawn += table[U(f.DRAWN + k)] >= ZERO
    for j in range(drawn):
        k = kept[U(j)]
        if table[U(f.DRAWN + k)] > ZERO:
            refine_triangle(table, k)
        columns, rows = np.int64(table[U(f.BOX_W + k)]) + 1, np.int64(table[U(f.BOX_H + k)]) + 1
        offset = np.int64(table[U(f.BOX_Y + k)]) * pitch + np.int64(table[U(f.BOX_X + k)])
        if columns <= 8:
            raster_small8(
                inverse_depth, visible, offset, pitch, rows,
                table[U(f.E0 + k)], table[U(f.E1 + k)], table[U(f.E2 + k)],
                table[U(f.A0 + k)], table[U(f.A1 + k)], table[U(f.A2 + k)],
                table[U(f.B0 + k)], table[U(f.B1 + k)], table[U(f.B2 + k)],
                table[U(f.DEPTH + k)], table[U(f.DEPTH_A + k)], table[U(f.DEPTH_B + k)],
                table[U(f.DEPTH_MOST + k)], idents[U(k)],
            )  # fmt: skip
        elif columns <= 16:
            raster_small16(
                inverse_depth, visible, offset, pitch, rows,
                table[U(f.E0 + k)], table[U(f.E1 + k)], table[U(f.E2 + k)],
                table[U(f.A0 + k)], table[U(f.A1 + k)], table[U(f.A2 + k)],
                table[U(f.B0 + k)], table[U(f.B1 + k)], table[U(f.B2 + k)],
                table[U(f.DEPTH + k)], table[U(f.DEPTH_A + k)], table[U(f.DEPTH_B + k)],
                table[U(f.DEPTH_MOST + k)], idents[U(k)],
            )  # fmt: skip
        else:
            _draw_wide(table, k, rows, offset, pitch, columns, idents[U(k)], spans, inverse_depth, visible)


@kernel(fastmath=True)
def _draw_wide(table, k, rows, offset, pitch, columns, ident, spans, inverse_depth, visible):
    """Columns [first, last] of each row from the edge functions, then spans of depth tests.

    Edge e bounds the column from the left where its step a > 0 and from the right where a < 0:
    column = start + slope * row. The other side gets a bound that never binds.
    """
    e0, e1, e2 = table[U(f.E0 + k)], table[U(f.E1 + k)], table[U(f.E2 + k)]
    a0, a1, a2 = table[U(f.A0 + k)], table[U(f.A1 + k)], table[U(f.A2 + k)]
    b0, b1, b2 = table[U(f.B0 + k)], table[U(f.B1 + k)], table[U(f.B2 + k)]
    r0 = -ONE / (a0 if a0 != ZERO else ONE)
    r1 = -ONE / (a1 if a1 != ZERO else ONE)
    r2 = -ONE / (a2 if a2 != ZERO else ONE)
    left0, left_slope0 = (e0 * r0, b0 * r0) if a0 > ZERO else (-ONE, ZERO)
    left1, left_slope1 = (e1 * r1, b1 * r1) if a1 > ZERO else (-ONE, ZERO)
    left2, left_slope2 = (e2 * r2, b2 * r2) if a2 > ZERO else (-ONE, ZERO)
    right0, right_slope0 = (e0 * r0, b0 * r0) if a0 < ZERO else (NEVER, ZERO)
    right1, right_slope1 = (e1 * r1, b1 * r1) if a1 < ZERO else (NEVER, ZERO)
    right2, right_slope2 = (e2 * r2, b2 * r2) if a2 < ZERO else (NEVER, ZERO)
    half = spans.size // 2
    last_column = np.float32(columns - 1)
    for row in range(rows):  # first, without branches, so that it vectorises
        y = np.float32(np.int32(row))
        first = max(max(left0 + left_slope0 * y, left1 + left_slope1 * y), max(left2 + left_slope2 * y, ZERO))
        last = min(
            min(right0 + right_slope0 * y, right1 + right_slope1 * y),
            min(right2 + right_slope2 * y, last_column),
        )
        first = np.ceil(min(first, FAR_COLUMN))
        spans[U(row)] = np.int32(first)
        spans[U(half + row)] = np.int32(np.floor(max(last, -ONE)) - first) + np.int32(1)
    depth, depth_a = table[U(f.DEPTH + k)], table[U(f.DEPTH_A + k)]
    depth_b, depth_most = table[U(f.DEPTH_B + k)], table[U(f.DEPTH_MOST + k)]
    for row in range(rows):
        length = np.int64(spans[U(half + row)])
        if length > 0:
            first = spans[U(row)]
            z = depth + depth_b * np.float32(np.int32(row)) + depth_a * np.float32(first)
            raster_span(
                inverse_depth, visible, offset + np.int64(first), length, z, depth_a, depth_most, ident
            )
        offset += pitch
