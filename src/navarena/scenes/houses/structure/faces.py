"""Faces of walls: pieces of one side of a wall, with the parts built on them."""

from collections.abc import Sequence
from dataclasses import dataclass

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.plan.floor_plan import (
    INNER_HALF_MM,
    NORTH,
    OUTER_MM,
    SOUTH,
    Corner,
    FloorPlan,
    PlannedRoom,
    Rect,
    WallOpening,
    band_at,
)
from navarena.scenes.houses.plan.polygons import (
    SCALE,
    Edge,
    along,
    direction,
    moved,
    scaled_length,
    turn_at,
)
from navarena.scenes.houses.plan.wall_rects import border_edges, exterior_edges
from navarena.scenes.houses.plan.walls import inner_faces, opening_ends, outer_faces
from navarena.scenes.houses.solids.mesh_builder import MeshBuilder
from navarena.scenes.houses.solids.models import Part, Turn
from navarena.scenes.houses.solids.shapes import BOX

LINE_MM = 3
"""An opening lies in a wall when its ends are at most so far from the middle of the wall."""


@dataclass(frozen=True)
class Face:
    """A straight piece of one side of a wall.

    Attributes:
        edge: its two ends; distances along it count from the first.
        inward: 1 when it is seen from the right of the edge, -1 from the left.
        runs_on: whether what it is seen from goes on around the corner at each end, instead of ending in it.
        is_panel: whether its grid follows the axes of the world, as in storeys without slanted walls; its
            edge then leads to higher coordinates.
    """

    edge: Edge
    inward: int = 1
    runs_on: tuple[bool, bool] = (False, False)
    is_panel: bool = False

    @property
    def length(self) -> int:
        """Millimetres, rounded to nearest."""
        return along(self.edge, self.edge[1])

    @property
    def normal(self) -> tuple[float, float]:
        """(x, z) unit vector towards those who see it."""
        (dx, dz), length = direction(self.edge), scaled_length(self.edge) / SCALE
        return -dz * self.inward / length, dx * self.inward / length

    @property
    def turn(self) -> Turn:
        """The turn of an object whose back is at the face.

        Exact along the axes; else rounded to 2^-20 of its cosine and sine.
        """
        (dx, dz), length = direction(self.edge), scaled_length(self.edge)
        whole = SCALE * SCALE * self.inward
        return Turn((-dx * whole + length // 2) // length, (dz * whole + length // 2) // length, SCALE)

    def point(self, forward: int, depth: int = 0) -> Corner:
        """The point `forward` along the face and `depth` before it, rounded."""
        return moved(self.edge, forward, self.inward * depth)

    def slab(
        self, forward: tuple[int, int], depth: tuple[int, int], height: tuple[int, int], look: Look
    ) -> Part:
        """A box over intervals along the face, before it and above the floor, rounded to millimetres."""
        x, z = self.point(sum(forward) // 2, sum(depth) // 2)
        wide, high, deep = (b - a for a, b in (forward, height, depth))
        if not self.is_panel:
            return Part(BOX, look, (wide, high, deep), (x, height[0], z), self.turn, thin=True)
        size = (wide, high, deep) if direction(self.edge)[1] == 0 else (deep, high, wide)
        return Part(BOX, look, size, (x, height[0], z), thin=True)

    def openings(
        self, openings: Sequence[WallOpening], room: int | None, depth: int, from_end: bool = False
    ) -> list[tuple[int, int, WallOpening]]:
        """(start, end, opening) along the face of those in its wall, whose middle is `depth` behind it.

        `room` is the one that sees the face, None for the outside. Places are whole millimetres, rounded from
        the first point of the edge, or `from_end`.
        """
        found = []
        for opening in openings:
            if room not in (opening.room, opening.other):
                continue
            ends = opening_ends(opening)
            places = [along(self.edge, point) for point in ends]
            if from_end:
                places = [self.length - along(self.edge[::-1], point) for point in ends]
            start, end = sorted(places)
            behind = [-self.inward * _to_the_right(self.edge, point) for point in ends]
            if start >= 0 and end <= self.length and all(abs(at - depth) <= LINE_MM for at in behind):
                found.append((start, end, opening))
        return sorted(found, key=lambda item: item[:2])

    def add_grid(
        self,
        builder: MeshBuilder,
        owner: int,
        look: Look,
        lines: tuple[Sequence[int], Sequence[int]],
        holes: Sequence[Rect],
    ) -> None:
        """Add the face as a grid of lines along it and above the floor, without the cells in `holes`."""
        if not self.is_panel:
            builder.add_wall(owner, look, self.edge, lines, holes)
            return
        (x, z), (_, dz) = self.edge[0], direction(self.edge)
        if dz == 0:
            wide = [x + line for line in lines[0]]
            over = [Rect(x + hole.x0, hole.z0, x + hole.x1, hole.z1) for hole in holes]
            builder.add_panel(owner, look, 2, z, self.inward, (wide, lines[1]), over)
        else:
            wide = [z + line for line in lines[0]]
            over = [Rect(hole.z0, z + hole.x0, hole.z1, z + hole.x1) for hole in holes]
            builder.add_panel(owner, look, 0, x, -self.inward, (lines[1], wide), over)


def opening_face(plan: FloorPlan, opening: WallOpening) -> Face:
    """The middle of an opening's wall, seen from the opening's own room."""
    return Face(opening.wall) if plan.is_slanted else _panel(opening.wall)


def room_faces(plan: FloorPlan, room: PlannedRoom) -> list[Face]:
    """The walls around a room, seen from inside."""
    if not plan.is_slanted:
        return [_border_face(border, room.floor_pieces) for border in border_edges(room.floor_pieces)]
    edges = [face for _, face in inner_faces(room)]
    turns = [turn_at(*edge, following[1]) < 0 for edge, following in zip(edges, edges[1:] + edges[:1])]
    return [Face(edge, runs_on=(turns[k - 1], turns[k])) for k, edge in enumerate(edges)]


def outside_faces(plan: FloorPlan) -> list[Face]:
    """The outer walls of a storey, seen from outside."""
    if plan.is_slanted:
        return [Face((b, a), runs_on=(True, True)) for _, (a, b) in outer_faces(plan.rooms)]
    return [_border_face(border, ()) for border in exterior_edges(plan.rooms)]


def _border_face(border: tuple[int, int, int, int], pieces: Sequence[Rect]) -> Face:
    """The face of a border of rectangles, seen from inside of `pieces`; from outside where there are none."""
    side, line, start, end = border
    ends = ((start, line), (end, line)) if side in (NORTH, SOUTH) else ((line, start), (line, end))
    inward = 1 if side in (NORTH, 1) else -1
    if not pieces:
        return Face(ends, -inward, (True, True), is_panel=True)
    beyond = (band_at(side, line, start - 1, start, 0, 1), band_at(side, line, end, end + 1, 0, 1))
    first, last = (any(piece.contains(spot) for piece in pieces) for spot in beyond)
    return Face(ends, inward, (first, last), is_panel=True)


def _panel(wall: Edge) -> Face:
    """The face of a wall along an axis, seen from its right."""
    if wall[0] < wall[1]:
        return Face(wall, is_panel=True)
    return Face((wall[1], wall[0]), -1, is_panel=True)


def _to_the_right(edge: Edge, point: Corner) -> int:
    """Distance of a point from the line through an edge, millimetres, positive to its right."""
    return turn_at(*edge, point) * SCALE // scaled_length(edge)


def wall_thickness(opening: WallOpening) -> int:
    """Thickness of the wall that holds `opening`, millimetres."""
    return 2 * INNER_HALF_MM if opening.other is not None else INNER_HALF_MM + OUTER_MM
