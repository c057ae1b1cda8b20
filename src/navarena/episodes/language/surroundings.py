"""Parts of a house that instructions mention: rooms, portals between them, and objects in each."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import SceneError
from navarena.scenes.scene import Room, SceneObject
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.world import World

STAIRS = "stairs"
"""Category of the rooms that hold a flight, one on each of the storeys it joins."""

PROBE_STEP = 0.1
"""Metres between the points of a wall at which a doorway is looked for."""

THICKEST_WALL = 0.4
"""Metres between the outlines of two rooms that a doorway may join."""

STOREY_REACH = 1.0
"""Metres above the floor of a room up to which a point on the ground counts as in it (flights)."""


@dataclass(frozen=True)
class Portal:
    """A passage from one room into another.

    Attributes:
        rooms: indices of both, the lower one first.
        point: (x, y, z) metres, in the middle of the doorway, or half-way up the flight.
        is_flight: whether it leads over stairs to another storey.
    """

    rooms: tuple[int, int]
    point: tuple[float, float, float]
    is_flight: bool = False

    def beyond(self, room: int) -> int:
        """The room on its other side."""
        return self.rooms[1] if room == self.rooms[0] else self.rooms[0]


class Surroundings:
    """Rooms, portals and objects of a world.

    Attributes:
        rooms: of the scene.
        navmesh: of the body that walks.
        portals: between the rooms.

    Raises SceneError for a scene without rooms.
    """

    def __init__(self, world: World) -> None:
        self.rooms = world.scene.rooms
        self.navmesh: NavMesh = world.navmesh
        if not self.rooms:
            raise SceneError(
                f"expected a scene with rooms for routes in words, got none in {world.scene_id!r}; use a "
                "generated house, or a scan with regions"
            )
        self._polygons = [np.array(room.polygon, float) for room in self.rooms]
        self._floors = np.array([room.floor_height for room in self.rooms])
        index = {room.room_id: k for k, room in enumerate(self.rooms)}
        self._objects: list[list[SceneObject]] = [[] for _ in self.rooms]
        for obj in world.scene.objects:
            if obj.room in index:
                self._objects[index[obj.room]].append(obj)
        self.portals = (*self._find_doorways(), *self._find_flights())

    def objects(self, room: int) -> list[SceneObject]:
        """The objects of the room with this index."""
        return self._objects[room]

    def exits(self, room: int) -> list[Portal]:
        """The portals of the room with this index."""
        return [portal for portal in self.portals if room in portal.rooms]

    def room_of(self, points: Float[np.ndarray, "n 3"]) -> Int64[np.ndarray, "n"]:
        """(N,) index of the room in which each point on the ground (N, 3), metres, lies; -1 for none.

        Points on a flight belong to the room whose floor is the last one below them.
        """
        best = np.full(len(points), -1, np.int64)
        height = np.full(len(points), -np.inf)
        for k, polygon in enumerate(self._polygons):
            rise = points[:, 1] - self._floors[k]
            storey = self.rooms[k].ceiling_height - self.rooms[k].floor_height
            fits = (rise > -0.5) & (rise < storey + STOREY_REACH) & _inside(points[:, [0, 2]], polygon)
            higher = fits & (self._floors[k] > height)
            best[higher], height[higher] = k, self._floors[k]
        return best

    def _find_doorways(self) -> list[Portal]:
        """One portal for each stretch of wall through which the body can pass."""
        found: list[Portal] = []
        for k, polygon in enumerate(self._polygons):
            for a, b in pairwise([*polygon, polygon[0]]):
                found += self._probe_wall(k, a, b)
        return found

    def _probe_wall(self, room: int, a: Float[np.ndarray, "2"], b: Float[np.ndarray, "2"]) -> list[Portal]:
        """Doorways in the wall from `a` to `b` (x and z, metres) into rooms of a higher index."""
        length = float(np.hypot(*(b - a)))
        count = int(length / PROBE_STEP)
        if count < 2:
            return []
        along = (b - a) / length
        outwards = np.array([along[1], -along[0]])
        if _inside((a + b)[None] / 2 + 0.05 * outwards, self._polygons[room])[0]:
            outwards = -outwards
        spots = a + along * ((np.arange(count) + 0.5) * length / count)[:, None]
        beyond = self.room_of(self._lift(spots + THICKEST_WALL * outwards, room))
        middle = self._lift(spots + 0.06 * outwards, room)
        open_to = np.where(self.navmesh.is_navigable(middle, 0.3), beyond, -1)
        return [
            Portal((room, other), _as_tuple(middle[(first + last) // 2]))
            for other, first, last in _runs(open_to)
            if other > room
        ]

    def _lift(self, spots: Float[np.ndarray, "n 2"], room: int) -> Float[np.ndarray, "n 3"]:
        """(N, 3) the points of a plan on the floor of a room, metres."""
        return np.stack([spots[:, 0], np.full(len(spots), self._floors[room]), spots[:, 1]], 1)

    def _find_flights(self) -> list[Portal]:
        """One portal for each pair of stairs rooms that lie over each other on storeys that follow."""
        flights = []
        for k, low in enumerate(self.rooms):
            for j, high in enumerate(self.rooms):
                if _is_flight(low, high):
                    x, z = self._polygons[k].mean(0)
                    y = (low.floor_height + high.floor_height) / 2
                    flights.append(Portal((k, j), (float(x), float(y), float(z)), True))
        return flights


def _is_flight(low: Room, high: Room) -> bool:
    both = low.category == STAIRS and high.category == STAIRS
    return both and high.level == low.level + 1 and low.polygon == high.polygon


def _runs(values: Int64[np.ndarray, "n"]) -> list[tuple[int, int, int]]:
    """(value, first, last) of each stretch of equal values that are not negative."""
    edges = np.flatnonzero(np.diff(values, prepend=-2, append=-2))
    return [
        (int(values[first]), int(first), int(last) - 1)
        for first, last in pairwise(edges.tolist())
        if values[first] >= 0
    ]


def _inside(points: Float[np.ndarray, "n 2"], polygon: Float[np.ndarray, "k 2"]) -> Bool[np.ndarray, "n"]:
    """(N,) whether points (N, 2) lie in a polygon (K, 2), by crossings of a ray along x."""
    inside = np.zeros(len(points), bool)
    x, z = points[:, 0], points[:, 1]
    for (ax, az), (bx, bz) in pairwise([*polygon, polygon[0]]):
        crosses = (az > z) != (bz > z)
        if az != bz:
            inside ^= crosses & (x < ax + (z - az) * (bx - ax) / (bz - az))
    return inside


def _as_tuple(point: Float[np.ndarray, "3"]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in point)
    return x, y, z
