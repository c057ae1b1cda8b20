"""Statistics of a scene's rooms and objects."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from navarena.scenes.houses.room_needs import lacks_furniture
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
        unfurnished: rooms by their kind that lack furniture which their use needs (see room_needs).
    """

    rooms: int
    room_categories: Mapping[str, int]
    floor_area: float
    triangles: int
    objects: int
    objects_per_room: float
    categories: Mapping[str, int]
    unfurnished: Mapping[str, int]

    @property
    def furnished_share(self) -> float:
        """Share of the rooms that hold the furniture which their use needs; 1.0 without rooms."""
        return 1.0 - sum(self.unfurnished.values()) / self.rooms if self.rooms else 1.0


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
    held: dict[int, set[str]] = {room.room_id: set() for room in scene.rooms}
    for obj in scene.objects:
        if obj.room is not None:
            held[obj.room].add(obj.category)
    lacking = [room.category for room in scene.rooms if lacks_furniture(room.category, held[room.room_id])]
    objects = sum(count for name, count in categories.items() if name not in STRUCTURE)
    return HouseStatistics(
        rooms=len(scene.rooms),
        room_categories=dict(sorted(Counter(room.category for room in scene.rooms).items())),
        floor_area=sum(map(room_area, scene.rooms)),
        triangles=len(scene.triangles),
        objects=objects,
        objects_per_room=objects / len(scene.rooms) if scene.rooms else 0.0,
        categories=dict(sorted(categories.items())),
        unfurnished=dict(sorted(Counter(lacking).items())),
    )
