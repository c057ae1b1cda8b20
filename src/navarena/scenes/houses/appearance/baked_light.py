"""Baked light: ambient occlusion, lamps and windows, per vertex."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Float32, Int

from navarena.core.threads import run_in_shares
from navarena.scenes.houses.appearance.baked_light_kernels import bake, limit_slopes
from navarena.scenes.houses.furnishing.free_space import Placement
from navarena.scenes.houses.plan.floor_plan import INNER_HALF_MM, FloorPlan, Rect
from navarena.scenes.houses.plan.polygons import edges_of, inset
from navarena.scenes.houses.plan.walls import wall_openings
from navarena.scenes.houses.solids.mesh_builder import HouseMesh
from navarena.scenes.houses.structure.faces import opening_face
from navarena.scenes.houses.structure.rooms import OVERLAP_MM
from navarena.scenes.houses.structure.wall_boxes import wall_boxes

CELL_MM = 400
REACH_MM = 1300
"""Objects farther away do not darken."""

LIFT_MM = 15.0
MARGIN_MM = 35.0
"""Points of floors, walls and ceilings are moved this far into their room."""

WELL_MM = 900.0
"""In wells nothing is lit as if it were nearer to the floor or the ceiling that are not there."""

STEEPEST = 0.05 / 1000
"""Change of the light of a floor, wall or ceiling per millimetre, contact shadows left aside.

