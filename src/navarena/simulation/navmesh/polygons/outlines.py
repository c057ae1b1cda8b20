"""Outlines of layers: traced along their cells, simplified, and filled with triangles.

Vertices are numbered so that neighbouring layers share their corners.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int32, Int64, Shaped

from navarena.simulation.navmesh.polygons.simplification import keep_corners, restore_clashing
from navarena.simulation.navmesh.polygons.tracing import trace_outlines
from navarena.simulation.navmesh.polygons.triangulation import (
    build_polygons,
    part_visits,
    triangulate_polygons,
    valid_polygons,
)
from navarena.simulation.navmesh.voxels.walkable_floors import WalkableFloors

FREE_DEGREE = 2
"""Border edges that meet in a corner where nothing happens."""


@dataclass(frozen=True)
class Outlines:
    """Outlines of layers: closed runs of corners, with the layer on the left (x right, z up).

    Attributes:
        offsets: (L + 1,) outline l has the positions offsets[l]:offsets[l + 1].
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

    @property
    def loops(self) -> Int64[np.ndarray, "e"]:
        """(E,) the outline of each position."""
        return np.repeat(np.arange(len(self.layers)), np.diff(self.offsets))

    @property
    def following(self) -> Int64[np.ndarray, "e"]:
        """(E,) the position after each one, around its outline."""
        after = np.arange(1, len(self.corners) + 1)
        after[self.offsets[1:] - 1] = self.offsets[:-1]
        return after


def trace_layers(floors: WalkableFloors, nx: int) -> Outlines:
    """All outlines of the floors's layers on a grid with `nx` columns along x."""
    count, offsets, layers, names, x, z, heights, across = trace_outlines(
        floors.layers, floors.links, floors.columns, floors.heights, nx
    )
    _, first, corners = np.unique(names, return_index=True, return_inverse=True)
    return Outlines(
        offsets[: count + 1], layers[:count], corners.astype(np.int64), x, z, across, heights[first]
    )


def simplify_outlines(outlines: Outlines, max_error: float) -> Bool[np.ndarray, "c"]:
    """(C,) bool, which corners to keep so that outlines stay within `max_error` cells of the traced ones.

    Where that would let outlines of one layer touch but in corners, more corners are kept.
    """
    o = outlines
    kept = _find_nodes(o)
    restored = 1
    while restored:
        keep_corners(o.offsets, o.corners, o.x, o.z, kept.copy(), max_error, kept)
        segments = _list_segments(o, kept)
        restored = restore_clashing(segments, o.offsets, o.layers, o.corners, o.x, o.z, kept)
    return kept


def _find_nodes(outlines: Outlines) -> Bool[np.ndarray, "c"]:
    """(C,) corners where other than two border edges meet; edges between layers are traced twice."""
    share = np.where(outlines.across < 0, 1.0, 0.5)
    ends = outlines.corners[outlines.following]
    count = len(outlines.heights)
    degree = np.bincount(outlines.corners, share, count) + np.bincount(ends, share, count)
    return np.asarray(degree != FREE_DEGREE)


def _list_segments(outlines: Outlines, kept: Bool[np.ndarray, "c"]) -> Int64[np.ndarray, "s 3"]:
    """(S, 3) rows (outline, first position, last position) from each kept corner to the next."""
    at = np.flatnonzero(kept[outlines.corners])
    loops = outlines.loops[at]
    start = at - outlines.offsets[loops]
    end = np.roll(start, -1)
    closing = np.append(loops[1:] != loops[:-1], True)
    opening = np.roll(closing, 1)
    end[closing] = start[opening] + np.diff(outlines.offsets)[loops[closing]]
    return np.stack([loops, start, end], 1)


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
    order = np.argsort(known, kind="stable")
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

    Layers whose simplified outlines cross in a corner get their traced outlines, which never do.
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
