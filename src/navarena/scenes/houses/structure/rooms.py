"""Floors, walls, ceilings, and the doors and windows in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.plan.floor_plan import (
    INNER_HALF_MM,
    OUTER_MM,
    SIDES,
    FloorPlan,
    Rect,
    WallOpening,
)
from navarena.scenes.houses.plan.polygons import Triangle, inset, triangles_of
from navarena.scenes.houses.plan.wall_rects import wall_rects
from navarena.scenes.houses.plan.walls import inner_strips, outer_strips, wall_openings
from navarena.scenes.houses.solids.mesh_builder import HouseObject, MeshBuilder
from navarena.scenes.houses.solids.models import Part
from navarena.scenes.houses.solids.panels import subdivide
from navarena.scenes.houses.structure.faces import (
    Face,
    opening_face,
    outside_faces,
    room_faces,
    wall_thickness,
)
from navarena.scenes.houses.structure.opening_models import HOLE_MARGIN_MM, opening_model

OVERLAP_MM = 20
"""Panels run this far into the neighbouring wall, so that no gap shows along their edges."""

SKIRTING_HIGH_MM, SKIRTING_DEEP_MM, SKIRTING_LONG_MM = 80, 14, 2000
SHEET_CELLS = 3
"""Level triangles of slanted rooms are cut at every third line: their cells are not merged."""
OUTSIDE_SPACING_MM = 4000
"""Between the grid lines of outer faces."""

NOTHING_MM2 = 1e-3
"""Triangles this small are dropped: cuts through a corner leave some without any area."""

Spots = list[tuple[float, float]]


@dataclass(frozen=True)
class RoomLooks:
    """Surfaces of one room."""

    floor: Look
    wall: Look
    ceiling: Look
    skirting: Look
    door: Look
    view: Look


def build_structure(builder: MeshBuilder, plan: FloorPlan, looks: Sequence[RoomLooks], spacing: int) -> None:
    """Add everything that does not move: floors, ceilings, walls, openings, the outside."""
    openings = wall_openings(plan)
    floors = [_build_room(builder, plan, openings, k, looks[k], spacing) for k in range(len(plan.rooms))]
    for opening in openings:
        _build_opening(builder, plan, opening, looks[opening.room], floors[opening.room])
    _build_outside(builder, plan, openings)


def _build_room(
    builder: MeshBuilder,
    plan: FloorPlan,
    openings: Sequence[WallOpening],
    index: int,
    looks: RoomLooks,
    spacing: int,
) -> int:
    """Floor, ceiling and walls of a room; returns the floor's object."""
    room = plan.rooms[index]
    floor = builder.add_object(HouseObject("floor", index, attributes_of(looks.floor)))
    _add_level(builder, plan, index, (floor, looks.floor, 0, 1), plan.opens_down, spacing)
    ceiling = builder.add_object(HouseObject("ceiling", index, attributes_of(looks.ceiling)))
    _add_level(builder, plan, index, (ceiling, looks.ceiling, plan.ceiling, -1), plan.opens_up, spacing)
    low, top, high = -OVERLAP_MM, plan.ceiling, plan.ceiling + OVERLAP_MM
    has_well = plan.ground(index) != room.floor
    if has_well:  # the walls of a well run on from storey to storey
        low, top = 0 if plan.opens_down else low, plan.rise if plan.opens_up else top
        high = plan.rise if plan.opens_up else high
    for face in room_faces(plan, room):
        wall = builder.add_object(HouseObject("wall", index, attributes_of(looks.wall)))
        found = face.openings(openings, index, INNER_HALF_MM)
        _add_wall(builder, (wall, looks.wall), face, found, (low, top, high), spacing)
        if not has_well:
            builder.add_parts(wall, _skirting(face, found, looks.skirting))
    return floor


def _add_level(
    builder: MeshBuilder,
    plan: FloorPlan,
    index: int,
    surface: tuple[int, Look, int, int],
    opens: bool,
    spacing: int,
) -> None:
    """A floor or ceiling: `surface` is (object, look, height, side it is seen from).

    It leaves out the well if it `opens`.
    """
    (owner, look, height, facing), room = surface, plan.rooms[index]
    if plan.is_slanted:
        sheet = cut_triangles(
            triangles_of(inset(room.corners, INNER_HALF_MM - OVERLAP_MM)), SHEET_CELLS * spacing
        )
        builder.add_sheet(owner, look, sheet, height, facing)
        return
    holes = [notch.grown(-OVERLAP_MM) for notch in room.floor_notches]
    lines = _panel_lines(plan.ground(index) if opens else room.floor, room.floor, spacing, holes)
    builder.add_panel(owner, look, 1, height, facing, lines, holes)


def _panel_lines(rect: Rect, floor: Rect, spacing: int, holes: Sequence[Rect]) -> tuple[list[int], list[int]]:
    """Grid lines over a part of a room's floor or ceiling, edges at walls inside these."""
    wide = subdivide(rect.x0, rect.x1, spacing, [x for hole in holes for x in (hole.x0, hole.x1)])
    deep = subdivide(rect.z0, rect.z1, spacing, [z for hole in holes for z in (hole.z0, hole.z1)])
    north, east, south, west = (OVERLAP_MM if rect.line(side) == floor.line(side) else 0 for side in SIDES)
    return (
        [rect.x0 - west, *wide[1:-1], rect.x1 + east],
        [rect.z0 - north, *deep[1:-1], rect.z1 + south],
    )


