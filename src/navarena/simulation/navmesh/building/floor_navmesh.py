"""A navmesh from exactly known floors: polygons instead of voxels.

1. `free_space` cuts the obstacles out of each floor and keeps a radius away from what is left.
2. Floors whose borders meet at a step's height receive the same points along them.
3. `triangulation` fills the polygons with triangles and links these, also from floor to floor.
"""

from collections.abc import Sequence

import numpy as np
import shapely
from jaxtyping import Bool, Float64, Int32, Int64, Shaped
from shapely.geometry.base import BaseGeometry

from navarena.core.errors import SceneError
from navarena.scenes.scene import WalkableSurface
from navarena.simulation.navmesh.mesh_structure import NavMeshParts, compute_islands
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.navmesh.polygons.free_space import (
    GRID,
    NEAR,
    Portal,
    eroded_area,
    find_portals,
    insert_points,
    outline_polygons,
    share_border_points,
    surface_heights,
    unblocked_area,
)
from navarena.simulation.navmesh.polygons.triangulation import link_triangles, triangulate_polygons

LEVEL_STEP = 1e-3
"""Metres by which floors that share a point may differ before the ground is stored apart."""


def build_floor_navmesh(walkable: Sequence[WalkableSurface], settings: NavMeshSettings) -> NavMesh:
    """Build the navmesh of a body on exactly known floors.

    Borders keep the body's radius from walls and from the obstacles that it can neither step
    over nor pass beneath, to within a centimetre for radii up to 0.4 m. Surfaces whose borders
    coincide within max_climb are linked there. Islands below settings.min_island_area are
    dropped; the voxel sizes play no other part.

    Args:
        walkable: at least one floor, stair or ramp.
        settings: the size of the body.

    Raises:
        SceneError: a polygon is not simple, or there is no room for the body.
    """
    return NavMesh.from_parts(**compute_floor_parts(walkable, settings).as_arguments())


def compute_floor_parts(walkable: Sequence[WalkableSurface], settings: NavMeshSettings) -> NavMeshParts:
    """The raw parts of the navmesh of exact floors; arguments and errors as `build_floor_navmesh`."""
    if not walkable:
        raise SceneError("expected at least one walkable surface, got none; build the navmesh from triangles")
    outlines = share_border_points(outline_polygons(walkable))
    portals = find_portals(walkable, outlines, settings)
    unblocked = [
        unblocked_area(index, surface, outline, settings)
        for index, (surface, outline) in enumerate(zip(walkable, outlines))
    ]
    areas = [
        eroded_area(index, outline, unblocked, portals, settings) for index, outline in enumerate(outlines)
    ]
    polygons, surfaces = _explode(_share_portal_points(areas, portals))
    corners, owner = triangulate_polygons(polygons)
    if not len(corners):
        raise SceneError(_explain_no_room(outlines, settings))
    return _assemble(corners, surfaces[owner], walkable, portals, settings)


def _explode(areas: Sequence[BaseGeometry]) -> tuple[Shaped[np.ndarray, "q"], Int64[np.ndarray, "q"]]:
    """The polygons of all areas and the area each comes from."""
    parts, index = shapely.get_parts(np.array(areas, object), return_index=True)
    solid = (shapely.get_type_id(parts) == shapely.GeometryType.POLYGON) & (shapely.area(parts) > GRID)
    return parts[solid], np.asarray(index[solid], np.int64)


def _share_portal_points(areas: Sequence[BaseGeometry], portals: Sequence[Portal]) -> list[BaseGeometry]:
    """The areas, those that meet along a portal with each other's corners on it."""
    shared = list(areas)
    for portal in portals:
        near = portal.line.buffer(NEAR)
        for index, other in ((portal.first, portal.second), (portal.second, portal.first)):
            corners = np.unique(shapely.get_coordinates(shared[other]), axis=0)
            on_line = shapely.intersects_xy(near, corners[:, 0], corners[:, 1])
            shared[index] = insert_points(shared[index], corners[on_line])
    return shared


