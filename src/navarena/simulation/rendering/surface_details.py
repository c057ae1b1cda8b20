# mypy: disable-error-code="no-untyped-def"
"""Data of each triangle that shading uses, prepared once.

Texture coordinates, light and vertex colours are affine functions of the world position on a
triangle: four floats (a, b, c, d), value = a x + b y + c z + d. They do not depend on the
view, so nothing is set up per frame.

The detail of a triangle fills one cache line, or two with vertex colours (words, see memory_layout):
     0  u           texels of mip level 0, to the right
     4  v           texels of mip level 0, downwards
     8  object id, category id, material, 0
    12  light 0..1, or red
    16  green, blue (8 more words are unused)
"""

import math
from math import floor

import numpy as np
from jaxtyping import Float, Float32, Float64, Int, Int32

from navarena.core.kernels import kernel
from navarena.scenes.scene import Scene
from navarena.simulation.rendering.memory_layout import (
    COLOR_DETAIL_WORDS,
    DETAIL_INSTANCE,
    DETAIL_TINT,
    DETAIL_U,
    DETAIL_WORDS,
)
from navarena.simulation.rendering.texel_store import TexelStore

# no fast-math in these kernels: the render mesh of a house is made anew whenever it is opened, bit for bit
MAX_GRADIENT = 1e5
"""Steepest change per metre kept; slivers would otherwise overflow integer texel coordinates."""
SLIVER = 1e-10
"""A triangle is constant if the squared sine between its edges is below this."""


@kernel
def fill_planes(vertices, triangles, values, first, out):
    """out[t, first + 4 k : ...] = (a, b, c, d): a x + b y + c z + d is value k at each corner of triangle t.

    Gradients lie in the triangle's plane; triangles without area get the mean value.

    Args:
        vertices: (V, 3) float32.
        triangles: (T, 3) int32.
        values: (T, 3, K) float64, one for each corner.
        first: column of `out` that the planes begin at.
        out: (T, W) float32.
    """
    for t in range(triangles.shape[0]):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = np.float64(vertices[i, 0]), np.float64(vertices[i, 1]), np.float64(vertices[i, 2])
        bx, by, bz = np.float64(vertices[j, 0]), np.float64(vertices[j, 1]), np.float64(vertices[j, 2])
        cx, cy, cz = np.float64(vertices[k, 0]), np.float64(vertices[k, 1]), np.float64(vertices[k, 2])
        ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
        uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
        determinant = uu * vv - uv * uv
        scale = 1.0 / determinant if determinant > SLIVER * uu * vv else 0.0
        px, py, pz = (vv * ux - uv * vx) * scale, (vv * uy - uv * vy) * scale, (vv * uz - uv * vz) * scale
        qx, qy, qz = (uu * vx - uv * ux) * scale, (uu * vy - uv * uy) * scale, (uu * vz - uv * uz) * scale
        mx, my, mz = (ax + bx + cx) / 3.0, (ay + by + cy) / 3.0, (az + bz + cz) / 3.0
        for value in range(values.shape[2]):
            one, two, three = values[t, 0, value], values[t, 1, value], values[t, 2, value]
            p, q = two - one, three - one
            gx = min(max(p * px + q * qx, -MAX_GRADIENT), MAX_GRADIENT)
            gy = min(max(p * py + q * qy, -MAX_GRADIENT), MAX_GRADIENT)
            gz = min(max(p * pz + q * qz, -MAX_GRADIENT), MAX_GRADIENT)
            place = first + 4 * value
            out[t, place], out[t, place + 1], out[t, place + 2] = gx, gy, gz
            out[t, place + 3] = (one + two + three) / 3.0 - (gx * mx + gy * my + gz * mz)


@kernel
def fill_texel_coordinates(uv, material, size, out):
    """out[t, corner] = pixels (u right, v down) of the texture, moved near zero by whole repeats.

    Args:
        uv: (T, 3, 2) float32, repeats of the texture, v up.
        material: (T,) int32.
        size: (M, 2) float64, width and height of one repeat in pixels.
        out: (T, 3, 2) float64.
    """
    for t in range(uv.shape[0]):
        u0, u1, u2 = np.float64(uv[t, 0, 0]), np.float64(uv[t, 1, 0]), np.float64(uv[t, 2, 0])
        v0, v1, v2 = np.float64(uv[t, 0, 1]), np.float64(uv[t, 1, 1]), np.float64(uv[t, 2, 1])
        whole_u, whole_v = floor(min(u0, u1, u2)), floor(min(v0, v1, v2))
        width, height = size[material[t], 0], size[material[t], 1]
        out[t, 0, 0], out[t, 0, 1] = (u0 - whole_u) * width, (1.0 - (v0 - whole_v)) * height
        out[t, 1, 0], out[t, 1, 1] = (u1 - whole_u) * width, (1.0 - (v1 - whole_v)) * height
        out[t, 2, 0], out[t, 2, 1] = (u2 - whole_u) * width, (1.0 - (v2 - whole_v)) * height


