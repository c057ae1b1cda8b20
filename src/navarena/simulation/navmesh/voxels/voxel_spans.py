"""The voxel columns over a mesh, and the solid spans in them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int16, Int32, Int64

from navarena.core.errors import SceneError
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.navmesh.voxels.floor_filters import sort_spans
from navarena.simulation.navmesh.voxels.rasterise import rasterise_triangles

MAX_COLUMNS = 1 << 27
"""Of one scene: 0.3 square kilometres at 5 cm, with half a gigabyte for their heads alone."""

MAX_VOXELS = 32000
"""Of one column; heights are stored in 16 bits."""


@dataclass(frozen=True)
class Grid:
    """Voxel columns over a mesh; column (ix, iz) has index iz * nx + ix.

    Attributes:
        origin: (3,) metres, world frame, lowest corner.
        nx, nz: columns along x and z.
        scale: (3,) metres per cell, voxel and cell.
    """

    origin: Float64[np.ndarray, "3"]
    nx: int
    nz: int
    scale: Float64[np.ndarray, "3"]


@dataclass(frozen=True)
class Spans:
    """Solid spans, column after column, upwards within a column.

    Attributes:
        starts: (columns + 1,) the spans of column c are starts[c]:starts[c + 1].
        lows, highs: (S,) voxel borders.
        walkable: (S,) whether the top is flat enough to stand on.
        heights: (S,) voxels above the origin, of the surface above the column's centre.
    """

    starts: Int32[np.ndarray, "c1"]
    lows: Int16[np.ndarray, "s"]
    highs: Int16[np.ndarray, "s"]
    walkable: Bool[np.ndarray, "s"]
    heights: Float32[np.ndarray, "s"]


def plan_grid(corners: Float64[np.ndarray, "n 3"], settings: NavMeshSettings) -> Grid:
    """The columns over the bounds of points (n, 3), metres; raises SceneError when too many."""
    scale = np.array([settings.cell_size, settings.cell_height, settings.cell_size])
    lowest, highest = corners.min(0), corners.max(0)
    cells = np.floor((highest - lowest) / scale) + 1
    if cells[0] * cells[2] > MAX_COLUMNS or cells[1] > MAX_VOXELS:
        size = " x ".join(f"{side:.4g}" for side in highest - lowest)
        raise SceneError(
            f"expected a scene in metres, got one of {size} (x, y, z): too large for voxels of "
            f"{settings.cell_size} m; check its unit (scale=0.01 for centimetres) or raise cell_size"
        )
    return Grid(lowest, int(cells[0]), int(cells[2]), scale)


def voxelise(
    points: Float64[np.ndarray, "v 3"],
    faces: Int64[np.ndarray, "t 3"],
    grid: Grid,
    settings: NavMeshSettings,
) -> Spans:
    """The solid spans of all columns of `grid` over a mesh (metres)."""
    columns = grid.nx * grid.nz
    heads = np.full(columns, -1, np.int32)
    counters = np.array([0, -1])
    nodes = [np.zeros(0, kind) for kind in (np.int32, np.int16, np.int16, np.int16, np.float32)]
    added = 0
    while added < len(faces):
        room = 2 * len(nodes[0]) or columns + 4096
        nodes = [np.concatenate([old, np.zeros(room - len(old), old.dtype)]) for old in nodes]
        added = rasterise_triangles(
            points,
            faces,
            added,
            grid.origin,
            settings.cell_size,
            settings.cell_height,
            float(np.cos(settings.max_slope)),
            grid.nx,
            heads,
            *nodes,
            counters,
        )
    used = int(counters[0])
    starts = np.zeros(columns + 1, np.int32)
    lows, highs = np.zeros(used, np.int16), np.zeros(used, np.int16)
    walkable, heights = np.zeros(used, np.bool_), np.zeros(used, np.float32)
    count = sort_spans(heads, *nodes, settings.climb_voxels, starts, lows, highs, walkable, heights)
    return Spans(starts, lows[:count], highs[:count], walkable[:count], heights[:count])
