"""Scenes as glTF files for other programs."""

from pathlib import Path
from typing import Any

import numpy as np

from navarena.core.files import write_atomic
from navarena.scenes.formats.gltf import CATEGORY_KEY, OBJECT_KEY
from navarena.scenes.scene import Scene


def export_glb(scene: Scene, path: Path) -> None:
    """Write `scene` as one binary glTF file; raises StorageError.

    Each object becomes a node with one mesh for each of its materials; category, id and attributes
    stand in the `extras`, which `import_mesh` reads back. Baked light is multiplied into the vertex
    colours. Corners that differ in texture coordinates become separate vertices.
    """
    import trimesh

    exported = trimesh.Scene()
    materials = [_material(scene, index) for index in range(len(scene.materials))]
    colors = _lit_colors(scene)
    objects = {obj.object_id: obj for obj in scene.objects}
    groups, group_of = np.unique(
        np.stack([scene.triangle_object, scene.triangle_material], 1), axis=0, return_inverse=True
    )
    group_of = group_of.reshape(-1)
    for index, (object_id, material) in enumerate(groups.tolist()):
        chosen = np.flatnonzero(group_of == index)
        obj = objects.get(object_id)
        extras: dict[str, Any] = {}
        name = scene.materials[material].name
        if obj is not None:
            name = f"{obj.category} {object_id} {name}"
            extras = {**obj.attributes, CATEGORY_KEY: obj.category, OBJECT_KEY: str(object_id)}
        mesh = _mesh(scene, chosen, materials[material], colors)
        mesh.metadata.update(extras)
        exported.add_geometry(mesh, node_name=f"{index:05d} {name}", geom_name=f"{index:05d} {name}")
    write_atomic(Path(path), exported.export(file_type="glb"))


def _material(scene: Scene, index: int) -> Any:
    from PIL import Image
    from trimesh.visual.material import PBRMaterial

    material = scene.materials[index]
    image = None if material.texture is None else Image.fromarray(scene.textures[material.texture])
    return PBRMaterial(
        name=material.name,
        baseColorFactor=[*material.color, 255],
        baseColorTexture=image,
        metallicFactor=0.0,
        roughnessFactor=1.0,
    )


def _lit_colors(scene: Scene) -> np.ndarray | None:
    """(V, 4) uint8 vertex colour times baked light, or None when the scene has neither."""
    if scene.vertex_color is None and scene.vertex_light is None:
        return None
    color = np.full((len(scene.vertices), 4), 255.0)
    if scene.vertex_color is not None:
        color[:, :3] = scene.vertex_color
    if scene.vertex_light is not None:
        color[:, :3] *= scene.vertex_light[:, None]
    return np.clip(np.rint(color), 0, 255).astype(np.uint8)


def _mesh(scene: Scene, chosen: np.ndarray, material: Any, colors: np.ndarray | None) -> Any:
    """The triangles `chosen` (N,) as a mesh with shared corners where vertex and uv agree."""
    import trimesh
    from trimesh.visual.texture import TextureVisuals

    corners = scene.triangles[chosen].reshape(-1)
    if scene.triangle_uv is None or material.baseColorTexture is None:
        vertex, faces = np.unique(corners, return_inverse=True)
        uv = None
    else:
        of_corner = scene.triangle_uv[chosen].reshape(-1, 2)
        keys = np.column_stack([corners.astype(float), of_corner])
        _, first, faces = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        vertex, uv = corners[first], of_corner[first]
    visual = TextureVisuals(uv=uv, material=material)
    if colors is not None:
        visual.vertex_attributes["color"] = colors[vertex]
    return trimesh.Trimesh(scene.vertices[vertex], faces.reshape(-1, 3), visual=visual, process=False)
