"""The reference renderer: ray casting with embreex, slow and plain, the oracle of tests.

It shares nothing with the rasteriser but the definitions: front faces only, near plane at
0.01 m, one sample at each pixel's centre, sRGB bytes multiplied as such. It reads the Scene,
not the compiled mesh. Needs the extra `test`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Float32, Int

from navarena.core.errors import require_extra, require_name
from navarena.core.geometry import focal_length
from navarena.scenes.pieces import instance_numbers
from navarena.scenes.scene import Scene
from navarena.simulation.body import Camera
from navarena.simulation.rendering.engine import SHADINGS
from navarena.simulation.rendering.memory_layout import NEAR
from navarena.simulation.rendering.views import ExtraObjects, Frames, Views, require_consistent


class ReferenceRenderer:
    """Draws with one ray per pixel; see Renderer for the contract.

    Args:
        scenes: what `Views.scene_index` counts.
    """

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = tuple(scenes)

    def render(
        self, views: Views, frames: Frames, extras: ExtraObjects | None = None, shading: str = "textured"
    ) -> None:
        """See Renderer.render."""
        require_name("shading", shading, SHADINGS)
        require_consistent(views, frames, len(self._scenes))
        for view in views.drawn.tolist():
            scene = self._scenes[int(views.scene_index[view])]
            triangles = _ViewTriangles.of_view(scene, extras, view)
            hits = _cast(triangles.corners, views.camera, views.position[view], views.rotation[view])
            image = (views.camera.height_px, views.camera.width_px)
            seen = {
                "rgb": _shade(scene, triangles, hits, shading),
                "depth": hits.depth,
                "instance": np.where(hits.triangle >= 0, triangles.instance[hits.triangle], 0),
                "semantic": np.where(hits.triangle >= 0, triangles.semantic[hits.triangle], 0),
            }
            for name, value in seen.items():
                target = getattr(frames, name)
                if target is not None:
                    target[view] = value.reshape(*image, *value.shape[1:])


@dataclass(frozen=True, eq=False)
class _ViewTriangles:
    """All triangles of one view: the scene's, then those of its extra objects.

    corners (T, 3, 3) float64; instance, semantic (T,) int32; color (E, 3) float64 of the last E,
    which belong to extra objects.
    """

    corners: Float[np.ndarray, "t 3 3"]
    instance: Int[np.ndarray, "t"]
    semantic: Int[np.ndarray, "t"]
    color: Float[np.ndarray, "e 3"]

    @classmethod
    def of_view(cls, scene: Scene, extras: ExtraObjects | None, view: int) -> "_ViewTriangles":
        category = {obj.object_id: scene.categories.index(obj.category) + 1 for obj in scene.objects}
        corners = [scene.vertices[scene.triangles].astype(np.float64)]
        instance = [instance_numbers(scene)]
        semantic = [np.array([category.get(int(i), 0) for i in scene.triangle_object], np.int32)]
        color = [np.zeros((0, 3))]
        for k in range(0 if extras is None else len(extras.view_index)):
            assert extras is not None
            if extras.view_index[k] != view:
                continue
            shape = extras.templates[int(extras.template_index[k])].triangle_corners()
            c, s = np.cos(extras.yaw[k]), np.sin(extras.yaw[k])
            turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
            corners.append(shape.astype(np.float64) @ turn.T + extras.position[k])
            instance.append(np.full(len(shape), extras.instance[k]))
            semantic.append(np.full(len(shape), extras.semantic[k]))
            color.append(np.tile(extras.color[k].astype(np.float64), (len(shape), 1)))
        return cls(*(np.concatenate(parts) for parts in (corners, instance, semantic, color)))


@dataclass(frozen=True, eq=False)
class _Hits:
    """The hits of P = H W rays: triangle (P,), -1 = nothing; barycentric weights (P, 3);
    depth (P,) float32 metres along the axis; reach (P,) metres, camera to the triangle's plane;
    focal length in pixels.
    """

    triangle: Int[np.ndarray, "p"]
    weights: Float[np.ndarray, "p 3"]
    depth: Float32[np.ndarray, "p"]
    reach: Float[np.ndarray, "p"]
    focal: float


def pixel_rays(camera: Camera, rotation: Float[np.ndarray, "3 3"]) -> Float[np.ndarray, "p 3"]:
    """(H W, 3) world directions through the pixel centres, of length 1 along the optical axis."""
    width, height = camera.width_px, camera.height_px
    focal = focal_length(width, camera.hfov)
    x = (np.arange(width) + 0.5 - width / 2) / focal
    y = -(np.arange(height) + 0.5 - height / 2) / focal
    local = np.stack(np.broadcast_arrays(x[None, :], y[:, None], -1.0), -1).reshape(-1, 3)
    return np.asarray(local @ np.asarray(rotation, float).T)


def _cast(
    corners: Float[np.ndarray, "t 3 3"],
    camera: Camera,
    position: Float[np.ndarray, "3"],
    rotation: Float[np.ndarray, "3 3"],
) -> _Hits:
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = np.flatnonzero(((corners[:, 0] - position) * normal).sum(1) < 0)
    rays = pixel_rays(camera, rotation)
    triangle = np.full(len(rays), -1)
    weights, depth, reach = np.zeros((len(rays), 3)), np.zeros(len(rays), np.float32), np.ones(len(rays))
    if len(facing):
        found = _trace(corners[facing], position + float(NEAR) * rays, rays)
        hit = found["primID"] >= 0
        triangle[hit] = facing[found["primID"][hit]]
        u, v = found["u"][hit], found["v"][hit]
        weights[hit] = np.stack([1 - u - v, u, v], 1)
        depth[hit] = found["tfar"][hit] + NEAR
        met = triangle[hit]
        length = np.maximum(np.linalg.norm(normal[met], axis=1), 1e-30)
        reach[hit] = ((position - corners[met, 0]) * normal[met]).sum(1) / length
    return _Hits(triangle, weights, depth, reach, focal_length(camera.width_px, camera.hfov))


def _trace(
    corners: Float[np.ndarray, "t 3 3"], origins: Float[np.ndarray, "p 3"], rays: Float[np.ndarray, "p 3"]
) -> dict[str, Any]:
    """Embreex's answer for each ray: primID (-1 = nothing), tfar, u, v."""
    embree = require_extra("embreex.rtcore_scene", "test").EmbreeScene()
    construction = require_extra("embreex.mesh_construction", "test")
    construction.TriangleMesh(embree, np.ascontiguousarray(corners, np.float32))
    answer: dict[str, Any] = embree.run(origins.astype(np.float32), rays.astype(np.float32), output=1)
    return answer


