"""Statistics of a scene's rooms and objects."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from navarena.scenes.scene import Room, Scene

STRUCTURE = frozenset({"wall", "floor", "ceiling", "door", "window"})
"""Categories of what does not stand in a house but is part of it."""


@dataclass(frozen=True)
class HouseStatistics:
    """Numbers that describe a house (or any scene with rooms and objects).

    Attributes:
        rooms: number of rooms.
        room_categories: how many of each kind.
        floor_area: square metres of all rooms together.
        triangles: number of triangles.
        objects: number of objects other than structure.
        objects_per_room: mean over rooms.
        categories: how many objects of each category, structure included.
    """

    rooms: int
    room_categories: Mapping[str, int]
    floor_area: float
    triangles: int
    objects: int
    objects_per_room: float
    categories: Mapping[str, int]


def room_area(room: Room) -> float:
    """Floor area of a room in square metres (shoelace formula over its outline)."""
    corners = room.polygon
    twice = sum(
        x0 * z1 - x1 * z0 for (x0, z0), (x1, z1) in zip(corners, corners[1:] + corners[:1], strict=True)
    )
    return abs(twice) / 2


def compute_statistics(scene: Scene) -> HouseStatistics:
    """Counts and areas of `scene`; a scene without rooms has 0 rooms and 0 objects per room."""
    categories = Counter(obj.category for obj in scene.objects)
    objects = sum(count for name, count in categories.items() if name not in STRUCTURE)
    return HouseStatistics(
        rooms=len(scene.rooms),
        room_categories=dict(sorted(Counter(room.category for room in scene.rooms).items())),
        floor_area=sum(map(room_area, scene.rooms)),
        triangles=len(scene.triangles),
        objects=objects,
        objects_per_room=objects / len(scene.rooms) if scene.rooms else 0.0,
        categories=dict(sorted(categories.items())),
    )
