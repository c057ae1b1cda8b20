"""What baked light must know of walls of any direction: boxes that shade, points to light, windows."""

from itertools import pairwise

import numpy as np
from jaxtyping import Float

from navarena.scenes.houses.plan.floor_plan import INNER_HALF_MM, OUTER_MM, FloorPlan
from navarena.scenes.houses.plan.slanted_polygons import (
    SCALE,
    along,
    columns_inside,
    direction,
    edges_of,
    inset,
    moved,
    scaled_length,
)
from navarena.scenes.houses.plan.slanted_walls import (
    STEP_MM,
    inner_faces,
    openings_in,
    outer_faces,
    wall_openings,
)
from navarena.scenes.houses.structure.opening_models import FRAME_MM

COVER_MM = 5
"""Boxes end this far inside the faces of walls."""


def slanted_wall_boxes(plan: FloorPlan) -> Float[np.ndarray, "n 6"]:
    """(N, 6) boxes, millimetres, inside the walls with their openings left out; see rooms.wall_boxes."""
    openings, boxes = wall_openings(plan), []
    walls = [(k, pair, INNER_HALF_MM) for k, room in enumerate(plan.rooms) for pair in inner_faces(room)]
    outer = [(None, pair, -OUTER_MM) for pair in outer_faces(plan.rooms)]
    for room, (wall, face), depth in [*walls, *outer]:
        first, last = (along(wall, end) for end in face)  # at sharp corners a wall ends at its mitre
        found = openings_in(openings, room, wall, wall)
        marks = [mark for a, b, _ in found for mark in (a - FRAME_MM, b + FRAME_MM)]
        inward = depth + (-COVER_MM if depth > 0 else COVER_MM)
        for k, (a, b) in enumerate(pairwise([0, *marks, along(wall, wall[1])])):
            spans = [(0, plan.ceiling)]
            if k % 2:
                opening = found[k // 2][2]
                spans = [(opening.high + FRAME_MM, plan.ceiling)]
                spans += [(0, opening.low - FRAME_MM)] if opening.kind == "window" else []
            if b > a:
                near, far = max(a, first), max(a, first, min(b, last))
                quad = [moved(wall, *spot) for spot in ((a, 0), (b, 0), (far, inward), (near, inward))]
                rects = [rect for column in columns_inside(quad, STEP_MM) for rect in column]
                boxes += [(r.x0, low, r.z0, r.x1, high, r.z1) for r in rects for low, high in spans]
    return np.array(boxes, float)


def lifted_from_walls(
    points: Float[np.ndarray, "v 3"], plan: FloorPlan, room: int, margin: float
) -> Float[np.ndarray, "v 3"]:
    """(V, 3) points of a room's panels, those nearer to a wall than `margin` millimetres moved inwards."""
    result = points.copy()
    for a, b in edges_of(inset(plan.rooms[room].outline, INNER_HALF_MM)):
        step = np.array([b[0] - a[0], b[1] - a[1]], float)
        length = np.sqrt((step * step).sum())
        step = step / length
        x, z = result[:, 0] - a[0], result[:, 2] - a[1]
        forward, inward = step[0] * x + step[1] * z, step[0] * z - step[1] * x
        near = (inward > -3 * margin) & (inward < margin) & (forward > -margin) & (forward < length + margin)
        push = np.where(near, margin - inward, 0.0)
        result[:, 0] -= step[1] * push
        result[:, 2] += step[0] * push
    return result


def slanted_windows(plan: FloorPlan) -> list[tuple[float, ...]]:
    """(x, y, z, inward x, inward z, area, room) of every window; see baked_light."""
    rows: list[tuple[float, ...]] = []
    for opening in wall_openings(plan):
        if opening.kind != "window":
            continue
        (dx, dz), length = direction(opening.wall), scaled_length(opening.wall) / SCALE
        x, z = moved(opening.wall, (opening.start + opening.end) // 2, INNER_HALF_MM)
        area = (opening.end - opening.start) * (opening.high - opening.low)
        middle = (opening.low + opening.high) // 2
        rows.append((x, middle, z, -dz / length, dx / length, area, opening.room))
    return rows
