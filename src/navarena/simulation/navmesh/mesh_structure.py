"""Arrays computed from the triangles of a navmesh: links, islands, turning points, dead ends, samples.

All functions are pure; `T` triangles, `V` vertices, half-edges numbered 3 * triangle + k.
"""

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, Float64, Int, Int32, Int64, UInt8

from navarena.core.arrays import Points, Triangles
from navarena.core.elementary import arctan2
from navarena.core.errors import InputError, SceneError
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings


@dataclass(frozen=True)
class NavMeshParts:
    """The raw parts of a navmesh; `NavMesh.from_parts(**parts.as_arguments())` finishes it.

    Attributes:
        vertices: (V, 3) metres, world frame.
        triangles: (T, 3) vertex indices, counter-clockwise seen from above (normal +y).
        neighbors: (T, 3) triangle across edge k (corner k to corner (k + 1) % 3), -1 = border.
        detail_offsets: (T + 1,) pieces offsets[t]:offsets[t + 1] lie under triangle t.
        detail_triangles: (D, 3, 3) metres: pieces of the ground, seen from above inside
            triangle t and covering it. A triangle without any is its own ground.
        settings: what they were built for.
    """

    vertices: Float64[np.ndarray, "v 3"]
    triangles: Int32[np.ndarray, "t 3"]
    neighbors: Int32[np.ndarray, "t 3"]
    detail_offsets: Int64[np.ndarray, "t1"]
    detail_triangles: Float64[np.ndarray, "d 3 3"]
    settings: NavMeshSettings

    def as_arguments(self) -> dict[str, Any]:
        """Field name -> value, without copying."""
        return {part.name: getattr(self, part.name) for part in fields(self)}


@dataclass(frozen=True)
class PolygonArrays:
    """The convex polygons that a navmesh was loaded from, flat, as mesh_arrays describes them.

    Empty on a navmesh that was built here.
    """

    corners: Float32[np.ndarray, "p18"] = field(default_factory=lambda: np.zeros(0, np.float32))
    links: Int32[np.ndarray, "p6"] = field(default_factory=lambda: np.zeros(0, np.int32))
    heads: Int32[np.ndarray, "p4"] = field(default_factory=lambda: np.zeros(0, np.int32))
    ground: Float32[np.ndarray, "g9"] = field(default_factory=lambda: np.zeros(0, np.float32))
    sides: UInt8[np.ndarray, "g"] = field(default_factory=lambda: np.zeros(0, np.uint8))
    boxes: Int32[np.ndarray, "n7"] = field(default_factory=lambda: np.zeros(0, np.int32))
    frame: Float32[np.ndarray, "f"] = field(default_factory=lambda: np.zeros(0, np.float32))

    def as_tuple(self) -> tuple[np.ndarray, ...]:
        """The arrays, (18 P,), (6 P,) and so on, as mesh_arrays lists them; lengths in metres."""
        return tuple(getattr(self, part.name) for part in fields(self))


STRAIGHT_SLACK = 1e-7
"""Radians by which the free angle at a border vertex must exceed pi before paths turn there."""


def link_half_edges(triangles: Triangles, neighbors: Int[np.ndarray, "t 3"]) -> Int[np.ndarray, "t 3"]:
    """(T, 3) int32: the half-edge across each half-edge, -1 on the border.

    A neighbour across an edge shares the edge's two vertices, in the other direction; two triangles
    may share more than one edge. Raises SceneError where `neighbors` is not mutual.
    """
    tri = triangles.astype(np.int64)
    links = np.full(tri.shape, -1, np.int32)
    own = np.arange(len(tri))
    for k in range(3):
        there = neighbors[:, k].astype(np.int64)
        here = np.flatnonzero(there >= 0)
        n = there[here]
        start, end = tri[here, k], tri[here, (k + 1) % 3]
        for e in range(3):
            match = (tri[n, e] == end) & (tri[n, (e + 1) % 3] == start) & (neighbors[n, e] == own[here])
            links[here[match], k] = (3 * n + e)[match]
    lonely = np.argwhere((neighbors >= 0) & (links < 0))
    if len(lonely):
        t, k = (int(i) for i in lonely[0])
        raise SceneError(
            f"expected mutual navmesh neighbours that share an edge; triangle {t} names triangle "
            f"{int(neighbors[t, k])} across edge {k}, which does not answer"
        )
    return links


