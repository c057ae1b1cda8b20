"""Surface areas of objects, and meshes of single objects."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from navarena.core.arrays import Triangles
from navarena.scenes.scene import Scene
from navarena.simulation.rendering.render_mesh import RenderMesh, build_render_mesh

VOXEL = 0.05
"""Metres, side of the voxels by which surfaces are measured (spec ivln_goat 4.5, OVIIN)."""


def surface_area(corners: Float[np.ndarray, "t 3 3"], voxel: float = VOXEL) -> float:
    """Square metres: the voxels that triangles (T, 3, 3), metres, pass through, one face each.

    What lies closer together than a voxel counts once, so that the inside of a thin board adds nothing.
    """
    corners = np.asarray(corners, float)
    sides = np.linalg.norm(np.roll(corners, -1, 1) - corners, axis=2).max(1)
    parts = np.maximum(1, np.ceil(sides / (voxel / 2)).astype(int))
    cells = [np.zeros((0, 3), np.int64)]
    for count in np.unique(parts).tolist():
        weights = _grid(count)
        points = np.einsum("wk,tkc->twc", weights, corners[parts == count]).reshape(-1, 3)
        cells.append(np.unique(np.floor(points / voxel).astype(np.int64), axis=0))
    return float(len(np.unique(np.concatenate(cells), axis=0)) * voxel**2)


def _grid(parts: int) -> Float[np.ndarray, "w 3"]:
    """Barycentric weights of the middles of the pieces of a triangle whose sides are cut into `parts`."""
    i, j = np.meshgrid(np.arange(parts), np.arange(parts), indexing="ij")
    inside = i + j < parts
    a, b = (i[inside] + 1 / 3) / parts, (j[inside] + 1 / 3) / parts
    return np.stack([a, b, 1 - a - b], 1)


def object_triangles(scene: Scene, object_id: int) -> Triangles:
    """(T, 3) the triangles of one object, indices into the scene's vertices."""
    return scene.triangles[scene.triangle_object == object_id]


def build_object_mesh(scene: Scene, object_id: int) -> RenderMesh:
    """Mesh of a single object, for instance images."""
    used, corners = np.unique(object_triangles(scene, object_id), return_inverse=True)
    triangles = np.ascontiguousarray(corners.reshape(-1, 3), np.int32)
    alone = replace(
        scene,
        vertices=scene.vertices[used],
        triangles=triangles,
        triangle_object=np.full(len(triangles), object_id, np.int32),
        triangle_material=np.zeros(len(triangles), np.int32),
        materials=(replace(scene.materials[0], texture=None),),
        triangle_uv=None,
        textures=(),
        vertex_color=None,
        vertex_light=None,
        rooms=(),
        walkable=(),
    )
    return build_render_mesh(alone)
