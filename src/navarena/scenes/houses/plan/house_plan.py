"""Plan of a furnished house, in whole millimetres."""

import hashlib
from dataclasses import dataclass

from navarena.scenes.houses.furnishing.free_space import Placement
from navarena.scenes.houses.plan.floor_plan import INNER_HALF_MM, FloorPlan
from navarena.scenes.houses.plan.polygons import inset, twice_area
from navarena.scenes.houses.plan.stairs import Stairs


@dataclass(frozen=True)
class Storey:
    """One storey of a house.

    Attributes:
        plan: rooms and openings.
        base: height of the floor, millimetres.
        placements: furniture; parents and rooms are indices within the storey, heights above its floor.
    """

    plan: FloorPlan
    base: int
    placements: tuple[Placement, ...] = ()


@dataclass(frozen=True)
class HousePlan:
    """Everything in a house as whole numbers of millimetres.

    Attributes:
        storeys: ground floor first.
        stairs: the k-th leads from storey k to storey k + 1.
    """

    storeys: tuple[Storey, ...]
    stairs: tuple[Stairs, ...] = ()

    @property
    def area_mm2(self) -> int:
        """Walkable floor of all rooms, square millimetres."""
        return sum(
            _ground_area(storey.plan, room)
            for storey in self.storeys
            for room in range(len(storey.plan.rooms))
        )

    def digest(self) -> str:
        """SHA-256 (hex) over all its whole numbers and names: equal on every machine."""
        content = repr((self.storeys, self.stairs))
        notches = [room.notches for storey in self.storeys for room in storey.plan.rooms]
        if any(notches):
            lines = [opening.line for storey in self.storeys for opening in storey.plan.openings]
            content += repr((notches, lines))
        if any(storey.plan.is_slanted for storey in self.storeys):
            outlines = [room.outline for storey in self.storeys for room in storey.plan.rooms]
            content += repr((outlines, [storey.plan.slanted for storey in self.storeys]))
        return hashlib.sha256(content.encode()).hexdigest()


def _ground_area(plan: FloorPlan, room: int) -> int:
    """Walkable floor of a room, square millimetres (rounded down)."""
    if plan.is_slanted:
        return twice_area(inset(plan.rooms[room].corners, INNER_HALF_MM)) // 2
    return sum(piece.area for piece in plan.ground_pieces(room))
