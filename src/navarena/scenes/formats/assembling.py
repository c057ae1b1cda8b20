"""Assembly of the parts of a mesh file into one scene."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, UInt8

from navarena.core.errors import SceneError
from navarena.scenes.formats.part import Look, MeshFile, Part
from navarena.scenes.formats.texture_images import fit_texture
from navarena.scenes.scene import Material, Scene, SceneObject

_WHITE = 255
_MAX_INDICES = np.iinfo(np.int32).max


def assemble_scene(scene_id: str, mesh: MeshFile, axes: Sequence[tuple[int, int]], scale: float) -> Scene:
    """The scene of `mesh`, turned and scaled into the world.

    Args:
        scene_id: of the new scene.
        mesh: what was read, in the file's frame.
        axes: for world x, y and z: (axis of the file, sign).
        scale: metres for one unit of the file.

    Raises SceneError when there is nothing to see or too much to count.
    """
    parts = [_used_vertices_only(part) for part in mesh.parts if len(part.triangles)]
    if not parts:
        raise SceneError(f"scene {scene_id}: expected triangles, got none; is it a point cloud?")
    vertex_counts = [len(part.vertices) for part in parts]
    if sum(vertex_counts) > _MAX_INDICES:
        raise SceneError(f"scene {scene_id}: expected at most {_MAX_INDICES} vertices; split the file")
    offsets = np.cumsum([0, *vertex_counts[:-1]])
    triangles = np.concatenate([part.triangles + offset for part, offset in zip(parts, offsets)])
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite fails in validation
        points = np.concatenate([part.vertices for part in parts])
        vertices = np.stack([points[:, axis] * (sign * scale) for axis, sign in axes], 1)
        vertices = vertices.astype(np.float32)
    materials, textures, material_of = _materials([part.look for part in parts])
    sizes = [len(part.triangles) for part in parts]
    keys = np.concatenate([_triangle_keys(part) for part in parts])
    triangle_object, objects = _objects(mesh, keys, triangles, vertices)
    return Scene(
        scene_id=scene_id,
        vertices=np.ascontiguousarray(vertices),
        triangles=np.ascontiguousarray(triangles, np.int32),
        triangle_object=triangle_object,
        triangle_material=np.repeat(np.array(material_of, np.int32), sizes),
        materials=materials,
        triangle_uv=_texture_coordinates(parts) if textures else None,
        textures=textures,
        vertex_color=_vertex_colors(parts),
        objects=objects,
    )


def _used_vertices_only(part: Part) -> Part:
    """The part without the vertices that no triangle touches: they would widen its bounds."""
    used = np.zeros(len(part.vertices), bool)
    used[part.triangles] = True
    if used.all():
        return part
    number = np.cumsum(used) - 1
    colors = None if part.vertex_color is None else part.vertex_color[used]
    return Part(
        part.vertices[used],
        number[part.triangles],
        part.look,
        part.uv,
        colors,
        part.object_key,
        part.triangle_key,
    )


def _materials(
    looks: Sequence[Look],
) -> tuple[tuple[Material, ...], tuple[UInt8[np.ndarray, "_ _ 3"], ...], list[int]]:
    """(materials, textures, material index of each look); equal looks and images are shared."""
    textures: list[np.ndarray] = []
    texture_of: dict[bytes, int] = {}
    index_of: dict[Material, int] = {}
    seen: dict[int, int] = {}
    material_of = []
    for look in looks:
        if id(look) not in seen:
            texture = None
            if look.image is not None:
                content = repr(look.image.shape).encode() + look.image.tobytes()
                if content not in texture_of:
                    texture_of[content] = len(textures)
                    textures.append(fit_texture(look.image))
                texture = texture_of[content]
            material = Material(look.name, look.color, texture)
            seen[id(look)] = index_of.setdefault(material, len(index_of))
        material_of.append(seen[id(look)])
    return tuple(index_of), tuple(textures), material_of


def _texture_coordinates(parts: Sequence[Part]) -> Float[np.ndarray, "t 3 2"]:
    rows = [np.zeros((len(part.triangles), 3, 2)) if part.uv is None else part.uv for part in parts]
    return np.concatenate(rows).astype(np.float32)


def _vertex_colors(parts: Sequence[Part]) -> UInt8[np.ndarray, "v 3"] | None:
    if all(part.vertex_color is None for part in parts):
        return None
    rows = [
        np.full((len(part.vertices), 3), _WHITE, np.uint8) if part.vertex_color is None else part.vertex_color
        for part in parts
    ]
    return np.concatenate(rows)


def _triangle_keys(part: Part) -> Int[np.ndarray, "t"]:
    if part.triangle_key is not None:
        return part.triangle_key
    return np.full(len(part.triangles), part.object_key or 0, np.int64)


def _objects(
    mesh: MeshFile,
    keys: Int[np.ndarray, "t"],
    triangles: Int[np.ndarray, "t 3"],
    vertices: Float[np.ndarray, "v 3"],
) -> tuple[Int[np.ndarray, "t"], tuple[SceneObject, ...]]:
    """((T,) int32 object id of each triangle, objects with boxes along the axes).

    Keys become ids as they are. One name for the whole file says nothing about the objects in it:
    then there are no objects.
    """
    found = np.unique(keys[keys > 0])
    if not len(found) or (len(found) == 1 and (keys > 0).all()):
        return np.zeros(len(keys), np.int32), ()
    if found[-1] > _MAX_INDICES:
        raise SceneError(f"expected object ids of at most {_MAX_INDICES}, got {found[-1]}")
    order = np.argsort(keys, kind="stable")
    starts = np.searchsorted(keys[order], found)
    corners = vertices[triangles[order[starts[0] :]]].astype(float)
    low = np.minimum.reduceat(corners.min(1), starts - starts[0])
    high = np.maximum.reduceat(corners.max(1), starts - starts[0])
    objects = []
    for key, below, above in zip(found.tolist(), low, high):
        label = mesh.labels[key]
        center, half = ((below + above) / 2).tolist(), ((above - below) / 2).tolist()
        objects.append(
            SceneObject(
                key,
                label.category,
                (center[0], center[1], center[2]),
                (half[0], half[1], half[2]),
                attributes=dict(label.attributes),
            )
        )
    return keys.astype(np.int32), tuple(objects)
