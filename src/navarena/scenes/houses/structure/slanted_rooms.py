"""Floors, walls and ceilings of a storey whose walls may have any direction."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.plan.floor_plan import (
    INNER_HALF_MM,
    NORTH,
    OUTER_MM,
    Corner,
    FloorPlan,
    Opening,
    Rect,
    WallOpening,
)
from navarena.scenes.houses.plan.slanted_polygons import (
    SCALE,
    Edge,
    along,
    direction,
    inset,
    moved,
    scaled_length,
    triangles_of,
    turn_at,
)
from navarena.scenes.houses.plan.slanted_walls import (
    inner_faces,
    inner_strips,
    openings_in,
    outer_faces,
    outer_strips,
    wall_openings,
)
from navarena.scenes.houses.solids.mesh_builder import MeshBuilder, Thing, subdivide
from navarena.scenes.houses.solids.models import Part, Turn
from navarena.scenes.houses.solids.shapes import BOX
from navarena.scenes.houses.structure.opening_models import HOLE_MARGIN_MM, opening_model
from navarena.scenes.houses.structure.rooms import (
    OUTSIDE_SPACING_MM,
    OVERLAP_MM,
    SKIRTING_DEEP_MM,
    SKIRTING_HIGH_MM,
    RoomLooks,
    attributes_of,
)

NOTHING_MM2 = 1e-3
"""Triangles this small are dropped: cuts through a corner leave some without any area."""

Spots = list[tuple[float, float]]


def build_slanted_structure(
    builder: MeshBuilder, plan: FloorPlan, looks: Sequence[RoomLooks], spacing: int
) -> None:
    """Add everything that does not move: floors, ceilings, walls, openings, the outside."""
    openings = wall_openings(plan)
    floors = [
        _build_room(builder, plan, openings, index, looks[index], spacing) for index in range(len(looks))
    ]
    for opening in openings:
        _build_opening(builder, opening, looks[opening.room], floors[opening.room])
    _build_outside(builder, plan, openings)


def _build_room(
    builder: MeshBuilder,
    plan: FloorPlan,
    openings: Sequence[WallOpening],
    index: int,
    looks: RoomLooks,
    spacing: int,
) -> int:
    """Floor, ceiling and walls of a room; returns the floor's thing."""
    room = plan.rooms[index]
    sheet = cut_triangles(triangles_of(inset(room.outline, INNER_HALF_MM - OVERLAP_MM)), spacing)
    floor = builder.add_thing(Thing("floor", index, attributes_of(looks.floor)))
    builder.add_sheet(floor, looks.floor, sheet, 0, 1)
    ceiling = builder.add_thing(Thing("ceiling", index, attributes_of(looks.ceiling)))
    builder.add_sheet(ceiling, looks.ceiling, sheet, plan.ceiling, -1)
    faces = inner_faces(room)
    for k, (middle, face) in enumerate(faces):
        holes = openings_in(openings, index, middle, face)
        thing = builder.add_thing(Thing("wall", index, attributes_of(looks.wall)))
        runs_on = (
            turn_at(*faces[k - 1][1], face[1]) < 0,
            turn_at(*face, faces[(k + 1) % len(faces)][1][1]) < 0,
        )
        overlaps = (0 if runs_on[0] else OVERLAP_MM, 0 if runs_on[1] else OVERLAP_MM)
        _add_wall(builder, thing, looks.wall, face, plan.ceiling, holes, spacing, overlaps)
        builder.add_parts(thing, _skirting(face, holes, looks.skirting, spacing))
    return floor


def _add_wall(
    builder: MeshBuilder,
    thing: int,
    look: Look,
    face: Edge,
    ceiling: int,
    openings: Sequence[tuple[int, int, WallOpening]],
    spacing: int,
    overlaps: tuple[int, int] = (0, 0),
    low: int = -OVERLAP_MM,
) -> None:
    """One face of a wall, seen with the first point of `face` to the left, with its holes."""
    margin, length = HOLE_MARGIN_MM, along(face, face[1])
    holes = [
        Rect(a - margin, o.low - margin if o.low else low, b + margin, o.high + margin)
        for a, b, o in openings
    ]
    lines = subdivide(0, length, spacing, [mark for hole in holes for mark in (hole.x0, hole.x1)])
    up = subdivide(0, ceiling, spacing, [mark for hole in holes for mark in (hole.z0, hole.z1)])
    grid = ([-overlaps[0], *lines[1:-1], length + overlaps[1]], [low, *up[1:-1], ceiling + OVERLAP_MM])
    builder.add_wall(thing, look, face, grid, holes)


