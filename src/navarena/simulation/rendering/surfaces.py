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

import numpy as np
from jaxtyping import Float, Int32

from navarena.scenes.scene import Scene
from navarena.simulation.rendering.layout import (
    COLOR_DETAIL_WORDS,
    DETAIL_INSTANCE,
    DETAIL_TINT,
    DETAIL_U,
    DETAIL_WORDS,
)
from navarena.simulation.rendering.textures import TexelStore

MAX_GRADIENT = 1e5
"""Steepest change per metre kept; slivers would otherwise overflow integer texel coordinates."""
SLIVER = 1e-10
"""A triangle is constant if the squared sine between its edges is below this."""


def affine_planes(
    corners: Float[np.ndarray, "t 3 3"], values: Float[np.ndarray, "t 3 k"]
) -> Float[np.ndarray, "t k 4"]:
    """(T, K, 4): a x + b y + c z + d with the given values (T, 3, K) at the corners of each triangle.

    Their gradients lie in the triangle's plane. Degenerate triangles get the mean value.
    """
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    g11, g12, g22 = (e1 * e1).sum(1), (e1 * e2).sum(1), (e2 * e2).sum(1)
    determinant = g11 * g22 - g12**2
    good = determinant > SLIVER * g11 * g22
    scale = np.where(good, 1 / np.where(good, determinant, 1), 0)[:, None]
    q1 = (g22[:, None] * e1 - g12[:, None] * e2) * scale
    q2 = (g11[:, None] * e2 - g12[:, None] * e1) * scale
    d1, d2 = values[:, 1] - values[:, 0], values[:, 2] - values[:, 0]
    gradient = d1[:, :, None] * q1[:, None] + d2[:, :, None] * q2[:, None]
    gradient = np.clip(gradient, -MAX_GRADIENT, MAX_GRADIENT)
    centre, mean = corners.mean(1), values.mean(1)
    constant = mean - (gradient * centre[:, None]).sum(2)
    return np.concatenate([gradient, constant[:, :, None]], 2)


def texel_coordinates(scene: Scene, order: np.ndarray, store: TexelStore) -> Float[np.ndarray, "t 3 2"]:
    """(T, 3, 2) pixels of the texture (u right, v down) at each corner, moved near zero by whole repeats."""
    if scene.triangle_uv is None:
        return np.zeros((len(order), 3, 2))
    uv = scene.triangle_uv[order].astype(np.float64)
    uv = uv - np.floor(uv.min(1, keepdims=True))
    size = store.size[texture_rows(scene)[scene.triangle_material[order]]]
    return np.stack([uv[..., 0] * size[:, None, 0], (1 - uv[..., 1]) * size[:, None, 1]], -1)


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
    scene: Scene, order: np.ndarray, store: TexelStore, meaning: Int32[np.ndarray, "t 3"]
) -> Int32[np.ndarray, "t w"]:
    """(T, W) int32: details of the triangles `order`; meaning holds object id, category id and material."""
    corners = scene.vertices[scene.triangles[order]].astype(np.float64)
    texel = affine_planes(corners, texel_coordinates(scene, order, store)).astype(np.float32)
    tint = vertex_tint(scene)
    if tint is None:
        light = np.tile(np.array([0, 0, 0, 1], np.float32), (len(order), 1))
    else:
        light = affine_planes(corners, tint[scene.triangles[order]]).astype(np.float32)
        light = light.reshape(len(order), -1)
    words = DETAIL_WORDS if light.shape[1] == 4 else COLOR_DETAIL_WORDS
    detail = np.zeros((len(order), words), np.int32)
    detail[:, DETAIL_U:DETAIL_INSTANCE] = texel.reshape(len(order), 8).view(np.int32)
    detail[:, DETAIL_INSTANCE : DETAIL_INSTANCE + 3] = meaning
    detail[:, DETAIL_TINT : DETAIL_TINT + light.shape[1]] = light.view(np.int32)
    return detail
