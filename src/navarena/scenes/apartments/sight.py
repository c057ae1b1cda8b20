"""Visibility of an object from near by: straight lines from a body's camera past boxes, without rendering."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from navarena.scenes.apartments.places import NearFloor
from navarena.scenes.houses.furnishing.free_space import Placement, turned_rect
from navarena.scenes.houses.furnishing.reachability import CELL_MM, solid_walls
from navarena.scenes.houses.plan.floor_plan import FloorPlan

CAMERA_MM = 880
"""Height of the camera of RoboTHOR's LoCoBot (Batra et al. 2020, section 4)."""

FARTHEST_MM = 850
"""An object is looked at from no farther: success asks for less than 1 m."""

STEP_CELLS = 2
"""Only every second place of a body, along x and along z, is looked from."""

MIN_VIEWS = 4
"""From so many places, at least, a target must be seen."""


def is_seen(plan: FloorPlan, placements: Sequence[Placement], index: int, near: NearFloor) -> bool:
    """Whether the middle of an object is seen from MIN_VIEWS of the places where a body can be, or more."""
    placed = placements[index]
    x, z = placed.rect.center
    target = np.array([x, (placed.low + placed.high) // 2, z], float)
    eyes = _eyes_near(near, x, z)
    others = [other for k, other in enumerate(placements) if k != index]
    boxes = np.array([*_wall_boxes(plan), *(box for other in others for box in _part_boxes(other))], float)
    return int((~meets_a_box(eyes, target, boxes)).sum()) >= MIN_VIEWS


def meets_a_box(
    eyes: Float[np.ndarray, "n 3"], target: Float[np.ndarray, "3"], boxes: Float[np.ndarray, "b 6"]
) -> Bool[np.ndarray, "n"]:
    """(N,) whether the line from each eye (N, 3) to the target (3,) enters one of the boxes.

    Boxes are (B, 6) lowest and highest corners; all in millimetres.
    """
    rays = target - eyes
    rays = np.where(rays == 0, 1e-9, rays)
    to_low = (boxes[None, :, :3] - eyes[:, None]) / rays[:, None]
    to_high = (boxes[None, :, 3:] - eyes[:, None]) / rays[:, None]
    enters = np.minimum(to_low, to_high).max(2)
    leaves = np.maximum(to_low, to_high).min(2)
    meets: Bool[np.ndarray, n] = ((enters < leaves) & (leaves > 0) & (enters < 1)).any(1)
    return meets


def _eyes_near(near: NearFloor, x: int, z: int) -> Float[np.ndarray, "n 3"]:
    """(N, 3) millimetres: the camera over the places of a body that are near enough to (x, z)."""
    i, j = np.nonzero(near.free[::STEP_CELLS, ::STEP_CELLS])
    eyes = np.stack(
        [
            near.x0 + i * STEP_CELLS * CELL_MM + CELL_MM // 2,
            np.full(len(i), CAMERA_MM),
            near.z0 + j * STEP_CELLS * CELL_MM + CELL_MM // 2,
        ],
        1,
    )
    return eyes[(eyes[:, 0] - x) ** 2 + (eyes[:, 2] - z) ** 2 <= FARTHEST_MM**2].astype(float)


def _wall_boxes(plan: FloorPlan) -> list[tuple[int, ...]]:
    return [(wall.x0, 0, wall.z0, wall.x1, plan.ceiling, wall.z1) for wall in solid_walls(plan)]


def _part_boxes(placed: Placement) -> list[tuple[int, ...]]:
    """Boxes around the parts of an object."""
    boxes: list[tuple[int, ...]] = []
    for part in placed.model.parts:
        rect = turned_rect(part.plan_rect(), placed.turn).moved(placed.at[0], placed.at[2])
        low = placed.at[1] + part.at[1]
        boxes.append((rect.x0, low, rect.z0, rect.x1, low + part.size[1], rect.z1))
    return boxes