@kernel
def fill_flat_colors(color, material, tint, out):
    """out[t, 0] = the one colour word of triangle t: its material's colour times the mean of its tint.

    Args:
        color: (M, 3) float64 mean colours of the materials, 0 to 255.
        material: (T,) int32.
        tint: (T, 3, K) float64, light (K = 1) or colours (K = 3) at the corners, 1 = full.
        out: (T, W) int32.
    """
    planes = tint.shape[2]
    for t in range(material.shape[0]):
        word = 0
        for channel in range(3):
            k = min(channel, planes - 1)
            mean = (tint[t, 0, k] + tint[t, 1, k] + tint[t, 2, k]) / 3.0
            value = np.rint(color[material[t], channel] * min(max(mean, 0.0), 1.0))
            word |= int(min(max(value, 0.0), 255.0)) << 8 * channel
        out[t, 0] = word


CACHE_LINE = 64
"""Bytes."""
AT_ONCE = 8192
"""Triangles prepared at a time: intermediate values stay in the processor's caches."""


def affine_planes(
    vertices: Float32[np.ndarray, "v 3"],
    triangles: Int32[np.ndarray, "t 3"],
    values: Float64[np.ndarray, "t 3 k"],
) -> Float32[np.ndarray, "t w"]:
    """(T, 4 K): a, b, c, d of a x + b y + c z + d with the given values (T, 3, K) at each triangle's corners.

    Their gradients lie in the triangle's plane. Degenerate triangles get the mean value.
    """
    planes = np.zeros((len(triangles), 4 * values.shape[2]), np.float32)
    fill_planes(np.array(vertices), np.array(triangles), np.ascontiguousarray(values), 0, planes)
    return planes


def texel_coordinates(
    scene: Scene, order: Int[np.ndarray, "t"], store: TexelStore
) -> Float64[np.ndarray, "t 3 2"]:
    """(T, 3, 2) pixels of the texture (u right, v down) at each corner, moved near zero by whole repeats."""
    texels = np.zeros((len(order), 3, 2))
    if scene.triangle_uv is not None:
        size = store.size[texture_rows(scene)].astype(np.float64)
        fill_texel_coordinates(scene.triangle_uv[order], scene.triangle_material[order], size, texels)
    return texels


def texture_rows(scene: Scene) -> np.ndarray:
    """(M,) row of each material's texture in the texel store; 0 = none."""
    if scene.triangle_uv is None:
        return np.zeros(len(scene.materials), int)
    return np.array([0 if m.texture is None else m.texture + 1 for m in scene.materials])


def vertex_tint(scene: Scene) -> Float[np.ndarray, "v k"] | None:
    """Vertex light (V, 1), or vertex colour times light (V, 3), in 0..1; None if there is neither."""
    light = None if scene.vertex_light is None else scene.vertex_light.astype(np.float64)[:, None]
    if scene.vertex_color is None:
        return light
    color = scene.vertex_color.astype(np.float64) / 255
    return color if light is None else color * light


def triangle_details(
    scene: Scene, order: Int[np.ndarray, "t"], store: TexelStore, meaning: Int32[np.ndarray, "t 3"]
) -> Int32[np.ndarray, "t w"]:
    """(T, W) int32: details of the triangles `order`; meaning holds object id, category id and material.

    Details start on a cache line, so that each fills whole lines.
    """
    tint, vertices = vertex_tint(scene), np.array(scene.vertices)
    words = DETAIL_WORDS if tint is None or tint.shape[1] == 1 else COLOR_DETAIL_WORDS
    detail = zeros_on_lines((len(order), words), np.int32)
    numbers = detail.view(np.float32)
    for first in range(0, len(order), AT_ONCE):
        here = slice(first, first + AT_ONCE)
        triangles = scene.triangles[order[here]]
        fill_planes(
            vertices, triangles, texel_coordinates(scene, order[here], store), DETAIL_U, numbers[here]
        )
        if tint is not None:
            fill_planes(vertices, triangles, tint[triangles], DETAIL_TINT, numbers[here])
    if tint is None:
        numbers[:, DETAIL_TINT + 3] = 1
    detail[:, DETAIL_INSTANCE : DETAIL_INSTANCE + 3] = meaning
    return detail


def zeros_on_lines(shape: tuple[int, ...], kind: type) -> np.ndarray:
    """Zeros (...) of `shape` that start on a cache line, so that records of 64 bytes fill whole lines."""
    size = math.prod(shape) * np.dtype(kind).itemsize
    memory = np.zeros(size + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + size].view(kind).reshape(shape)
