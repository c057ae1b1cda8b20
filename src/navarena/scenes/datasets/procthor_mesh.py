"""The surfaces of a ProcTHOR house: floors, ceilings, walls with their openings, and objects as boxes."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from navarena.core.errors import FileError
from navarena.scenes.datasets.mesh_reader import ObjectRecord, with_objects
from navarena.scenes.datasets.procthor_house import (
    EXTERIOR,
    PlanHouse,
    PlanObject,
    PlanOpening,
    PlanRoom,
    PlanWall,
    category_name,
)
from navarena.scenes.labelling import OrientedBox
from navarena.scenes.scene import Material, Room, Scene

DOOR_THICKNESS = 0.04
"""Metres, of a closed door and of a window pane."""

PROBE = 0.05
"""Metres beside a wall at which it is looked up which room that side is in."""

_COLORS: Mapping[str, tuple[int, int, int]] = {
    "floor": (168, 142, 112),
    "ceiling": (242, 242, 238),
    "wall": (222, 216, 204),
    "door": (146, 108, 76),
    "window": (176, 206, 226),
}
_PALETTE = (
    (196, 98, 86), (222, 160, 84), (206, 196, 96), (128, 176, 98), (86, 160, 142), (92, 146, 196),
    (122, 112, 190), (182, 112, 172), (142, 118, 98), (108, 122, 134),
)  # fmt: skip
"""Colours of objects by category: the assets' own textures belong to their simulator."""

Assets = Mapping[str, tuple[str, tuple[float, float, float]]]


class _Builder:
    """Collects triangles with their object and material."""

    def __init__(self) -> None:
        self.corners: list[Float[np.ndarray, "t 3 3"]] = []
        self.owner: list[int] = []
        self.material: list[int] = []
        self.materials: dict[str, int] = {}
        self.records: dict[int, ObjectRecord] = {}

    def add(self, record: ObjectRecord, corners: Float[np.ndarray, "t 3 3"]) -> None:
        """A new object with these triangles (T, 3, 3), metres; none for something that is only known."""
        key = len(self.records) + 1
        self.records[key] = record
        if len(corners):
            material = self.materials.setdefault(record.category, len(self.materials))
            self.corners.append(corners)
            self.owner += [key] * len(corners)
            self.material += [material] * len(corners)

    def scene(self, scene_id: str, rooms: Sequence[Room]) -> Scene:
        corners = np.concatenate(self.corners).astype(np.float32)
        names = sorted({name for name in self.materials if name not in _COLORS})
        palette = {name: _PALETTE[index % len(_PALETTE)] for index, name in enumerate(names)}
        scene = Scene(
            scene_id=scene_id,
            vertices=corners.reshape(-1, 3),
            triangles=np.arange(3 * len(corners), dtype=np.int32).reshape(-1, 3),
            triangle_object=np.array(self.owner, np.int32),
            triangle_material=np.array(self.material, np.int32),
            materials=tuple(Material(name, {**_COLORS, **palette}[name]) for name in self.materials),
            rooms=tuple(rooms),
        )
        return with_objects(scene, self.records)


def build_scene(house: PlanHouse, assets: Assets, scene_id: str, path: Path) -> Scene:
    """The scene of a house; raises FileError for an asset that the database does not know."""
    builder = _Builder()
    height = {room.key: _height(house, room.key) for room in house.rooms}
    number = {room.key: index for index, room in enumerate(house.rooms)}
    for room in house.rooms:
        flat = _triangulate(room.outline[:, [0, 2]])
        for category, level in (("floor", 0.0), ("ceiling", height[room.key])):
            y = float(room.outline[:, 1].mean()) + level
            corners = np.stack([flat[..., 0], np.full(flat.shape[:2], y), flat[..., 1]], -1)
            record = ObjectRecord(category, {"name": f"{category}|{room.key}"}, None, number[room.key])
            builder.add(record, _facing(corners, np.array([0.0, 1.0 if category == "floor" else -1.0, 0.0])))
    walls = {wall.key: wall for wall in house.walls}
    for wall in house.walls:
        if wall.is_empty:
            continue
        holes = [_hole_on(wall, opening, walls) for opening in house.openings if wall.key in opening.walls]
        record = ObjectRecord("wall", {"name": wall.key}, None, number.get(wall.room))
        builder.add(record, _wall_triangles(wall, holes, house.rooms))
    for opening in house.openings:
        builder.add(*_opening(opening, walls[opening.walls[0]], number))
    for item in house.objects:
        builder.add(*_object(item, assets, house.rooms, number, path))
    rooms = [_room(room, number[room.key], height[room.key]) for room in house.rooms]
    return builder.scene(scene_id, rooms)


def _height(house: PlanHouse, room: str) -> float:
    heights = [wall.height for wall in house.walls if wall.room == room] or [
        wall.height for wall in house.walls
    ]
    return max(heights, default=2.5)


def _room(room: PlanRoom, number: int, height: float) -> Room:
    outline = tuple((float(x), float(z)) for x, _, z in room.outline)
    floor = float(room.outline[:, 1].mean())
    return Room(number, room.category, outline, 0, floor, floor + height)


def _triangulate(
    outline: Float[np.ndarray, "k 2"], holes: Sequence[Float[np.ndarray, "4 2"]] = ()
) -> Float[np.ndarray, "t 3 2"]:
    """Triangles (T, 3, 2) that fill an outline (K, 2), metres, less rectangular holes."""
    import shapely

    # GEOS cuts no ears of a ring in which a corner comes dozens of times in a row
    area = shapely.make_valid(shapely.remove_repeated_points(shapely.Polygon(outline)))
    for hole in holes:
        area = area.difference(shapely.Polygon(hole))
    pieces = shapely.get_parts(shapely.constrained_delaunay_triangles(area))
    rings = [shapely.get_coordinates(piece)[:3] for piece in pieces if piece.area > 1e-9]
    return np.array(rings).reshape(-1, 3, 2)


