"""Reachability of every room and nearly all of the floor: furniture that blocks it is removed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int

from navarena.scenes.houses.furnishing.free_space import Placement, choose_placements
from navarena.scenes.houses.furnishing.reach_kernels import block_around, label_components
from navarena.scenes.houses.plan.floor_plan import FloorPlan, Rect, without_all
from navarena.scenes.houses.plan.wall_rects import wall_rects
from navarena.scenes.houses.plan.walls import wall_covers
from navarena.scenes.houses.room_needs import ROOM_NEEDS, missing_needs
from navarena.scenes.houses.structure.walkable_floors import leaf_obstructions, obstructions
from navarena.scenes.houses.structure.wall_boxes import doorway_rects

CELL_MM = 50
RADII_MM = (240, 180)
"""Bodies for which the floor must hang together: a roomy one, and the smallest of the field."""

STRANDED_PERMILLE = 10
"""Share of the free floor that may be cut off (the target is 2 %, half is kept in reserve)."""

TALLEST_BODY_MM = 1500
NOTHING = np.zeros((0, 4), np.int64)
"""No outlines."""


@dataclass(frozen=True)
class FloorGrid:
    """Places for a body's centre.

    Attributes:
        labels: (nx, nz) int32, component number from 1; -1 where the body does not fit.
        sizes: (C,) int64, cells of each component.
        x0, z0: origin, millimetres; cells measure CELL_MM.
    """

    labels: Int[np.ndarray, "nx nz"]
    sizes: Int[np.ndarray, "c"]
    x0: int
    z0: int

    @property
    def main(self) -> int:
        """Number of the largest component; 0 if there is none."""
        return int(np.argmax(self.sizes)) + 1 if len(self.sizes) else 0

    @property
    def reachable_share(self) -> float:
        """Share of the free places that lie in the largest component."""
        return float(self.sizes.max() / self.sizes.sum()) if len(self.sizes) else 0.0

    def labelled(self) -> "FloorGrid":
        """Renumber the free places by components; writes into `labels`."""
        return replace(self, sizes=label_components(self.labels))

    def window(self, rect: Rect) -> Int[np.ndarray, "a b"]:
        """The labels of the cells that `rect` touches."""
        i0, i1 = (rect.x0 - self.x0) // CELL_MM, (rect.x1 - self.x0) // CELL_MM + 1
        j0, j1 = (rect.z0 - self.z0) // CELL_MM, (rect.z1 - self.z0) // CELL_MM + 1
        return self.labels[max(0, i0) : i1, max(0, j0) : j1]


def solid_walls(plan: FloorPlan) -> list[Rect]:
    """Walls with the doorways between rooms cut out."""
    if plan.is_slanted:
        return wall_covers(plan)
    return without_all(wall_rects(plan.rooms), doorway_rects(plan))


def fixed_obstacles(plan: FloorPlan) -> list[Rect]:
    """Obstacles of an empty storey: walls, open door leaves, the well of stairs."""
    leaves = [o.rect for o in leaf_obstructions(plan)]
    return [*solid_walls(plan), *leaves, *([plan.well] if plan.well is not None else [])]


def build_floor_grid(plan: FloorPlan, obstacles: Sequence[Rect], radius: int) -> FloorGrid:
    """Grid of the places that the centre of a body of `radius` millimetres can take, by components.

    `obstacles` are all outlines of obstacles, those of `fixed_obstacles` included.
    """
    return _block(_floor_cells(plan), _as_array(obstacles), radius).labelled()


def _floor_cells(plan: FloorPlan) -> FloorGrid:
    """The floor without obstacles, and not yet labelled."""
    cells = [room.cell for room in plan.rooms]
    x0, z0 = min(cell.x0 for cell in cells), min(cell.z0 for cell in cells)
    x1, z1 = max(cell.x1 for cell in cells), max(cell.z1 for cell in cells)
    grid = np.full(((x1 - x0) // CELL_MM + 1, (z1 - z0) // CELL_MM + 1), -1, np.int32)
    for rect in [piece for room in plan.rooms for piece in room.floor_pieces] + doorway_rects(plan):
        i0, i1 = (rect.x0 - x0) // CELL_MM, -(-(rect.x1 - x0) // CELL_MM)
        j0, j1 = (rect.z0 - z0) // CELL_MM, -(-(rect.z1 - z0) // CELL_MM)
        grid[i0:i1, j0:j1] = 0
    return FloorGrid(grid, np.zeros(0, np.int64), x0, z0)


def _block(grid: FloorGrid, outlines: Int[np.ndarray, "n 4"], radius: int) -> FloorGrid:
    """The grid without places nearer than `radius` millimetres to one of `outlines` (N, 4)."""
    labels = grid.labels.copy()
    block_around(labels, outlines, grid.x0, grid.z0, CELL_MM, radius)
    return replace(grid, labels=labels)


def _as_array(rects: Sequence[Rect]) -> Int[np.ndarray, "n 4"]:
    """(N, 4) int64 millimetres: x0, z0, x1, z1 of each."""
    return np.array([(r.x0, r.z0, r.x1, r.z1) for r in rects], np.int64).reshape(-1, 4)


def obstacle_rects(placement: Placement) -> list[Rect]:
    """Outlines of the obstacles of a body."""
    return [o.rect for o in obstructions(placement) if o.low < TALLEST_BODY_MM]


def remove_blockers(plan: FloorPlan, placements: Sequence[Placement]) -> list[Placement]:
    """The placements without those that cut off a room or more floor than allowed.

    What the use of a room needs is removed only when nothing else helps.
    """
    floor, fixed = _floor_cells(plan), _as_array(fixed_obstacles(plan))
    empty = {radius: _block(floor, fixed, radius) for radius in RADII_MM}
    check = _Check(plan, empty, [_as_array(obstacle_rects(placement)) for placement in placements])
    kept = set(range(len(placements)))
    for radius in RADII_MM:
        grid = check.grid(kept, radius)
        while not check.is_fine(grid):
            suspects = check.suspects(placements, kept, grid, radius)
            if not suspects:
                break
            trials = [(check.faults(check.grid(kept - {k}, radius)), -k) for k in suspects]
            spared = [trial for trial in trials if not _is_needed(plan, placements, kept, -trial[1])]
            helping = [trial for trial in spared if trial[0] < check.faults(grid)]
            culprit = -min(helping or spared or trials)[1]
            kept -= _with_children(placements, culprit)
            grid = check.grid(kept, radius)
    return choose_placements(placements, sorted(kept))


@dataclass(frozen=True)
class _Check:
    """The floor of one house with some of its furniture: empty floors by radius, outlines by placement."""

    plan: FloorPlan
    empty: Mapping[int, FloorGrid]
    outlines: Sequence[Int[np.ndarray, "n 4"]]

    def grid(self, kept: set[int], radius: int) -> FloorGrid:
        standing = np.concatenate([NOTHING, *(self.outlines[k] for k in kept)])
        return _block(self.empty[radius], standing, radius).labelled()

    def cut_off_rooms(self, grid: FloorGrid) -> list[int]:
        """Rooms that the main part of the floor does not enter."""
        return [
            k
            for k, room in enumerate(self.plan.rooms)
            if not any((grid.window(piece.grown(-CELL_MM)) == grid.main).any() for piece in room.floor_pieces)
        ]

    def faults(self, grid: FloorGrid) -> tuple[int, int]:
        """(rooms cut off, cells cut off)."""
        return len(self.cut_off_rooms(grid)), int(grid.sizes.sum() - grid.sizes.max(initial=0))

    def is_fine(self, grid: FloorGrid) -> bool:
        rooms, cells = self.faults(grid)
        return rooms == 0 and cells * 1000 <= STRANDED_PERMILLE * int(grid.sizes.sum())

    def suspects(
        self, placements: Sequence[Placement], kept: set[int], grid: FloorGrid, radius: int
    ) -> list[int]:
        """Standing objects in rooms that are cut off or beside floor that is."""
        cut_off = self.cut_off_rooms(grid)
        found = []
        for k in sorted(kept):
            if not len(self.outlines[k]) or placements[k].parent >= 0:
                continue
            near = grid.window(placements[k].rect.grown(radius + CELL_MM))
            if placements[k].room in cut_off or ((near > 0) & (near != grid.main)).any():
                found.append(k)
        return found


def _with_children(placements: Sequence[Placement], root: int) -> set[int]:
    return {root} | {k for k, placement in enumerate(placements) if placement.parent == root}


def _is_needed(plan: FloorPlan, placements: Sequence[Placement], kept: set[int], number: int) -> bool:
    """Whether a room's needs would be unmet without this placement and the objects on it."""
    room = placements[number].room
    going = _with_children(placements, number)
    here = {k for k in kept if placements[k].room == room}
    before, after = ({placements[k].category for k in rest} for rest in (here, here - going))
    needs = ROOM_NEEDS.get(plan.rooms[room].category, ())
    return len(missing_needs(needs, after)) > len(missing_needs(needs, before))
