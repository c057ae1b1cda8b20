"""Scenes prepared for previews: shading for meshes without light, and storeys without their ceiling."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float

from navarena.scenes.scene import Scene
from navarena.simulation.rendering import RenderMesh, build_render_mesh
from navarena.simulation.world import World

LIGHT_FROM = (0.35, 0.85, 0.4)
"""Direction towards the light, world frame; floors are brightest, walls differ by their side."""

AMBIENT = 0.35
HIDDEN_IN_PLAN = ("ceiling", "roof", "window")
"""Categories that hide a storey from above, or stand out of the walls."""

CUT_BELOW_CEILING = 0.05
"""Metres below the ceiling at which a storey is cut open."""


def shade_bare(scene: Scene) -> Scene:
    """`scene` with light by the direction of its triangles, unless it has baked light or textures.

    Every triangle gets corners of its own.
    """
    if scene.vertex_light is not None or scene.textures:
        return scene
    normals = _normals(scene)
    toward = np.array(LIGHT_FROM) / np.linalg.norm(LIGHT_FROM)
    light = AMBIENT + (1 - AMBIENT) * np.clip(0.5 + 0.5 * (normals @ toward), 0, 1)
    colors = None if scene.vertex_color is None else scene.vertex_color[scene.triangles].reshape(-1, 3)
    return replace(
        scene,
        vertices=np.ascontiguousarray(scene.vertices[scene.triangles].reshape(-1, 3)),
        triangles=np.arange(3 * len(scene.triangles), dtype=np.int32).reshape(-1, 3),
        vertex_color=colors,
        vertex_light=np.repeat(light, 3).astype(np.float32),
    )


def shaded_mesh(world: World) -> RenderMesh:
    """The mesh to draw: that of the world, with shading added if it has no light."""
    dressed = shade_bare(world.scene)
    return world.render_mesh if dressed is world.scene else build_render_mesh(dressed)


def tint_by_height(scene: Scene) -> Scene:
    """`scene` with vertex colours from dark (low) to bright (high); labelled scenes stay as they are.

    Without it, a plain mesh seen from above would be a single colour.
    """
    if scene.textures or scene.vertex_color is not None or scene.objects:
        return scene
    height = scene.vertices[:, 1].astype(float)
    low, high = np.percentile(height, (2, 98))
    share = np.clip((height - low) / max(high - low, 1e-6), 0, 1)
    stops = np.array([[92, 118, 150], [150, 160, 150], [206, 190, 150], [250, 240, 215]], float)
    colors = np.stack([np.interp(share, np.linspace(0, 1, 4), stops[:, c]) for c in range(3)], 1)
    white = tuple(replace(material, color=(255, 255, 255)) for material in scene.materials)
    return replace(scene, vertex_color=colors.astype(np.uint8), materials=white)


def open_storey(scene: Scene, level: int | None) -> Scene:
    """The triangles one sees from above in one storey (None: in the whole scene).

    Ceilings, roofs and windows go; in a storey also what lies above its ceiling or below its floor. Triangles
    that reach higher than the cut are pressed down to it, so that walls end there. Stairs from below stay
    visible.
    """
    keep = ~_belongs_to(scene, HIDDEN_IN_PLAN)
    vertices = scene.vertices
    rooms = [room for room in scene.rooms if room.level == level]
    if rooms:
        bottom = min(room.floor_height for room in rooms) - 0.2
        top = min(room.ceiling_height for room in rooms) - CUT_BELOW_CEILING
        heights = vertices[scene.triangles, 1]
        keep &= (heights.min(1) < top - 1e-3) & ((heights.max(1) > bottom) | _belongs_to(scene, ("stairs",)))
        vertices = vertices.copy()
        vertices[:, 1] = np.minimum(vertices[:, 1], top)
    return replace(
        scene,
        vertices=vertices,
        triangles=scene.triangles[keep],
        triangle_object=scene.triangle_object[keep],
        triangle_material=scene.triangle_material[keep],
        triangle_uv=None if scene.triangle_uv is None else scene.triangle_uv[keep],
    )


def _belongs_to(scene: Scene, categories: Sequence[str]) -> Bool[np.ndarray, "t"]:
    ids = [scene_object.object_id for scene_object in scene.objects if scene_object.category in categories]
    return np.isin(scene.triangle_object, ids)


def _normals(scene: Scene) -> Float[np.ndarray, "t 3"]:
    """(T, 3) unit normals; zero for triangles without an area."""
    a, b, c = (scene.vertices[scene.triangles[:, k]].astype(float) for k in range(3))
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return normals / np.where(length > 0, length, 1)
