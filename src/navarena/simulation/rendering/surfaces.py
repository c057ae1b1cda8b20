"""What shading needs to know of each triangle, prepared once.

Texture coordinates, light and vertex colours are affine functions of the world position on a
triangle: four floats (a, b, c, d), value = a x + b y + c z + d. They do not depend on the
view, so nothing is set up per frame.

The detail of a triangle fills one cache line, or two with vertex colours (words, see layout):
     0  u           texels of mip level 0, to the right
     4  v           texels of mip level 0, downwards
     8  object id, category id, material, 0
    12  light 0..1, or red
    16  green, blue (8 more words are unused)
"""

import math

import numpy as np
from jaxtyping import Float, Float32, Float64, Int, Int32

from navarena.scenes.scene import Scene
from navarena.simulation.rendering.layout import (
    COLOR_DETAIL_WORDS,
    DETAIL_INSTANCE,
    DETAIL_TINT,
    DETAIL_U,
    DETAIL_WORDS,
)
from navarena.simulation.rendering.surface_kernels import fill_planes, fill_texel_coordinates
from navarena.simulation.rendering.textures import TexelStore

CACHE_LINE = 64
"""Bytes."""
AT_ONCE = 8192
"""Triangles prepared at a time: what is needed on the way stays in the processor's caches."""


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
