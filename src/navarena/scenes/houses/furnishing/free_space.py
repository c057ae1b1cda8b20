"""Free space of a room while it is being furnished."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from navarena.scenes.houses.plan.floor_plan import INWARD_TURNS, FloorPlan, Rect, band_at, without_all
from navarena.scenes.houses.plan.openings import leaf_rect, subtract_intervals
from navarena.scenes.houses.plan.walls import door_zone
from navarena.scenes.houses.solids.models import QUARTERS, Model, Turn

WALL_GAP_MM = 20
"""Air between furniture and wall, which leaves room for the skirting board."""

BESIDE_MM = 30
"""Air between neighbours along a wall."""

DOOR_ZONE_MM = 850
"""Floor kept free in front of a door."""

NARROW_DOOR_ZONE_MM: Mapping[str, int] = {"toilet": 420}
"""The same in kinds of rooms that are no deeper than a door zone and what stands there together."""


@dataclass(frozen=True)
class Placement:
    """A model standing somewhere.

    Attributes:
        family: name in FAMILIES (or "curtains").
        category: as in the scene.
        model: in its own frame.
        at: (x, y, z) millimetres, world.
        turn: of the model about +y.
        room: index of the room.
        parent: index of the placement that carries it, or -1.
    """

    family: str
    category: str
    model: Model
    at: tuple[int, int, int]
    turn: Turn
    room: int
    parent: int = -1

    @cached_property
    def rect(self) -> Rect:
        """Outline in the world, seen from above."""
        rect = turned_rect(self.model.rect, self.turn)
        return Rect(rect.x0 + self.at[0], rect.z0 + self.at[2], rect.x1 + self.at[0], rect.z1 + self.at[2])

    @property
    def low(self) -> int:
        """Height of its lowest point, millimetres."""
        return self.at[1] + self.model.low

    @property
    def high(self) -> int:
        """Height of its highest point, millimetres."""
        return self.at[1] + self.model.high


def join_rooms(rooms: Sequence[Sequence[Placement]]) -> list[Placement]:
    """The placements of all rooms, one after the other, parents numbered on."""
    joined: list[Placement] = []
    for placements in rooms:
        first = len(joined)
        joined += [
            replace(placed, parent=placed.parent + first if placed.parent >= 0 else -1)
            for placed in placements
        ]
    return joined


def choose_placements(placements: Sequence[Placement], kept: Sequence[int]) -> list[Placement]:
    """The placements with indices `kept`, in order, parents renumbered; parents must be kept, too."""
    number = {old: new for new, old in enumerate(kept)}
    return [
        replace(placements[k], parent=number[placements[k].parent] if placements[k].parent >= 0 else -1)
        for k in kept
    ]


def placements_of_room(placements: Sequence[Placement], room: int) -> list[Placement]:
    """Placements of one room; parents are numbered within it."""
    return choose_placements(placements, [k for k, one in enumerate(placements) if one.room == room])


def turned_rect(rect: Rect, turn: Turn) -> Rect:
    """The smallest rectangle around `rect` turned about the origin."""
    corners = [turn.apply(x, z) for x in (rect.x0, rect.x1) for z in (rect.z0, rect.z1)]
    xs, zs = [corner[0] for corner in corners], [corner[1] for corner in corners]
    return Rect(min(xs), min(zs), max(xs), max(zs))


@dataclass(frozen=True)
class Block:
    """A volume that is taken: outline, low and high millimetres."""

    rect: Rect
    low: int
    high: int


@dataclass
class RoomSpace:
    """A room and its occupied areas.

    Attributes:
        room: index in the plan.
        category: kind of room.
        floor: inner outline.
        ceiling: millimetres.
        doors: floor kept free in front of doors.
        windows: (side, start, end, sill, head) of each.
        door_spans: (side, start, end) of each.
        blocks: volumes taken.
        clearances: floor that objects need in front of them; other clearances may overlap.
        notches: parts of `floor` that are not the room's, where it is no rectangle; blocks as well.
    """

    room: int
    category: str
    floor: Rect
    ceiling: int
    doors: list[Rect] = field(default_factory=list)
    windows: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    door_spans: list[tuple[int, int, int]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    clearances: list[Rect] = field(default_factory=list)
    notches: list[Rect] = field(default_factory=list)

    @property
    def pieces(self) -> list[Rect]:
        """Disjoint rectangles that together are the floor without the notches."""
        return without_all([self.floor], self.notches)

    @property
    def area(self) -> int:
        """Area of the floor, square millimetres."""
        return sum(piece.area for piece in self.pieces)

    def has_floor(self, rect: Rect, margin: int) -> bool:
        """Whether `rect` lies over the floor, `margin` millimetres from its walls."""
        wide = rect.grown(margin)
        return self.floor.contains(wide) and not any(notch.overlaps(wide) for notch in self.notches)

    def is_free(self, rect: Rect, low: int, high: int, ignore_clearance: bool = False) -> bool:
        """Whether an object with outline `rect` from `low` to `high` can be put there."""
        if not self.floor.grown(-WALL_GAP_MM + 1).contains(rect):
            return False
        if any(b.low < high and low < b.high and b.rect.overlaps(rect) for b in self.blocks):
            return False
        if low < 2000 and any(zone.overlaps(rect) for zone in self.doors):
            return False
        return ignore_clearance or low > 1000 or not any(zone.overlaps(rect) for zone in self.clearances)

    def is_clear(self, rect: Rect, low: int = 0, high: int = 1000) -> bool:
        """Whether no solid stands over `rect`; clearances and door zones do not count."""
        return not any(b.low < high and low < b.high and b.rect.overlaps(rect) for b in self.blocks)

    def is_below_nothing(self, rect: Rect, low: int, high: int) -> bool:
        """Whether an object standing at `low` reaches into nothing that begins above it."""
        return not any(low < b.low < high and b.rect.overlaps(rect) for b in self.blocks)

    def wall_intervals(
        self, side: int, depth: int, low: int, high: int, clearance: int = 0
    ) -> list[tuple[int, int]]:
        """Free stretches along `side` for an object `depth` deep between two heights."""
        start, end = self.floor.span(side)
        near, far = WALL_GAP_MM + depth, WALL_GAP_MM + depth + clearance
        body, front = self.floor.band(side, start, end, 0, near), self.floor.band(side, start, end, near, far)
        taken: list[tuple[int, int]] = []
        for block in self.blocks:
            if (block.rect.overlaps(body) and block.low < high and low < block.high) or (
                clearance and low < 500 and block.low < 1000 and block.rect.overlaps(front)
            ):
                taken.append(block.rect.span(side))
        if low < 2000:
            taken += [zone.span(side) for zone in self.doors if zone.overlaps(body)]
            taken += [(a - 40, b + 40) for at, a, b in self.door_spans if at == side]
        if low < 1000:
            taken += [zone.span(side) for zone in self.clearances if zone.overlaps(body)]
        taken += [
            (a - 90, b + 90)
            for at, a, b, sill, head in self.windows
            if at == side and low < head and sill < high
        ]
        widened = [(a - BESIDE_MM, b + BESIDE_MM) for a, b in taken]
        return subtract_intervals((start + WALL_GAP_MM, end - WALL_GAP_MM), widened)

    def take(self, placement: Placement, clearance: int = 0, side: int | None = None) -> None:
        """Mark a placement's volume, and the floor in front of it, as taken."""
        rect = placement.rect
        self.blocks.append(Block(rect, placement.low, placement.high))
        if clearance and side is not None:
            near = distance_from(self.floor, side, rect)
            start, end = rect.span(side)
            self.clearances.append(self.floor.band(side, start, end, near, near + clearance))


