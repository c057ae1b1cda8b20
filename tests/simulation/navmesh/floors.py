"""Hand-made navmeshes and random polygonal floors, with a slow exact oracle for distances on them."""

from dataclasses import dataclass

import numpy as np
import shapely
from scipy.sparse.csgraph import dijkstra
from shapely import affinity
from shapely.geometry import LineString, Polygon, box

from navarena.simulation.navmesh import NavMesh, NavMeshSettings

SETTINGS = NavMeshSettings(radius=0.1, height=1.5)


def mesh_from_triangles(vertices: np.ndarray, triangles: np.ndarray) -> NavMesh:
    """A navmesh of triangles that are neighbours wherever they share two vertices."""
    vertices, triangles = np.asarray(vertices, float), np.array(triangles, np.int32)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    clockwise = np.cross(b - a, c - a)[:, 1] < 0
    triangles[clockwise] = triangles[clockwise][:, ::-1]
    edges = {(int(t[k]), int(t[(k + 1) % 3])): i for i, t in enumerate(triangles) for k in range(3)}
    neighbors = np.array(
        [[edges.get((int(t[(k + 1) % 3]), int(t[k])), -1) for k in range(3)] for t in triangles], np.int32
    )
    offsets = np.zeros(len(triangles) + 1, np.int64)
    return NavMesh.from_parts(vertices, triangles, neighbors, offsets, np.zeros((0, 3, 3)), SETTINGS)


def mesh_from_polygon(polygon: Polygon, slope: tuple[float, float] = (0.0, 0.0)) -> NavMesh:
    """The constrained Delaunay triangles of a polygon in (x, z), at y = slope . (x, z)."""
    rings = [np.array(t.exterior.coords)[:3] for t in shapely.constrained_delaunay_triangles(polygon).geoms]
    plan = np.concatenate(rings)
    unique, index = np.unique(plan.round(9), axis=0, return_inverse=True)
    vertices = np.stack([unique[:, 0], unique @ np.array(slope), unique[:, 1]], 1)
    return mesh_from_triangles(vertices, index.reshape(-1, 3))


def square_with_hole() -> NavMesh:
    """x and z from 0 to 6, without the square from 2 to 4."""
    return mesh_from_polygon(Polygon(box(0, 0, 6, 6).exterior, [box(2, 2, 4, 4).exterior]))


def l_shape() -> NavMesh:
    """x and z from 0 to 4, without the quarter where both exceed 2: one reflex corner at (2, 2)."""
    return mesh_from_polygon(box(0, 0, 4, 4).difference(box(2, 2, 5, 5)))


def two_storeys() -> NavMesh:
    """A floor at y = 0 (x 0..4, z 0..4), a ramp east of it that climbs 3 m while z goes from 4 to 0
    (x 4..6), and a floor at y = 3 over the first one, entered from the ramp's upper end (z 0..-2)."""
    vertices = [
        *[(0, 0, 0), (4, 0, 0), (4, 0, 4), (0, 0, 4)],  # 0-3: ground floor
        *[(4, 0, 6), (6, 0, 6), (6, 0, 4), (0, 0, 6)],  # 4-7: strip that leads to the ramp
        *[(4, 3, 0), (6, 3, 0)],  # 8-9: upper end of the ramp (4 0 4, 6 0 4 is the lower one)
        *[(6, 3, -2), (4, 3, -2), (0, 3, -2), (0, 3, 0), (0, 3, 4), (3.5, 3, 4), (3.5, 3, 0)],  # 10-16
    ]
    triangles = [
        *[(0, 1, 2), (0, 2, 3)],
        *[(3, 2, 4), (3, 4, 7), (2, 6, 5), (2, 5, 4)],
        *[(2, 8, 9), (2, 9, 6)],
        *[(8, 11, 10), (8, 10, 9)],
        *[(16, 13, 12), (16, 12, 11), (16, 11, 8)],
        *[(13, 16, 15), (13, 15, 14)],
    ]
    return mesh_from_triangles(np.array(vertices, float), np.array(triangles))


def random_floor(seed: int, aligned: bool) -> Polygon:
    """A room of 10 x 8 m with furniture-like holes; `aligned` puts corners in line with each other."""
    rng = np.random.default_rng(seed)
    obstacles = []
    for _ in range(rng.integers(3, 12)):
        if aligned:
            x, z = rng.integers(0, 20) / 2, rng.integers(0, 16) / 2
            w, d = rng.integers(1, 5, 2) / 2
            obstacles.append(box(x, z, x + w, z + d))
        else:
            x, z = rng.uniform(0, 10), rng.uniform(0, 8)
            w, d = rng.uniform(0.2, 1.5, 2)
            obstacles.append(affinity.rotate(box(x - w, z - d, x + w, z + d), rng.uniform(0, 180)))
    free = box(0, 0, 10, 8).difference(shapely.union_all(obstacles))
    free = free.buffer(-0.05, join_style="mitre")  # no gaps of width zero
    free = shapely.set_precision(shapely.set_precision(free, 1e-4), 0)
    return max(getattr(free, "geoms", [free]), key=lambda part: part.area)


@dataclass(frozen=True)
class VisibilityGraph:
    """Exact shortest paths in a polygon: all corners, joined where the straight line stays inside."""

    polygon: Polygon

    def distances(self, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """(N,) plan lengths between (N, 2) points."""
        corners = np.concatenate(
            [np.array(r.coords)[:-1] for r in [self.polygon.exterior, *self.polygon.interiors]]
        )
        nodes = np.concatenate([corners, start, goal])
        i, j = np.triu_indices(len(nodes), 1)
        lines = shapely.linestrings(np.stack([nodes[i], nodes[j]], 1))
        grown = self.polygon.buffer(1e-7)
        shapely.prepare(grown)
        seen = shapely.covers(grown, lines)
        graph = np.zeros((len(nodes), len(nodes)))
        graph[i[seen], j[seen]] = np.linalg.norm(nodes[i[seen]] - nodes[j[seen]], axis=1) + 1e-300
        first = len(corners)
        n = len(start)
        table = dijkstra(graph, directed=False, indices=np.arange(first, first + n))
        return table[np.arange(n), np.arange(first + n, first + 2 * n)]


def plan_length(path: np.ndarray) -> float:
    """Plan length of a path (K, 3)."""
    return float(np.linalg.norm(np.diff(path[:, [0, 2]], axis=0), axis=1).sum())


def stays_inside(polygon: Polygon, path: np.ndarray) -> bool:
    """Whether a path (K, 3) runs inside a polygon in (x, z)."""
    plan = path[:, [0, 2]]
    return len(plan) < 2 or bool(polygon.buffer(1e-6).covers(LineString(plan)))
