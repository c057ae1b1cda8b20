"""ProcTHOR's house files as plain records, every one checked and converted from Unity's frame.

Unity is left-handed with y up: z changes its sign here, and a heading in degrees, clockwise, becomes
a yaw in radians, counter-clockwise. Two versions of the format occur: version 1.0.0 gives the opening of a
door or window as `holePolygon`, older ones as `boundingBox`; both are offsets along the wall `wall0`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from navarena.core.errors import FileError
from navarena.core.files import DAMAGE, LIMITS
from navarena.core.geometry import world_from_unity, yaw_from_unity

EXTERIOR = "exterior"


@dataclass(frozen=True)
class PlanRoom:
    """A room: id of the file, category such as "living room", outline (K, 3) of its floor."""

    key: str
    category: str
    outline: Float[np.ndarray, "k 3"]


@dataclass(frozen=True)
class PlanWall:
    """A wall: id, id of its room, start and end on the floor, height in metres; empty ones are not built."""

    key: str
    room: str
    start: Float[np.ndarray, "3"]
    end: Float[np.ndarray, "3"]
    height: float
    is_empty: bool = False


@dataclass(frozen=True)
class PlanOpening:
    """A door or window: the two walls it goes through and its rectangle.

    Attributes:
        key, kind: id, and "door" or "window".
        walls: ids of the walls it is cut out of; the first is the one it is measured on.
        low, high: (along the wall, above the floor) in metres, from the start of the first wall.
        is_open: whether one can go through.
    """

    key: str
    kind: str
    walls: tuple[str, ...]
    low: tuple[float, float]
    high: tuple[float, float]
    is_open: bool


@dataclass(frozen=True)
class PlanObject:
    """An object: id, asset, centre of its box in metres, yaw in radians, and its parent object."""

    key: str
    asset: str
    center: Float[np.ndarray, "3"]
    yaw: float
    parent: str | None


@dataclass(frozen=True)
class PlanHouse:
    """A house of ProcTHOR, in the world frame."""

    rooms: tuple[PlanRoom, ...]
    walls: tuple[PlanWall, ...]
    openings: tuple[PlanOpening, ...]
    objects: tuple[PlanObject, ...]


def read_house(content: Any, path: Path) -> PlanHouse:
    """Check the JSON content of a house; raises FileError that names the file and the id."""
    if not isinstance(content, Mapping) or "rooms" not in content or "walls" not in content:
        raise FileError(f"{path}: expected a ProcTHOR house with 'rooms' and 'walls', got something else")
    rooms = tuple(_room(entry, where) for entry, where in _entries(content, "rooms", path))
    names = [room.key for room in rooms]
    for name in names:
        if names.count(name) > 1:
            raise FileError(f"{path}: rooms: expected each id once, got {name!r} again")
    walls = tuple(_wall(entry, where) for entry, where in _entries(content, "walls", path))
    if not rooms:
        raise FileError(f"{path}: expected at least one room, got none")
    for wall in walls:
        if wall.room not in (EXTERIOR, *names):
            raise FileError(f"{path}: wall {wall.key!r}: expected the id of a room, got {wall.room!r}")
    known = {wall.key for wall in walls}
    openings = tuple(
        _opening(entry, where, kind, known)
        for key, kind in (("doors", "door"), ("windows", "window"))
        for entry, where in _entries(content, key, path)
    )
    objects = tuple(_objects(_entries(content, "objects", path), None))
    return PlanHouse(rooms, walls, openings, objects)


def category_name(name: str) -> str:
    """Words of a camel-case name, lower case: "LivingRoom" becomes "living room", "TVStand" "tv stand"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).replace("_", " ").lower()