def distance_from(floor: Rect, side: int, rect: Rect) -> int:
    """Distance of the inner edge of `rect` from `side`."""
    return (rect.z1 - floor.z0, floor.x1 - rect.x0, floor.z1 - rect.z0, rect.x1 - floor.x0)[side]


def against_wall(
    floor: Rect, side: int, start: int, model: Model, height: int = 0, gap: int = WALL_GAP_MM
) -> tuple[tuple[int, int, int], Turn]:
    """(position, turn) of `model` with its back at `side`, its outline beginning at `start` along it."""
    turn = QUARTERS[INWARD_TURNS[side]]
    own = turned_rect(model.rect, turn)
    x, z = start - own.x0, start - own.z0
    if side == 0:
        z = floor.z0 + gap - own.z0
    elif side == 2:
        z = floor.z1 - gap - own.z1
    elif side == 3:
        x = floor.x0 + gap - own.x0
    else:
        x = floor.x1 - gap - own.x1
    return (x, height, z), turn


def make_spaces(plan: FloorPlan) -> list[RoomSpace]:
    """Empty rooms with their doors and windows."""
    rooms = plan.rooms
    spaces = [RoomSpace(k, room.category, plan.ground(k), plan.ceiling) for k, room in enumerate(rooms)]
    for space in spaces:
        space.notches += rooms[space.room].floor_notches
        space.blocks += [Block(notch, 0, plan.ceiling) for notch in space.notches]
        for side, opening in plan.openings_of(space.room):
            line = plan.face_line(opening, space.room)
            if opening.kind == "window":
                if line == space.floor.line(side):  # nothing stands at the walls of notches
                    space.windows.append((side, opening.start, opening.end, opening.low, opening.high))
                continue
            deep = NARROW_DOOR_ZONE_MM.get(space.category, DOOR_ZONE_MM)
            zone = band_at(side, line, opening.start - 60, opening.end + 60, 0, deep)
            space.doors.append(zone)
            space.door_spans.append((side, opening.start - 80, opening.end + 80))
    for slanted in plan.slanted:
        for room in (slanted.room, slanted.other):
            if slanted.low == 0 and room is not None:
                deep = NARROW_DOOR_ZONE_MM.get(spaces[room].category, DOOR_ZONE_MM)
                spaces[room].doors += door_zone(slanted, room, deep, 60)
    for opening in plan.openings:
        leaf = leaf_rect(rooms, opening)
        if leaf is not None:
            spaces[opening.leaf_room].blocks.append(Block(leaf.grown(40), 0, opening.high))
    return spaces