def _add_wall(
    builder: MeshBuilder,
    surface: tuple[int, Look],
    face: Face,
    openings: Sequence[tuple[int, int, WallOpening]],
    heights: tuple[int, int, int],
    spacing: int,
) -> None:
    """The face of a wall with its holes.

    `surface` is (object, look); `heights` are (where it begins, up to where its grid is even, where it ends).
    """
    margin, (low, top, high) = HOLE_MARGIN_MM, heights
    holes = [
        Rect(a - margin, opening.low - margin if opening.low else low, b + margin, opening.high + margin)
        for a, b, opening in openings
    ]
    wide = subdivide(0, face.length, spacing, [mark for hole in holes for mark in (hole.x0, hole.x1)])
    up = subdivide(0, top, spacing, [mark for hole in holes for mark in (hole.z0, hole.z1)])
    first, last = (0 if runs_on else OVERLAP_MM for runs_on in face.runs_on)
    grid = ([-first, *wide[1:-1], face.length + last], [low, *up[1:-1], high])
    face.add_grid(builder, *surface, grid, holes)


def _skirting(face: Face, openings: Sequence[tuple[int, int, WallOpening]], look: Look) -> list[Part]:
    """Boards between the doors."""
    doors = [(a, b) for a, b, opening in openings if opening.low == 0]
    borders = [0, *(mark for door in doors for mark in door), face.length]
    return [
        face.slab((low, high), (-4, SKIRTING_DEEP_MM), (0, SKIRTING_HIGH_MM), look)
        for a, b in zip(borders[::2], borders[1::2], strict=True)
        for low, high in pairwise(subdivide(a, b, SKIRTING_LONG_MM) if b > a else [])
    ]


def _build_opening(
    builder: MeshBuilder, plan: FloorPlan, opening: WallOpening, looks: RoomLooks, floor: int
) -> None:
    """Frame, leaf or panes of an opening, and the threshold below it."""
    face, thickness = opening_face(plan, opening), wall_thickness(opening)
    model = opening_model(opening, thickness, looks.door, looks.view)
    category = "window" if opening.kind == "window" else "door"
    x, z = face.point((opening.start + opening.end) // 2, INNER_HALF_MM)
    room = opening.leaf_room if opening.leaf else opening.room
    builder.add_object(
        HouseObject(category, room, model.attributes, (x, 0, z), face.turn, shades=False), model
    )
    if opening.low == 0:
        forward = (opening.start - HOLE_MARGIN_MM, opening.end + HOLE_MARGIN_MM)
        depth = (INNER_HALF_MM - thickness - 6, INNER_HALF_MM + 6)
        look = Look(looks.floor.finish, looks.floor.color)
        builder.add_parts(floor, [face.slab(forward, depth, (-OVERLAP_MM, 5), look)])


def _build_outside(builder: MeshBuilder, plan: FloorPlan, openings: Sequence[WallOpening]) -> None:
    """The outer faces of the storey; of the top one also the cut through its walls at ceiling height."""
    look, cut = Look("plaster", "sand"), Look("plaster", "charcoal")
    owner = builder.add_object(HouseObject("wall", None, attributes_of(look)))
    top = plan.ceiling + OVERLAP_MM
    eaves = max(top, plan.rise)
    for face in outside_faces(plan):
        found = face.openings(openings, None, OUTER_MM, from_end=True)
        _add_wall(builder, (owner, look), face, found, (0, eaves, eaves), OUTSIDE_SPACING_MM)
    if plan.is_slanted:
        strips = [strip for room in plan.rooms for strip in inner_strips(room)] + outer_strips(plan.rooms)
        corners = np.array([triangle for strip in strips for triangle in triangles_of(strip)], float)
        builder.add_sheet(owner, cut, corners, top, 1)
    elif not plan.rise:
        for rect in wall_rects(plan.rooms):
            builder.add_panel(owner, cut, 1, top, 1, ((rect.x0, rect.x1), (rect.z0, rect.z1)))


def attributes_of(look: Look) -> Mapping[str, str]:
    """Colour and material of a surface, as its object has them."""
    return {"color": look.color, "material": look.material}


def cut_triangles(triangles: Sequence[Triangle], spacing: int) -> Float[np.ndarray, "t 3 2"]:
    """(T, 3, 2) corners of triangles cut at the lines of a grid of `spacing` millimetres, still clockwise."""
    found = []
    for triangle in triangles:
        pieces: list[Spots] = [[(float(x), float(z)) for x, z in triangle]]
        for axis in (0, 1):
            values = [corner[axis] for corner in triangle]
            first, last = min(values) // spacing + 1, -(-max(values) // spacing)
            for k in range(first, last):
                pieces = [
                    part
                    for piece in pieces
                    for side in (-1, 1)
                    if len(part := _half(piece, axis, float(k * spacing), side)) > 2
                ]
        for piece in pieces:
            found += [(piece[0], piece[k], piece[k + 1]) for k in range(1, len(piece) - 1)]
    corners = np.array(found)
    one, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return corners[one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0] > NOTHING_MM2]


def _half(polygon: Spots, axis: int, line: float, side: int) -> Spots:
    """The part of a convex polygon on one side (-1 below, 1 above) of a line across an axis."""
    kept: Spots = []
    for a, b in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
        if side * (a[axis] - line) >= 0:
            kept.append(a)
        if (a[axis] - line) * (b[axis] - line) < 0:
            low, high = min(a, b), max(a, b)  # the same point from both sides of an edge
            share = (line - low[axis]) / (high[axis] - low[axis])
            other = low[1 - axis] + share * (high[1 - axis] - low[1 - axis])
            kept.append((line, other) if axis == 0 else (other, line))
    return kept if any(side * (spot[axis] - line) > 0 for spot in kept) else []