def _shade(scene: Scene, triangles: _ViewTriangles, hits: _Hits, shading: str) -> np.ndarray:
    """(P, 3) uint8 colours."""
    color = np.zeros((len(hits.triangle), 3))
    of_scene = (hits.triangle >= 0) & (hits.triangle < len(scene.triangles))
    of_extra = hits.triangle >= len(scene.triangles)
    color[of_extra] = triangles.color[hits.triangle[of_extra] - len(scene.triangles)]
    color[of_scene] = _scene_colors(scene, hits, of_scene, shading)
    return np.clip(np.round(color), 0, 255).astype(np.uint8)


def _scene_colors(
    scene: Scene, hits: _Hits, chosen: Bool[np.ndarray, "p"], shading: str
) -> Float[np.ndarray, "k 3"]:
    """Material colour * vertex colour * vertex light * texture, for the chosen pixels, 0..255."""
    triangle, weights = hits.triangle[chosen], hits.weights[chosen]
    if shading == "flat":
        weights = np.full_like(weights, 1 / 3)
    material = scene.triangle_material[triangle]
    color = np.array([m.color for m in scene.materials], float)[material]
    tint = np.ones((len(scene.vertices), 3))
    if scene.vertex_color is not None:
        tint = tint * scene.vertex_color / 255.0
    if scene.vertex_light is not None:
        tint = tint * scene.vertex_light[:, None]
    color = color * np.clip((tint[scene.triangles[triangle]] * weights[:, :, None]).sum(1), 0, 1)
    if scene.triangle_uv is None:
        return color
    for index, texture in enumerate(scene.textures):
        users = np.array([m.texture == index for m in scene.materials])
        mine = np.flatnonzero(users[material])
        if shading == "textured":
            texels = _sample(scene, hits, texture, np.flatnonzero(chosen)[mine])
        else:
            texels = texture.mean((0, 1), dtype=float)
        color[mine] *= texels / 255
    return color


def _sample(
    scene: Scene, hits: _Hits, texture: np.ndarray, pixels: Int[np.ndarray, "k"]
) -> Float[np.ndarray, "k 3"]:
    """Nearest texel of the nearest mip level.

    The texels under a pixel are measured between the short axis of its footprint, density *
    depth / focal, and the long one, which is depth / reach times longer (to the power 3/4).
    """
    assert scene.triangle_uv is not None
    triangle = hits.triangle[pixels]
    size = np.array([texture.shape[1], texture.shape[0]])
    uv_corners = scene.triangle_uv[triangle].astype(float)
    corners = scene.vertices[scene.triangles[triangle]].astype(float)
    edges, uv_edges = corners[:, 1:] - corners[:, :1], (uv_corners[:, 1:] - uv_corners[:, :1]) * size
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    uv_area = np.abs(uv_edges[:, 0, 0] * uv_edges[:, 1, 1] - uv_edges[:, 0, 1] * uv_edges[:, 1, 0])
    density = np.sqrt(uv_area / np.maximum(area, 1e-30))
    depth = hits.depth[pixels].astype(float)
    texels = density * depth / hits.focal * (depth / hits.reach[pixels]) ** 0.75
    level = np.frexp(np.maximum(texels, 1e-30) * np.sqrt(2))[1] - 1  # the nearest power of two
    level = np.clip(level, 0, np.frexp(size.min())[1] - 1)
    uv = (uv_corners * hits.weights[pixels][:, :, None]).sum(1)
    at = np.stack([uv[:, 0], 1 - uv[:, 1]], 1) % 1.0
    color = np.zeros((len(pixels), 3))
    image = texture.astype(float)
    for step in range(level.max(initial=0) + 1):
        here = level == step
        place = np.minimum((at[here] * image.shape[1::-1]).astype(int), np.array(image.shape[1::-1]) - 1)
        color[here] = image[place[:, 1], place[:, 0]]
        if step < level.max(initial=0):
            height, width = image.shape[0] // 2, image.shape[1] // 2
            image = image.reshape(height, 2, width, 2, 3).mean((1, 3))
    return color