It is 3.8/255 in 30 cm: with what is left of contact shadows and triangles that cut across, at most 8/255.
"""

BLENDS = 3
"""So many times is the light of panels blended over neighbouring points: shadows have soft rims."""

RIM, CORE_STRENGTH = 0.07, 1.2
"""Blending carries contact shadows beyond their reach. Of what they take, RIM is left out, so that they fade
within 30 cm of objects, and the rest is stronger by CORE_STRENGTH, so that objects still stand on the floor.
"""


def sample_directions() -> tuple[Float[np.ndarray, "d 3"], Float[np.ndarray, "d"]]:
    """(96, 3) unit vectors through the faces of a cube, and (96,) their solid angles up to a factor."""
    steps = np.array([-3.0, -1.0, 1.0, 3.0]) / 4
    a, b = (grid.ravel() for grid in np.meshgrid(steps, steps, indexing="ij"))
    one = np.ones(len(a))
    faces = [
        np.roll(np.stack([sign * one, a, b], 1), axis, axis=1) for axis in range(3) for sign in (-1.0, 1.0)
    ]
    vectors = np.concatenate(faces)
    length = np.sqrt((vectors * vectors).sum(1))
    return vectors / length[:, None], 1.0 / (length * length * length)


def plan_grid(
    boxes: Float[np.ndarray, "b 6"],
) -> tuple[Int[np.ndarray, "nx nz1"], Int[np.ndarray, "m"], float, float]:
    """Lists of the (B, 6) boxes, millimetres, over each cell of the plan: (starts, items, x0, z0)."""
    x0, z0 = float(boxes[:, 0].min()), float(boxes[:, 2].min())
    nx = int((boxes[:, 3].max() - x0) // CELL_MM) + 1
    nz = int((boxes[:, 5].max() - z0) // CELL_MM) + 1
    i0, i1 = ((boxes[:, k] - x0) // CELL_MM for k in (0, 3))
    j0, j1 = ((boxes[:, k] - z0) // CELL_MM for k in (2, 5))
    cells, owners = [], []
    for k, (a, b, c, d) in enumerate(zip(i0, i1, j0, j1, strict=True)):
        i, j = np.meshgrid(np.arange(int(a), int(b) + 1), np.arange(int(c), int(d) + 1), indexing="ij")
        cells.append((i * nz + j).ravel())
        owners.append(np.full(i.size, k))
    cell, owner = np.concatenate(cells), np.concatenate(owners)
    order = np.argsort(cell, kind="stable")
    counts = np.cumsum(np.bincount(cell, minlength=nx * nz))
    flat = np.concatenate([[0], counts])
    starts = np.stack([flat[i * nz : (i + 1) * nz + 1] for i in range(nx)])
    return starts.astype(np.int64), owner[order].astype(np.int64), x0, z0


def bake_light(
    mesh: HouseMesh, plan: FloorPlan, placements: Sequence[Placement]
) -> tuple[Float32[np.ndarray, "v"], Bool[np.ndarray, "v"]]:
    """(V,) float32 light of every vertex, multiples of 1/256 in (0, 1], and (V,) whether it can be seen.

    Points of floors, walls and ceilings inside of objects cannot.
    """
    boxes = np.concatenate([mesh.part_boxes, wall_boxes(plan)])
    starts, items, x0, z0 = plan_grid(boxes)
    directions, weights = sample_directions()
    frame = np.array([x0, z0, CELL_MM, plan.ceiling, REACH_MM], float)
    points = _lifted(mesh, plan)
    light, contact = np.zeros(len(points), np.float32), np.ones(len(points), np.float32)
    lamps, windows = _lamps(placements), _windows(plan)

    def work(share: int, first: int, last: int) -> None:
        bake(
            light, contact, first, last, points, mesh.normals, mesh.vertex_part, mesh.vertex_room,
            mesh.vertex_glows, mesh.flat_vertices, boxes, starts, items, frame, lamps, windows,
            directions, weights,
        )  # fmt: skip

    run_in_shares(work, len(points))
    seen = light >= 0
    return _soften(mesh, light, contact), seen


def _soften(
    mesh: HouseMesh, light: Float32[np.ndarray, "v"], contact: Float32[np.ndarray, "v"]
) -> Float32[np.ndarray, "v"]:
    """The light with that of floors, walls and ceilings made even, and their contact shadows soft.

    Points inside of objects are marked by light below 0 and take that of their neighbours, so that what
    nobody sees never darkens what is seen.
    """
    softened = light * contact
    first = 0
    for panel in mesh.panels:
        used = panel.used
        points = slice(first, first + len(used))
        values, seen, shadow = np.zeros(panel.shape), np.zeros(panel.shape, bool), np.ones(panel.shape)
        values.flat[used], shadow.flat[used], seen.flat[used] = (
            light[points],
            contact[points],
            light[points] >= 0,
        )
        if seen.any():
            even = limit_slopes(values, seen, panel.first, panel.second, STEEPEST)
            shown = seen.astype(float)
            taken = CORE_STRENGTH * np.maximum(1 - _blended(shadow, shown) - RIM, 0)
            values = _blended(even, shown) * (1 - taken)
        softened[points] = _steps(values.ravel()[used])
        first += len(used)
    rest = softened[first : mesh.flat_vertices]
    rest[rest < 0] = rest[rest >= 0].min(initial=1.0)
    softened[: mesh.flat_vertices] = _steps(softened[: mesh.flat_vertices])
    return softened


def _blended(values: Float[np.ndarray, "a b"], seen: Float[np.ndarray, "a b"]) -> Float[np.ndarray, "a b"]:
    """Means of the seen values, weighted 1, 2, 1 along both axes, BLENDS times; then hidden ones filled."""
    total, weight = values * seen, seen.copy()
    for _ in range(BLENDS):
        total, weight = _blurred(total), _blurred(weight)
    known = weight > 0
    mean = total / np.where(known, weight, 1)
    while known.any() and not known.all():  # from the rims of objects inwards
        around = _blurred(known.astype(float))
        mean = np.where(known, mean, _blurred(np.where(known, mean, 0)) / np.maximum(around, 1))
        known = around > 0
    return mean


def _blurred(values: Float[np.ndarray, "a b"]) -> Float[np.ndarray, "a b"]:
    """Weights 1, 2, 1 along both axes; nothing lies outside."""
    wide = 2 * values
    wide[1:] += values[:-1]
    wide[:-1] += values[1:]
    result = 2 * wide
    result[:, 1:] += wide[:, :-1]
    result[:, :-1] += wide[:, 1:]
    return result


def _steps(light: Float[np.ndarray, "n"]) -> Float32[np.ndarray, "n"]:
    """Rounded to multiples of 1/256, at least 1/256."""
    return np.asarray(np.maximum(np.floor(light * 256 + 0.5), 1) / 256, np.float32)


def _lifted(mesh: HouseMesh, plan: FloorPlan) -> Float[np.ndarray, "v 3"]:
    """Vertices moved off their surface; those of panels also away from the room's edges."""
    points = mesh.vertices + LIFT_MM * mesh.normals
    for index, room in enumerate(plan.rooms):
        panel = (mesh.vertex_part < 0) & (mesh.vertex_room == index)
        low = np.array([room.floor.x0, 0, room.floor.z0]) + MARGIN_MM
        high = np.array([room.floor.x1, plan.ceiling, room.floor.z1]) - MARGIN_MM
        points[panel] = np.minimum(np.maximum(points[panel], low), high)
        if plan.is_slanted:
            points[panel] = _lifted_from_walls(points[panel], plan, index, MARGIN_MM)
            continue
        for notch in room.floor_notches:
            _push_out(points, panel, notch.grown(int(MARGIN_MM)), room.floor)
    if plan.well is not None:
        well = plan.well.grown(OVERLAP_MM)
        x, z = mesh.vertices[:, 0], mesh.vertices[:, 2]
        inside = (x >= well.x0) & (x <= well.x1) & (z >= well.z0) & (z <= well.z1)
        lowest = WELL_MM if plan.opens_down else -np.inf
        highest = plan.ceiling - WELL_MM if plan.opens_up else np.inf
        points[inside, 1] = np.minimum(np.maximum(points[inside, 1], lowest), highest)
    return points


