"""The JSON format of floor plan files (see reader), and checks that do not depend on walls."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec

from navarena.core.errors import SceneError, require_name
from navarena.scenes.houses.plan.floor_plan import Opening, WallOpening
from navarena.scenes.houses.plan.programme import ROOM_KINDS

OUTSIDE = "outside"
REACH_MM = 150
"""How far the middle of an opening may lie from the middle of its wall."""

FRAME_ROOM_MM = 100
"""Wall that stays beside an opening, for its frame."""

MIN_SIDE_MM = 900
"""Of a room, between the middles of its walls."""

Length = Annotated[float, msgspec.Meta(gt=0, le=20)]
Place = Annotated[float, msgspec.Meta(ge=-1000, le=1000)]
CATEGORIES = tuple(ROOM_KINDS)


class RoomEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A room: its name in the file, its kind, and the corners of its polygon in order."""

    id: str
    category: str
    polygon: tuple[tuple[Place, Place], ...]


class DoorEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A door or passage between two rooms, or between a room and "outside"."""

    between: tuple[str, str]
    at: tuple[Place, Place]
    width: Length = 0.9
    kind: Literal["door", "passage"] = "door"


class WindowEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A window of a room; sill and head are heights above the floor."""

    room: str
    at: tuple[Place, Place]
    width: Length = 1.2
    sill: Length = 0.9
    head: Length = 2.1


class StoreyEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rooms of one storey and the openings between them."""

    rooms: tuple[RoomEntry, ...]
    doors: tuple[DoorEntry, ...] = ()
    windows: tuple[WindowEntry, ...] = ()


class PlanFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a floor plan's file: one storey, or `storeys` from the ground floor up."""

    format: Literal["navarena-floor-plan-1"]
    rooms: tuple[RoomEntry, ...] = ()
    doors: tuple[DoorEntry, ...] = ()
    windows: tuple[WindowEntry, ...] = ()
    storeys: tuple[StoreyEntry, ...] = ()
    ceiling: Annotated[float, msgspec.Meta(ge=2.3, le=4)] = 2.6


def require_room(names: Sequence[str], name: str, what: str) -> int:
    """Index of a room; raises UnknownNameError with the nearest name."""
    return names.index(require_name(what, name, names))


def door_rooms(entry: DoorEntry, names: Sequence[str]) -> tuple[str, int, int | None, str]:
    """(name in errors, room, other room or None for the outside, kind) of a door."""
    first, second = entry.between
    if first == OUTSIDE:
        first, second = second, first
    room = require_room(names, first, "room of a door")
    what = f"the door between {first!r} and {second!r}"
    if second != OUTSIDE:
        return what, room, require_room(names, second, "room of a door"), str(entry.kind)
    if entry.kind == "passage":
        raise SceneError(f"expected a door to the outside, got a passage for {what}")
    return what, room, None, "entrance"


def window_heights(entry: WindowEntry, names: Sequence[str], ceiling: int) -> tuple[str, int, int, int]:
    """(name in errors, room, sill, head) of a window; raises SceneError for impossible heights."""
    room = require_room(names, entry.room, "room of a window")
    what = f"the window of {entry.room!r} at {list(entry.at)}"
    sill, head = round(entry.sill * 1000), round(entry.head * 1000)
    if not 100 <= sill < head - 200 or head > ceiling - 100:
        raise SceneError(
            f"expected a sill of at least 0.1 m, a head 0.2 m above it and 0.1 m below the ceiling at "
            f"{ceiling / 1000} m, got sill {entry.sill} and head {entry.head} for {what}"
        )
    return what, room, sill, head


def storey_content(content: PlanFile, storey: StoreyEntry) -> PlanFile:
    """One storey's content as that of a single-storey file."""
    return PlanFile(content.format, storey.rooms, storey.doors, storey.windows, (), content.ceiling)


def require_names(content: PlanFile) -> list[str]:
    """The ids of the rooms; raises SceneError unless there are rooms with ids of their own."""
    if not content.rooms:
        raise SceneError("expected at least one room, got none")
    names = [entry.id for entry in content.rooms]
    for name in names:
        if names.count(name) > 1 or name in ("", OUTSIDE):
            raise SceneError(f"expected ids that are unique, not empty and not {OUTSIDE!r}, got {name!r}")
    return names


def require_category(entry: RoomEntry) -> str:
    """The category of a room; raises UnknownNameError with the nearest one."""
    return require_name(f"category of room {entry.id!r}", entry.category, CATEGORIES)


def corners_of(entry: RoomEntry) -> list[tuple[int, int]]:
    """The corners of a room, millimetres; a last one that repeats the first (a closed ring) is left out."""
    corners = [(round(x * 1000), round(z * 1000)) for x, z in entry.polygon]
    return corners[:-1] if len(corners) > 3 and corners[0] == corners[-1] else corners


def require_wide(entry: RoomEntry, polygon: Any, width: int, depth: int) -> None:
    """Raise SceneError unless a square of MIN_SIDE_MM can be pushed through the whole room.

    `polygon` is the room as a shapely geometry in millimetres, `width` and `depth` are those of the
    rectangle around it. Niches do not count.
    """
    import shapely

    left = shapely.buffer(polygon, -(MIN_SIDE_MM // 2 - 1), join_style="mitre")
    if left.geom_type != "Polygon" or left.is_empty:
        raise SceneError(
            f"expected room {entry.id!r} to be nowhere narrower than {MIN_SIDE_MM / 1000} m on the path "
            f"through it, got {width / 1000} x {depth / 1000} m over all; are these metres?"
        )


def no_wall(what: str, at: tuple[float, float], width: float) -> SceneError:
    """The error for an opening that is in no wall of its rooms."""
    return SceneError(
        f"expected {what}, {width} m wide around {list(at)}, inside one straight wall that they share "
        f"(its middle at most {REACH_MM / 1000} m away, {FRAME_ROOM_MM / 1000} m from its ends), got none"
    )


def too_near(where: str, kind: str) -> SceneError:
    """The error for an opening that meets another one."""
    return SceneError(
        f"expected {2 * FRAME_ROOM_MM / 1000} m of wall between openings, got {where} too near to "
        f"another {kind}"
    )


def require_joined(names: Sequence[str], openings: Sequence[Opening | WallOpening]) -> None:
    """Raise SceneError unless every room has a door and can be reached from the first one."""
    passages = [opening for opening in openings if opening.kind != "window"]
    for k, name in enumerate(names):
        if not any(k in (opening.room, opening.other) for opening in passages):
            raise SceneError(f"expected a door or passage to every room, got none to {name!r}")
    reached = {0}
    joins = [{o.room, o.other} for o in openings if o.other is not None]
    for _ in names:
        for pair in joins:
            if pair & reached:
                reached |= {room for room in pair if room is not None}
    for k, name in enumerate(names):
        if k not in reached:
            raise SceneError(f"expected a path from {names[0]!r} to every room, got none to {name!r}")
