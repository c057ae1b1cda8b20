"""The floors of a voxelised mesh that a body can stand on."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int32

from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.navmesh.voxels.floor_filters import erode_floors, find_floors, link_floors
from navarena.simulation.navmesh.voxels.layer_partition import label_islands, part_layers
from navarena.simulation.navmesh.voxels.voxel_spans import Grid, Spans


@dataclass(frozen=True)
class WalkableFloors:
    """Floors that a body can stand on, column after column (row z after row z), upwards within a column.

    Attributes:
        starts: (columns + 1,) the floors of column c are starts[c]:starts[c + 1].
        columns: (F,) column of each floor.
        heights: (F,) voxels above the origin, of the surface above the column's centre.
        links: (F, 4) floor that a body can walk onto towards +x, +z, -x, -z, or -1.
        layers: (F,) layer, or -1 where the centre of a body cannot be.
    """

    starts: Int32[np.ndarray, "c1"]
    columns: Int32[np.ndarray, "f"]
    heights: Float32[np.ndarray, "f"]
    links: Int32[np.ndarray, "f 4"]
    layers: Int32[np.ndarray, "f"]


def find_walkable_floors(spans: Spans, grid: Grid, settings: NavMeshSettings) -> WalkableFloors:
    """Filter the tops of the spans, link and erode them, drop small islands, divide the rest into layers."""
    nx, nz = grid.nx, grid.nz
    height, climb = settings.height_voxels, settings.climb_voxels
    room = len(spans.lows)
    starts, columns = np.zeros(nx * nz + 1, np.int32), np.zeros(room, np.int32)
    floors, ceilings = np.zeros(room, np.int16), np.zeros(room, np.int16)
    heights = np.zeros(room, np.float32)
    count = find_floors(
        spans.starts,
        spans.lows,
        spans.highs,
        spans.walkable,
        spans.heights,
        nx,
        nz,
        height,
        climb,
        starts,
        columns,
        floors,
        ceilings,
        heights,
    )
    columns, floors, ceilings, heights = columns[:count], floors[:count], ceilings[:count], heights[:count]
    links = np.full((count, 4), -1, np.int32)
    link_floors(starts, columns, floors, ceilings, nx, nz, height, climb, links)
    roomy = erode_floors(links, settings.radius_cells)
    islands, _ = label_islands(roomy, links, settings.min_island_cells)
    order = np.argsort(floors, kind="stable")
    layers, _ = part_layers(islands, order, links, columns, floors, heights, starts, nx, nz, climb)
    return WalkableFloors(starts, columns, heights, links, layers)
