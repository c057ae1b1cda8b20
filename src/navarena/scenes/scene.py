"""A scene: static geometry with meaning.

World frame: right-handed, y up, metres. Triangles are counter-clockwise seen from the front;
back faces are not drawn.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Float, Float32, Int32, UInt8

from navarena.core.arrays import Triangles
from navarena.core.display import NotebookDisplay, describe_fields


@dataclass(frozen=True)
class Material:
    """The material of a surface: a colour, or a texture that the colour multiplies.

    Attributes:
        name: such as "oak" or "floor tile".
        color: sRGB bytes (red, green, blue). Shading multiplies sRGB bytes; there is no gamma step.
        texture: index into Scene.textures, or None.
    """

    name: str
    color: tuple[int, int, int] = (255, 255, 255)
    texture: int | None = None


@dataclass(frozen=True)
class SceneObject:
    """One object, or one part of the structure such as a wall, with a category.

    Attributes:
        object_id: positive; equals the value in Scene.triangle_object and in instance images.
        category: such as "chair"; structure uses "wall", "floor", "ceiling", "door", "window".
        center: (3,) metres, centre of the oriented box.
        half_size: (3,) metres, half extents along the box's own x, y, z axes.
        yaw: radians, turn of the box about +y.
        room: room_id of the room that holds it, or None.
        level: index of the storey.
        attributes: what a person would say of it, such as {"color": "red", "material": "wood"}.
    """

    object_id: int
    category: str
    center: tuple[float, float, float]
    half_size: tuple[float, float, float]
    yaw: float = 0.0
    room: int | None = None
    level: int = 0
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Room:
    """A room: category (such as "kitchen"), floor outline and storey.

    Attributes:
        polygon: (K, 2) x and z in metres, the inner outline of the floor, not closed.
        floor_height, ceiling_height: world y in metres.
        attributes: what else is known of it, such as {"floor": "tiles"}, the material of its floor.
    """

    room_id: int
    category: str
    polygon: tuple[tuple[float, float], ...]
    level: int = 0
    floor_height: float = 0.0
    ceiling_height: float = 2.6
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Footprint:
    """The plan outline of an obstacle that is solid between two heights.

    Attributes:
        polygon: (K, 2) x and z in metres, not closed.
        low, high: world y in metres between which it is solid.
    """

    polygon: tuple[tuple[float, float], ...]
    low: float
    high: float


@dataclass(frozen=True)
class WalkableSurface:
    """An exactly known floor, from which a navmesh is cut without voxels.

    Attributes:
        outline: (K, 2) x and z in metres: everything a point could stand on (rooms joined
            through doorways), not closed.
        holes: outlines of what is cut out of it (wall pieces that stand free inside).
        plane: (a, b, c): the floor's world y is a * x + b * z + c; flat floors have a = b = 0.
        obstacles: what stands on it.
        level: index of the storey.
    """

    outline: tuple[tuple[float, float], ...]
    holes: tuple[tuple[tuple[float, float], ...], ...]
    plane: tuple[float, float, float]
    obstacles: tuple[Footprint, ...]
    level: int = 0


@dataclass(frozen=True)
class Scene(NotebookDisplay):
    """Triangles with objects and materials, and the objects and rooms that they are parts of.

    The colour of a surface point is (texture or 1) * material colour * (vertex colour or 1)
    * (vertex light or 1).

    Attributes:
        scene_id: such as "houses-v1/val/00017", or the path of the imported file.
        vertices: (V, 3) float32, metres, world frame.
        triangles: (T, 3) int32 indices into vertices.
        triangle_object: (T,) int32, object_id of the object a triangle belongs to; 0 = none.
        triangle_material: (T,) int32, index into materials.
        materials: at least one.
        triangle_uv: (T, 3, 2) float32, texture coordinates of each corner in repeats of the
            material's texture, u to the right, v upwards; None when nothing is textured.
        textures: (h, w, 3) uint8 images, h and w powers of two; row 0 is the top (v = 1).
        vertex_color: (V, 3) uint8 sRGB, or None.
        vertex_light: (V,) float32, baked light, 1 = fully lit; or None.
        objects: by rising object_id; empty for a scene without semantics.
        rooms: by rising room_id.
        walkable: exact floors; empty when they must be found by voxels.
        ambiguous_share: share of the area, 0 to 1, whose labels are in doubt, where they were carried
            over from another mesh; else None.
    """

    scene_id: str
    vertices: Float32[np.ndarray, "v 3"]
    triangles: Triangles
    triangle_object: Int32[np.ndarray, "t"]
    triangle_material: Int32[np.ndarray, "t"]
    materials: tuple[Material, ...] = (Material("plain", (180, 170, 150)),)
    triangle_uv: Float32[np.ndarray, "t 3 2"] | None = None
    textures: tuple[UInt8[np.ndarray, "_ _ 3"], ...] = ()
    vertex_color: UInt8[np.ndarray, "v 3"] | None = None
    vertex_light: Float32[np.ndarray, "v"] | None = None
    objects: tuple[SceneObject, ...] = ()
    rooms: tuple[Room, ...] = ()
    walkable: tuple[WalkableSurface, ...] = ()
    ambiguous_share: float | None = None

    display_kind = "scene"

    def __repr__(self) -> str:
        return describe_fields(
            "Scene",
            scene_id=self.scene_id,
            triangles=len(self.triangles),
            objects=len(self.objects),
            rooms=len(self.rooms),
        )

    @property
    def has_semantics(self) -> bool:
        """Whether triangles are labelled with objects."""
        return bool(self.objects)

    @property
    def bounds(self) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
        """Lowest and highest corner (3,), metres."""
        return self.vertices.min(0).astype(float), self.vertices.max(0).astype(float)

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Sorted category names; category id i + 1 in semantic images is categories[i], 0 = none."""
        return tuple(sorted({obj.category for obj in self.objects}))

    def find_object(self, key: str) -> SceneObject | None:
        """The object with this number, or else with this name in the annotation; None for neither."""
        return self._objects_by_key.get(key)

    @cached_property
    def _objects_by_key(self) -> dict[str, SceneObject]:
        named = {obj.attributes["name"]: obj for obj in reversed(self.objects) if "name" in obj.attributes}
        return named | {str(obj.object_id): obj for obj in self.objects}


