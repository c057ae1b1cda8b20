"""Rooms and storeys for datasets that only list which objects share a room."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from navarena.scenes.scene import Room, Scene

STOREY_GAP = 1.2
"""Metres between floor heights from which on they are taken for two storeys."""

MIN_HEIGHT = 0.5
"""Metres; a room is at least this high."""


def rooms_from_objects(scene: Scene, room_of: Mapping[int, int], floors: Sequence[str]) -> Scene:
    """Add rooms around the objects that share one, and storeys.

    Args:
        scene: whose triangles know their objects.
        room_of: object id -> room id.
        floors: categories that are the floor of a room.

    The outline of a room is the convex hull of its floor, or of all its objects where no floor is
    labelled; its category is "room". Rooms whose plan has no area are left out, and their objects
    belong to none. Storeys are groups of floor heights with less than STOREY_GAP between them.
    """
    names = {obj.object_id: obj.category for obj in scene.objects}
    ids, id_of = np.unique(scene.triangle_object, return_inverse=True)
    owner = np.array([room_of.get(key, -1) for key in ids.tolist()])[id_of]
    on_floor = np.array([names.get(key) in floors for key in ids.tolist()])[id_of]
    rooms = []
    for room in sorted(set(room_of.values())):
        mine = np.flatnonzero(owner == room)
        if not len(mine):
            continue
        floor = mine[on_floor[mine]]
        points = scene.vertices[np.unique(scene.triangles[floor if len(floor) else mine])].astype(float)
        outline = plan_hull(points[:, [0, 2]])
        if outline is None:
            continue
        height = float(np.median(points[:, 1]) if len(floor) else points[:, 1].min())
        top = float(scene.vertices[np.unique(scene.triangles[mine]), 1].max())
        rooms.append(
            Room(room, "room", outline, floor_height=height, ceiling_height=max(top, height + MIN_HEIGHT))
        )
    return with_rooms(scene, rooms, room_of)


def with_rooms(scene: Scene, rooms: Sequence[Room], room_of: Mapping[int, int]) -> Scene:
    """The scene with `rooms` on storeys by height, and its objects in them."""
    levels = storeys(np.array([room.floor_height for room in rooms]))
    rooms = [replace(room, level=int(level)) for room, level in zip(rooms, levels)]
    level_of = {room.room_id: room.level for room in rooms}
    objects = []
    for obj in scene.objects:
        room_id = room_of.get(obj.object_id)
        inside = room_id if room_id in level_of else None
        level = obj.level if inside is None else level_of[inside]
        objects.append(replace(obj, room=inside, level=level))
    return replace(scene, rooms=tuple(rooms), objects=tuple(objects))


def storeys(heights: Float[np.ndarray, "n"]) -> Int[np.ndarray, "n"]:
    """(N,) index of the storey of each floor height (N,), metres, from the lowest upwards."""
    order = np.argsort(heights, kind="stable")
    level = np.zeros(len(heights), np.int64)
    level[order] = np.cumsum(np.diff(heights[order], prepend=heights[order[:1]]) > STOREY_GAP)
    return level


def plan_hull(plan: Float[np.ndarray, "n 2"]) -> tuple[tuple[float, float], ...] | None:
    """The convex hull of points (N, 2), metres, as an outline; None when it has no area."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        outline = plan[ConvexHull(plan).vertices]
    except (QhullError, ValueError):
        return None
    return tuple((float(x), float(z)) for x, z in outline)
