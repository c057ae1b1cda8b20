"""A scene in numbers."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from navarena.scenes.scene import Scene


@dataclass(frozen=True)
class SceneSummary:
    """What a scene holds.

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
        categories=dict(Counter(thing.category for thing in scene.objects).most_common()),
        room_categories=dict(Counter(room.category for room in scene.rooms).most_common()),
    )
