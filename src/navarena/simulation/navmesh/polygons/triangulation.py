"""Constrained Delaunay triangulation of polygons (by Shapely), and links between the triangles."""

import math
from itertools import pairwise

import numpy as np
import shapely
from jaxtyping import Bool, Float64, Int, Int32, Int64, Shaped

NUDGE = 1e-4
"""Of the unit of coordinates: how far apart a ring's visits to one corner are moved.

With integer corners, triangles shorter than a thousand units keep their orientation when the
corners are moved back.
"""


def build_polygons(
    points: Float64[np.ndarray, "p 2"], ring_offsets: Int64[np.ndarray, "r1"], owners: Int[np.ndarray, "r"]
) -> Shaped[np.ndarray, "q"]:
    """One Shapely polygon per owner.

    Args:
        points: (P, 2) corners of all rings, without repetitions within a ring (`part_visits`).
            Outer rings run counter-clockwise in the plane of the two coordinates, holes clockwise.
        ring_offsets: (R + 1,) ring r has the points ring_offsets[r]:ring_offsets[r + 1], not closed.
        owners: (R,) polygon index from 0 of each ring; each owner has one outer ring.

    Returns:
        (Q,) object array of polygons; an owner whose rings are degenerate has an empty one.
    """
    shells: dict[int, np.ndarray] = {}
    holes: dict[int, list[np.ndarray]] = {}
    for ring, owner in enumerate(owners.tolist()):
        corners = points[ring_offsets[ring] : ring_offsets[ring + 1]]
        area = signed_area(corners)
        if area > 0:
            shells[owner] = corners
        elif area < 0:
            holes.setdefault(owner, []).append(corners)
    polygons = np.full(int(owners.max()) + 1 if owners.size else 0, shapely.Polygon(), object)
    for owner, shell in shells.items():
        polygons[owner] = shapely.Polygon(shell, holes.get(owner))
    return polygons


def signed_area(ring: Float64[np.ndarray, "k 2"]) -> float:
    """Area, in squared units of `ring` (K, 2), of an open ring; positive when it runs counter-clockwise."""
    x, y = ring[:, 0], ring[:, 1]
    return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def part_visits(
    points: Float64[np.ndarray, "p 2"], ring_offsets: Int64[np.ndarray, "r1"]
) -> Float64[np.ndarray, "p 2"]:
    """(P, 2) points, in cells: those a ring visits more than once move by NUDGE to the ring's left side.

    Where two obstacles touch in a corner, the outline of the free ground passes it twice, once on
    either side. Moving both visits apart makes a simple ring of it, as triangulation wants.
    """
    parted = points.copy()
    for first, last in pairwise(ring_offsets.tolist()):
        ring = points[first:last]
        _, place, visits = np.unique(ring, axis=0, return_inverse=True, return_counts=True)
        for k in np.flatnonzero(visits[place] > 1):
            before, after = ring[k - 1] - ring[k], ring[(k + 1) % len(ring)] - ring[k]
            start = math.atan2(after[1], after[0])
            opening = (math.atan2(before[1], before[0]) - start) % (2 * math.pi)
            middle = start + opening / 2
            parted[first + k] += NUDGE * np.array([np.cos(middle), np.sin(middle)])
    return parted


def triangulate_polygons(
    polygons: Shaped[np.ndarray, "q"],
) -> tuple[Float64[np.ndarray, "t 3 2"], Int64[np.ndarray, "t"]]:
    """Constrained Delaunay triangles of (Q,) valid polygons, without new corners.

    Returns:
        (T, 3, 2) corners in the unit of the polygons, clockwise in the plane (so, with x and z,
        counter-clockwise seen from above); (T,) the polygon each lies in. Triangles without area are dropped.
    """
    collections = shapely.constrained_delaunay_triangles(polygons)
    pieces, owner = shapely.get_parts(collections, return_index=True)
    corners = shapely.get_coordinates(pieces).reshape(-1, 4, 2)[:, :3].copy()
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    double_area = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    turned = double_area > 0
    corners[turned] = corners[turned][:, ::-1]
    solid = double_area != 0
    return corners[solid], owner[solid].astype(np.int64)


def link_triangles(triangles: Int32[np.ndarray, "t 3"]) -> Int32[np.ndarray, "t 3"]:
    """(T, 3) the triangle across edge k (corner k to corner (k + 1) % 3), or -1 at a border.

    Two triangles are neighbours when they run along an edge in opposite directions and no
    third one uses it.
    """
    count = len(triangles)
    start = triangles.astype(np.int64).ravel()
    end = np.roll(triangles, -1, axis=1).astype(np.int64).ravel()
    span = int(triangles.max()) + 1 if count else 1
    key = np.minimum(start, end) * span + np.maximum(start, end)
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    same = ordered[1:] == ordered[:-1]
    alone_before = np.concatenate([[True], ~same[:-1]]) if count else same
    alone_after = np.concatenate([~same[1:], [True]]) if count else same
    pairs = np.flatnonzero(same & alone_before & alone_after)
    one, two = order[pairs], order[pairs + 1]
    opposite = start[one] == end[two]
    one, two = one[opposite], two[opposite]
    neighbors = np.full(3 * count, -1, np.int32)
    neighbors[one] = two // 3
    neighbors[two] = one // 3
    return neighbors.reshape(count, 3)


def valid_polygons(polygons: Shaped[np.ndarray, "q"]) -> Bool[np.ndarray, "q"]:
    """(Q,) whether each polygon is valid and has area."""
    return np.asarray(shapely.is_valid(polygons) & (shapely.area(polygons) > 0))
