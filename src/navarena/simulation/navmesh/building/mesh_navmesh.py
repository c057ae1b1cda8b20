"""A navmesh from any triangle mesh: voxels, floors, layers, outlines, triangles.

1. `voxel_spans` fills voxel columns with the solid spans of the triangles (kernels: `rasterise`).
2. `walkable_floors` keeps the floors that a body can stand on, links and erodes them (`floor_filters`),
   and divides them into connected layers that do not overlap in plan (`layer_partition`).
3. `outlines` traces the layers (`tracing`), simplifies their outlines (`simplification`) and covers
   them with triangles; `triangulation` links these, also from layer to layer.
4. `ground_pieces` fits pieces of ground under triangles that deviate from it.
"""

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import SceneError
from navarena.simulation.navmesh.building.ground_pieces import lay_ground
from navarena.simulation.navmesh.building.mesh_checks import explain_no_floor, require_mesh
from navarena.simulation.navmesh.mesh_structure import NavMeshParts
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.navmesh.polygons.outlines import fill_layers, simplify_outlines, trace_layers
from navarena.simulation.navmesh.polygons.triangulation import link_triangles
from navarena.simulation.navmesh.voxels.voxel_spans import plan_grid, voxelise
from navarena.simulation.navmesh.voxels.walkable_floors import find_walkable_floors


def build_navmesh(
    vertices: Float[np.ndarray, "v 3"],
    triangles: Int[np.ndarray, "t 3"],
    settings: NavMeshSettings,
    up_axis: str = "y",
) -> NavMesh:
    """Build the navmesh of a body on a triangle mesh.

    The same mesh gives the same navmesh, whatever the order of its triangles. Time and memory
    grow with the plan area of the scene's bounds: 400 columns of 5 cm per square metre.

    Args:
        vertices: (V, 3) metres, world frame, y up.
        triangles: (T, 3) vertex indices, counter-clockwise seen from the front; floors face up.
        settings: the size of the body and of the voxels.
        up_axis: axis of the file that became the world's y, for the advice in messages.

    Raises:
        SceneError: the mesh is empty, damaged or too large, or no body can stand on it; the
            message suggests another up axis or scale where that seems to be the reason.
    """
    return NavMesh.from_parts(**compute_mesh_parts(vertices, triangles, settings, up_axis).as_arguments())


def compute_mesh_parts(
    vertices: Float[np.ndarray, "v 3"],
    triangles: Int[np.ndarray, "t 3"],
    settings: NavMeshSettings,
    up_axis: str = "y",
) -> NavMeshParts:
    """The raw parts of the navmesh of a triangle mesh: (V, 3) vertices in metres, (T, 3) triangles.

    Arguments and errors as `build_navmesh`.
    """
    require_mesh(vertices, triangles)
    points = np.ascontiguousarray(vertices, np.float64)
    faces = np.ascontiguousarray(triangles, np.int64)
    grid = plan_grid(points[faces.ravel()], settings)
    floors = find_walkable_floors(voxelise(points, faces, grid, settings), grid, settings)
    if not (floors.layers >= 0).any():
        raise SceneError(explain_no_floor(points, faces, settings, up_axis))
    outlines = trace_layers(floors, grid.nx)
    kept = simplify_outlines(outlines, settings.edge_max_error)
    grid_points, triangles, layers = fill_layers(outlines, kept)
    detail_offsets, details = lay_ground(
        grid_points[triangles], layers, floors, grid, settings.detail_max_error / settings.cell_height
    )
    return NavMeshParts(
        vertices=grid.origin + grid_points * grid.scale,
        triangles=triangles,
        neighbors=link_triangles(triangles),
        detail_offsets=detail_offsets,
        detail_triangles=grid.origin + details * grid.scale,
        settings=settings,
    )
