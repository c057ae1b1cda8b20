"""Real floor plans: a JSON file with rooms, doors and windows becomes a house.

    {
      "format": "navarena-floor-plan-1",
      "ceiling": 2.6,
      "rooms": [
        {"id": "hall", "category": "corridor", "polygon": [[0, 0], [6, 0], [6, 1.5], [0, 1.5]]},
        {"id": "den", "category": "living room", "polygon": [[0, 1.5], [6, 1.5], [6, 6], [0, 6]]}
      ],
      "doors": [
        {"between": ["hall", "den"], "at": [2, 1.5], "width": 0.9},
        {"between": ["hall", "outside"], "at": [0, 0.75], "width": 0.95}
      ],
      "windows": [{"room": "den", "at": [3, 6], "width": 1.6, "sill": 0.8, "head": 2.2}]
    }

Lengths are metres, points are (x, z) as seen from above with z downwards, and lie on the middle
of the walls: rooms that share a wall share a border. Rooms are polygons of any number of corners
with walls along the axes: rectangles, L, T, U shapes and the like.
`"kind": "passage"` makes a doorway without a door. `at` is the middle of an opening.
"""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from navarena.core.errors import FileError, SceneError, UnknownNameError
from navarena.core.suggest import require_name
from navarena.scenes.houses.house_plan import HousePlan, Storey
from navarena.scenes.houses.openings import Contact, find_contacts
from navarena.scenes.houses.plan import (
    DOOR_HIGH_MM,
    INNER_HALF_MM,
    NORTH,
    OUTER_MM,
    STAIRS,
    WEST,
    FloorPlan,
    Opening,
    PlannedRoom,
    band_at,
)
from navarena.scenes.houses.polygons import cell_of_polygon
from navarena.scenes.houses.programme import ROOM_KINDS

OUTSIDE = "outside"
REACH_MM = 150
"""How far the middle of an opening may lie from the middle of its wall."""

FRAME_ROOM_MM = 100
"""Wall that stays beside an opening, for its frame."""

LEAST_SIDE_MM = 900
"""Of a room, between the middles of its walls."""

Length = Annotated[float, msgspec.Meta(gt=0, le=20)]
Place = Annotated[float, msgspec.Meta(ge=-1000, le=1000)]
CATEGORIES = tuple(name for name in ROOM_KINDS if name != STAIRS)


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


class PlanFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a floor plan's file."""

    format: Literal["navarena-floor-plan-1"]
    rooms: tuple[RoomEntry, ...]
    doors: tuple[DoorEntry, ...] = ()
    windows: tuple[WindowEntry, ...] = ()
    ceiling: Annotated[float, msgspec.Meta(ge=2.3, le=4)] = 2.6


