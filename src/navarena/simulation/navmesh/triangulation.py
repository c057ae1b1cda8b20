"""Polygons to linked triangles: the one door to Shapely's constrained Delaunay triangulation."""

import numpy as np
import shapely
from jaxtyping import Bool, Float64, Int, Int32, Int64, Shaped


def build_polygons(
    points: Float64[np.ndarray, "p 2"], ring_offsets: Int64[np.ndarray, "r1"], owners: Int[np.ndarray, "r"]
) -> Shaped[np.ndarray, "q"]:
    """One Shapely polygon per owner.

    Args:
        points: (P, 2) corners of all rings. Outer rings run counter-clockwise in the plane of
            the two coordinates, holes clockwise. A ring may touch itself in single corners.
        ring_offsets: (R + 1,) ring r has the points ring_offsets[r]:ring_offsets[r + 1], not closed.
        owners: polygon index from 0 of each ring; each owner has one outer ring.

    Returns:
        (Q,) object array of polygons; those whose rings are degenerate are not valid.
    """
    rings: list[list[np.ndarray]] = [[] for _ in range(int(owners.max()) + 1 if owners.size else 0)]
    holes: list[list[np.ndarray]] = [[] for _ in rings]
    for ring, owner in enumerate(owners):
        for part in split_ring(points[ring_offsets[ring] : ring_offsets[ring + 1]]):
            area = signed_area(part)
            if area > 0:
                rings[owner].append(part)
            elif area < 0:
                holes[owner].append(part)
    polygons = np.full(len(rings), None, object)
    for owner, outers in enumerate(rings):
        if len(outers) == 1:
            polygons[owner] = shapely.Polygon(outers[0], holes[owner])
        else:
            polygons[owner] = shapely.Polygon()
    return polygons


def signed_area(ring: Float64[np.ndarray, "k 2"]) -> float:
    """Area of an open ring of corners, positive when it runs counter-clockwise."""
    x, y = ring[:, 0], ring[:, 1]
    return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def split_ring(ring: Float64[np.ndarray, "k 2"]) -> list[Float64[np.ndarray, "k 2"]]:
    """The simple rings of an open ring that visits some corners more than once."""
    if len(np.unique(ring, axis=0)) == len(ring):
        return [ring]
    parts = []
    path: list[tuple[float, float]] = []
    place: dict[tuple[float, float], int] = {}
    for corner in map(tuple, ring.tolist()):
        if corner in place:
            cut = place[corner]
            parts.append(np.array(path[cut:]))
            for dropped in path[cut + 1 :]:
                del place[dropped]
            del path[cut + 1 :]
        else:
            place[corner] = len(path)
            path.append(corner)
    parts.append(np.array(path))
    return [part for part in parts if len(part) > 2]


def triangulate_polygons(
    polygons: Shaped[np.ndarray, "q"],
) -> tuple[Float64[np.ndarray, "t 3 2"], Int64[np.ndarray, "t"]]:
    """Constrained Delaunay triangles of (Q,) valid polygons, without new corners.

    Returns:
        (T, 3, 2) corners, clockwise in the plane (so, with x and z, counter-clockwise seen
        from above); (T,) the polygon each lies in. Triangles without area are dropped.
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
