"""A navmesh from any triangle mesh: voxels, floors, layers, outlines, triangles.

1. `rasterise` fills voxel columns with the solid spans of the triangles.
2. `columns` keeps the floors that a body can stand on, links and erodes them.
3. `layers` parts them into connected pieces that do not overlap in plan.
4. `outlines` traces the pieces, `simplify` thins the outlines out.
5. `triangulation` fills them with triangles and links these, also from layer to layer.
6. `heights` lays the ground beneath triangles that leave it.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32, Float64, Int, Int32, Int64, Shaped

from navarena.core.errors import SceneError
from navarena.simulation.navmesh.columns import erode_floors, find_floors, link_floors, sort_spans
from navarena.simulation.navmesh.heights import fit_details
from navarena.simulation.navmesh.input_checks import explain_no_floor, require_mesh
from navarena.simulation.navmesh.layers import label_islands, part_layers
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.outlines import trace_outlines
from navarena.simulation.navmesh.parts import NavMeshParts
from navarena.simulation.navmesh.rasterise import rasterise_triangles
from navarena.simulation.navmesh.settings import NavMeshSettings
from navarena.simulation.navmesh.simplify import find_nodes, keep_corners, kept_segments, restore_clashing
from navarena.simulation.navmesh.triangulation import (
    build_polygons,
    link_triangles,
    triangulate_polygons,
    valid_polygons,
)

MAX_COLUMNS = 1 << 27
MAX_VOXELS = 32000  # heights are stored in 16 bits


@dataclass(frozen=True)
class _Grid:
    """Voxel columns over a mesh: origin (3,) metres, counts along x and z, metres per voxel."""

    origin: Float64[np.ndarray, "3"]
    nx: int
    nz: int
    scale: Float64[np.ndarray, "3"]


@dataclass(frozen=True)
class _Floors:
    """Places to stand, column after column (row z after row z), upwards within a column.

    Attributes:
        starts: (columns + 1,) the floors of column c are starts[c]:starts[c + 1].
        columns: (F,) column of each floor.
        heights: (F,) voxels above the origin, of the surface above the column's centre.
        links: (F, 4) floor that a body can walk onto in each direction, or -1.
        layers: (F,) layer, or -1 where the body's centre cannot be.
    """

    starts: Int32[np.ndarray, "c1"]
    columns: Int32[np.ndarray, "f"]
    heights: Float32[np.ndarray, "f"]
    links: Int32[np.ndarray, "f 4"]
    layers: Int32[np.ndarray, "f"]


@dataclass(frozen=True)
class _Outlines:
    """Traced outlines of layers.

    Attributes:
        offsets: (L + 1,) outline l has positions offsets[l]:offsets[l + 1].
        layers: (L,) layer that the outline bounds.
        corners: (E,) corner of each position; outlines that meet share corners.
        x, z: (E,) grid lines of each position.
        across: (E,) layer on the other side of the edge that starts there, or -1.
        heights: (C,) voxels above the origin, of each corner.
    """

    offsets: Int64[np.ndarray, "l1"]
    layers: Int32[np.ndarray, "l"]
    corners: Int64[np.ndarray, "e"]
    x: Int32[np.ndarray, "e"]
    z: Int32[np.ndarray, "e"]
    across: Int32[np.ndarray, "e"]
    heights: Float64[np.ndarray, "c"]


def build_navmesh(
    vertices: Float[np.ndarray, "v 3"], triangles: Int[np.ndarray, "t 3"], settings: NavMeshSettings
) -> NavMesh:
    """Where a body can be on a triangle mesh.

    The same mesh gives the same navmesh, whatever the order of its triangles. Time and memory
    grow with the plan area of the scene's bounds: 400 columns of 5 cm per square metre.

    Args:
        vertices: (V, 3) metres, world frame, y up.
        triangles: (T, 3) vertex indices, counter-clockwise seen from the front; floors face up.
        settings: the size of the body and of the voxels.

    Raises:
        SceneError: the mesh is empty, damaged or too large, or no body can stand on it; the
            message suggests another up axis or scale where that seems to be the reason.
    """
    return NavMesh.from_parts(**compute_mesh_parts(vertices, triangles, settings).as_arguments())


def compute_mesh_parts(
    vertices: Float[np.ndarray, "v 3"], triangles: Int[np.ndarray, "t 3"], settings: NavMeshSettings
) -> NavMeshParts:
    """The raw parts of the navmesh of a triangle mesh; arguments and errors as `build_navmesh`."""
    require_mesh(vertices, triangles)
    points = np.ascontiguousarray(vertices, np.float64)
    faces = np.ascontiguousarray(triangles, np.int64)
    grid = _plan_grid(points[faces.ravel()], settings)
    floors = _find_floors(points, faces, grid, settings)
    if not (floors.layers >= 0).any():
        raise SceneError(explain_no_floor(points, faces, settings))
    outlines = _trace(floors, grid)
    kept = _simplify(outlines, settings)
    return _triangulate(outlines, kept, floors, grid, settings)


def _plan_grid(corners: Float64[np.ndarray, "n 3"], settings: NavMeshSettings) -> _Grid:
    """The columns over the bounds of the used vertices; raises SceneError when too many."""
    scale = np.array([settings.cell_size, settings.cell_height, settings.cell_size])
    lowest, highest = corners.min(0), corners.max(0)
    cells = np.floor((highest - lowest) / scale) + 1
    if cells[0] * cells[2] > MAX_COLUMNS or cells[1] > MAX_VOXELS:
        size = " x ".join(f"{side:.4g}" for side in highest - lowest)
        raise SceneError(
            f"expected a scene in metres, got one of {size} (x, y, z): too large for voxels of "
            f"{settings.cell_size} m; check its unit (scale=0.01 for centimetres) or raise cell_size"
        )
    return _Grid(lowest, int(cells[0]), int(cells[2]), scale)


def _find_floors(
    points: Float64[np.ndarray, "v 3"],
    faces: Int64[np.ndarray, "t 3"],
    grid: _Grid,
    settings: NavMeshSettings,
) -> _Floors:
    """Voxelise, filter, link, erode, and part into layers."""
    nx, nz = grid.nx, grid.nz
    height, climb = settings.height_voxels, settings.climb_voxels
    least_up = float(np.cos(settings.max_slope))
    nodes = rasterise_triangles(
        points, faces, grid.origin, settings.cell_size, settings.cell_height, least_up, nx, nz
    )
    spans = sort_spans(*nodes, climb)
    del nodes
    starts, columns, floors, ceilings, heights = find_floors(*spans, nx, nz, height, climb)
    del spans
    links = link_floors(starts, columns, floors, ceilings, nx, nz, height, climb)
    roomy = erode_floors(links, settings.radius_cells)
    islands, _ = label_islands(roomy, links, settings.min_island_cells)
    order = np.argsort(floors, kind="stable")
    layers, _ = part_layers(islands, order, links, columns, floors, starts, nx, nz, climb)
    return _Floors(starts, columns, heights, links, layers)


def _trace(floors: _Floors, grid: _Grid) -> _Outlines:
    """Outlines of the layers, their corners numbered."""
    offsets, loop_layers, names, x, z, heights, across = trace_outlines(
        floors.layers, floors.links, floors.columns, floors.heights, grid.nx
    )
    _, first, corners = np.unique(names, return_index=True, return_inverse=True)
    return _Outlines(offsets, loop_layers, corners.astype(np.int64), x, z, across, heights[first])


def _simplify(outlines: _Outlines, settings: NavMeshSettings) -> Bool[np.ndarray, "c"]:
    """(C,) which corners to keep, so that no outlines of a layer touch but in corners."""
    o = outlines
    nodes = find_nodes(o.offsets, o.corners, o.across, len(o.heights))
    kept = keep_corners(o.offsets, o.corners, o.x, o.z, nodes, settings.edge_max_error)
    while True:
        segments = kept_segments(o.offsets, o.corners, kept)
        if restore_clashing(segments, o.offsets, o.layers, o.corners, o.x, o.z, kept) == 0:
            return np.asarray(kept)


def _fill_layers(
    outlines: _Outlines, kept: Bool[np.ndarray, "c"]
) -> tuple[Shaped[np.ndarray, "q"], Int64[np.ndarray, "k"]]:
    """The polygons of all layers from their kept corners, and the (K,) kept positions."""
    at = np.flatnonzero(kept[outlines.corners])
    points = np.stack([outlines.x[at], outlines.z[at]], 1).astype(np.float64)
    ring_offsets = np.searchsorted(at, outlines.offsets)
    return build_polygons(points, ring_offsets, outlines.layers), at


def _triangulate(
    outlines: _Outlines,
    kept: Bool[np.ndarray, "c"],
    floors: _Floors,
    grid: _Grid,
    settings: NavMeshSettings,
) -> NavMeshParts:
    """Triangles, links and ground of the simplified outlines."""
    polygons, at = _fill_layers(outlines, kept)
    broken = np.flatnonzero(~valid_polygons(polygons))
    if broken.size:  # outlines that cross in a corner: the traced ones never do
        whole = np.repeat(np.isin(outlines.layers, broken), np.diff(outlines.offsets))
        kept = kept.copy()
        kept[outlines.corners[whole]] = True
        polygons, at = _fill_layers(outlines, kept)
    corners, owner = triangulate_polygons(polygons)

    # corners back to numbers: within a layer, a grid point is one corner
    def place(layer: np.ndarray, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        return (layer.astype(np.int64) * (grid.nz + 1) + z.astype(np.int64)) * (grid.nx + 1) + x.astype(
            np.int64
        )

    layer_at = np.repeat(outlines.layers, np.diff(outlines.offsets))[at]
    places, first = np.unique(place(layer_at, outlines.x[at], outlines.z[at]), return_index=True)
    asked = place(np.repeat(owner, 3), corners[..., 0].ravel(), corners[..., 1].ravel())
    found = outlines.corners[at[first]][np.searchsorted(places, asked)]
    used, index = np.unique(found, return_inverse=True)
    grid_points = np.zeros((len(used), 3))
    grid_points[index, 0] = corners[..., 0].ravel()
    grid_points[:, 1] = outlines.heights[used]
    grid_points[index, 2] = corners[..., 1].ravel()
    indices = index.reshape(-1, 3).astype(np.int32)
    detail_offsets, details = fit_details(
        grid_points[indices],
        owner,
        floors.starts,
        floors.layers,
        floors.heights,
        grid.nx,
        grid.nz,
        settings.detail_max_error / settings.cell_height,
    )
    return NavMeshParts(
        vertices=grid.origin + grid_points * grid.scale,
        triangles=indices,
        neighbors=link_triangles(indices),
        detail_offsets=detail_offsets,
        detail_triangles=grid.origin + details * grid.scale,
        settings=settings,
    )
