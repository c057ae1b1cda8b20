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
of the walls: rooms that share a wall share a border. Rooms are polygons of any number of corners.
Where all walls lie along the axes the storey is built of rectangles, as generated houses are; where
one is slanted, of polygons (slanted_reader).
`"kind": "passage"` makes a doorway without a door. `at` is the middle of an opening.

A house of several storeys has a list "storeys", from the ground floor up, whose entries hold "rooms", "doors"
and "windows"; a room of the category "stairs" at the same place of each joins them (storey_stack).
"""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import msgspec

from navarena.core.errors import FileError, SceneError, UnknownNameError
from navarena.scenes.houses.plan.floor_plan import (
    DOOR_HIGH_MM,
    INNER_HALF_MM,
    NORTH,
    OUTER_MM,
    WEST,
    FloorPlan,
    Opening,
    PlannedRoom,
    band_at,
)
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.houses.plan.openings import Contact, find_contacts
from navarena.scenes.houses.plan.rectilinear import cell_of_polygon
from navarena.scenes.houses.plan_file.format import (
    FRAME_ROOM_MM,
    REACH_MM,
    DoorEntry,
    PlanFile,
    RoomEntry,
    WindowEntry,
    corners_of,
    door_rooms,
    no_wall,
    require_category,
    require_joined,
    require_names,
    require_wide,
    storey_content,
    too_near,
    window_heights,
)
from navarena.scenes.houses.plan_file.slanted_reader import has_slanted_walls, slanted_plan_of
from navarena.scenes.houses.plan_file.storey_stack import stack_storeys


def read_plan(path: Path) -> HousePlan:
    """The empty house that a file describes.

    Raises FileError for a file that cannot be read or is no floor plan, and SceneError, with the
    file and the room or opening, for a plan that cannot be built: rooms with crossing walls,
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
        return stack_storeys(_plans_of(content))
    except (SceneError, UnknownNameError) as error:
        raise type(error)(f"{path}: {error}") from error


def _plans_of(content: PlanFile) -> list[FloorPlan]:
    """The storeys of a file, ground floor first."""
    if not content.storeys:
        return [plan_of(content)]
    if content.rooms or content.doors or content.windows:
        raise SceneError("expected rooms, doors and windows inside storeys, got some beside them")
    plans = []
    for level, entry in enumerate(content.storeys):
        try:
            plans.append(plan_of(storey_content(content, entry)))
        except (SceneError, UnknownNameError) as error:
            raise type(error)(f"storeys[{level}]: {error}") from error
    return plans


def plan_of(content: PlanFile) -> FloorPlan:
    """The one storey that a file's content describes; raises SceneError for an impossible one."""
    names = require_names(content)
    if has_slanted_walls(content):
        return slanted_plan_of(content, names)
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
    require_joined(names, openings)
    return FloorPlan(tuple(rooms), tuple(openings), ceiling)


def _planned_room(entry: RoomEntry) -> PlannedRoom:
    """The room on the millimetre grid."""
    category, corners = require_category(entry), corners_of(entry)
    try:
        cell, notches = cell_of_polygon(corners)
    except SceneError as error:
        raise SceneError(f"polygon of room {entry.id!r}: expected {error}") from error
    room = PlannedRoom(category, cell, notches=notches)
    import shapely

    pieces = shapely.union_all([shapely.box(r.x0, r.z0, r.x1, r.z1) for r in room.cell_pieces])
    require_wide(entry, pieces, cell.width, cell.depth)
    return room


def _door(
    entry: DoorEntry, names: Sequence[str], rooms: Sequence[PlannedRoom], walls: dict[str, list[Contact]]
) -> Opening:
    what, room, other, kind = door_rooms(entry, names)
    if other is None:
        contacts = [c for c in walls["outer"] if c.room == room]
    else:
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
    what, room, sill, head = window_heights(entry, names, ceiling)
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
    raise no_wall(what, at, width)


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
            raise too_near(where, old.kind)
    openings.append(new)


def _wall_line(rooms: Sequence[PlannedRoom], opening: Opening) -> int:
    """The middle of the wall of an opening."""
    if opening.line is None:
        return rooms[opening.room].cell.line(opening.side)
    return opening.line - (INNER_HALF_MM if opening.side in (NORTH, WEST) else -INNER_HALF_MM)
