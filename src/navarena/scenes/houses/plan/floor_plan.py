"""Floor plans on an integer millimetre grid.

Plans are drawn in x (to the right) and z (downwards on paper): seen from above with -z at
the top. Cells are cut along the middle of the inner walls.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

INNER_HALF_MM = 60
"""Half the thickness of an inner wall; also the part of an outer wall inside the cell border."""

OUTER_MM = 240
"""The part of an outer wall outside the cell border, so outer walls are 300 mm thick."""

DOOR_HIGH_MM = 2050

SLAB_MM = 260
"""Between the ceiling of a storey and the floor of the next."""

STAIRS = "stairs"
"""Category of the room that holds a flight of stairs."""

NORTH, EAST, SOUTH, WEST = 0, 1, 2, 3
"""Sides of a rectangle: north is low z, east high x, south high z, west low x."""

SIDES = (NORTH, EAST, SOUTH, WEST)

INWARD_TURNS = (2, 1, 0, 3)
"""Per side: quarter turns (to the left from -z) of an object whose back is at that side."""


@dataclass(frozen=True)
class Rect:
    """An axis-aligned rectangle, millimetres; x0 < x1 and z0 < z1."""

    x0: int
    z0: int
    x1: int
    z1: int

    @property
    def width(self) -> int:
        """Along x, millimetres."""
        return self.x1 - self.x0

    @property
    def depth(self) -> int:
        """Along z, millimetres."""
        return self.z1 - self.z0

    @property
    def area(self) -> int:
        """Square millimetres."""
        return self.width * self.depth

    @property
    def center(self) -> tuple[int, int]:
        """(x, z) of the middle, millimetres, rounded down."""
        return (self.x0 + self.x1) // 2, (self.z0 + self.z1) // 2

    def grown(self, margin: int) -> "Rect":
        """Moved outwards by `margin` on all sides (inwards when negative)."""
        return Rect(self.x0 - margin, self.z0 - margin, self.x1 + margin, self.z1 + margin)

    def moved(self, x: int, z: int) -> "Rect":
        """Shifted by (x, z)."""
        return Rect(self.x0 + x, self.z0 + z, self.x1 + x, self.z1 + z)

    def overlaps(self, other: "Rect") -> bool:
        """Whether the interiors meet."""
        return self.x0 < other.x1 and other.x0 < self.x1 and self.z0 < other.z1 and other.z0 < self.z1

    def contains(self, other: "Rect") -> bool:
        """Whether `other` lies inside (borders may touch)."""
        return self.x0 <= other.x0 and other.x1 <= self.x1 and self.z0 <= other.z0 and other.z1 <= self.z1

    def line(self, side: int) -> int:
        """The coordinate across `side`."""
        return (self.z0, self.x1, self.z1, self.x0)[side]

    def span(self, side: int) -> tuple[int, int]:
        """The interval along `side`, from low to high coordinate."""
        return (self.x0, self.x1) if side in (NORTH, SOUTH) else (self.z0, self.z1)

    def band(self, side: int, start: int, end: int, near: int, far: int) -> "Rect":
        """The rectangle over [start, end] along `side`, from `near` to `far` inwards of it."""
        return band_at(side, self.line(side), start, end, near, far)

    def without(self, hole: "Rect") -> list["Rect"]:
        """The rectangle without `hole`, in at most four pieces."""
        if not self.overlaps(hole):
            return [self]
        x0, x1 = max(self.x0, hole.x0), min(self.x1, hole.x1)
        pieces = (
            (self.x0, self.z0, x0, self.z1),
            (x1, self.z0, self.x1, self.z1),
            (x0, self.z0, x1, max(self.z0, hole.z0)),
            (x0, min(self.z1, hole.z1), x1, self.z1),
        )
        return [Rect(*piece) for piece in pieces if piece[0] < piece[2] and piece[1] < piece[3]]


def band_at(side: int, line: int, start: int, end: int, near: int, far: int) -> Rect:
    """The part from `near` to `far` inwards of a wall on `side` with its face at `line`."""
    if side == NORTH:
        return Rect(start, line + near, end, line + far)
    if side == SOUTH:
        return Rect(start, line - far, end, line - near)
    if side == WEST:
        return Rect(line + near, start, line + far, end)
    return Rect(line - far, start, line - near, end)


def without_all(rects: Iterable[Rect], holes: Sequence[Rect]) -> list[Rect]:
    """The `rects` without all `holes`, as rectangles."""
    pieces = list(rects)
    for hole in holes:
        pieces = [left for piece in pieces for left in piece.without(hole)]
    return pieces


@dataclass(frozen=True)
class Opening:
    """A hole in a wall.

    Attributes:
        kind: "door", "passage" (no door leaf, wider), "entrance" (closed door) or "window".
        room: index of the room on one side.
        side: side of that room.
        other: index of the room on the other side, or None for the outside.
        start, end: clear interval along the side, millimetres.
        low, high: millimetres above the floor.
        leaf: 0 no leaf; +1 or -1: an open leaf stands in `leaf_room`, hinged at `end` or `start`.
        leaf_room: index of the room the leaf opens into.
        line: where the wall's face in `room` is, for a wall that is not at the border of the room's cell.
    """

    kind: str
    room: int
    side: int
    other: int | None
    start: int
    end: int
    low: int
    high: int
    leaf: int = 0
    leaf_room: int = -1
    line: int | None = field(default=None, repr=False)


Corner = tuple[int, int]
"""(x, z) in millimetres."""


@dataclass(frozen=True)
class WallOpening:
    """An opening in a wall of any direction; see `Opening` for the fields of the same name.

    Attributes:
        wall: two points in the middle of the wall; seen along it, `room` is to the right.
        start, end: clear interval along the wall from its first point, millimetres.
        leaf: 0 no leaf; +1 or -1: an open leaf, hinged at `end` or `start`.
    """

    kind: str
    room: int
    other: int | None
    wall: tuple[Corner, Corner]
    start: int
    end: int
    low: int
    high: int
    leaf: int = field(default=0, repr=False)
    leaf_room: int = field(default=-1, repr=False)


@dataclass(frozen=True)
class PlannedRoom:
    """A room of the plan.

    Attributes:
        category: such as "kitchen".
        cell: borders in the middle of the walls.
        level: index of the storey.
        notches: parts of the cell that are not the room's, where it is no rectangle; they do not overlap.
        outline: of a room from a file, its corners in the middle of the walls, clockwise seen from above from
            the lowest one on; between slanted walls the cell without the notches lies inside. Empty where the
            cell is all of the room.
    """

    category: str
    cell: Rect
    level: int = 0
    notches: tuple[Rect, ...] = field(default=(), repr=False)
    outline: tuple[Corner, ...] = field(default=(), repr=False)

    @property
    def corners(self) -> tuple[Corner, ...]:
        """The corners of the room in the middle of the walls, clockwise seen from above."""
        x0, z0, x1, z1 = self.cell.x0, self.cell.z0, self.cell.x1, self.cell.z1
        return self.outline or ((x0, z0), (x1, z0), (x1, z1), (x0, z1))

    @property
    def floor(self) -> Rect:
        """The inner outline; of a room with notches the rectangle around it."""
        return self.cell.grown(-INNER_HALF_MM)

    @property
    def floor_notches(self) -> list[Rect]:
        """The parts of `floor` that notches and their walls take."""
        return [notch.grown(INNER_HALF_MM) for notch in self.notches]

    @property
    def cell_pieces(self) -> list[Rect]:
        """Disjoint rectangles that together are the cell without its notches."""
        return without_all([self.cell], self.notches)

    @property
    def floor_pieces(self) -> list[Rect]:
        """Disjoint rectangles that together are the floor, walls left out."""
        return without_all([self.floor], self.floor_notches)


@dataclass(frozen=True)
class FloorPlan:
    """Floor plan of one storey.

    Attributes:
        rooms: in order; other records name rooms by their index.
        openings: doors, passages and windows.
        ceiling: height of the rooms, millimetres.
        well: the part of the stairs' room where flights are, beyond its landing; None without stairs.
        opens_down: whether the well has no floor, because flights come up through it.
        rise: from this floor to the next, millimetres; 0 for the top storey.
        slanted: doors, passages and windows in slanted walls.
    """

    rooms: tuple[PlannedRoom, ...]
    openings: tuple[Opening, ...]
    ceiling: int
    well: Rect | None = None
    opens_down: bool = False
    rise: int = 0
    slanted: tuple[WallOpening, ...] = field(default=(), repr=False)

    @cached_property
    def is_slanted(self) -> bool:
        """Whether a wall lies along no axis, so that rooms are their outlines."""
        walls = [
            wall for room in self.rooms for wall in zip(room.outline, room.outline[1:] + room.outline[:1])
        ]
        return any(a[0] != b[0] and a[1] != b[1] for a, b in walls)

    @property
    def opens_up(self) -> bool:
        """Whether the well has no ceiling, because flights go up through it."""
        return self.well is not None and self.rise > 0

    def ground(self, room: int) -> Rect:
        """Walkable floor of a room: the inner outline without the stairwell."""
        floor = self.rooms[room].floor
        if self.well is None or not floor.contains(self.well):
            return floor
        return landing(floor, self.well)

    def ground_pieces(self, room: int) -> list[Rect]:
        """Walkable floor of a room as disjoint rectangles."""
        return without_all([self.ground(room)], self.rooms[room].floor_notches)

    def face_line(self, opening: Opening, room: int) -> int:
        """Line of the opening's wall face in `room`, one of the two rooms that it joins."""
        line = opening.line
        if line is None:
            line = self.rooms[opening.room].floor.line(opening.side)
        if room == opening.room:
            return line
        return line + (-2 * INNER_HALF_MM if opening.side in (NORTH, WEST) else 2 * INNER_HALF_MM)

    def side_seen_from(self, opening: Opening, room: int) -> int | None:
        """The side of `room` that contains `opening`, or None."""
        if opening.room == room:
            return opening.side
        if opening.other == room:
            return (opening.side + 2) % 4
        return None

    def openings_of(self, room: int) -> list[tuple[int, Opening]]:
        """(side, opening) of every opening of `room`."""
        found = ((self.side_seen_from(opening, room), opening) for opening in self.openings)
        return [(side, opening) for side, opening in found if side is not None]


def landing(floor: Rect, well: Rect) -> Rect:
    """The part of a floor beside a stairwell along one side."""
    if well.z0 > floor.z0:
        return Rect(floor.x0, floor.z0, floor.x1, well.z0)
    if well.z1 < floor.z1:
        return Rect(floor.x0, well.z1, floor.x1, floor.z1)
    if well.x0 > floor.x0:
        return Rect(floor.x0, floor.z0, well.x0, floor.z1)
    return Rect(well.x1, floor.z0, floor.x1, floor.z1)
