"""Floors, walls, ceilings, and the doors and windows in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.plan.floor_plan import (
    EAST,
    INNER_HALF_MM,
    INWARD_TURNS,
    NORTH,
    OUTER_MM,
    SIDES,
    SOUTH,
    FloorPlan,
    Opening,
    Rect,
    band_at,
    without_all,
)
from navarena.scenes.houses.plan.slanted_walls import doorways
from navarena.scenes.houses.plan.wall_rects import border_edges, exterior_edges, wall_rects
from navarena.scenes.houses.solids.mesh_builder import MeshBuilder, Thing, subdivide
from navarena.scenes.houses.solids.models import QUARTERS, Part
from navarena.scenes.houses.solids.shapes import BOX
from navarena.scenes.houses.structure.opening_models import FRAME_MM, HOLE_MARGIN_MM, opening_model

OVERLAP_MM = 20
"""Panels run this far into the neighbouring wall, so that no gap shows along their edges."""

SKIRTING_HIGH_MM, SKIRTING_DEEP_MM = 80, 14
OUTSIDE_SPACING_MM = 4000
"""Between the grid lines of outer faces."""


@dataclass(frozen=True)
class RoomLooks:
    """Surfaces of one room."""

    floor: Look
    wall: Look
    ceiling: Look
    skirting: Look
    door: Look
    view: Look


def wall_thickness(opening: Opening) -> int:
    """Thickness of the wall that holds `opening`, millimetres."""
    return 2 * INNER_HALF_MM if opening.other is not None else INNER_HALF_MM + OUTER_MM


def _hole(opening: Opening) -> Rect:
    """The rough opening: (along the wall, height)."""
    margin = HOLE_MARGIN_MM
    low = opening.low - margin if opening.low else 0
    return Rect(opening.start - margin, low, opening.end + margin, opening.high + margin)


def build_structure(builder: MeshBuilder, plan: FloorPlan, looks: Sequence[RoomLooks], spacing: int) -> None:
    """Add everything that does not move: floors, ceilings, walls, openings, the outside."""
    floors = [_build_room(builder, plan, index, looks[index], spacing) for index in range(len(plan.rooms))]
    for opening in plan.openings:
        _build_opening(builder, plan, opening, looks[opening.room], floors)
    _build_outside(builder, plan)


def _build_room(builder: MeshBuilder, plan: FloorPlan, index: int, looks: RoomLooks, spacing: int) -> int:
    """Floor, ceiling and four walls of a room; returns the floor's thing."""
    floor, ground = plan.rooms[index].floor, plan.ground(index)
    floor_thing = builder.add_thing(Thing("floor", index, attributes_of(looks.floor)))
    holes = [notch.grown(-OVERLAP_MM) for notch in plan.rooms[index].floor_notches]
    lines = _panel_lines(ground if plan.opens_down else floor, floor, spacing, holes)
    builder.add_panel(floor_thing, looks.floor, 1, 0, 1, lines, holes)
    ceiling = builder.add_thing(Thing("ceiling", index, attributes_of(looks.ceiling)))
    lines = _panel_lines(ground if plan.opens_up else floor, floor, spacing, holes)
    builder.add_panel(ceiling, looks.ceiling, 1, plan.ceiling, -1, lines, holes)
    for face in room_faces(plan.rooms[index].floor_pieces):
        _build_wall(builder, plan, index, face, looks, spacing)
    return floor_thing


@dataclass(frozen=True)
class WallFace:
    """A straight piece of a room's wall, seen from inside.

    Attributes:
        side: of the room.
        line: coordinate across it.
        start, end: along it.
        inner_start, inner_end: whether the room goes on around the corner there, instead of ending in it.
    """

    side: int
    line: int
    start: int
    end: int
    inner_start: bool = False
    inner_end: bool = False


def room_faces(pieces: Sequence[Rect]) -> list[WallFace]:
    """The walls around a floor that `pieces` cover together, sorted by side."""
    faces = []
    for side, line, start, end in border_edges(pieces):
        beyond = (band_at(side, line, start - 1, start, 0, 1), band_at(side, line, end, end + 1, 0, 1))
        inner = [any(piece.contains(spot) for piece in pieces) for spot in beyond]
        faces.append(WallFace(side, line, start, end, *inner))
    return faces


