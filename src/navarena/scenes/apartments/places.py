"""Places for small objects in a furnished apartment, all at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from navarena.scenes.apartments.inventory import SmallKind
from navarena.scenes.houses.furnishing.arranger import Arranger
from navarena.scenes.houses.furnishing.free_space import Placement, turned_rect
from navarena.scenes.houses.furnishing.reachability import (
    CELL_MM,
    build_floor_grid,
    fixed_obstacles,
    obstacle_rects,
)
from navarena.scenes.houses.furniture.catalog import FAMILIES
from navarena.scenes.houses.plan.floor_plan import FloorPlan, Rect
from navarena.scenes.houses.solids.models import QUARTERS, Model, Turn

BODY_MM = 180
"""Radius of the body that must come near: a LoCoBot's, rounded up."""

REACH_MM = 600
"""An object is near where the middle of a body can be this far away along x and along z; 0.85 m at most.

RoboTHOR counts what is seen within 1 m (Batra et al. 2020, section 4).
"""

HIGHEST_MM = 900
"""Surfaces above are not looked onto by a camera at 0.88 m."""

SURFACE_STEP_MM, FLOOR_STEP_MM = 60, 150
APART_MM, FLOOR_MARGIN_MM = 8, 40


@dataclass(frozen=True)
class Place:
    """A pose for a model: room, what carries it (index in the room's arranger; -1 for the floor)."""

    room: int
    parent: int
    at: tuple[int, int, int]
    turn: Turn


@dataclass(frozen=True)
class NearFloor:
    """Floor near which a body can come.

    Attributes:
        free: (nx, nz) bool, whether the middle of a body can be there, on the main part of the floor.
        near: (nx, nz) bool, whether such a cell lies within REACH_MM along x and along z.
        x0, z0: origin, millimetres; cells measure CELL_MM.
    """

    free: Bool[np.ndarray, "nx nz"]
    near: Bool[np.ndarray, "nx nz"]
    x0: int
    z0: int

    def holds(self, rect: Rect) -> bool:
        """Whether a body comes near the middle of `rect`."""
        x, z = rect.center
        i, j = (x - self.x0) // CELL_MM, (z - self.z0) // CELL_MM
        return 0 <= i < self.near.shape[0] and 0 <= j < self.near.shape[1] and bool(self.near[i, j])

    def touched_by(
        self, own: Rect, x: Int[np.ndarray, "a b"], z: Int[np.ndarray, "a b"]
    ) -> Bool[np.ndarray, "a b"]:
        """(A, B): whether a body can stand beside an object of outline `own` at x, z (A, B), millimetres.

        It stands in the middle of one of the sides.
        """
        (middle_x, middle_z), wide = own.center, own.grown(BODY_MM + 2 * CELL_MM)
        beside = ((middle_x, wide.z0), (wide.x1, middle_z), (middle_x, wide.z1), (wide.x0, middle_z))
        touched = np.zeros(x.shape, bool)
        for dx, dz in beside:
            i, j = (x + dx - self.x0) // CELL_MM, (z + dz - self.z0) // CELL_MM
            inside = (i >= 0) & (i < self.free.shape[0]) & (j >= 0) & (j < self.free.shape[1])
            touched |= inside & self.free[np.where(inside, i, 0), np.where(inside, j, 0)]
        return touched


def find_near_floor(plan: FloorPlan, placements: Sequence[Placement]) -> NearFloor:
    """Floor of an apartment that a body of radius BODY_MM can reach among these objects."""
    standing = [rect for placed in placements for rect in obstacle_rects(placed)]
    grid = build_floor_grid(plan, [*fixed_obstacles(plan), *standing], BODY_MM)
    free = grid.labels == grid.main
    return NearFloor(free, _spread(free), grid.x0, grid.z0)