def _merge_portal_corners(
    places: Float64[np.ndarray, "v 3"], portals: Sequence[Portal]
) -> Int64[np.ndarray, "v"]:
    """(V,) for rows (surface, x, z): the first row that is the same point across portals."""
    same = np.arange(len(places))
    keys = np.round(places[:, 1:] / GRID).astype(np.int64)
    rows = {(int(s), x, z): row for row, (s, (x, z)) in enumerate(zip(places[:, 0], keys.tolist()))}

    def root(row: int) -> int:
        while same[row] != row:
            row = int(same[row])
        return row

    for portal in portals:
        near = portal.line.buffer(NEAR)
        mine = np.flatnonzero(places[:, 0] == portal.first)
        at = shapely.points(places[mine, 1:])
        for row in mine[shapely.intersects(near, at)]:
            other = rows.get((portal.second, *keys[row].tolist()))
            if other is not None:
                low, high = sorted((root(int(row)), root(other)))
                same[high] = low
    return np.array([root(row) for row in range(len(same))], np.int64)


def _assemble(
    corners: Float64[np.ndarray, "t 3 2"],
    surfaces: Int64[np.ndarray, "t"],
    walkable: Sequence[WalkableSurface],
    portals: Sequence[Portal],
    settings: NavMeshSettings,
) -> NavMeshParts:
    """Number the corners, link the triangles, drop small islands, add the ground where floors step."""
    plan = np.round(corners.reshape(-1, 2) / GRID) * GRID
    labelled = np.column_stack([np.repeat(surfaces, 3).astype(float), plan])
    places, index = np.unique(labelled, axis=0, return_inverse=True)
    own_heights = np.zeros(len(places))
    for number, surface in enumerate(walkable):
        here = places[:, 0] == number
        own_heights[here] = surface_heights(surface.plane, places[here, 1:])
    own = np.stack([places[:, 1], own_heights, places[:, 2]], 1)
    merged = _merge_portal_corners(places, portals)
    vertices = own.copy()
    vertices[:, 1] = (np.bincount(merged, own_heights) / np.bincount(merged).clip(1))[merged]
    pieces = index.reshape(-1, 3)
    triangles = merged[pieces].astype(np.int32)
    neighbors = link_triangles(triangles)
    keep = _large_enough(own[pieces], neighbors, settings)
    if not keep.any():
        raise SceneError(
            f"expected a floor of at least {settings.min_island_area:.3g} m2 for a body of radius "
            f"{settings.radius:.3g} m, got only smaller ones; check the floor plan's unit"
        )
    triangles, pieces = triangles[keep], pieces[keep]
    used, compact = np.unique(triangles, return_inverse=True)
    triangles = compact.reshape(-1, 3).astype(np.int32)
    stepped = (np.abs(vertices[used][triangles][..., 1] - own[pieces][..., 1]) > LEVEL_STEP).any(1)
    return NavMeshParts(
        vertices=vertices[used],
        triangles=triangles,
        neighbors=link_triangles(triangles),
        detail_offsets=np.concatenate([[0], np.cumsum(stepped)]).astype(np.int64),
        detail_triangles=own[pieces][stepped],
        settings=settings,
    )


def _large_enough(
    corners: Float64[np.ndarray, "t 3 3"], neighbors: Int32[np.ndarray, "t 3"], settings: NavMeshSettings
) -> Bool[np.ndarray, "t"]:
    """(T,): triangles of islands that have at least the smallest area."""
    islands = compute_islands(np.where(neighbors >= 0, 3 * neighbors, -1))
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    return np.asarray(np.bincount(islands, area)[islands] >= settings.min_island_area)


def _explain_no_room(outlines: Sequence[BaseGeometry], settings: NavMeshSettings) -> str:
    total = sum(outline.area for outline in outlines)
    return (
        f"expected room for a body of radius {settings.radius:.3g} m and height {settings.height:.3g} m on "
        f"{len(outlines)} walkable surfaces of {total:.3g} m2, got none; check obstacles, slopes and the unit"
    )
