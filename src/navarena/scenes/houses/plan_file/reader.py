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
Where all walls lie along the axes the storey is one of rectangles, as generated houses are; where one is
slanted, one of polygons.
`"kind": "passage"` makes a doorway without a door. `at` is the middle of an opening.

A house of several storeys has a list "storeys", from the ground floor up, whose entries hold "rooms", "doors"
and "windows"; a room of the category "stairs" at the same place of each joins them (storey_stack).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from navarena.core.errors import SceneError, UnknownNameError
from navarena.core.files import read_json
from navarena.scenes.houses.plan.floor_plan import (
    DOOR_HIGH_MM,
    INNER_HALF_MM,
    NORTH,
    WEST,
    Corner,
    FloorPlan,
    Opening,
    PlannedRoom,
    Rect,
    WallOpening,
)
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.houses.plan.polygons import (
    Edge,
    along,
    clean_polygon,
    column_lines,
    columns_inside,
    direction,
    edges_of,
    inset,
    is_near,
    meet,
    notches_of,
    overlap,
    require_simple,
)
from navarena.scenes.houses.plan.walls import (
    inner_faces,
    joined_outlines,
    opening_ends,
    outer_faces,
)
from navarena.scenes.houses.plan_file.format import (
    FRAME_ROOM_MM,
    REACH_MM,
    PlanFile,
    RoomEntry,
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
from navarena.scenes.houses.plan_file.storey_stack import stack_storeys

FURNITURE_STEP_MM = 100
"""Width of the columns of floor, beside slanted walls, in which furniture may stand."""

CORNER_MM = FRAME_ROOM_MM - INNER_HALF_MM
"""Wall between an opening's clear width and the end of an inner face of its wall."""


def read_plan(path: Path) -> HousePlan:
    """The empty house that a file describes.

    Raises FileError for a file that cannot be read or is no floor plan, and SceneError, with the
    file and the room or opening, for a plan that cannot be built: rooms with crossing walls,
    rooms that overlap, openings outside their wall, rooms without a door; UnknownNameError for a category or
    room that is not known.
    """
    content: PlanFile = read_json(path, "floor plan", PlanFile, "the documentation shows its fields")
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
    rooms = [_planned_room(entry) for entry in content.rooms]
    slants = any(_slants(edge) for room in rooms for edge in edges_of(room.corners))
    joined = joined_outlines([room.corners for room in rooms])
    for (name, one), (other_name, other) in combinations(zip(names, joined, strict=True), 2):
        if overlap(one, other):
            raise SceneError(f"expected rooms that do not overlap, got {name!r} over {other_name!r}")
    if slants:
        _require_walls_apart(content.rooms, rooms)
    walls = _Walls(rooms, joined, CORNER_MM if slants else 0)
    ceiling, openings = round(content.ceiling * 1000), list[WallOpening]()
    for number, door in enumerate(content.doors):
        what, room, other_room, kind = door_rooms(door, names)
        if other_room is not None and not slants:
            room, other_room = sorted((room, other_room))
        blank = WallOpening(kind, room, other_room, ((0, 0), (0, 0)), 0, 0, 0, DOOR_HIGH_MM)
        _append(openings, walls.place(what, blank, door.at, door.width), f"doors[{number}]")
    for number, window in enumerate(content.windows):
        what, room, sill, head = window_heights(window, names, ceiling)
        blank = WallOpening("window", room, None, ((0, 0), (0, 0)), 0, 0, sill, head)
        _append(openings, walls.place(what, blank, window.at, window.width), f"windows[{number}]")
    require_joined(names, openings)
    straight = tuple(_straight(rooms, opening) for opening in openings if not _slants(opening.wall))
    return FloorPlan(tuple(rooms), straight, ceiling, slanted=tuple(o for o in openings if _slants(o.wall)))


def _planned_room(entry: RoomEntry) -> PlannedRoom:
    """The room on the millimetre grid, with its outline and the parts of its cell outside of it."""
    import shapely

    category = require_category(entry)
    try:
        outline = clean_polygon(corners_of(entry))
    except SceneError as error:
        raise SceneError(f"polygon of room {entry.id!r}: expected {error}") from error
    xs, zs = [x for x, _ in outline], [z for _, z in outline]
    cell = Rect(min(xs), min(zs), max(xs), max(zs))
    require_wide(entry, shapely.Polygon(outline), cell.width, cell.depth)
    columns, lines = columns_inside(outline, FURNITURE_STEP_MM), column_lines(outline, FURNITURE_STEP_MM)
    return PlannedRoom(category, cell, notches=notches_of(cell, columns, lines), outline=outline)


def _require_walls_apart(entries: Sequence[RoomEntry], rooms: Sequence[PlannedRoom]) -> None:
    """Raise SceneError where faces of slanted walls cross: in niches of rooms, and between outer walls."""
    for entry, room in zip(entries, rooms, strict=True):
        try:
            require_simple(inset(room.corners, INNER_HALF_MM))
        except SceneError as error:
            raise SceneError(
                f"polygon of room {entry.id!r}: expected niches wider than their walls, got faces that cross"
            ) from error
    for (middle, face), (other_middle, other) in combinations(outer_faces(rooms), 2):
        (dx, dz), (fx, fz) = direction(middle), direction(face)
        are_neighbours = face[0] in other or face[1] in other
        if dx * fx + dz * fz <= 0 or (not are_neighbours and meet(face, other)):
            raise SceneError(
                "expected 0.5 m between the middles of outer walls, got less between those from "
                f"{_metres(middle)} and from {_metres(other_middle)}"
            )


@dataclass(frozen=True)
class _Walls:
    """The walls of a storey, in which openings are placed.

    Attributes:
        rooms: with their outlines.
        joined: the outlines with all corners that lie in their walls.
        outer_margin: millimetres of wall that stay between an opening and the end of an outer face.
    """

    rooms: Sequence[PlannedRoom]
    joined: Sequence[Sequence[Corner]]
    outer_margin: int

    def place(self, what: str, blank: WallOpening, at: tuple[float, float], width: float) -> WallOpening:
        """The opening in the wall of its rooms that contains `at`; raises SceneError if there is none."""
        point, wide = (round(at[0] * 1000), round(at[1] * 1000)), round(width * 1000)
        own = [k for k in (blank.room, blank.other) if k is not None]
        faces = [(*pair, CORNER_MM) for k in own for pair in inner_faces(self.rooms[k])]
        if blank.other is None:
            faces += [(*pair, self.outer_margin) for pair in outer_faces(self.rooms)]
        for wall in self._shared(blank):
            if not is_near(wall, point, REACH_MM):
                continue
            first, last = CORNER_MM, along(wall, wall[1]) - CORNER_MM
            for middle, face, margin in faces:
                if _lies_on(wall, middle):
                    low, high = sorted(along(wall, end) for end in face)
                    first, last = max(first, low + margin), min(last, high - margin)
            start = along(wall, point) - wide // 2
            if first <= start and start + wide <= last:
                return replace(blank, wall=wall, start=start, end=start + wide)
        raise no_wall(what, at, width)

    def _shared(self, opening: WallOpening) -> list[Edge]:
        """The walls between the two rooms of an opening, the first one's room to the right."""
        own = edges_of(self.joined[opening.room])
        if opening.other is not None:
            others = set(edges_of(self.joined[opening.other]))
            return [(a, b) for a, b in own if (b, a) in others]
        taken = {edge for outline in self.joined for edge in edges_of(outline)}
        return [(a, b) for a, b in own if (b, a) not in taken]


def _lies_on(part: Edge, whole: Edge) -> bool:
    """Whether a wall is a part of another one, in either direction."""
    length = along(whole, whole[1])
    return all(is_near(whole, end, 2) and -2 <= along(whole, end) <= length + 2 for end in part)


def _append(openings: list[WallOpening], new: WallOpening, where: str) -> None:
    """Add an opening; raises SceneError when it meets another one of its wall."""
    for old in openings:
        ends = [along(new.wall, end) for end in opening_ends(old)]
        same = all(is_near(new.wall, end, 2) for end in opening_ends(old))
        apart = 2 * FRAME_ROOM_MM
        if same and min(ends) - apart < new.end and new.start - apart < max(ends):
            raise too_near(where, old.kind)
    openings.append(new)


def _slants(wall: Edge) -> bool:
    return 0 not in direction(wall)


def _straight(rooms: Sequence[PlannedRoom], opening: WallOpening) -> Opening:
    """The same opening of a wall along an axis."""
    (dx, dz), ends = direction(opening.wall), opening_ends(opening)
    side = (0 if dx > 0 else 2) if dz == 0 else (1 if dz > 0 else 3)
    axis = 0 if dz == 0 else 1
    start, end = sorted(point[axis] for point in ends)
    middle = ends[0][1 - axis]
    line = None
    if middle != rooms[opening.room].cell.line(side):
        line = middle + (INNER_HALF_MM if side in (NORTH, WEST) else -INNER_HALF_MM)
    return Opening(
        opening.kind, opening.room, side, opening.other, start, end, opening.low, opening.high, line=line
    )


def _metres(edge: Edge) -> str:
    return " to ".join(str([x / 1000, z / 1000]) for x, z in edge)
