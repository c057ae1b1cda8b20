"""Obstacles as plan outlines of placements, and the exact walkable floor."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from navarena.scenes.houses.furnishing.free_space import Placement
from navarena.scenes.houses.plan.floor_plan import FloorPlan, Rect
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.houses.plan.openings import leaf_rect
from navarena.scenes.houses.plan.walls import floor_polygons
from navarena.scenes.houses.solids.models import Part
from navarena.scenes.houses.structure.wall_boxes import doorway_rects
from navarena.scenes.scene import Footprint, WalkableSurface

LOWEST_BODY_MM = 500
"""No body of the field is lower, so what lies wholly below something this low adds nothing."""

OVERHEAD_MM = 1900
"""What hangs higher is no obstacle; the tallest body of the field is 1.5 m."""

FLAT_MM = 20
"""Rugs and mats are floor."""

ENCLOSED = frozenset({"bathtub", "treadmill"})
"""Families with a low bottom between high rims: nobody stands in them, so their whole outline counts."""


@dataclass(frozen=True)
class Obstruction:
    """A part of a placement, seen from above: world outline (millimetres) and height range."""

    polygon: tuple[tuple[int, int], ...]
    low: int
    high: int

    @property
    def rect(self) -> Rect:
        """The smallest rectangle around the outline."""
        xs, zs = [x for x, _ in self.polygon], [z for _, z in self.polygon]
        return Rect(min(xs), min(zs), max(xs), max(zs))


def obstructions(placement: Placement) -> list[Obstruction]:
    """The outlines of a placement's parts, without those that another one makes redundant."""
    if placement.family in ENCLOSED:
        return [Obstruction(_corners(placement, placement.model.rect), placement.low, placement.high)]
    kept: list[tuple[Rect, int, int]] = []
    for part in sorted(placement.model.parts, key=_by_importance):
        low = placement.at[1] + part.at[1]
        high = low + part.size[1]
        if low > OVERHEAD_MM or part.thin or (high < FLAT_MM and placement.at[1] == 0):
            continue
        rect = part.plan_rect()
        if not any(_makes_redundant(other, (rect, low, high)) for other in kept):
            kept.append((rect, low, high))
    return [Obstruction(_corners(placement, rect), low, high) for rect, low, high in kept]


def _by_importance(part: Part) -> tuple[int, int]:
    """Large outlines first, low ones first among equals."""
    return (-part.plan_rect().area, part.at[1])


def _makes_redundant(other: tuple[Rect, int, int], part: tuple[Rect, int, int]) -> bool:
    """Whether no body could touch `part` without touching `other`."""
    if not other[0].contains(part[0]):
        return False
    return (other[1] <= part[1] and other[2] >= min(part[2], LOWEST_BODY_MM)) or (
        other[1] < LOWEST_BODY_MM and other[2] >= part[2]
    )


def _corners(placement: Placement, rect: Rect) -> tuple[tuple[int, int], ...]:
    x, _, z = placement.at
    corners = ((rect.x0, rect.z0), (rect.x1, rect.z0), (rect.x1, rect.z1), (rect.x0, rect.z1))
    turned = (placement.turn.apply(*corner) for corner in corners)
    return tuple((x + dx, z + dz) for dx, dz in turned)


def leaf_obstructions(plan: FloorPlan) -> list[Obstruction]:
    """Door leaves that stand open."""
    found = []
    for opening in plan.openings:
        rect = leaf_rect(plan.rooms, opening)
        if rect is not None:
            corners = ((rect.x0, rect.z0), (rect.x1, rect.z0), (rect.x1, rect.z1), (rect.x0, rect.z1))
            found.append(Obstruction(corners, 5, opening.high - 5))
    return found


def house_floors(house: HousePlan) -> tuple[WalkableSurface, ...]:
    """Walkable surfaces of a house: the floors of every storey and the stairs between them."""
    surfaces: list[WalkableSurface] = []
    for level, storey in enumerate(house.storeys):
        surfaces += walkable_surfaces(storey.plan, storey.placements, storey.base, level)
        if level < len(house.stairs):
            surfaces += house.stairs[level].surfaces(storey.base, level)
    return tuple(surfaces)


def walkable_surfaces(
    plan: FloorPlan, placements: Sequence[Placement], base: int = 0, level: int = 0
) -> tuple[WalkableSurface, ...]:
    """Walkable floors of a storey, joined through doorways, with the obstacles on them.

    Stairs are not among them. In metres; `base` is the height of the floor in millimetres.
    """
    import shapely

    if plan.is_slanted:
        floor = [shapely.Polygon(polygon) for polygon in floor_polygons(plan)]
    else:
        rects = [piece for k in range(len(plan.rooms)) for piece in plan.ground_pieces(k)]
        floor = [shapely.box(r.x0, r.z0, r.x1, r.z1) for r in rects + doorway_rects(plan)]
    joined = shapely.union_all(floor)
    pieces = sorted(shapely.get_parts(shapely.simplify(joined, 0)), key=lambda piece: piece.bounds)
    everything = leaf_obstructions(plan)
    for placement in placements:
        everything += obstructions(placement)
    surfaces = []
    for piece in pieces:
        bounds = Rect(*(int(value) for value in piece.bounds))
        inside = tuple(
            Footprint(_metres(o.polygon), (base + o.low) / 1000, (base + o.high) / 1000)
            for o in everything
            if bounds.overlaps(o.rect)
        )
        holes = tuple(sorted(_metres(_ring(ring.coords)) for ring in piece.interiors))
        outline = _metres(_ring(piece.exterior.coords))
        surfaces.append(WalkableSurface(outline, holes, (0.0, 0.0, base / 1000), inside, level))
    return tuple(surfaces)


def _ring(coordinates: Iterable[tuple[float, float]]) -> list[tuple[int, int]]:
    """Whole millimetres, not closed, starting at the lowest corner."""
    corners = [(round(x), round(z)) for x, z in coordinates][:-1]
    first = corners.index(min(corners))
    return corners[first:] + corners[:first]


def _metres(polygon: Sequence[tuple[int, int]]) -> tuple[tuple[float, float], ...]:
    return tuple((x / 1000, z / 1000) for x, z in polygon)
