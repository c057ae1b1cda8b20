"""Stage 3: vertices to the screen, clipping at the near plane, set-up of triangles.

Screen coordinates are columns and rows shifted by half a pixel, so that pixel centres are
integers; y points down. Results go to two scratch tables of fields (one field after another,
MAX_VERTICES or MAX_TRIANGLES apart), from one base pointer, so that LLVM vectorises the loops.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from navarena.core.kernels import kernel
from navarena.core.kernels import unsigned as U
from navarena.simulation.rendering.memory_layout import MAX_TRIANGLES, MAX_VERTICES, NEAR

ZERO, ONE = np.float32(0), np.float32(1)
EDGE_SLACK = np.float32(1e-3)
"""Pixels by which triangles are widened; closes the cracks that float rounding opens."""
TINY = np.float32(1e-12)
LARGE = np.float32(512)
"""Pixels between corners from which differences of products lose too much in float32."""

# Fields of a vertex: view space right, down, forward; screen column, row; inverse depth
VIEW_X, VIEW_Y, VIEW_Z, SCREEN_X, SCREEN_Y, INVERSE_Z = (k * MAX_VERTICES for k in range(6))
VERTEX_FIELDS = 6

# Fields of a triangle: corners (column, row, inverse depth); whether it is drawn (-1 not, 0, or 1
# when it is so large that it must be refined);
# edge functions at the box's corner and their steps per column (A) and row (B);
# inverse depth there, its steps, its largest value; pixel box: first column and row, extents
(
    X0, Y0, Z0, X1, Y1, Z1, X2, Y2, Z2, DRAWN, E0, E1, E2, A0, A1, A2, B0, B1, B2,
    DEPTH, DEPTH_A, DEPTH_B, DEPTH_MOST, BOX_X, BOX_Y, BOX_W, BOX_H,
) = (k * MAX_TRIANGLES for k in range(27))  # fmt: skip
TRIANGLE_FIELDS = 27


@kernel(fastmath=True)
def transform_vertices(vertex, first, count, camera, table):
    """World to view to screen for `count` vertices from `first`; vertex is (3 V) float32."""
    total = vertex.size // 3
    ox, oy, oz = camera[0], camera[1], camera[2]
    rx, ry, rz, dx, dy, dz = camera[3], camera[4], camera[5], camera[6], camera[7], camera[8]
    fx, fy, fz = camera[9], camera[10], camera[11]
    focal, cx, cy = camera[12], camera[13], camera[14]
    for k in range(count):
        x = vertex[U(first + k)] - ox
        y = vertex[U(total + first + k)] - oy
        z = vertex[U(2 * total + first + k)] - oz
        right, down, forward = rx * x + ry * y + rz * z, dx * x + dy * y + dz * z, fx * x + fy * y + fz * z
        inverse = ONE / max(forward, NEAR)  # vertices nearer than that are clipped away
        table[U(VIEW_X + k)] = right
        table[U(VIEW_Y + k)] = down
        table[U(VIEW_Z + k)] = forward
        table[U(SCREEN_X + k)] = cx + focal * right * inverse
        table[U(SCREEN_Y + k)] = cy + focal * down * inverse
        table[U(INVERSE_Z + k)] = inverse


@kernel(fastmath=True)
def _cut_edge(table, p, q, k, camera):
    """Vertex k = where the edge from p (in front) to q crosses the near plane.

    Both triangles at an edge go from the same end, so that they get the same bits.
    """
    t = (NEAR - table[VIEW_Z + p]) / (table[VIEW_Z + q] - table[VIEW_Z + p])
    x = table[VIEW_X + p] + t * (table[VIEW_X + q] - table[VIEW_X + p])
    y = table[VIEW_Y + p] + t * (table[VIEW_Y + q] - table[VIEW_Y + p])
    table[SCREEN_X + k] = camera[13] + camera[12] * x / NEAR
    table[SCREEN_Y + k] = camera[14] + camera[12] * y / NEAR
    table[INVERSE_Z + k] = ONE / NEAR


@kernel(fastmath=True)
def _emit(vertices, triangles, idents, n, i0, i1, i2, ident):
    """Triangle n = the three vertices given."""
    triangles[U(X0 + n)] = vertices[U(SCREEN_X + i0)]
    triangles[U(Y0 + n)] = vertices[U(SCREEN_Y + i0)]
    triangles[U(Z0 + n)] = vertices[U(INVERSE_Z + i0)]
    triangles[U(X1 + n)] = vertices[U(SCREEN_X + i1)]
    triangles[U(Y1 + n)] = vertices[U(SCREEN_Y + i1)]
    triangles[U(Z1 + n)] = vertices[U(INVERSE_Z + i1)]
    triangles[U(X2 + n)] = vertices[U(SCREEN_X + i2)]
    triangles[U(Y2 + n)] = vertices[U(SCREEN_Y + i2)]
    triangles[U(Z2 + n)] = vertices[U(INVERSE_Z + i2)]
    idents[U(n)] = ident


@kernel(fastmath=True)
def assemble_triangles(corner, first, count, ident, ident_step, vertices, triangles, idents):
    """Gather the corners of `count` triangles from `first`; triangle t gets ident + t ident_step."""
    for k in range(count):
        t = first + k
        i0, i1, i2 = (
            np.int64(corner[U(3 * t)]),
            np.int64(corner[U(3 * t + 1)]),
            np.int64(corner[U(3 * t + 2)]),
        )
        _emit(vertices, triangles, idents, k, i0, i1, i2, np.int32(ident + t * ident_step))
    return count


@kernel(fastmath=True)
def assemble_clipped(
    corner, first, count, ident, ident_step, vertices, free, camera, triangles, idents
):  # fmt: skip
    """As assemble_triangles, cutting at the near plane; new vertices are put from `free` on.

    Returns the number of triangles, up to 2 count.
    """
    n = 0
    for t in range(first, first + count):
        i0, i1, i2 = (
            np.int64(corner[U(3 * t)]),
            np.int64(corner[U(3 * t + 1)]),
            np.int64(corner[U(3 * t + 2)]),
        )
        in0, in1 = vertices[U(VIEW_Z + i0)] >= NEAR, vertices[U(VIEW_Z + i1)] >= NEAR
        inside = np.int64(in0) + np.int64(in1) + np.int64(vertices[U(VIEW_Z + i2)] >= NEAR)
        own = np.int32(ident + t * ident_step)
        if inside == 3:
            _emit(vertices, triangles, idents, n, i0, i1, i2, own)
            n += 1
        elif inside == 1:
            if in1:
                i0, i1, i2 = i1, i2, i0
            elif not in0:
                i0, i1, i2 = i2, i0, i1
            _cut_edge(vertices, i0, i1, free, camera)
            _cut_edge(vertices, i0, i2, free + 1, camera)
            _emit(vertices, triangles, idents, n, i0, free, free + 1, own)
            n += 1
            free += 2
        elif inside == 2:
            if not in1:
                i0, i1, i2 = i1, i2, i0
            elif in0:
                i0, i1, i2 = i2, i0, i1
            _cut_edge(vertices, i1, i0, free, camera)
            _cut_edge(vertices, i2, i0, free + 1, camera)
            _emit(vertices, triangles, idents, n, free, i1, i2, own)
            _emit(vertices, triangles, idents, n + 1, free, i2, free + 1, own)
            n += 2
            free += 2
    return n


@kernel(fastmath=True)
def set_up_triangles(table, count, width, height):
    """Pixel box, edge functions and depth plane of `count` triangles; no branches."""
    last_x, last_y = np.float32(width - 1), np.float32(height - 1)
    for k in range(count):
        x0, y0, z0 = table[X0 + k], table[Y0 + k], table[Z0 + k]
        x1, y1, z1 = table[X1 + k], table[Y1 + k], table[Z1 + k]
        x2, y2, z2 = table[X2 + k], table[Y2 + k], table[Z2 + k]
        left = max(np.ceil(min(x0, min(x1, x2)) - EDGE_SLACK), ZERO)
        right = min(np.floor(max(x0, max(x1, x2)) + EDGE_SLACK), last_x)
        top = max(np.ceil(min(y0, min(y1, y2)) - EDGE_SLACK), ZERO)
        bottom = min(np.floor(max(y0, max(y1, y2)) + EDGE_SLACK), last_y)
        ux, uy, vx, vy = x1 - x0, y1 - y0, x2 - x0, y2 - y0
        area = ux * vy - uy * vx
        a0, b0, a1, b1, a2, b2 = y0 - y1, x1 - x0, y1 - y2, x2 - x1, y2 - y0, x0 - x2
        inverse = ONE / (area if area > TINY else ONE)
        dz1, dz2 = z1 - z0, z2 - z0
        za, zb = (dz1 * vy - dz2 * uy) * inverse, (dz2 * ux - dz1 * vx) * inverse
        reach = max(max(abs(ux), abs(uy)), max(abs(vx), abs(vy)))
        state = ONE if reach > LARGE else (ZERO if area > TINY else -ONE)
        table[DRAWN + k] = state if min(right - left, bottom - top) >= ZERO else -ONE
        table[E0 + k] = a0 * (left - x0) + b0 * (top - y0) + EDGE_SLACK * (abs(a0) + abs(b0))
        table[E1 + k] = a1 * (left - x1) + b1 * (top - y1) + EDGE_SLACK * (abs(a1) + abs(b1))
        table[E2 + k] = a2 * (left - x2) + b2 * (top - y2) + EDGE_SLACK * (abs(a2) + abs(b2))
        table[A0 + k] = a0
        table[A1 + k] = a1
        table[A2 + k] = a2
        table[B0 + k] = b0
        table[B1 + k] = b1
        table[B2 + k] = b2
        table[DEPTH + k] = z0 + za * (left - x0) + zb * (top - y0)
        table[DEPTH_A + k] = za
        table[DEPTH_B + k] = zb
        table[DEPTH_MOST + k] = max(z0, max(z1, z2))
        table[BOX_X + k] = left
        table[BOX_Y + k] = top
        table[BOX_W + k] = right - left
        table[BOX_H + k] = bottom - top


@kernel
def refine_triangle(table, k):
    """Edge functions and depth plane of triangle `k` again, in float64.

    Triangles cut at the near plane reach a million pixels beyond the image.
    """
    x0, y0, z0 = np.float64(table[X0 + k]), np.float64(table[Y0 + k]), np.float64(table[Z0 + k])
    ux, uy, uz = table[X1 + k] - x0, table[Y1 + k] - y0, table[Z1 + k] - z0
    vx, vy, vz = table[X2 + k] - x0, table[Y2 + k] - y0, table[Z2 + k] - z0
    left, top = table[BOX_X + k] - x0, table[BOX_Y + k] - y0
    area = ux * vy - uy * vx
    if not area > 0:
        table[BOX_H + k] = -ONE  # nothing left to draw
        return
    za, zb = (uz * vy - vz * uy) / area, (vz * ux - uz * vx) / area
    table[DEPTH + k] = z0 + za * left + zb * top
    table[DEPTH_A + k] = za
    table[DEPTH_B + k] = zb
    slack = np.float64(EDGE_SLACK)
    table[E0 + k] = ux * top - uy * left + slack * (abs(uy) + abs(ux))
    table[E2 + k] = vy * left - vx * top + slack * (abs(vy) + abs(vx))
    a1, b1 = uy - vy, vx - ux
    table[E1 + k] = a1 * (left - ux) + b1 * (top - uy) + slack * (abs(a1) + abs(b1))
