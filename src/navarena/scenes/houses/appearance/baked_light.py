"""Baked light: ambient occlusion, lamps and windows, per vertex."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Float32, Int

from navarena.core.threads import run_in_shares
from navarena.scenes.houses.appearance.baked_light_kernels import bake
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


def bake_light(mesh: HouseMesh, plan: FloorPlan, placements: Sequence[Placement]) -> Float32[np.ndarray, "v"]:
    """(V,) float32 light of every vertex, multiples of 1/256 in (0, 1]."""
    boxes = np.concatenate([mesh.part_boxes, wall_boxes(plan)])
    starts, items, x0, z0 = plan_grid(boxes)
    directions, weights = sample_directions()
    frame = np.array([x0, z0, CELL_MM, plan.ceiling, REACH_MM], float)
    points = _lifted(mesh, plan)
    light = np.zeros(len(points), np.float32)
    lamps, windows = _lamps(placements), _windows(plan)

    def work(share: int, first: int, last: int) -> None:
        bake(
            light, first, last, points, mesh.normals, mesh.vertex_part, mesh.vertex_room, mesh.vertex_glows,
            boxes, starts, items, frame, lamps, windows, directions, weights,
        )  # fmt: skip

    run_in_shares(work, len(points))
    return light


def smooth_diagonals(
    mesh: HouseMesh, light: Float32[np.ndarray, "v"]
) -> tuple[Int[np.ndarray, "t 3"], Float32[np.ndarray, "t 3 2"]]:
    """(triangles, uv) with the cells of panels cut along the diagonal whose ends are lit more alike.

    So a dark corner stays a corner instead of becoming a streak; (T, 3) indices and (T, 3, 2) repeats.
    """
    triangles, uv, count = mesh.triangles.copy(), mesh.uv.copy(), mesh.panel_triangles
    pairs, corners = triangles[:count].reshape(-1, 2, 3), uv[:count].reshape(-1, 2, 3, 2)
    cells = np.concatenate([pairs[:, 0], pairs[:, 1, 2:]], 1)
    cell_uv = np.concatenate([corners[:, 0], corners[:, 1, 2:]], 1)
    contrast = np.abs(light[cells[:, :2]] - light[cells[:, 2:]])
    other = contrast[:, 0] > contrast[:, 1]
    pairs[other] = cells[other][:, [[0, 1, 3], [1, 2, 3]]]
    corners[other] = cell_uv[other][:, [[0, 1, 3], [1, 2, 3]]]
    return triangles, uv


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
    """Move those of the selected points that lie in `notch` to its nearest border inside `floor`."""
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