def _panel_lines(
    rect: Rect, floor: Rect, spacing: int, holes: Sequence[Rect] = ()
) -> tuple[list[int], list[int]]:
    """Grid lines over a part of a room's floor or ceiling, edges at walls inside these."""
    wide = subdivide(rect.x0, rect.x1, spacing, [x for hole in holes for x in (hole.x0, hole.x1)])
    deep = subdivide(rect.z0, rect.z1, spacing, [z for hole in holes for z in (hole.z0, hole.z1)])
    north, east, south, west = (OVERLAP_MM if rect.line(side) == floor.line(side) else 0 for side in SIDES)
    return (
        [rect.x0 - west, *wide[1:-1], rect.x1 + east],
        [rect.z0 - north, *deep[1:-1], rect.z1 + south],
    )


def attributes_of(look: Look) -> Mapping[str, str]:
    """Colour and material of a surface, as its thing has them."""
    return {"color": look.color, "material": look.material}


def _build_wall(
    builder: MeshBuilder, plan: FloorPlan, index: int, face: WallFace, looks: RoomLooks, spacing: int
) -> None:
    """One inner wall face with its holes, and the skirting board along it."""
    side, start, end = face.side, face.start, face.end
    openings = [
        opening
        for at, opening in plan.openings_of(index)
        if at == side
        and plan.face_line(opening, index) == face.line
        and start <= opening.start
        and opening.end <= end
    ]
    holes = [_hole(opening) for opening in openings]
    along = subdivide(start, end, spacing, [mark for hole in holes for mark in (hole.x0, hole.x1)])
    along = [
        start - OVERLAP_MM * (not face.inner_start),
        *along[1:-1],
        end + OVERLAP_MM * (not face.inner_end),
    ]
    has_well = plan.ground(index) != plan.rooms[index].floor
    low, high = -OVERLAP_MM, plan.ceiling + OVERLAP_MM
    if has_well:  # the walls of a well run on from storey to storey
        low, high = 0 if plan.opens_down else low, plan.rise if plan.opens_up else high
    marks = [mark for hole in holes for mark in (hole.z0, hole.z1)]
    up = [
        low,
        *subdivide(0, plan.rise if has_well and plan.opens_up else plan.ceiling, spacing, marks)[1:-1],
        high,
    ]
    holes = [Rect(h.x0, h.z0 if h.z0 else low, h.x1, h.z1) for h in holes]
    thing = builder.add_thing(Thing("wall", index, attributes_of(looks.wall)))
    if side in (NORTH, SOUTH):
        facing = 1 if side == NORTH else -1
        builder.add_panel(thing, looks.wall, 2, face.line, facing, (along, up), holes)
    else:
        facing = -1 if side == EAST else 1
        turned = [Rect(h.z0, h.x0, h.z1, h.x1) for h in holes]
        builder.add_panel(thing, looks.wall, 0, face.line, facing, (up, along), turned)
    if not has_well:
        builder.add_parts(thing, _skirting(face, openings, looks.skirting, spacing))


def _skirting(face: WallFace, openings: Sequence[Opening], look: Look, spacing: int) -> list[Part]:
    """Boards between the doors."""
    doors = sorted((o.start, o.end) for o in openings if o.low == 0)
    borders = [face.start, *(mark for door in doors for mark in door), face.end]
    boards = []
    for a, b in zip(borders[::2], borders[1::2], strict=True):
        lines = subdivide(a, b, 4 * spacing) if b > a else []
        for low, high in pairwise(lines):
            rect = band_at(face.side, face.line, low, high, -4, SKIRTING_DEEP_MM)
            boards.append(_slab(rect, 0, SKIRTING_HIGH_MM, look))
    return boards


def _slab(rect: Rect, low: int, high: int, look: Look) -> Part:
    """A box over `rect`; rounding of odd sizes stays below a millimetre."""
    x, z = rect.center
    return Part(BOX, look, (rect.width, high - low, rect.depth), (x, low, z), thin=True)