def _lifted_from_walls(
    points: Float[np.ndarray, "v 3"], plan: FloorPlan, room: int, margin: float
) -> Float[np.ndarray, "v 3"]:
    """(V, 3) points of a room's panels, those nearer to a wall than `margin` millimetres moved inwards."""
    result = points.copy()
    for a, b in edges_of(inset(plan.rooms[room].corners, INNER_HALF_MM)):
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


def _push_out(
    points: Float[np.ndarray, "v 3"], selected: Bool[np.ndarray, "v"], notch: Rect, floor: Rect
) -> None:
    """Move selected points inside `notch` to its nearest border inside `floor`."""
    x, z = points[:, 0], points[:, 2]
    rows = np.flatnonzero(selected & (x > notch.x0) & (x < notch.x1) & (z > notch.z0) & (z < notch.z1))
    exits = [
        (axis, line)
        for axis, line, is_inside in (
            (0, notch.x0, notch.x0 > floor.x0),
            (0, notch.x1, notch.x1 < floor.x1),
            (2, notch.z0, notch.z0 > floor.z0),
            (2, notch.z1, notch.z1 < floor.z1),
        )
        if is_inside
    ]
    if not len(rows) or not exits:
        return
    away = np.abs(np.stack([points[rows, axis] - line for axis, line in exits]))
    for row, k in zip(rows, away.argmin(0), strict=True):
        axis, line = exits[k]
        points[row, axis] = line


def _lamps(placements: Sequence[Placement]) -> Float[np.ndarray, "n 4"]:
    rows = [
        (placed.at[0], placed.low, placed.at[2], placed.room)
        for placed in placements
        if placed.family == "ceiling_lamp"
    ]
    return np.array(rows, float).reshape(-1, 4)


def _windows(plan: FloorPlan) -> Float[np.ndarray, "n 7"]:
    rows = []
    for opening in wall_openings(plan):
        if opening.kind == "window":
            face, middle = opening_face(plan, opening), (opening.start + opening.end) // 2
            x, z = face.point(middle, INNER_HALF_MM)
            area = (opening.end - opening.start) * (opening.high - opening.low)
            rows.append((x, (opening.low + opening.high) // 2, z, *face.normal, area, opening.room))
    return np.array(rows, float).reshape(-1, 7)