def _entries(
    content: Mapping[str, Any], key: str, where: Path | str
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """(entry, where it stands) of a list; a missing list is an empty one."""
    found = content.get(key) or []
    if not isinstance(found, list):
        raise FileError(f"{where}: expected a list as {key!r}, got {type(found).__name__}")
    for index, entry in enumerate(found):
        place = f"{where}: {key}[{index}]"
        if not isinstance(entry, Mapping) or not isinstance(entry.get("id"), str):
            raise FileError(f"{place}: expected an object with a text 'id', got {str(entry)[:80]}")
        yield entry, f"{place} (id {entry['id']!r})"


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise FileError(f"{where}: expected a text {key!r}, got {value!r}")
    return value


def _point(value: Any, where: str) -> Float[np.ndarray, "3"]:
    """A point {x, y, z} of the file as it stands there."""
    try:
        point = np.array([float(value[axis]) for axis in "xyz"])
    except DAMAGE as error:
        raise FileError(f"{where}: expected a point with numbers x, y and z, got {value!r}") from error
    if not (np.abs(point) <= LIMITS.number).all():
        raise FileError(f"{where}: expected numbers of at most {LIMITS.number:g}, got {value!r}")
    return point


def _points(entry: Mapping[str, Any], key: str, min_count: int, where: str) -> list[Float[np.ndarray, "3"]]:
    values = entry.get(key)
    if not isinstance(values, list) or len(values) < min_count:
        raise FileError(f"{where}: expected at least {min_count} points as {key!r}, got {str(values)[:80]}")
    return [_point(value, f"{where}.{key}[{index}]") for index, value in enumerate(values)]


def _room(entry: Mapping[str, Any], where: str) -> PlanRoom:
    outline = world_from_unity(np.stack(_points(entry, "floorPolygon", 3, where)))
    return PlanRoom(entry["id"], category_name(_text(entry, "roomType", where)), outline)


def _wall(entry: Mapping[str, Any], where: str) -> PlanWall:
    points = np.stack(_points(entry, "polygon", 4, where))
    floor = points[:, 1].min()
    foot = points[points[:, 1] - floor < 1e-3]
    height = float(points[:, 1].max() - floor)
    if len(foot) < 2 or height <= 0 or np.allclose(foot[0], foot[1]):
        raise FileError(f"{where}: expected an upright rectangle as 'polygon', got {points.tolist()}")
    start, end = world_from_unity(foot[:2])
    parts = entry["id"].split("|")
    room = EXTERIOR if EXTERIOR in parts else str(entry.get("roomId", EXTERIOR))
    return PlanWall(entry["id"], room, start, end, height, entry.get("empty") is True)


def _opening(entry: Mapping[str, Any], where: str, kind: str, walls: set[str]) -> PlanOpening:
    if "holePolygon" in entry:
        first, second = _points(entry, "holePolygon", 2, where)[:2]
    else:
        bounds = entry.get("boundingBox")
        if not isinstance(bounds, Mapping):
            raise FileError(f"{where}: expected 'holePolygon' or 'boundingBox', got neither")
        first = _point(bounds.get("min"), f"{where}.boundingBox.min")
        second = _point(bounds.get("max"), f"{where}.boundingBox.max")
    low, high = np.minimum(first, second), np.maximum(first, second)
    if high[0] - low[0] <= 0 or high[1] - low[1] <= 0:
        raise FileError(f"{where}: expected an opening with width and height, got {low} to {high}")
    named = [entry[key] for key in ("wall0", "wall1") if entry.get(key)]
    for name in named:
        if not isinstance(name, str) or name not in walls:
            raise FileError(f"{where}: expected the id of one of the walls, got {name!r}")
    if not named:
        raise FileError(f"{where}: expected the id of a wall as 'wall0', got none")
    is_open = kind == "door" and (not entry.get("openable", False) or _openness(entry, where) > 0)
    ends = [(float(point[0]), float(point[1])) for point in (low, high)]
    return PlanOpening(entry["id"], kind, tuple(named), ends[0], ends[1], is_open)


def _openness(entry: Mapping[str, Any], where: str) -> float:
    value = entry.get("openness", 1)
    if not isinstance(value, int | float):
        raise FileError(f"{where}: expected a number from 0 to 1 as 'openness', got {value!r}")
    return float(value)


def _objects(entries: Iterator[tuple[Mapping[str, Any], str]], parent: str | None) -> Iterator[PlanObject]:
    """Objects with all their children."""
    for entry, where in entries:
        center = world_from_unity(_point(entry.get("position"), f"{where}.position"))
        turn = _point(entry.get("rotation", {"x": 0, "y": 0, "z": 0}), f"{where}.rotation")
        asset = _text(entry, "assetId", where)
        yield PlanObject(entry["id"], asset, center, float(yaw_from_unity(float(turn[1]))), parent)
        yield from _objects(_entries(entry, "children", where), entry["id"])


def read_assets(content: Any, path: Path) -> dict[str, tuple[str, tuple[float, float, float]]]:
    """Asset id -> (object type, size x, y, z in metres) of an asset database.

    The database is a mapping from object types to lists, a mapping from ids, or a list; each entry has
    `assetId`, `objectType` and `boundingBox`. Entries without a box are left out.
    """
    assets: dict[str, tuple[str, tuple[float, float, float]]] = {}
    for key, entry in _asset_entries(content, path):
        box = entry.get("boundingBox")
        if box is None:
            continue
        name = str(entry.get("assetId") or key)
        size = _box_size(box, f"{path}: {name}.boundingBox")
        assets[name] = (str(entry.get("objectType") or key), size)
    if not assets:
        raise FileError(f"{path}: expected assets with 'assetId' and 'boundingBox', got none")
    return assets


def _asset_entries(content: Any, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    groups: Sequence[tuple[str, Any]] = (
        list(content.items()) if isinstance(content, Mapping) else [("", content)]
    )
    for key, group in groups:
        entries = group if isinstance(group, list) else [group]
        if not all(isinstance(entry, Mapping) for entry in entries):
            raise FileError(f"{path}: expected an asset database, got {str(group)[:80]} at {key!r}")
        for entry in entries:
            yield key, entry


def _box_size(box: Any, where: str) -> tuple[float, float, float]:
    if isinstance(box, Mapping) and "max" in box and "min" in box:
        size = _point(box["max"], where) - _point(box["min"], where)
    else:
        size = _point(box, where)
    if (size < 0).any():
        raise FileError(f"{where}: expected sizes of 0 or more, got {size.tolist()}")
    return float(size[0]), float(size[1]), float(size[2])
