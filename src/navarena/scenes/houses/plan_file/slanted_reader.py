"""Floor plans with slanted walls: from the content of a file to a storey of polygons."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from navarena.core.errors import SceneError
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
from navarena.scenes.houses.plan.slanted_polygons import (
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
from navarena.scenes.houses.plan.slanted_walls import (
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
    require_wide,
    too_near,
    window_heights,
)

FURNITURE_STEP_MM = 100
"""Width of the columns of floor, beside slanted walls, in which furniture may stand."""

CORNER_MM = FRAME_ROOM_MM - INNER_HALF_MM
"""Wall between an opening's clear width and the end of the face of its wall."""


def has_slanted_walls(content: PlanFile) -> bool:
    """Whether a wall of the plan does not lie along an axis."""
    edges = [edge for entry in content.rooms for edge in edges_of(corners_of(entry))]
    return any(a[0] != b[0] and a[1] != b[1] for a, b in edges)


def slanted_plan_of(content: PlanFile, names: Sequence[str]) -> FloorPlan:
    """The storey that a file's content describes; raises SceneError for an impossible one."""
    rooms = [_planned_room(entry) for entry in content.rooms]
    joined = joined_outlines([room.outline for room in rooms])
    for (name, one), (other_name, other) in combinations(zip(names, joined, strict=True), 2):
        if overlap(one, other):
            raise SceneError(f"expected rooms that do not overlap, got {name!r} over {other_name!r}")
    _require_outer_walls(rooms)
    ceiling, openings = round(content.ceiling * 1000), list[WallOpening]()
    for number, door in enumerate(content.doors):
        what, room, other_room, kind = door_rooms(door, names)
        blank = WallOpening(kind, room, other_room, ((0, 0), (0, 0)), 0, 0, 0, DOOR_HIGH_MM)
        _append(openings, _placed(what, blank, door.at, door.width, rooms, joined), f"doors[{number}]")
    for number, window in enumerate(content.windows):
        what, room, sill, head = window_heights(window, names, ceiling)
        blank = WallOpening("window", room, None, ((0, 0), (0, 0)), 0, 0, sill, head)
        _append(openings, _placed(what, blank, window.at, window.width, rooms, joined), f"windows[{number}]")
    require_joined(names, openings)
    straight = tuple(_straight(rooms, opening) for opening in openings if not _slants(opening))
    return FloorPlan(tuple(rooms), straight, ceiling, slanted=tuple(o for o in openings if _slants(o)))


def _planned_room(entry: RoomEntry) -> PlannedRoom:
    """The room on the millimetre grid, with the rectangles beside its slanted walls that are cut off."""
    import shapely

    category = require_category(entry)
    try:
        outline = clean_polygon(corners_of(entry))
    except SceneError as error:
        raise SceneError(f"polygon of room {entry.id!r}: expected {error}") from error
    xs, zs = [x for x, _ in outline], [z for _, z in outline]
    cell = Rect(min(xs), min(zs), max(xs), max(zs))
    require_wide(entry, shapely.Polygon(outline), cell.width, cell.depth)
    try:
        require_simple(inset(outline, INNER_HALF_MM))
    except SceneError as error:
        raise SceneError(
            f"polygon of room {entry.id!r}: expected niches wider than their walls, got faces that cross"
        ) from error
    columns, lines = columns_inside(outline, FURNITURE_STEP_MM), column_lines(outline, FURNITURE_STEP_MM)
    return PlannedRoom(category, cell, notches=notches_of(cell, columns, lines), outline=outline)


def _require_outer_walls(rooms: Sequence[PlannedRoom]) -> None:
    """Raise SceneError where the outer walls of a storey meet each other."""
    for (middle, face), (other_middle, other) in combinations(outer_faces(rooms), 2):
        (dx, dz), (fx, fz) = direction(middle), direction(face)
        are_neighbours = face[0] in other or face[1] in other
        if dx * fx + dz * fz <= 0 or (not are_neighbours and meet(face, other)):
            raise SceneError(
                "expected 0.5 m between the middles of outer walls, got less between those from "
                f"{_metres(middle)} and from {_metres(other_middle)}"
            )


def _placed(
    what: str,
    blank: WallOpening,
    at: tuple[float, float],
    width: float,
    rooms: Sequence[PlannedRoom],
    joined: Sequence[Sequence[Corner]],
) -> WallOpening:
    """The opening in the wall of its rooms that `at` lies in."""
    point, wide = (round(at[0] * 1000), round(at[1] * 1000)), round(width * 1000)
    for wall in _shared_walls(blank, joined):
        if not is_near(wall, point, REACH_MM):
            continue
        first, last = 0, along(wall, wall[1])
        faces = [pair for pair in inner_faces(rooms[blank.room]) if _lies_on(wall, pair[0])]
        if blank.other is None:
            faces += [pair for pair in outer_faces(rooms) if _lies_on(wall, pair[0])]
        else:
            faces += [pair for pair in inner_faces(rooms[blank.other]) if _lies_on(wall, pair[0])]
        for _, face in faces:
            low, high = sorted(along(wall, end) for end in face)
            first, last = max(first, low), min(last, high)
        start = along(wall, point) - wide // 2
        if first + CORNER_MM <= start and start + wide <= last - CORNER_MM:
            return replace(blank, wall=wall, start=start, end=start + wide)
    raise no_wall(what, at, width)


def _shared_walls(opening: WallOpening, joined: Sequence[Sequence[Corner]]) -> list[Edge]:
    """The walls between the two rooms of an opening, the first one's room to the right."""
    own = edges_of(joined[opening.room])
    if opening.other is not None:
        others = set(edges_of(joined[opening.other]))
        return [(a, b) for a, b in own if (b, a) in others]
    others = {edge for outline in joined for edge in edges_of(outline)}
    return [(a, b) for a, b in own if (b, a) not in others]


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


def _slants(opening: WallOpening) -> bool:
    return 0 not in direction(opening.wall)


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
