"""Layers covered with triangles, numbered so that neighbouring layers share their corners."""

import numpy as np
from jaxtyping import Bool, Float64, Int32, Int64, Shaped

from navarena.simulation.navmesh.outlines import Outlines
from navarena.simulation.navmesh.triangulation import (
    build_polygons,
    part_visits,
    triangulate_polygons,
    valid_polygons,
)


def fill_layers(
    outlines: Outlines, kept: Bool[np.ndarray, "c"]
) -> tuple[Float64[np.ndarray, "v 3"], Int32[np.ndarray, "t 3"], Int64[np.ndarray, "t"]]:
    """Fill the layers with triangles.

    Returns:
        (V, 3) vertices in grid units, (T, 3) triangles, and the (T,) layer of each triangle.
    """
    polygons, at, points = layer_polygons(outlines, kept)
    corners, layers = triangulate_polygons(polygons)

    # corners back to numbers: points of a layer differ, whatever grid points they stand for
    _, plan = np.unique(np.concatenate([points.ravel(), corners.ravel()]), return_inverse=True)
    plan = plan.reshape(-1, 2)
    size = int(plan.max()) + 1
    own_layers = outlines.layers[outlines.loops[at]].astype(np.int64)
    known = (own_layers * size + plan[: len(at), 0]) * size + plan[: len(at), 1]
    asked = (np.repeat(layers, 3) * size + plan[len(at) :, 0]) * size + plan[len(at) :, 1]
    order = np.argsort(known)
    found = at[order[np.searchsorted(known, asked, sorter=order)]].reshape(-1, 3)
    x, z = outlines.x[found].astype(np.int64), outlines.z[found].astype(np.int64)
    area = (x[:, 1] - x[:, 0]) * (z[:, 2] - z[:, 0]) - (x[:, 2] - x[:, 0]) * (z[:, 1] - z[:, 0])
    solid = area < 0  # thin triangles at corners that were visited twice vanish
    used, index = np.unique(outlines.corners[found[solid]], return_inverse=True)
    vertices = np.zeros((len(used), 3))
    vertices[index.ravel(), 0], vertices[index.ravel(), 2] = x[solid].ravel(), z[solid].ravel()
    vertices[:, 1] = outlines.heights[used]
    return vertices, index.reshape(-1, 3).astype(np.int32), layers[solid]


def layer_polygons(
    outlines: Outlines, kept: Bool[np.ndarray, "c"]
) -> tuple[Shaped[np.ndarray, "q"], Int64[np.ndarray, "k"], Float64[np.ndarray, "k 2"]]:
    """The valid polygons of all layers, the (K,) positions used, and the polygons' points there.

    Layers whose thinned outlines cross in a corner get their traced outlines, which never do.
    """
    polygons, at, points = _outline_polygons(outlines, kept)
    whole = np.zeros(len(polygons), np.bool_)
    while (broken := ~valid_polygons(polygons) & ~whole).any():
        whole |= broken
        kept = kept.copy()
        kept[outlines.corners[whole[outlines.layers][outlines.loops]]] = True
        polygons, at, points = _outline_polygons(outlines, kept)
    return polygons, at, points


def _outline_polygons(
    outlines: Outlines, kept: Bool[np.ndarray, "c"]
) -> tuple[Shaped[np.ndarray, "q"], Int64[np.ndarray, "k"], Float64[np.ndarray, "k 2"]]:
    """The polygons of the kept corners, the (K,) kept positions, and the polygons' points there."""
    at = np.flatnonzero(kept[outlines.corners])
    rings = np.searchsorted(at, outlines.offsets)
    points = part_visits(np.stack([outlines.x[at], outlines.z[at]], 1).astype(np.float64), rings)
    return build_polygons(points, rings, outlines.layers), at, points
