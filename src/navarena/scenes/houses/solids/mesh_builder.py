"""Builds triangles from parts and panels.

Parts of equal shape become triangles together, in whole-array steps, so that a house of some
thousand parts takes milliseconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from navarena.scenes.houses.appearance.finishes import FINISHES, Look
from navarena.scenes.houses.plan.floor_plan import Rect
from navarena.scenes.houses.solids.models import STRAIGHT, Model, Part, Point, Turn
from navarena.scenes.houses.solids.panels import Panel
from navarena.scenes.houses.solids.shapes import Shape, template

GLOWING = frozenset({"garden", "street", "glow", "fire"})
"""Finishes that are fully lit whatever stands around."""


@dataclass(frozen=True)
class HouseObject:
    """An object of the house: identity and pose (millimetres).

    Objects that do not shade (pictures, frames) leave the baked light of what is behind them alone.
    """

    category: str
    room: int | None
    attributes: Mapping[str, str]
    at: Point = (0, 0, 0)
    turn: Turn = STRAIGHT
    shades: bool = True


@dataclass(frozen=True)
class HouseMesh:
    """All triangles of a house, in millimetres.

    Attributes:
        vertices: (V, 3) float64.
        normals: (V, 3) float64 unit vectors.
        triangles: (T, 3) int32.
        triangle_object: (T,) int32, index of the object plus 1.
        triangle_look: (T,) int32, index into `looks`.
        uv: (T, 3, 2) float32, in repeats of the tile.
        vertex_part: (V,) int32, index of the solid a vertex belongs to; -1 for panels.
        vertex_room: (V,) int32, index of the room that lights it; -1 outside.
        vertex_glows: (V,) bool, fully lit.
        looks: distinct looks.
        part_boxes: (P, 6) float64, lowest and highest corner of each solid that throws shadow.
        object_low, object_high: (N, 3) float64, extent of each object in its own frame.
        panels: the grids whose vertices and triangles come first, in this order.
        flat_vertices: so many rows at the beginning lie on floors, walls and ceilings.
    """

    vertices: Float[np.ndarray, "v 3"]
    normals: Float[np.ndarray, "v 3"]
    triangles: Int[np.ndarray, "t 3"]
    triangle_object: Int[np.ndarray, "t"]
    triangle_look: Int[np.ndarray, "t"]
    uv: Float[np.ndarray, "t 3 2"]
    vertex_part: Int[np.ndarray, "v"]
    vertex_room: Int[np.ndarray, "v"]
    vertex_glows: Bool[np.ndarray, "v"]
    looks: tuple[Look, ...]
    part_boxes: Float[np.ndarray, "p 6"]
    object_low: Float[np.ndarray, "n 3"]
    object_high: Float[np.ndarray, "n 3"]
    panels: tuple[Panel, ...]
    flat_vertices: int


@dataclass(frozen=True)
class _Placed:
    part: Part
    owner: int


@dataclass(frozen=True)
class _Piece:
    """A piece of mesh: vertices, triangles, and their object and material."""

    vertices: np.ndarray
    own_frame: np.ndarray
    triangles: np.ndarray
    uv: np.ndarray
    owner: np.ndarray
    look: np.ndarray
    part: np.ndarray
    panel: Panel | None = None


class MeshBuilder:
    """Collects the objects of a house and turns them into one mesh."""

    def __init__(self) -> None:
        self.objects: list[HouseObject] = []
        self._placed: dict[Shape, list[_Placed]] = {}
        self._count = 0
        self._looks: dict[Look, int] = {}
        self._pieces: list[_Piece] = []
        self._sheets: list[_Piece] = []

    def add_object(self, added: HouseObject, model: Model | None = None) -> int:
        """Register an object (with its model, if it has one); returns its index."""
        self.objects.append(added)
        index = len(self.objects) - 1
        if model is not None:
            self.add_parts(index, model.parts)
        return index

    def add_parts(self, owner: int, parts: Sequence[Part]) -> None:
        """Add solids to an object, in its frame."""
        for part in parts:
            self._placed.setdefault(part.shape, []).append(_Placed(part, owner))

    def add_panel(
        self,
        owner: int,
        look: Look,
        axis: int,
        level: int,
        facing: int,
        lines: tuple[Sequence[int], Sequence[int]],
        holes: Sequence[Rect] = (),
    ) -> None:
        """Add a flat grid across `axis` (0 x, 1 y, 2 z) at coordinate `level`.

        Args:
            owner: index of an object whose frame is the world.
            look: finish and colour.
            axis: normal of the plane.
            level: coordinate of the plane.
            facing: +1 or -1, the side it is seen from.
            lines: grid lines along the two other axes, in the order x, y, z.
            holes: rectangles over (first, second) axis where no cell is made; their borders are
                among the lines.
        """
        first, second = (np.asarray(line, float) for line in lines)
        p, q = np.meshgrid(first, second, indexing="ij")
        vertices = np.full((p.size, 3), float(level))
        others = [k for k in range(3) if k != axis]
        vertices[:, others[0]], vertices[:, others[1]] = p.ravel(), q.ravel()
        # first x second points along +axis for x and z, along -axis for y
        panel = Panel.of(first, second, holes, flipped=(facing > 0) == (axis == 1))
        triangles, vertices = panel.cell_triangles(), vertices[panel.used]
        count = len(triangles)
        uv = _world_uv(vertices[triangles], np.full(count, axis), np.full(count, facing))
        self._pieces.append(self._flat(owner, look, vertices, triangles, uv, panel))

    def add_wall(
        self,
        owner: int,
        look: Look,
        wall: tuple[tuple[int, int], tuple[int, int]],
        lines: tuple[Sequence[int], Sequence[int]],
        holes: Sequence[Rect] = (),
    ) -> None:
        """Add an upright grid of any direction, seen with the wall's first point to the left.

        Args:
            owner: index of an object whose frame is the world.
            look: finish and colour.
            wall: two points (x, z) of its foot.
            lines: grid lines along the wall, in millimetres from its first point, and above the floor.
            holes: rectangles over (along, up) where no cell is made; their borders are among the lines.
        """
        first, second = (np.asarray(line, float) for line in lines)
        foot, end = np.array(wall, float)
        step = (end - foot) / np.sqrt(((end - foot) ** 2).sum())
        s, y = (grid.ravel() for grid in np.meshgrid(first, second, indexing="ij"))
        vertices = np.stack([foot[0] + step[0] * s, y, foot[1] + step[1] * s], 1)
        panel = Panel.of(first, second, holes)
        triangles = panel.cell_triangles()
        uv = np.stack([s, y], 1)[panel.used][triangles]
        self._pieces.append(self._flat(owner, look, vertices[panel.used], triangles, uv, panel))

    def add_sheet(
        self, owner: int, look: Look, corners: Float[np.ndarray, "t 3 2"], level: int, facing: int
    ) -> None:
        """Add level triangles, seen from above (`facing` +1) or below (-1), at height `level`.

        `corners` is (T, 3, 2): (x, z) in millimetres of the corners, clockwise seen from above.
        """
        order = corners[:, ::-1] if facing > 0 else corners
        flat = order.reshape(-1, 2)
        vertices = np.stack([flat[:, 0], np.full(len(flat), float(level)), flat[:, 1]], 1)
        triangles = np.arange(len(flat)).reshape(-1, 3)
        count = len(triangles)
        uv = _world_uv(vertices[triangles], np.full(count, 1), np.full(count, facing))
        self._sheets.append(self._flat(owner, look, vertices, triangles, uv))

    def _flat(
        self,
        owner: int,
        look: Look,
        vertices: np.ndarray,
        triangles: np.ndarray,
        uv: np.ndarray,
        panel: Panel | None = None,
    ) -> _Piece:
        """A piece that belongs to no solid; `uv` in millimetres."""
        return _Piece(
            vertices,
            vertices,
            triangles,
            uv / FINISHES[look.finish].tile_mm,
            np.full(len(triangles), owner),
            np.full(len(triangles), self._look(look)),
            np.full(len(vertices), -1),
            panel,
        )

    def _look(self, look: Look) -> int:
        return self._looks.setdefault(look, len(self._looks))

    def build(self, object_room: Sequence[int]) -> HouseMesh:
        """The mesh of everything added; `object_room` is the room that lights each object, or -1."""
        shadows: list[np.ndarray] = []
        pieces = [*self._pieces, *self._sheets]
        for shape, placed in self._placed.items():
            pieces.append(self._instantiate(shape, placed, shadows))
        offsets = np.cumsum([0] + [len(piece.vertices) for piece in pieces])
        vertices = np.concatenate([piece.vertices for piece in pieces])
        own_frame = np.concatenate([piece.own_frame for piece in pieces])
        triangles = np.concatenate(
            [piece.triangles + offset for piece, offset in zip(pieces, offsets[:-1], strict=True)]
        )
        owner = np.concatenate([piece.owner for piece in pieces])
        look = np.concatenate([piece.look for piece in pieces])
        vertex_object = np.zeros(len(vertices), np.int64)
        vertex_object[triangles] = owner[:, None]
        glowing = np.array([known.finish in GLOWING for known in self._looks])
        vertex_glows = np.zeros(len(vertices), bool)
        vertex_glows[triangles] = glowing[look][:, None]
        low, high = _extents(own_frame, vertex_object, len(self.objects))
        return HouseMesh(
            vertices=vertices,
            normals=_vertex_normals(vertices, triangles),
            triangles=triangles.astype(np.int32),
            triangle_object=(owner + 1).astype(np.int32),
            triangle_look=look.astype(np.int32),
            uv=np.concatenate([piece.uv for piece in pieces]).astype(np.float32),
            vertex_part=np.concatenate([piece.part for piece in pieces]).astype(np.int32),
            vertex_room=np.asarray(object_room, np.int32)[vertex_object],
            vertex_glows=vertex_glows,
            looks=tuple(self._looks),
            part_boxes=np.concatenate(shadows) if shadows else np.zeros((0, 6)),
            object_low=low,
            object_high=high,
            panels=tuple(piece.panel for piece in self._pieces if piece.panel is not None),
            flat_vertices=sum(len(piece.vertices) for piece in (*self._pieces, *self._sheets)),
        )

    def _instantiate(self, shape: Shape, placed: Sequence[_Placed], shadows: list[np.ndarray]) -> _Piece:
        """All parts of one shape at once."""
        unit = template(shape)
        number = len(placed)
        parts = [item.part for item in placed]
        owner = np.array([item.owner for item in placed])
        size = np.array([part.size for part in parts], float)[:, None]
        scaled = unit.vertices[None] * size
        own = (
            _turned(scaled, [part.turn for part in parts])
            + np.array([part.at for part in parts], float)[:, None]
        )
        owners = [self.objects[k] for k in owner]
        world = _turned(own, [item.turn for item in owners])
        world = world + np.array([item.at for item in owners], float)[:, None]
        uv = _part_uv(unit.vertices, unit.triangles, scaled, parts)
        solid = np.array([item.shades and not part.thin for item, part in zip(owners, parts, strict=True)])
        index = self._part_indices(solid, world, shadows)
        count = len(unit.vertices)
        triangles = unit.triangles[None] + count * np.arange(number)[:, None, None]
        look = np.array([self._look(part.look) for part in parts])
        return _Piece(
            world.reshape(-1, 3),
            own.reshape(-1, 3),
            triangles.reshape(-1, 3),
            uv.reshape(-1, 3, 2),
            np.repeat(owner, len(unit.triangles)),
            np.repeat(look, len(unit.triangles)),
            np.repeat(index, count),
        )

    def _part_indices(
        self, solid: np.ndarray, world: np.ndarray, shadows: list[np.ndarray]
    ) -> Int[np.ndarray, "p"]:
        """Running numbers of the parts that shade, whose boxes are appended; -1 for the others."""
        index = np.where(solid, self._count + np.cumsum(solid) - 1, -1)
        boxes = np.concatenate([world.min(1), world.max(1)], 1)[solid]
        shadows.append(boxes)
        self._count += len(boxes)
        return index


def _turned(points: Float[np.ndarray, "p v 3"], turns: Sequence[Turn]) -> Float[np.ndarray, "p v 3"]:
    """Points rotated about +y, one turn per row."""
    cosine = np.array([turn.cosine / turn.whole for turn in turns])[:, None]
    sine = np.array([turn.sine / turn.whole for turn in turns])[:, None]
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    return np.stack([cosine * x + sine * z, y, cosine * z - sine * x], -1)


def _world_uv(
    corners: Float[np.ndarray, "... t 3 3"], axis: Int[np.ndarray, "... t"], sign: Int[np.ndarray, "... t"]
) -> Float[np.ndarray, "... t 3 2"]:
    """Box mapping: (u, v) in the unit of `corners`, u to the right and v up as seen from outside."""
    x, y, z = corners[..., 0], corners[..., 1], corners[..., 2]
    axis, sign = axis[..., None], sign[..., None]
    u = np.where(axis == 0, -sign * z, np.where(axis == 2, sign * x, x))
    v = np.where(axis == 1, -sign * z, y)
    return np.stack([u, v], -1)


def _part_uv(
    unit: np.ndarray, triangles: np.ndarray, scaled: Float[np.ndarray, "p v 3"], parts: Sequence[Part]
) -> Float[np.ndarray, "p t 3 2"]:
    """Texture coordinates: repeats by size, or once over each face for parts that fit."""
    corners = scaled[:, triangles]
    normal = np.cross(corners[..., 1, :] - corners[..., 0, :], corners[..., 2, :] - corners[..., 0, :])
    axis = np.argmax(np.abs(normal), -1)
    sign = np.sign(np.take_along_axis(normal, axis[..., None], -1)[..., 0]).astype(np.int64)
    finishes = [FINISHES[part.look.finish] for part in parts]
    tile = np.array([finish.tile_mm for finish in finishes], float)[:, None, None, None]
    shift = np.array([[k * 37 % 101 / 101, k * 61 % 103 / 103] for k in range(len(parts))])
    uv = _world_uv(corners, axis, sign) / tile + shift[:, None, None]
    uv = np.where(_grain_is_upright(parts, axis)[..., None, None], uv[..., ::-1], uv)
    fit = np.array([part.fit for part in parts])
    if fit.any():
        unit_corners = np.broadcast_to(unit[triangles], corners.shape)
        fitted = _world_uv(unit_corners, axis, sign)
        fitted = (
            fitted + np.stack([np.full(axis.shape, 0.5), np.where(axis == 1, 0.5, 0.0)], -1)[..., None, :]
        )
        uv = np.where(fit[:, None, None, None], fitted, uv)
    return uv


def _grain_is_upright(parts: Sequence[Part], axis: Int[np.ndarray, "p t"]) -> Bool[np.ndarray, "p t"]:
    """Whether a part's longest side lies along v, so that its wood grain must be rotated."""
    longest = np.array(
        [int(np.argmax(part.size)) if FINISHES[part.look.finish].grain else -1 for part in parts]
    )[:, None]
    return np.where(axis == 1, longest == 2, longest == 1)


def _vertex_normals(
    vertices: Float[np.ndarray, "v 3"], triangles: Int[np.ndarray, "t 3"]
) -> Float[np.ndarray, "v 3"]:
    """Unit normals, averaged over the triangles at a vertex by area."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    corners = triangles.T.ravel()
    total = np.stack(
        [np.bincount(corners, np.tile(face[:, k], 3), minlength=len(vertices)) for k in range(3)], 1
    )
    length = np.sqrt((total * total).sum(1))
    return total / np.where(length > 0, length, 1.0)[:, None]


def _extents(
    points: Float[np.ndarray, "v 3"], group: Int[np.ndarray, "v"], groups: int
) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, "n 3"]]:
    """Lowest and highest corner of the points of each group."""
    low, high = np.full((groups, 3), np.inf), np.full((groups, 3), -np.inf)
    np.minimum.at(low, group, points)
    np.maximum.at(high, group, points)
    return low, high
