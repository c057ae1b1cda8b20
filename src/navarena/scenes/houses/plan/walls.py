"""The walls of a storey whose walls may have any direction, from the outlines of its rooms."""

from collections.abc import Sequence

from navarena.scenes.houses.plan.floor_plan import (
    INNER_HALF_MM,
    NORTH,
    OUTER_MM,
    SOUTH,
    Corner,
    FloorPlan,
    Opening,
    PlannedRoom,
    Rect,
    WallOpening,
    without_all,
)
from navarena.scenes.houses.plan.polygons import (
    SCALE,
    Edge,
    along,
    columns_inside,
    columns_over,
    edges_of,
    inset,
    is_near,
    moved,
    scaled_length,
    turn_at,
)

STEP_MM = 50
"""Width of the rectangles that stand for slanted walls and doorways where only rectangles are known."""

JOIN_MM = 1
"""A corner at most so far from a wall of another room lies in it: slanted walls miss whole millimetres."""

DOORWAY_MM = 260
"""How far the rectangles of a slanted doorway reach from the middle of its wall, into both rooms."""


def joined_outlines(outlines: Sequence[Sequence[Corner]]) -> list[tuple[Corner, ...]]:
    """The outlines with added corners of other outlines on their walls, so that shared walls are equal."""
    everything = sorted({corner for outline in outlines for corner in outline})
    result = []
    for outline in outlines:
        corners: list[Corner] = []
        for edge in edges_of(outline):
            length = scaled_length(edge)
            inside = [
                point
                for point in everything
                if point not in edge
                and is_near(edge, point, JOIN_MM)
                and 0 < along(edge, point) * SCALE < length
            ]
            corners += [edge[0], *sorted(inside, key=lambda point: along(edge, point))]
        result.append(tuple(corners))
    return result


def outer_rings(outlines: Sequence[Sequence[Corner]]) -> list[tuple[Corner, ...]]:
    """The middle of the outer walls: corners of each closed ring, the rooms to the right."""
    joined = [edge for outline in joined_outlines(outlines) for edge in edges_of(outline)]
    shared = set(joined)
    following: dict[Corner, list[Corner]] = {}
    for a, b in sorted(joined):
        if (b, a) not in shared:
            following.setdefault(a, []).append(b)
    rings = []
    while following:
        start = at = min(following)
        ring: list[Corner] = []
        while not ring or at != start:
            ring.append(at)
            exits = following[at]
            at = exits.pop()
            if not exits:
                del following[ring[-1]]
        before, after = [ring[-1], *ring[:-1]], [*ring[1:], ring[0]]
        rings.append(tuple(b for a, b, c in zip(before, ring, after, strict=True) if turn_at(a, b, c)))
    return rings


def outer_faces(rooms: Sequence[PlannedRoom]) -> list[tuple[Edge, Edge]]:
    """(middle, outer face) of each straight piece of the outer walls, the rooms to the right of both."""
    found = []
    for ring in outer_rings([room.corners for room in rooms]):
        found += list(zip(edges_of(ring), edges_of(inset(ring, -OUTER_MM)), strict=True))
    return found


def inner_faces(room: PlannedRoom) -> list[tuple[Edge, Edge]]:
    """(middle, inner face) of each wall of a room, which is to the right of both."""
    faces = edges_of(inset(room.corners, INNER_HALF_MM))
    return list(zip(edges_of(room.corners), faces, strict=True))


def wall_openings(plan: FloorPlan) -> list[WallOpening]:
    """All openings of a storey, those in walls along the axes included."""
    return [_as_wall_opening(plan, opening) for opening in plan.openings] + list(plan.slanted)


def _as_wall_opening(plan: FloorPlan, opening: Opening) -> WallOpening:
    """The opening by points in the middle of its wall."""
    face, side = plan.face_line(opening, opening.room), opening.side
    line = face + (-INNER_HALF_MM if side in (NORTH, 3) else INNER_HALF_MM)
    forward = 1 if side in (NORTH, 1) else -1
    first, last = (opening.start, opening.end)[::forward]
    wall = ((first, line), (last, line)) if side in (NORTH, SOUTH) else ((line, first), (line, last))
    width, leaf = opening.end - opening.start, forward * opening.leaf
    heights = (opening.low, opening.high)
    return WallOpening(
        opening.kind, opening.room, opening.other, wall, 0, width, *heights, leaf, opening.leaf_room
    )


def opening_ends(opening: WallOpening) -> Edge:
    """The ends of the clear opening, in the middle of its wall."""
    return moved(opening.wall, opening.start, 0), moved(opening.wall, opening.end, 0)


def doorway_polygon(opening: WallOpening, reach: int) -> tuple[Corner, ...]:
    """The clear opening of a wall, and `reach` beyond its middle on both sides."""
    spots = ((opening.start, -reach), (opening.end, -reach), (opening.end, reach), (opening.start, reach))
    return tuple(moved(opening.wall, forward, inward) for forward, inward in spots)


def door_zone(opening: WallOpening, room: int, depth: int, margin: int) -> list[Rect]:
    """Rectangles over the floor before an opening, `depth` from the face of its wall, in one of its rooms."""
    sign = 1 if opening.room == room else -1
    start, end = opening.start - margin, opening.end + margin
    near, far = sign * INNER_HALF_MM, sign * (INNER_HALF_MM + depth)
    corners = [moved(opening.wall, *spot) for spot in ((start, near), (end, near), (end, far), (start, far))]
    return columns_over(corners, 2 * STEP_MM)


def doorways(plan: FloorPlan) -> list[Rect]:
    """Rectangles inside the doorways between rooms that join the rooms' own rectangles."""
    return [
        rect
        for opening in wall_openings(plan)
        if opening.other is not None
        for column in columns_inside(doorway_polygon(opening, DOORWAY_MM), STEP_MM)
        for rect in column
    ]


def floor_polygons(plan: FloorPlan) -> list[tuple[Corner, ...]]:
    """The exact floors of all rooms and of the doorways between them, which overlap these by a hair."""
    reach = INNER_HALF_MM + 2
    doorways = [doorway_polygon(o, reach) for o in wall_openings(plan) if o.other is not None]
    return [inset(room.corners, INNER_HALF_MM) for room in plan.rooms] + doorways


def wall_covers(plan: FloorPlan) -> list[Rect]:
    """Rectangles over the inner half of all walls, the doorways between rooms cut out."""
    strips = [strip for room in plan.rooms for strip in inner_strips(room)]
    covers = [rect for strip in strips for rect in columns_over(strip, STEP_MM)]
    return without_all(covers, doorways(plan))


def inner_strips(room: PlannedRoom) -> list[tuple[Corner, ...]]:
    """The part of each wall inside the outline of its room, seen from above, clockwise."""
    return [(*middle, face[1], face[0]) for middle, face in inner_faces(room)]


def outer_strips(rooms: Sequence[PlannedRoom]) -> list[tuple[Corner, ...]]:
    """The part of each outer wall outside the outlines, seen from above, clockwise."""
    return [(*face, middle[1], middle[0]) for middle, face in outer_faces(rooms)]