def compute_islands(links: Int[np.ndarray, "t 3"]) -> Int[np.ndarray, "t"]:
    """(T,) int32 connected component of each triangle, numbered in the order of first appearance."""
    t, k = np.nonzero(links >= 0)
    size = len(links)
    labels = label_components(size, t, links[t, k] // 3)
    first = np.unique(labels, return_index=True)[1]
    rank = np.zeros(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[labels].astype(np.int32)


def label_components(size: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(N,) int32 component of each of `size` nodes, joined in pairs of `left` and `right` (E,) indices."""
    from scipy.sparse import coo_array  # SciPy: only to build, a run opens what is built
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(left), np.int8), (left, right)), (size, size))
    return np.asarray(connected_components(graph, directed=False)[1])


def find_turning_points(
    vertices: Points, triangles: Triangles, links: Int[np.ndarray, "t 3"]
) -> UInt8[np.ndarray, "v"]:
    """(V,) uint8: 1 where the free angle between two border edges exceeds pi in the plan.

    The corners of triangles that meet in a vertex form fans; a vertex where two storeys or two
    rooms touch has several. One reflex fan with a border makes the vertex a turning point.
    """
    plan = vertices[:, [0, 2]][triangles]
    ahead, behind = np.roll(plan, -1, 1) - plan, np.roll(plan, 1, 1) - plan
    cross = ahead[..., 0] * behind[..., 1] - ahead[..., 1] * behind[..., 0]
    angle = np.abs(arctan2(cross, (ahead * behind).sum(-1))).ravel()

    half = np.flatnonzero(links.ravel() >= 0)
    twin = links.ravel()[half].astype(np.int64)
    twin_end = twin - twin % 3 + (twin + 1) % 3
    size = links.size
    fan = label_components(size, half, twin_end)
    count = int(fan.max(initial=-1)) + 1

    border = np.flatnonzero(links.ravel() < 0)
    is_open = np.zeros(count, bool)
    is_open[fan[border]] = True
    is_open[fan[border - border % 3 + (border + 1) % 3]] = True
    reflex = is_open & (np.bincount(fan, angle, count) > np.pi + STRAIGHT_SLACK)
    turnable = np.zeros(len(vertices), np.uint8)
    turnable[triangles.ravel()[reflex[fan]]] = 1
    return turnable


def find_dead_ends(links: Int[np.ndarray, "t 3"]) -> Int[np.ndarray, "t 2"]:
    """(T, 2) int32: nested intervals of the trees of triangles that hang on the rest by one edge.

    A shortest path enters such a triangle n from outside only when its end lies in n's subtree,
    that is when first[n] <= first[end] < last[n]. Triangles on cycles hold (-1, -1).
    """
    count = len(links)
    around = np.where(links >= 0, links // 3, -1).tolist()
    degree = (links >= 0).sum(1).tolist()
    parent = [-1] * count
    stripped = [False] * count
    order = [t for t in range(count) if degree[t] <= 1]
    for t in order:  # grows while it is walked
        stripped[t] = True
        for n in around[t]:
            if n >= 0 and not stripped[n]:
                parent[t] = n
                degree[n] -= 1
                if degree[n] == 1:
                    order.append(n)
    size = [1] * count
    for t in order:
        if parent[t] >= 0:
            size[parent[t]] += size[t]
    intervals = np.full((count, 2), -1, np.int32)
    free = [0] * count
    top = 0
    for t in reversed(order):
        p = parent[t]
        if p < 0 or not stripped[p]:
            first, top = top, top + size[t]
        else:
            first, free[p] = free[p], free[p] + size[t]
        intervals[t] = first, first + size[t]
        free[t] = first + 1
    return intervals


def compute_planes(vertices: Points, triangles: Triangles) -> Float[np.ndarray, "t 3"]:
    """(T, 3) float64, metres: a, b, c of y = a x + b z + c through the corners of each triangle."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    slope_x, slope_z = -normal[:, 0] / normal[:, 1], -normal[:, 2] / normal[:, 1]
    return np.stack([slope_x, slope_z, a[:, 1] - slope_x * a[:, 0] - slope_z * a[:, 2]], 1)


def list_ground_pieces(
    vertices: Points,
    triangles: Triangles,
    detail_offsets: Int[np.ndarray, "t1"],
    detail_triangles: Float[np.ndarray, "d 3 3"],
) -> tuple[Float[np.ndarray, "p 3 3"], Int[np.ndarray, "p"]]:
    """The pieces that make up the ground: (P, 3, 3) corners in metres, (P,) the triangle each lies under.

    Triangles without detail pieces stand for themselves. By rising triangle.
    """
    counts = np.diff(detail_offsets)
    bare = np.flatnonzero(counts == 0)
    owner = np.concatenate([np.repeat(np.arange(len(triangles)), counts), bare])
    pieces = np.concatenate([detail_triangles, vertices[triangles[bare]]])
    order = np.argsort(owner, kind="stable")
    return pieces[order], owner[order]


def compute_areas(pieces: Float[np.ndarray, "p 3 3"]) -> Float[np.ndarray, "p"]:
    """(P,) surface areas in square metres, slopes included."""
    edges = pieces[:, 1:] - pieces[:, :1]
    return np.asarray(np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 2)


def sample_ground(
    generator: np.random.Generator,
    pieces: Float[np.ndarray, "p 3 3"],
    areas: Float[np.ndarray, "p"],
    islands: Int[np.ndarray, "p"],
    count: int,
    island: int | None,
) -> Points:
    """(count, 3) points on the ground, metres, world frame; three uniform numbers are drawn per point.

    Args:
        generator: random generator.
        pieces: (P, 3, 3) metres, corners of the pieces of the ground.
        areas: (P,) square metres.
        islands: (P,) island of each piece.
        count: how many points.
        island: keep to this island; None for all of them.

    Raises:
        InputError: `count` is below 0.
        SceneError: the island does not exist or has no area.
    """
    if count < 0:
        raise InputError(f"expected at least 0 points to draw, got {count}")
    weights = areas if island is None else np.where(islands == island, areas, 0.0)
    total = np.cumsum(weights)
    if not total[-1] > 0:
        raise SceneError(
            f"expected an island with ground to draw from, got {island}; islands are 0 to {islands.max()}"
        )
    draws = generator.random((count, 3))
    chosen = np.searchsorted(total, draws[:, 0] * total[-1], side="right")
    chosen = np.minimum(chosen, int(np.flatnonzero(weights)[-1]))
    root = np.sqrt(draws[:, 1])
    shares = np.stack([1 - root, root * (1 - draws[:, 2]), root * draws[:, 2]], 1)
    return np.asarray((pieces[chosen] * shares[:, :, None]).sum(1))
