"""Free space of exact floors in the plan, and the portals where floors meet.

Plan coordinates are (x, z) in metres, snapped to a grid of a micrometre so that floors
that touch share their points exactly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import shapely
from jaxtyping import Float, Int, Shaped
from shapely.geometry.base import BaseGeometry

from navarena.core.errors import SceneError
from navarena.scenes.scene import WalkableSurface
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings

GRID = 1e-6
"""Metres: points nearer than this are one point."""

NEAR = 1e-5
"""Metres within which a corner and a point, or a border and a point, become one."""

ARC_SEGMENTS = 4
"""Segments of a quarter circle around an obstacle's corner: 0.02 of the radius inside the true arc."""

SIMPLIFY_TOLERANCE = 0.002
"""Metres that a simplified border may run nearer to an obstacle."""

PORTAL_REACH = 1.5
"""Depth of the neighbouring floor that counts as free ground beyond a portal, in radii."""


@dataclass(frozen=True)
class Portal:
    """The border along which two floors meet at heights that a body can step between.

    Attributes:
        first, second: indices of the floors.
        line: segments in the plan.
    """

    first: int
    second: int
    line: BaseGeometry


def surface_heights(
    plane: tuple[float, float, float], points: Float[np.ndarray, "n 2"]
) -> Float[np.ndarray, "n"]:
    """World y (metres) of plan points (n, 2) on the plane y = a x + b z + c."""
    return np.asarray(plane[0] * points[:, 0] + plane[1] * points[:, 1] + plane[2])


def _plan_polygon(
    shell: Sequence[tuple[float, float]], holes: Sequence[Sequence[tuple[float, float]]], name: str
) -> BaseGeometry:
    """A valid polygon from corner lists; raises SceneError that names it otherwise."""
    problem = "fewer than three corners"
    if len(shell) >= 3:
        if not all(np.isfinite(np.asarray(ring, float)).all() for ring in (shell, *holes)):
            problem = "NaN or infinite coordinates"
        else:
            polygon = shapely.Polygon(shell, holes)
            if shapely.is_valid(polygon):
                return shapely.set_precision(polygon, GRID)
            problem = shapely.is_valid_reason(polygon)
    raise SceneError(f"expected a simple polygon as {name}, got {problem}; correct the floor plan")


def outline_polygons(walkable: Sequence[WalkableSurface]) -> list[BaseGeometry]:
    """The plan of each surface with its holes; raises SceneError for one that is not simple."""
    return [
        _plan_polygon(surface.outline, surface.holes, f"outline of walkable surface {index}")
        for index, surface in enumerate(walkable)
    ]


def insert_points(area: BaseGeometry, points: Float[np.ndarray, "n 2"]) -> BaseGeometry:
    """The area, its border led through those of the `points` (N, 2), metres in the plan, that lie on it."""
    polygons = []
    for polygon in shapely.get_parts(area):
        if polygon.geom_type == "Polygon":
            rings = shapely.get_rings(polygon)
            denser = [_insert_into_ring(shapely.get_coordinates(ring), points) for ring in rings]
            polygons.append(shapely.Polygon(denser[0], denser[1:]))
    return shapely.MultiPolygon(polygons)


def _insert_into_ring(
    ring: Float[np.ndarray, "k 2"], points: Float[np.ndarray, "n 2"]
) -> Float[np.ndarray, "m 2"]:
    """A closed ring whose corners near a point move onto it, with the other points inside its edges."""
    if not len(points):
        return ring
    away = np.hypot(*(ring[:, None] - points).transpose(2, 0, 1))
    nearest = away.argmin(1)
    ring = np.where(away.min(1)[:, None] < NEAR, points[nearest], ring)
    low, high = np.minimum(ring[:-1], ring[1:]) - 2 * NEAR, np.maximum(ring[:-1], ring[1:]) + 2 * NEAR
    passed = ((points >= low[:, None]) & (points <= high[:, None])).all(2).any(1)
    longer = [ring[:1]]
    for (a, b), passes in zip(pairwise(ring), passed):
        if passes:  # most edges pass no point
            length = max(float(np.hypot(*(b - a))), GRID)
            along = (points - a) @ (b - a) / length
            off = np.abs((points - a) @ np.array([a[1] - b[1], b[0] - a[0]])) / length
            # every point that no corner has moved onto, or floors would be linked on one side only
            is_apart = np.minimum(np.hypot(*(points - a).T), np.hypot(*(points - b).T)) >= NEAR
            inside = (off < NEAR) & (along > 0) & (along < length) & is_apart
            longer.append(points[inside][np.argsort(along[inside], kind="stable")])
        longer.append(b[None])
    return np.concatenate(longer)


def share_border_points(outlines: Sequence[BaseGeometry]) -> list[BaseGeometry]:
    """The outlines, each with the corners of others on its border added."""
    shared = list(outlines)
    tree = shapely.STRtree(shared)
    for index, outline in enumerate(outlines):
        around = [shared[other] for other in tree.query(outline, "dwithin", NEAR) if other != index]
        if around:
            points = np.unique(shapely.get_coordinates(around), axis=0)
            near = shapely.dwithin(outline.boundary, shapely.points(points), NEAR)
            shared[index] = insert_points(outline, points[near])
    return shared


