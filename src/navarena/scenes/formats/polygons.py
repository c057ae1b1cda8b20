"""Polygons of mesh files, cut into triangles."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

TURNED = 1e-6
"""Share of a polygon's area, squared, from which a triangle that faces the other way counts as turned."""


def split_polygons(
    polygons: Int[np.ndarray, "n k"] | Sequence[Int[np.ndarray, "_"]],
) -> tuple[Int[np.ndarray, "t 3"], Int[np.ndarray, "t"], Int[np.ndarray, "t 3"]]:
    """Cut polygons into fans of triangles around their first corner.

    Returns (triangles, polygon, corner): (T, 3) vertex indices, (T,) the row each comes from and
    (T, 3) which corners of that row it took. Rows of fewer than three corners give nothing.
    """
    if isinstance(polygons, np.ndarray) and polygons.ndim == 2:
        rows, sizes = polygons.astype(np.int64), np.full(len(polygons), polygons.shape[1])
        flat = rows.reshape(-1)
    else:
        sizes = np.array([len(row) for row in polygons], np.int64)
        flat = np.concatenate([np.asarray(row, np.int64) for row in polygons]) if len(sizes) else sizes
    count = np.maximum(sizes - 2, 0)
    polygon = np.repeat(np.arange(len(sizes)), count)
    step = np.arange(len(polygon)) - np.repeat(np.cumsum(count) - count, count)
    corner = np.stack([np.zeros_like(step), step + 1, step + 2], 1)
    first = np.cumsum(sizes) - sizes
    return flat[first[polygon][:, None] + corner], polygon, corner


def cut_polygons(
    polygons: Int[np.ndarray, "n k"] | Sequence[Int[np.ndarray, "_"]], vertices: Float[np.ndarray, "v 3"]
) -> tuple[Int[np.ndarray, "t 3"], Int[np.ndarray, "t"], Int[np.ndarray, "t 3"]]:
    """As `split_polygons`, but concave polygons, which a fan would leave, are cut within their outline.

    Args:
        polygons: indices of vertices; those beyond the vertices, and polygons that cross or touch themselves,
            are cut into fans.
        vertices: (V, 3) in any unit.
    """
    triangles, polygon, corner = split_polygons(polygons)
    if (np.diff(polygon) > 0).all() or triangles.min() < 0 or triangles.max() >= len(vertices):
        return triangles, polygon, corner
    points = vertices[triangles]
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    sums = np.zeros((int(polygon[-1]) + 1, 3))
    np.add.at(sums, polygon, normals)
    along = (normals * sums[polygon]).sum(1)
    for row in np.unique(polygon[along < -TURNED * (sums[polygon] ** 2).sum(1)]).tolist():
        ring = np.asarray(polygons[row], np.int64)
        found = _cut_concave(vertices[ring], sums[row])
        if found is not None:
            first = int(np.searchsorted(polygon, row))
            corner[first : first + len(found)], triangles[first : first + len(found)] = found, ring[found]
    return triangles, polygon, corner


def _cut_concave(
    ring: Float[np.ndarray, "k 3"], normal: Float[np.ndarray, "3"]
) -> Int[np.ndarray, "t 3"] | None:
    """(K - 2, 3) corners of triangles that fill a ring and face as `normal` does; None for a bad ring."""
    import shapely

    flat = np.delete(ring, int(np.abs(normal).argmax()), 1)
    outline = shapely.Polygon(flat)
    if not shapely.is_valid(outline):
        return None
    pieces = shapely.get_parts(shapely.constrained_delaunay_triangles(outline))
    if len(pieces) != len(ring) - 2:
        return None
    place = {tuple(point): index for index, point in enumerate(flat.tolist())}
    corners = [shapely.get_coordinates(piece)[:3].tolist() for piece in pieces]
    found = np.array([[place[tuple(point)] for point in one] for one in corners])
    points = ring[found]
    turned = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]) @ normal < 0
    return np.where(turned[:, None], found[:, ::-1], found)