def read_plan(path: Path) -> HousePlan:
    """The empty house of one storey that a file describes.

    Raises FileError for a file that cannot be read or is no floor plan, and SceneError, with the
    file and the room or opening, for a plan that cannot be built: rooms with slanted or crossing walls,
    rooms that overlap, openings outside their wall, rooms without a door; UnknownNameError for a category or
    room that is not known.
    """
    try:
        content = msgspec.json.decode(path.read_bytes(), type=PlanFile)
    except OSError as error:
        raise FileError(f"expected a readable floor plan, got {path}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise FileError(f"expected a floor plan as in the documentation, got {path}: {error}") from error
    try:
        return HousePlan((Storey(plan_of(content), 0),))
    except (SceneError, UnknownNameError) as error:
        raise type(error)(f"{path}: {error}") from error


def plan_of(content: PlanFile) -> FloorPlan:
    """The storey that a file's content describes; raises SceneError for an impossible one."""
    if not content.rooms:
        raise SceneError("expected at least one room, got none")
    names = [entry.id for entry in content.rooms]
    for name in names:
        if names.count(name) > 1 or name in ("", OUTSIDE):
            raise SceneError(f"expected ids that are unique, not empty and not {OUTSIDE!r}, got {name!r}")
    rooms = [_planned_room(entry) for entry in content.rooms]
    for (name, one), (other_name, other) in combinations(zip(names, rooms, strict=True), 2):
        if any(a.overlaps(b) for a in one.cell_pieces for b in other.cell_pieces):
            raise SceneError(f"expected rooms that do not overlap, got {name!r} over {other_name!r}")
    inner, outer = find_contacts(rooms)
    walls = {"inner": inner, "outer": outer}
    openings: list[Opening] = []
    ceiling = round(content.ceiling * 1000)
    for number, door in enumerate(content.doors):
        _append(openings, rooms, _door(door, names, rooms, walls), f"doors[{number}]")
    for number, window in enumerate(content.windows):
        _append(openings, rooms, _window(window, names, rooms, outer, ceiling), f"windows[{number}]")
    _require_joined(names, openings)
    return FloorPlan(tuple(rooms), tuple(openings), ceiling)


def _planned_room(entry: RoomEntry) -> PlannedRoom:
    """The room on the millimetre grid."""
    if entry.category not in CATEGORIES:
        require_name(f"category of room {entry.id!r}", entry.category, CATEGORIES)
    corners = [(round(x * 1000), round(z * 1000)) for x, z in entry.polygon]
    try:
        cell, notches = cell_of_polygon(corners)
    except SceneError as error:
        raise SceneError(f"polygon of room {entry.id!r}: expected {error}") from error
    room = PlannedRoom(entry.category, cell, notches=notches)
    if not _is_wide(room):
        raise SceneError(
            f"expected room {entry.id!r} to be nowhere narrower than {LEAST_SIDE_MM / 1000} m on the way "
            f"through it, got {cell.width / 1000} x {cell.depth / 1000} m over all; are these metres?"
        )
    return room


def _is_wide(room: PlannedRoom) -> bool:
    """Whether a square of LEAST_SIDE_MM can be pushed through the whole room; niches do not count."""
    import shapely

    floor = shapely.union_all([shapely.box(r.x0, r.z0, r.x1, r.z1) for r in room.cell_pieces])
    left = shapely.buffer(floor, -(LEAST_SIDE_MM // 2 - 1), join_style="mitre")
    return left.geom_type == "Polygon" and not left.is_empty


def _index(names: Sequence[str], name: str, what: str) -> int:
    return names.index(require_name(what, name, names))


def _door(
    entry: DoorEntry, names: Sequence[str], rooms: Sequence[PlannedRoom], walls: dict[str, list[Contact]]
) -> Opening:
    first, second = entry.between
    if first == OUTSIDE:
        first, second = second, first
    room = _index(names, first, "room of a door")
    what, kind = f"the door between {first!r} and {second!r}", str(entry.kind)
    if second == OUTSIDE:
        contacts, kind = [c for c in walls["outer"] if c.room == room], "entrance"
        if entry.kind == "passage":
            raise SceneError(f"expected a door to the outside, got a passage for {what}")
    else:
        other = _index(names, second, "room of a door")
        contacts = [c for c in walls["inner"] if {c.room, c.other} == {room, other}]
    contact, start, end = _place(what, entry.at, entry.width, rooms, contacts)
    line = _line(rooms, contact)
    return Opening(kind, contact.room, contact.side, contact.other, start, end, 0, DOOR_HIGH_MM, line=line)


def _window(
    entry: WindowEntry,
    names: Sequence[str],
    rooms: Sequence[PlannedRoom],
    outer: Sequence[Contact],
    ceiling: int,
) -> Opening:
    room = _index(names, entry.room, "room of a window")
    what = f"the window of {entry.room!r} at {list(entry.at)}"
    sill, head = round(entry.sill * 1000), round(entry.head * 1000)
    if not 100 <= sill < head - 200 or head > ceiling - 100:
        raise SceneError(
            f"expected a sill of at least 0.1 m, a head 0.2 m above it and 0.1 m below the ceiling at "
            f"{ceiling / 1000} m, got sill {entry.sill} and head {entry.head} for {what}"
        )
    contact, start, end = _place(what, entry.at, entry.width, rooms, [c for c in outer if c.room == room])
    return Opening("window", room, contact.side, None, start, end, sill, head, line=_line(rooms, contact))


def _place(
    what: str,
    at: tuple[float, float],
    width: float,
    rooms: Sequence[PlannedRoom],
    contacts: Sequence[Contact],
) -> tuple[Contact, int, int]:
    """The wall that an opening lies in and its interval along it."""
    point, wide = (round(at[0] * 1000), round(at[1] * 1000)), round(width * 1000)
    for contact in contacts:
        across = point[1] if contact.side % 2 == 0 else point[0]
        along = point[0] if contact.side % 2 == 0 else point[1]
        start = along - wide // 2
        fits = contact.start + FRAME_ROOM_MM - INNER_HALF_MM <= start
        fits = fits and start + wide <= contact.end - FRAME_ROOM_MM + INNER_HALF_MM
        fits = fits and (contact.other is not None or _opens_outside(rooms, contact, start, start + wide))
        if abs(across - contact.line) <= REACH_MM and fits:
            return contact, start, start + wide
    raise SceneError(
        f"expected {what}, {width} m wide around {list(at)}, inside one straight wall that they share "
        f"(its middle at most {REACH_MM / 1000} m away, {FRAME_ROOM_MM / 1000} m from its ends), got none"
    )


def _opens_outside(rooms: Sequence[PlannedRoom], contact: Contact, start: int, end: int) -> bool:
    """Whether no wall stands before the outer end of an opening."""
    before = band_at(contact.side, contact.line, start, end, -OUTER_MM - 100, -OUTER_MM)
    return not any(piece.grown(OUTER_MM).overlaps(before) for room in rooms for piece in room.cell_pieces)


def _line(rooms: Sequence[PlannedRoom], contact: Contact) -> int | None:
    """What `Opening.line` is for an opening in this wall."""
    if contact.line == rooms[contact.room].cell.line(contact.side):
        return None
    return contact.line + (INNER_HALF_MM if contact.side in (NORTH, WEST) else -INNER_HALF_MM)


def _append(openings: list[Opening], rooms: Sequence[PlannedRoom], new: Opening, where: str) -> None:
    """Add an opening; raises SceneError when it meets another one of its wall."""
    line = _wall_line(rooms, new)
    for old in openings:
        same_wall = old.side % 2 == new.side % 2 and _wall_line(rooms, old) == line
        if same_wall and old.start - 2 * FRAME_ROOM_MM < new.end and new.start - 2 * FRAME_ROOM_MM < old.end:
            raise SceneError(
                f"expected {2 * FRAME_ROOM_MM / 1000} m of wall between openings, got {where} too near to "
                f"another {old.kind}"
            )
    openings.append(new)


def _wall_line(rooms: Sequence[PlannedRoom], opening: Opening) -> int:
    """The middle of the wall of an opening."""
    if opening.line is None:
        return rooms[opening.room].cell.line(opening.side)
    return opening.line - (INNER_HALF_MM if opening.side in (NORTH, WEST) else -INNER_HALF_MM)


def _require_joined(names: Sequence[str], openings: Sequence[Opening]) -> None:
    """Raise SceneError unless every room can be reached from the first one."""
    reached = {0}
    joins = [{o.room, o.other} for o in openings if o.other is not None]
    for _ in names:
        for pair in joins:
            if pair & reached:
                reached |= {room for room in pair if room is not None}
    for k, name in enumerate(names):
        if k in reached:
            continue
        if not any(k in pair for pair in joins):
            raise SceneError(f"expected a door or passage to every room, got none to {name!r}")
        raise SceneError(f"expected a way from {names[0]!r} to every room, got none to {name!r}")