def _spread(near: Bool[np.ndarray, "nx nz"]) -> Bool[np.ndarray, "nx nz"]:
    """The cells that are set and all within REACH_MM of them along both axes."""
    reach = REACH_MM // CELL_MM
    for axis in (0, 1):
        length = near.shape[axis]
        counts = np.cumsum(near, axis=axis)
        padded = np.concatenate([np.zeros_like(counts.take([0], axis)), counts], axis=axis)
        last = padded.take(np.minimum(np.arange(length) + reach + 1, length), axis)
        first = padded.take(np.maximum(np.arange(length) - reach, 0), axis)
        near = last > first
    return near


def legal_places(
    arrangers: Sequence[Arranger], near: NearFloor, kind: SmallKind, family: str, model: Model, turn: Turn
) -> list[Place]:
    """All legal places of a model on a fine grid: on furniture that carries its kind, or on the floor.

    `turn` is that of the model beside what carries it; families that stand upright face its front.
    """
    places = []
    for arranger in arrangers:
        for index, placed in enumerate(arranger.placed):
            if placed.category in kind.supports:
                places += _surface_places(arranger, near, index, family, model, turn)
        if kind.floor:
            places += _floor_places(arranger, near, model, turn)
    return places


def _surface_places(
    arranger: Arranger, near: NearFloor, index: int, family: str, model: Model, slight: Turn
) -> list[Place]:
    base = arranger.placed[index]
    turn = base.turn if FAMILIES[family].upright else base.turn.then(slight)
    own = turned_rect(model.rect, turn.then(base.turn.inverse()))
    in_world = turned_rect(model.rect, turn)
    taken = [(p.rect.grown(APART_MM), p.low) for p in arranger.placed if p.parent == index]
    places = []
    for surface in base.model.surfaces:
        slack_x, slack_z = surface.width - own.width, surface.depth - own.depth
        level = base.at[1] + surface.at[1]
        if model.high > surface.headroom or min(slack_x, slack_z) < 0 or level > HIGHEST_MM:
            continue
        here = [rect for rect, low in taken if low == level]
        for x in range(-slack_x // 2, slack_x // 2 + 1, SURFACE_STEP_MM):
            for z in range(-slack_z // 2, slack_z // 2 + 1, SURFACE_STEP_MM):
                at = arranger.relative(
                    index,
                    surface.at[0] + x - (own.x0 + own.x1) // 2,
                    surface.at[2] + z - (own.z0 + own.z1) // 2,
                )
                rect = in_world.moved(at[0], at[2])
                if (
                    near.holds(rect)
                    and not any(rect.overlaps(other) for other in here)
                    and arranger.space.is_below_nothing(rect, level, level + model.high)
                ):
                    places.append(Place(arranger.space.room, index, (at[0], level, at[2]), turn))
    return places


def _floor_places(arranger: Arranger, near: NearFloor, model: Model, slight: Turn) -> list[Place]:
    places = []
    space = arranger.space
    taken = [block.rect for block in space.blocks if block.low < model.high and block.high > 0]
    for quarter in QUARTERS[:2]:
        turn = slight.then(quarter)
        own = turned_rect(model.rect, turn)
        floor = space.floor.grown(-FLOOR_MARGIN_MM)
        x, z = np.meshgrid(
            np.arange(floor.x0 - own.x0, floor.x1 - own.x1 + 1, FLOOR_STEP_MM),
            np.arange(floor.z0 - own.z0, floor.z1 - own.z1 + 1, FLOOR_STEP_MM),
            indexing="ij",
        )
        legal = near.touched_by(own, x, z)
        for rect in (*taken, *space.doors):
            legal &= (x + own.x0 >= rect.x1) | (x + own.x1 <= rect.x0) | (z + own.z0 >= rect.z1) | (
                z + own.z1 <= rect.z0
            )  # fmt: skip
        places += [
            Place(space.room, -1, (int(x[i, j]), 0, int(z[i, j])), turn) for i, j in np.argwhere(legal)
        ]
    return places