@dataclass(frozen=True)
class SceneSummary:
    """Counts of a scene's content.

    Attributes:
        scene_id: as asked for.
        triangles, vertices, materials, textures, objects, rooms, levels: how many.
        low, high: corners of its bounding box, metres.
        lit, colored: whether it has baked light, and colours of vertices.
        labelled_share: share of the triangles that belong to an object, 0 to 1.
        ambiguous_share: see Scene.
        categories, room_categories: name -> how many, by falling number.
    """

    scene_id: str
    triangles: int
    vertices: int
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    objects: int
    rooms: int
    levels: int
    materials: int
    textures: int
    lit: bool
    colored: bool
    labelled_share: float
    ambiguous_share: float | None
    categories: dict[str, int]
    room_categories: dict[str, int]


def summarise_scene(scene: Scene) -> SceneSummary:
    """Count what `scene` holds."""
    low, high = (tuple(round(float(c), 4) for c in corner) for corner in scene.bounds)
    levels = {room.level for room in scene.rooms} | {floor.level for floor in scene.walkable}
    return SceneSummary(
        scene_id=scene.scene_id,
        triangles=len(scene.triangles),
        vertices=len(scene.vertices),
        low=(low[0], low[1], low[2]),
        high=(high[0], high[1], high[2]),
        objects=len(scene.objects),
        rooms=len(scene.rooms),
        levels=max(len(levels), 1),
        materials=len(scene.materials),
        textures=len(scene.textures),
        lit=scene.vertex_light is not None,
        colored=scene.vertex_color is not None,
        labelled_share=float(np.mean(scene.triangle_object > 0)),
        ambiguous_share=scene.ambiguous_share,
        categories=dict(Counter(obj.category for obj in scene.objects).most_common()),
        room_categories=dict(Counter(room.category for room in scene.rooms).most_common()),
    )
