"""What shading needs to know of each triangle, prepared once.

Texture coordinates, light and vertex colours are affine functions of the world position on a
triangle: four floats (a, b, c, d), value = a x + b y + c z + d. They do not depend on the
view, so nothing is set up per frame.

Planes of a triangle, in this order (layout.PLANE_FLOATS or COLOR_PLANE_FLOATS floats):
    u, v        texels of mip level 0, v downwards
    reach       distance of a point from the triangle's plane, over (texels per metre)^(4/3)
    light       0..1, or three planes red, green, blue when vertices are coloured
"""

import numpy as np
from jaxtyping import Float, Float32

from navarena.scenes.scene import Scene
from navarena.simulation.rendering.textures import TexelStore

MAX_GRADIENT = 1e5
"""Steepest change per metre kept; slivers would otherwise overflow integer texel coordinates."""
SLIVER = 1e-10
"""A triangle is constant if the squared sine between its edges is below this."""
REACH_EXPONENT = 4 / 3
"""See simd_shade: mip levels lie between the short (exponent 2) and the long (1) footprint axis."""


def affine_planes(
    corners: Float[np.ndarray, "t 3 3"], values: Float[np.ndarray, "t 3 k"]
) -> Float[np.ndarray, "t k 4"]:
    """The functions a x + b y + c z + d with the given values at the corners of each triangle.

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
    """Texel coordinates (u right, v down) of each corner, moved near zero by whole repeats."""
    if scene.triangle_uv is None:
        return np.zeros((len(order), 3, 2))
    uv = scene.triangle_uv[order].astype(np.float64)
    uv = uv - np.floor(uv.min(1, keepdims=True))
    size = 2.0 ** store.log_size[texture_rows(scene)[scene.triangle_material[order]]]
    return np.stack([uv[..., 0] * size[:, None, 0], (1 - uv[..., 1]) * size[:, None, 1]], -1)


def texture_rows(scene: Scene) -> np.ndarray:
    """(M,) row of each material's texture in the texel store; 0 = none."""
    if scene.triangle_uv is None:
        return np.zeros(len(scene.materials), int)
    return np.array([0 if m.texture is None else m.texture + 1 for m in scene.materials])


def reach_planes(
    corners: Float[np.ndarray, "t 3 3"], texel_planes: Float[np.ndarray, "t 2 4"]
) -> Float[np.ndarray, "t 4"]:
    """Scaled distance from the plane of each triangle; 1 everywhere where nothing is textured."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1)
    gradient = texel_planes[:, :, :3]
    density = np.sqrt(np.linalg.norm(np.cross(gradient[:, 0], gradient[:, 1]), axis=1))
    good = (length > 0) & (density > 0)
    scale = np.where(good, 1 / np.where(good, length * density**REACH_EXPONENT, 1), 0)
    normal = normal * scale[:, None]
    constant = np.where(good, -(normal * corners[:, 0]).sum(1), 1)
    return np.concatenate([normal, constant[:, None]], 1)


def vertex_tint(scene: Scene) -> Float[np.ndarray, "v k"] | None:
    """Vertex light (V, 1), or vertex colour times light (V, 3), in 0..1; None if there is neither."""
    light = None if scene.vertex_light is None else scene.vertex_light.astype(np.float64)[:, None]
    if scene.vertex_color is None:
        return light
    color = scene.vertex_color.astype(np.float64) / 255
    return color if light is None else color * light


def triangle_planes(scene: Scene, order: np.ndarray, store: TexelStore) -> Float32[np.ndarray, "t f"]:
    """The planes of the triangles `order`, in float32, in the order of the module's docstring."""
    corners = scene.vertices[scene.triangles[order]].astype(np.float64)
    texel = affine_planes(corners, texel_coordinates(scene, order, store))
    tint = vertex_tint(scene)
    if tint is None:
        light = np.tile([0.0, 0.0, 0.0, 1.0], (len(order), 1, 1))
    else:
        light = affine_planes(corners, tint[scene.triangles[order]])
    planes = np.concatenate([texel, reach_planes(corners, texel)[:, None], light], 1)
    return np.ascontiguousarray(planes.reshape(len(order), -1), np.float32)
