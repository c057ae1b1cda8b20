"""Walls as rectangles: boxes that shade in the baked light, and doorways on the floor."""

from itertools import pairwise

import numpy as np
from jaxtyping import Float

from navarena.scenes.houses.plan.floor_plan import (
    INNER_HALF_MM,
    OUTER_MM,
    FloorPlan,
    Rect,
    WallOpening,
    without_all,
)
from navarena.scenes.houses.plan.polygons import along, columns_inside, moved
from navarena.scenes.houses.plan.wall_rects import wall_rects
from navarena.scenes.houses.plan.walls import STEP_MM, doorways, inner_faces, outer_faces, wall_openings
from navarena.scenes.houses.structure.faces import Face, opening_face, wall_thickness
from navarena.scenes.houses.structure.opening_models import FRAME_MM

COVER_MM = 5
"""Boxes of slanted walls end this far inside their faces."""

Box = tuple[int, int, int, int, int, int]
"""Lowest and highest corner."""


def wall_boxes(plan: FloorPlan) -> Float[np.ndarray, "n 6"]:
    """(N, 6) lowest and highest corners, millimetres, of the solid walls with their openings left out."""
    return np.array(_slanted_boxes(plan) if plan.is_slanted else _straight_boxes(plan), float)


def _slanted_boxes(plan: FloorPlan) -> list[Box]:
    openings, boxes = wall_openings(plan), list[Box]()
    walls = [(k, pair, INNER_HALF_MM) for k, room in enumerate(plan.rooms) for pair in inner_faces(room)]
    outer = [(None, pair, -OUTER_MM) for pair in outer_faces(plan.rooms)]
    for room, (wall, face), depth in [*walls, *outer]:
        first, last = (along(wall, end) for end in face)  # at sharp corners a wall ends at its mitre
        found = Face(wall).openings(openings, room, 0)
        marks = [mark for a, b, _ in found for mark in (a - FRAME_MM, b + FRAME_MM)]
        inward = depth + (-COVER_MM if depth > 0 else COVER_MM)
        for k, (a, b) in enumerate(pairwise([0, *marks, along(wall, wall[1])])):
            spans = _around(found[k // 2][2], plan.ceiling) if k % 2 else [(0, plan.ceiling)]
            if b > a:
                near, far = max(a, first), max(a, first, min(b, last))
                quad = [moved(wall, *spot) for spot in ((a, 0), (b, 0), (far, inward), (near, inward))]
                rects = [rect for column in columns_inside(quad, STEP_MM) for rect in column]
                boxes += [(r.x0, low, r.z0, r.x1, high, r.z1) for r in rects for low, high in spans]
    return boxes


def _straight_boxes(plan: FloorPlan) -> list[Box]:
    openings = wall_openings(plan)
    cuts = [(opening, _through(plan, opening, FRAME_MM)) for opening in openings]
    pieces = without_all(wall_rects(plan.rooms), [rect for _, rect in cuts])
    boxes = [(p.x0, 0, p.z0, p.x1, plan.ceiling, p.z1) for p in pieces]
    for opening, r in cuts:
        boxes += [(r.x0, low, r.z0, r.x1, high, r.z1) for low, high in _around(opening, plan.ceiling)]
    return boxes


def _around(opening: WallOpening, ceiling: int) -> list[tuple[int, int]]:
    """(low, high) of the wall above an opening's frame, and below that of a window."""
    above = [(opening.high + FRAME_MM, ceiling)]
    return [*above, (0, opening.low - FRAME_MM)] if opening.kind == "window" else above


def _through(plan: FloorPlan, opening: WallOpening, margin: int = 0) -> Rect:
    """The opening through a wall along an axis, seen from above, `margin` wider at both ends."""
    face = opening_face(plan, opening)
    ax, az = face.point(opening.start - margin, INNER_HALF_MM - wall_thickness(opening))
    bx, bz = face.point(opening.end + margin, INNER_HALF_MM)
    return Rect(min(ax, bx), min(az, bz), max(ax, bx), max(az, bz))


def doorway_rects(plan: FloorPlan) -> list[Rect]:
    """The clear floor of every doorway between rooms; of a slanted one, rectangles inside it."""
    if plan.is_slanted:
        return doorways(plan)
    return [_through(plan, opening) for opening in wall_openings(plan) if opening.other is not None]