def _facing(
    corners: Float[np.ndarray, "t 3 3"], normal: Float[np.ndarray, "3"]
) -> Float[np.ndarray, "t 3 3"]:
    """The triangles turned so that all are seen from the side that `normal` points to."""
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    away = cross @ normal < 0
    return np.where(away[:, None, None], corners[:, ::-1], corners)


def _hole_on(wall: PlanWall, opening: PlanOpening, walls: Mapping[str, PlanWall]) -> Float[np.ndarray, "4 2"]:
    """The rectangle of an opening (4, 2) in metres along and up `wall`, whichever of its walls that is."""
    first = walls[opening.walls[0]]
    along = (first.end - first.start) / np.linalg.norm(first.end - first.start)
    own = (wall.end - wall.start) / np.linalg.norm(wall.end - wall.start)
    ends = sorted(
        float((first.start + along * at - wall.start) @ own) for at in (opening.low[0], opening.high[0])
    )
    low, high = opening.low[1], opening.high[1]
    return np.array([(ends[0], low), (ends[1], low), (ends[1], high), (ends[0], high)])


def _wall_triangles(
    wall: PlanWall, holes: Sequence[Float[np.ndarray, "4 2"]], rooms: Sequence[PlanRoom]
) -> Float[np.ndarray, "t 3 3"]:
    """The wall as a sheet that is seen from its room; from both sides when it is not clear which that is."""
    length = float(np.linalg.norm(wall.end - wall.start))
    outline = np.array([(0, 0), (length, 0), (length, wall.height), (0, wall.height)], float)
    flat = _triangulate(outline, holes)
    along = (wall.end - wall.start) / length
    corners = wall.start + flat[..., :1] * along + flat[..., 1:] * np.array([0.0, 1.0, 0.0])
    normal = np.cross(along, [0.0, 1.0, 0.0])
    middle = (wall.start + wall.end) / 2
    sides = [_room_at(middle + side * PROBE * normal, rooms) for side in (1, -1)]
    wanted = None if wall.room == EXTERIOR else wall.room
    if (sides[0] == wanted) == (sides[1] == wanted):
        return np.concatenate([_facing(corners, normal), _facing(corners, -normal)])
    return _facing(corners, normal if sides[0] == wanted else -normal)


def _room_at(point: Float[np.ndarray, "3"], rooms: Sequence[PlanRoom]) -> str | None:
    """Id of the room whose outline holds the point, or None."""
    x, z = float(point[0]), float(point[2])
    for room in rooms:
        here, there = room.outline[:, [0, 2]], np.roll(room.outline[:, [0, 2]], -1, axis=0)
        spans = (here[:, 1] > z) != (there[:, 1] > z)
        rise = np.where(spans, there[:, 1] - here[:, 1], 1.0)
        cut = here[:, 0] + (z - here[:, 1]) / rise * (there[:, 0] - here[:, 0])
        if np.count_nonzero(spans & (cut > x)) % 2:
            return room.key
    return None


def _opening(
    opening: PlanOpening, wall: PlanWall, number: Mapping[str, int]
) -> tuple[ObjectRecord, Float[np.ndarray, "t 3 3"]]:
    """Geometry of a door or window; passages have no triangles."""
    along = (wall.end - wall.start) / np.linalg.norm(wall.end - wall.start)
    middle = (np.array(opening.low) + np.array(opening.high)) / 2
    center = wall.start + along * middle[0] + np.array([0.0, middle[1], 0.0])
    half = (
        (opening.high[0] - opening.low[0]) / 2,
        (opening.high[1] - opening.low[1]) / 2,
        DOOR_THICKNESS / 2,
    )
    box = _box(center, half, math.atan2(-along[2], along[0]))
    state = {"state": "open" if opening.is_open else "closed"} if opening.kind == "door" else {}
    record = ObjectRecord(opening.kind, {"name": opening.key, **state}, box, number.get(wall.room))
    return record, np.zeros((0, 3, 3)) if opening.is_open else box_triangles(box)


def _object(
    placed: PlanObject, assets: Assets, rooms: Sequence[PlanRoom], number: Mapping[str, int], path: Path
) -> tuple[ObjectRecord, Float[np.ndarray, "t 3 3"]]:
    if placed.asset not in assets:
        raise FileError(
            f"{path}: object {placed.key!r}: expected an asset of the asset database, got {placed.asset!r}; "
            "is the database of the same version?"
        )
    kind, (x, y, z) = assets[placed.asset]
    box = _box(placed.center, (x / 2, y / 2, z / 2), placed.yaw)
    attributes = {"name": placed.key, "asset": placed.asset, "object_type": kind}
    if placed.parent is not None:
        attributes["parent"] = placed.parent
    room = number.get(_room_at(placed.center, rooms) or "")
    return ObjectRecord(category_name(kind), attributes, box, room), box_triangles(box)


def _box(center: Float[np.ndarray, "3"], half: tuple[float, float, float], yaw: float) -> OrientedBox:
    return OrientedBox((float(center[0]), float(center[1]), float(center[2])), half, yaw)


def box_triangles(box: OrientedBox) -> Float[np.ndarray, "12 3 3"]:
    """The twelve triangles (12, 3, 3) of a box, metres, seen from outside."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([half for a, b, c, d in quads for half in ((a, b, c), (a, c, d))])
    c, s = np.cos(box.yaw), np.sin(box.yaw)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    corners = (signs * np.array(box.half_size)) @ turn.T + np.array(box.center)
    return corners[faces]