def _blocking(surface: WalkableSurface, settings: NavMeshSettings) -> Int[np.ndarray, "k"]:
    """(K,) indices of the obstacles that a body on the surface can neither step over nor pass beneath."""
    corners = [obstacle.polygon for obstacle in surface.obstacles]
    floor = surface_heights(surface.plane, np.array(list(chain.from_iterable(corners)), float).reshape(-1, 2))
    first = np.concatenate([[0], np.cumsum([len(polygon) for polygon in corners])[:-1]]).astype(int)
    high = np.array([obstacle.high for obstacle in surface.obstacles])
    low = np.array([obstacle.low for obstacle in surface.obstacles])
    return np.flatnonzero(
        (high > np.minimum.reduceat(floor, first) + settings.max_climb)
        & (low < np.maximum.reduceat(floor, first) + settings.height)
    )


def _footprints(index: int, surface: WalkableSurface, settings: NavMeshSettings) -> Shaped[np.ndarray, "k"]:
    """(K,) polygons of the obstacles that block a body, metres in the plan.

    Raises SceneError that names the first obstacle which is not simple.
    """
    for number, obstacle in enumerate(surface.obstacles):
        if len(obstacle.polygon) < 3:
            _plan_polygon(obstacle.polygon, (), f"obstacle {number} of walkable surface {index}")
    if not surface.obstacles:
        return np.zeros(0, object)
    chosen = _blocking(surface, settings)
    rings = [surface.obstacles[number].polygon for number in chosen]
    polygons = shapely.polygons(
        shapely.linearrings(
            np.array(list(chain.from_iterable(rings)), float).reshape(-1, 2),
            indices=np.repeat(np.arange(len(rings)), [len(ring) for ring in rings]),
        )
    )
    good = shapely.is_valid(polygons)
    for number in chosen[~good]:
        _plan_polygon(surface.obstacles[number].polygon, (), f"obstacle {number} of walkable surface {index}")
    return np.asarray(shapely.set_precision(polygons, GRID))


def unblocked_area(
    index: int, surface: WalkableSurface, outline: BaseGeometry, settings: NavMeshSettings
) -> BaseGeometry:
    """The outline without the obstacles that block a body; empty where it is too steep."""
    if math.hypot(*surface.plane[:2]) > math.tan(settings.max_slope) + GRID:
        return shapely.Polygon()
    footprints = _footprints(index, surface, settings)
    if not len(footprints):
        return outline
    return shapely.difference(outline, shapely.union_all(footprints, grid_size=GRID), grid_size=GRID)


def _level_part(
    line: BaseGeometry,
    one: tuple[float, float, float],
    other: tuple[float, float, float],
    max_step: float,
) -> BaseGeometry:
    """The parts of the segments of `line` where two planes differ by at most `max_step`."""
    parts = []
    for segment in shapely.get_parts(line):
        if shapely.get_type_id(segment) != shapely.GeometryType.LINESTRING:
            continue
        corners = shapely.get_coordinates(segment)
        steps = surface_heights(one, corners) - surface_heights(other, corners)
        for a, b, step_a, step_b in zip(corners[:-1], corners[1:], steps[:-1], steps[1:]):
            low, high = 0.0, 1.0
            change = step_b - step_a
            if abs(change) > 1e-12:
                crossings = sorted([(-max_step - step_a) / change, (max_step - step_a) / change])
                low, high = max(low, crossings[0]), min(high, crossings[1])
            elif abs(step_a) > max_step:
                continue
            if high > low:
                parts.append(shapely.LineString([a + low * (b - a), a + high * (b - a)]))
    return shapely.MultiLineString(parts)


def find_portals(
    walkable: Sequence[WalkableSurface], outlines: Sequence[BaseGeometry], settings: NavMeshSettings
) -> list[Portal]:
    """Shared borders of two surfaces within a step's height, by ascending indices."""
    tree = shapely.STRtree(list(outlines))
    portals = []
    pairs = np.sort(tree.query(list(outlines), predicate="intersects").T, axis=1)
    for first, second in np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).tolist():
        shared = shapely.intersection(outlines[first].boundary, outlines[second].boundary, grid_size=GRID)
        line = _level_part(
            shapely.line_merge(shared) if shared.geom_type == "MultiLineString" else shared,
            walkable[first].plane,
            walkable[second].plane,
            settings.max_climb + GRID,
        )
        if line.length > GRID:
            portals.append(Portal(first, second, line))
    return portals


def eroded_area(
    index: int,
    outline: BaseGeometry,
    unblocked: Sequence[BaseGeometry],
    portals: Sequence[Portal],
    settings: NavMeshSettings,
) -> BaseGeometry:
    """The area of the centre of a body on one surface: a radius away from all that is not free.

    Beyond a portal the other surface counts as free.
    """
    pieces = [unblocked[index]]
    for portal in portals:
        if index in (portal.first, portal.second):
            other = portal.second if index == portal.first else portal.first
            beyond = portal.line.buffer(PORTAL_REACH * settings.radius + GRID)
            pieces.append(shapely.intersection(unblocked[other], beyond))
    # points on the grid lie beside the line of a turned border: grow over the slits between pieces
    grown = [_areas_only(piece).buffer(2 * GRID, join_style="mitre") for piece in pieces]
    area: BaseGeometry = shapely.union_all(grown).buffer(-settings.radius - 2 * GRID, quad_segs=ARC_SEGMENTS)
    area = area.simplify(SIMPLIFY_TOLERANCE)
    area = _areas_only(shapely.intersection(area, outline, grid_size=GRID))
    return shapely.remove_repeated_points(area, NEAR)


def _areas_only(shape: BaseGeometry) -> BaseGeometry:
    """The polygons of a shape, without the points and lines along which shapes merely touch."""
    parts = shapely.get_parts(shape)
    return shapely.MultiPolygon(parts[shapely.get_type_id(parts) == shapely.GeometryType.POLYGON].tolist())
