"""The ground beneath the triangles of a voxelised mesh."""

import numpy as np
from jaxtyping import Float64, Int64

from navarena.simulation.navmesh.heights import MAX_PIECES, fit_details
from navarena.simulation.navmesh.terrain import Terrain
from navarena.simulation.navmesh.voxels import Grid


def lay_ground(
    corners: Float64[np.ndarray, "t 3 3"],
    layers: Int64[np.ndarray, "t"],
    terrain: Terrain,
    grid: Grid,
    tolerance: float,
) -> tuple[Int64[np.ndarray, "t1"], Float64[np.ndarray, "d 3 3"]]:
    """Pieces of ground under the triangles that leave the terrain by more than `tolerance`.

    Args:
        corners: (T, 3, 3) grid units.
        layers: (T,) the layer that each triangle covers.
        terrain: the floors.
        grid: their columns.
        tolerance: voxels.

    Returns:
        (T + 1,) offsets and (D, 3, 3) pieces in grid units; none under a triangle that fits.
    """
    offsets = np.zeros(len(corners) + 1, np.int64)
    pieces = np.zeros((0, 3, 3))
    stack = np.zeros((MAX_PIECES + 3, 3, 3))
    done = 0
    while done < len(corners):
        more = np.zeros((2 * MAX_PIECES + len(pieces), 3, 3))
        pieces = np.concatenate([pieces, more])
        done = fit_details(
            corners,
            done,
            layers,
            terrain.starts,
            terrain.layers,
            terrain.heights,
            grid.nx,
            grid.nz,
            tolerance,
            offsets,
            pieces,
            stack,
        )
    return offsets, pieces[: offsets[-1]].copy()