def _skirting(
    face: Edge, openings: Sequence[tuple[int, int, WallOpening]], look: Look, spacing: int
) -> list[Part]:
    """Boards between the doors."""
    doors = [(a, b) for a, b, opening in openings if opening.low == 0]
    borders = [0, *(mark for door in doors for mark in door), along(face, face[1])]
    boards = []
    for a, b in zip(borders[::2], borders[1::2], strict=True):
        for low, high in pairwise(subdivide(a, b, 4 * spacing) if b > a else []):
            boards.append(_slab(face, (low, high), (-4, SKIRTING_DEEP_MM), (0, SKIRTING_HIGH_MM), look))
    return boards


def _slab(
    edge: Edge, forward: tuple[int, int], inward: tuple[int, int], height: tuple[int, int], look: Look
) -> Part:
    """A box along an edge; rounding stays at a millimetre."""
    x, z = moved(edge, sum(forward) // 2, sum(inward) // 2)
    size = (forward[1] - forward[0], height[1] - height[0], inward[1] - inward[0])
    return Part(BOX, look, size, (x, height[0], z), wall_turn(edge), thin=True)


def wall_turn(edge: Edge) -> Turn:
    """The turn of a thing whose back is at a wall: its front looks to the right of the edge.

    Exact along the axes; else rounded to 2^-20 of its cosine and sine.
    """
    (dx, dz), length = direction(edge), scaled_length(edge)
    whole = SCALE * SCALE
    cosine, sine = (-dx * whole + length // 2) // length, (dz * whole + length // 2) // length
    return Turn(cosine, sine, SCALE)


def _build_opening(builder: MeshBuilder, opening: WallOpening, looks: RoomLooks, floor: int) -> None:
    """Frame or panes of an opening, and the threshold below it."""
    thickness = 2 * INNER_HALF_MM if opening.other is not None else INNER_HALF_MM + OUTER_MM
    width = opening.end - opening.start
    x, z = moved(opening.wall, (opening.start + opening.end) // 2, INNER_HALF_MM)
    alike = Opening(opening.kind, opening.room, NORTH, opening.other, 0, width, opening.low, opening.high)
    model = opening_model(alike, thickness, looks.door, looks.view)
    category = "window" if opening.kind == "window" else "door"
    turn = wall_turn(opening.wall)
    builder.add_thing(Thing(category, opening.room, model.attributes, (x, 0, z), turn, shades=False), model)
    if opening.low == 0:
        margin = HOLE_MARGIN_MM
        forward = (opening.start - margin, opening.end + margin)
        inward = (INNER_HALF_MM - thickness - 6, INNER_HALF_MM + 6)
        look = Look(looks.floor.finish, looks.floor.color)
        builder.add_parts(floor, [_slab(opening.wall, forward, inward, (-OVERLAP_MM, 5), look)])


def _build_outside(builder: MeshBuilder, plan: FloorPlan, openings: Sequence[WallOpening]) -> None:
    """The outer faces of the storey, and the cut through its walls at ceiling height."""
    look, cut = Look("plaster", "sand"), Look("plaster", "charcoal")
    thing = builder.add_thing(Thing("wall", None, attributes_of(look)))
    for middle, face in outer_faces(plan.rooms):
        seen = (face[1], face[0])
        holes = openings_in(openings, None, middle, face)
        length = along(face, face[1])
        turned = [(length - b, length - a, opening) for a, b, opening in holes]
        _add_wall(builder, thing, look, seen, plan.ceiling, turned, OUTSIDE_SPACING_MM, low=0)
    strips = [strip for room in plan.rooms for strip in inner_strips(room)] + outer_strips(plan.rooms)
    corners = np.array([triangle for strip in strips for triangle in triangles_of(strip)], float)
    builder.add_sheet(thing, cut, corners, plan.ceiling + OVERLAP_MM, 1)


def cut_triangles(
    triangles: Sequence[tuple[Corner, Corner, Corner]], spacing: int
) -> Float[np.ndarray, "t 3 2"]:
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