def _build_opening(
    builder: MeshBuilder, plan: FloorPlan, opening: Opening, looks: RoomLooks, floors: Sequence[int]
) -> None:
    """Frame, leaf or panes of an opening, and the threshold below it."""
    line = plan.face_line(opening, opening.room)
    thickness = wall_thickness(opening)
    middle = (opening.start + opening.end) // 2
    at = (line, 0, middle) if opening.side % 2 else (middle, 0, line)
    category = "window" if opening.kind == "window" else "door"
    model = opening_model(opening, thickness, looks.door, looks.view)
    turn = QUARTERS[INWARD_TURNS[opening.side]]
    room = opening.leaf_room if opening.leaf else opening.room
    builder.add_thing(Thing(category, room, model.attributes, at, turn, shades=False), model)
    if opening.low == 0:
        margin = HOLE_MARGIN_MM
        rect = band_at(opening.side, line, opening.start - margin, opening.end + margin, -thickness - 6, 6)
        look = Look(looks.floor.finish, looks.floor.color)
        builder.add_parts(floors[opening.room], [_slab(rect, -OVERLAP_MM, 5, look)])


def _build_outside(builder: MeshBuilder, plan: FloorPlan) -> None:
    """The outer faces of the storey; of the top one also the cut through its walls at ceiling height."""
    look, cut = Look("plaster", "sand"), Look("plaster", "charcoal")
    thing = builder.add_thing(Thing("wall", None, attributes_of(look)))
    top = plan.ceiling + OVERLAP_MM
    eaves = max(top, plan.rise)
    for side, level, start, end in exterior_edges(plan.rooms):
        holes = [
            _hole(opening)
            for opening in plan.openings
            if opening.other is None
            and opening.side == side
            and _outer_line(plan, opening) == level
            and start <= opening.start
            and opening.end <= end
        ]
        along = subdivide(
            start, end, OUTSIDE_SPACING_MM, [mark for hole in holes for mark in (hole.x0, hole.x1)]
        )
        up = subdivide(0, eaves, OUTSIDE_SPACING_MM, [mark for hole in holes for mark in (hole.z0, hole.z1)])
        facing = -1 if side in (NORTH, 3) else 1
        if side in (NORTH, SOUTH):
            builder.add_panel(thing, look, 2, level, facing, (along, up), holes)
        else:
            turned = [Rect(hole.z0, hole.x0, hole.z1, hole.x1) for hole in holes]
            builder.add_panel(thing, look, 0, level, facing, (up, along), turned)
    for rect in wall_rects(plan.rooms) if not plan.rise else ():
        builder.add_panel(thing, cut, 1, top, 1, ((rect.x0, rect.x1), (rect.z0, rect.z1)))


def _outer_line(plan: FloorPlan, opening: Opening) -> int:
    """Where the outer face of an opening's wall is."""
    out = INNER_HALF_MM + OUTER_MM
    return plan.face_line(opening, opening.room) + (-out if opening.side in (NORTH, 3) else out)


def wall_boxes(plan: FloorPlan) -> Float[np.ndarray, "n 6"]:
    """(N, 6) lowest and highest corners, millimetres, of the solid walls with their openings left out."""
    boxes = []
    passages = [(opening, _rough_hole(plan, opening)) for opening in plan.openings]
    for rect in wall_rects(plan.rooms):
        cut = [(opening, through) for opening, through in passages if through.overlaps(rect)]
        pieces = without_all([rect], [through for _, through in cut])
        boxes += [(p.x0, 0, p.z0, p.x1, plan.ceiling, p.z1) for p in pieces]
    for opening, t in passages:
        boxes.append((t.x0, opening.high + FRAME_MM, t.z0, t.x1, plan.ceiling, t.z1))
        if opening.kind == "window":
            boxes.append((t.x0, 0, t.z0, t.x1, opening.low - FRAME_MM, t.z1))
    return np.array(boxes, float)


def _through(plan: FloorPlan, opening: Opening) -> Rect:
    """The clear way through the wall, seen from above."""
    line = plan.face_line(opening, opening.room)
    return band_at(opening.side, line, opening.start, opening.end, -wall_thickness(opening), 0)


def _rough_hole(plan: FloorPlan, opening: Opening) -> Rect:
    """The way through the wall with the frame around it."""
    through = _through(plan, opening)
    if opening.side % 2:
        return Rect(through.x0, through.z0 - FRAME_MM, through.x1, through.z1 + FRAME_MM)
    return Rect(through.x0 - FRAME_MM, through.z0, through.x1 + FRAME_MM, through.z1)


def doorway_rects(plan: FloorPlan) -> list[Rect]:
    """The clear floor of every doorway between rooms; of a slanted one, rectangles inside it."""
    if plan.is_slanted:
        return doorways(plan)
    return [_through(plan, opening) for opening in plan.openings if opening.other is not None]
