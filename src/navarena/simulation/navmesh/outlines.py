"""Outlines of layers, traced along their cells and thinned out."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int32, Int64

from navarena.simulation.navmesh.terrain import Terrain
from navarena.simulation.navmesh.thinning import keep_corners, restore_clashing
from navarena.simulation.navmesh.tracing import trace_outlines

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


def trace_layers(terrain: Terrain, nx: int) -> Outlines:
    """All outlines of the terrain's layers on a grid with `nx` columns along x."""
    count, offsets, layers, names, x, z, heights, across = trace_outlines(
        terrain.layers, terrain.links, terrain.columns, terrain.heights, nx
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
