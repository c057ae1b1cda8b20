"""Small meshes with known floors, and slow plain readings of navmesh parts, for the builder's tests."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely

from navarena.simulation.navmesh.mesh_structure import NavMeshParts

Mesh = tuple[np.ndarray, np.ndarray]
Corner = tuple[float, float]


def rectangle(x: float, z: float, half_x: float, half_z: float, turn: float = 0.0) -> list[Corner]:
    """Corners of a turned rectangle around (x, z)."""
    c, s = np.cos(turn), np.sin(turn)
    corners = [(-half_x, -half_z), (half_x, -half_z), (half_x, half_z), (-half_x, half_z)]
    return [(x + c * u - s * v, z + s * u + c * v) for u, v in corners]


def prism(plan: Sequence[Corner], low: float, high: float) -> Mesh:
    """A closed upright prism over a convex plan, its faces outwards."""
    plan_array = np.asarray(plan, float)
    x, z = plan_array.T
    if np.dot(x, np.roll(z, -1)) > np.dot(z, np.roll(x, -1)):
        plan_array = plan_array[::-1]
    count = len(plan_array)
    levels = [np.insert(plan_array, 1, level, axis=1) for level in (high, low)]
    faces = []
    for i in range(1, count - 1):
        faces += [(0, i, i + 1), (count, count + i + 1, count + i)]
    for i in range(count):
        j = (i + 1) % count
        faces += [(i, count + i, count + j), (i, count + j, j)]
    return np.concatenate(levels), np.array(faces)


def plate(x0: float, z0: float, x1: float, z1: float, y: float | Sequence[float] = 0.0) -> Mesh:
    """A single-sided floor; `y` is one height or those of (x0, z0), (x0, z1), (x1, z1), (x1, z0)."""
    heights = np.broadcast_to(np.asarray(y, float), 4)
    corners = [(x0, heights[0], z0), (x0, heights[1], z1), (x1, heights[2], z1), (x1, heights[3], z0)]
    return np.array(corners), np.array([(0, 1, 2), (0, 2, 3)])


def join_meshes(*meshes: Mesh) -> Mesh:
    """One mesh of many."""
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in meshes])
    faces = [triangles + start for (_, triangles), start in zip(meshes, starts[:-1], strict=True)]
    return np.concatenate([vertices for vertices, _ in meshes]), np.concatenate(faces)


def hall(size: float, obstacles: Sequence[Sequence[Corner]], wall: float = 1.5) -> Mesh:
    """A walled square floor from (0, 0) to (size, size) at y = 0 with obstacles a metre high."""
    half = size / 2
    walls = [
        rectangle(half, -0.1, half + 0.2, 0.1),
        rectangle(half, size + 0.1, half + 0.2, 0.1),
        rectangle(-0.1, half, 0.1, half + 0.2),
        rectangle(size + 0.1, half, 0.1, half + 0.2),
    ]
    return join_meshes(
        plate(-0.2, -0.2, size + 0.2, size + 0.2),
        *(prism(plan, 0.0, wall) for plan in walls),
        *(prism(plan, 0.0, 1.0) for plan in obstacles),
    )


def plan_polygons(parts: NavMeshParts) -> Any:
    """(T,) Shapely polygons of the triangles in (x, z)."""
    return shapely.polygons(parts.vertices[parts.triangles][..., [0, 2]])


def island_labels(parts: NavMeshParts) -> np.ndarray:
    """(T,) connected component of each triangle, by plain flooding."""
    labels = np.full(len(parts.triangles), -1)
    for seed in range(len(labels)):
        stack = [seed] if labels[seed] < 0 else []
        while stack:
            triangle = stack.pop()
            if labels[triangle] < 0:
                labels[triangle] = seed
                stack += [int(n) for n in parts.neighbors[triangle] if n >= 0]
    return labels


def island_areas(parts: NavMeshParts) -> list[float]:
    """Plan areas of the islands, rising."""
    areas: dict[int, float] = defaultdict(float)
    for label, area in zip(island_labels(parts).tolist(), shapely.area(plan_polygons(parts)), strict=True):
        areas[label] += float(area)
    return sorted(areas.values())


def plane_height(corners: np.ndarray, x: float, z: float) -> float:
    """y of the plane through (3, 3) corners."""
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    return float(
        corners[0, 1] - (normal[0] * (x - corners[0, 0]) + normal[2] * (z - corners[0, 2])) / normal[1]
    )


def ground_pieces(parts: NavMeshParts) -> tuple[np.ndarray, np.ndarray]:
    """(P, 3, 3) ground pieces and the (P,) triangle above each; a bare triangle is its own."""
    pieces, owners = [], []
    for triangle, corners in enumerate(parts.vertices[parts.triangles]):
        first, last = parts.detail_offsets[triangle : triangle + 2]
        here = parts.detail_triangles[first:last] if last > first else corners[None]
        pieces.append(here)
        owners += [triangle] * len(here)
    return np.concatenate(pieces), np.array(owners)


def require_sound(parts: NavMeshParts) -> None:
    """What must hold of every navmesh."""
    corners = parts.vertices[parts.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (normals[:, 1] > 0).all(), "every triangle faces up"
    assert np.isfinite(parts.vertices).all()
    for t, row in enumerate(parts.neighbors):
        for k, n in enumerate(row):
            if n >= 0:
                edge = {parts.triangles[t, k], parts.triangles[t, (k + 1) % 3]}
                back = [j for j in range(3) if parts.neighbors[n, j] == t]
                edges = [{parts.triangles[n, j], parts.triangles[n, (j + 1) % 3]} for j in back]
                assert edge in edges, "neighbours are mutual and share the edge"
    assert parts.detail_offsets[0] == 0 and parts.detail_offsets[-1] == len(parts.detail_triangles)
    steps = np.diff(parts.detail_offsets)
    assert (steps >= 0).all() and len(steps) == len(parts.triangles)
    plan = plan_polygons(parts)
    pieces, owners = ground_pieces(parts)
    covered = np.bincount(owners, shapely.area(shapely.polygons(pieces[..., [0, 2]])), len(plan))
    np.testing.assert_allclose(covered, shapely.area(plan), rtol=1e-6, atol=1e-9)
