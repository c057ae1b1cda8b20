"""The navmesh: the ground that a body can stand on, as linked triangles."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from navarena.core.arrays import Point, Points, Triangles
from navarena.core.display import NotebookDisplay, describe_fields
from navarena.core.errors import FileError, SceneError
from navarena.core.pointers import AddressTable
from navarena.simulation.navmesh import mesh_structure
from navarena.simulation.navmesh.mesh_structure import PolygonArrays
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.navmesh.queries.navmesh_table import NavMeshTable, TopDownMap
from navarena.simulation.navmesh.queries.triangle_grid import build_grid

MAX_COORDINATE = 1e5
"""Metres from the origin beyond which a coordinate is taken for a mistake of scale."""

FORMAT_VERSION = 2
"""Of `to_arrays`; raise it when an array changes its meaning."""


@dataclass(frozen=True, eq=False)
class NavMesh(NotebookDisplay):
    """Triangles on which the centre of a body's foot can be, and the arrays of queries on them.

    World frame, metres, y up. Storeys may lie over each other: neighbours decide where one can
    go, y only chooses the storey of a point. Make one with `from_parts`.

    Attributes:
        vertices: (V, 3) float64.
        triangles: (T, 3) int32, counter-clockwise seen from above.
        neighbors: (T, 3) int32, the triangle across edge k (corner k to corner (k + 1) % 3), -1 = border.
        detail_offsets: (T + 1,) int64; the ground pieces of triangle t are detail_offsets[t]:[t + 1].
        detail_triangles: (D, 3, 3) float64, ground surface under the triangles, for the exact y; a
            triangle without pieces is its own ground.
        settings: the body and the voxels that the mesh was built for.
        links: (T, 3) int32, the half-edge (3 * triangle + k) across each edge, -1 = border.
        islands: (T,) int32, connected component of each triangle.
        turnable: (V,) uint8, 1 where shortest paths can turn.
        branches: (T, 2) int32, nesting of dead ends (see mesh_structure.find_dead_ends).
        planes: (T, 3) float64, coefficients of y = a x + b z + c.
        grid_frame, grid_offsets, grid_items: see triangle_grid.build_grid.
        polygons: of the file that the navmesh was loaded from; snapping and steps follow them, number by
            number as the simulator that wrote the file.
    """

    vertices: Points
    triangles: Triangles
    neighbors: Int[np.ndarray, "t 3"]
    detail_offsets: Int[np.ndarray, "t1"]
    detail_triangles: Float[np.ndarray, "d 3 3"]
    settings: NavMeshSettings
    links: Int[np.ndarray, "t 3"]
    islands: Int[np.ndarray, "t"]
    turnable: UInt8[np.ndarray, "v"]
    branches: Int[np.ndarray, "t 2"]
    planes: Float[np.ndarray, "t 3"]
    grid_frame: Float[np.ndarray, "5"]
    grid_offsets: Int[np.ndarray, "c1"]
    grid_items: Int[np.ndarray, "i"]
    polygons: PolygonArrays

    display_kind = "navmesh"

    def __repr__(self) -> str:
        return describe_fields(
            "NavMesh",
            triangles=len(self.triangles),
            islands=self.island_count,
            square_metres=round(self.navigable_area, 1),
        )

    @classmethod
    def from_parts(
        cls,
        vertices: Points,
        triangles: Triangles,
        neighbors: Int[np.ndarray, "t 3"],
        detail_offsets: Int[np.ndarray, "t1"],
        detail_triangles: Float[np.ndarray, "d 3 3"],
        settings: NavMeshSettings,
        polygons: PolygonArrays | None = None,
    ) -> "NavMesh":
        """Check the six parts (shapes as in the class) and compute the rest; `polygons` are kept.

        Raises SceneError when there is no triangle, a number is not finite, an index is out of
        range, a triangle is clockwise or has no area seen from above, or neighbours disagree.
        """
        vertices = np.ascontiguousarray(vertices, np.float64)
        triangles = np.ascontiguousarray(triangles, np.int32)
        neighbors = np.ascontiguousarray(neighbors, np.int32)
        detail_offsets = np.ascontiguousarray(detail_offsets, np.int64)
        detail_triangles = np.ascontiguousarray(detail_triangles, np.float64).reshape(-1, 3, 3)
        _require_valid(vertices, triangles, neighbors, detail_offsets, detail_triangles)
        links = mesh_structure.link_half_edges(triangles, neighbors)
        pieces, _ = mesh_structure.list_ground_pieces(vertices, triangles, detail_offsets, detail_triangles)
        corners = np.ascontiguousarray(vertices[:, [0, 2]][triangles]).reshape(-1)
        frame, offsets, items = build_grid(corners, float(mesh_structure.compute_areas(pieces).sum()))
        return cls(
            vertices,
            triangles,
            neighbors,
            detail_offsets,
            detail_triangles,
            settings,
            links,
            mesh_structure.compute_islands(links),
            mesh_structure.find_turning_points(vertices, triangles, links),
            mesh_structure.find_dead_ends(links),
            mesh_structure.compute_planes(vertices, triangles),
            frame,
            offsets,
            items,
            polygons or PolygonArrays(),
        )

    def to_arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """(arrays by name, JSON-able meta) from which `from_arrays` makes the same navmesh."""
        arrays = {name: getattr(self, name) for name in _ARRAY_NAMES}
        arrays |= zip(_POLYGON_NAMES, self.polygons.as_tuple(), strict=True)
        return arrays, {"navmesh_format": FORMAT_VERSION, "settings": asdict(self.settings)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> "NavMesh":
        """The navmesh of `to_arrays`; nothing is computed or copied, so memory maps stay shared.

        Raises FileError when arrays are missing or of another format.
        """
        missing = [name for name in (*_ARRAY_NAMES, *_POLYGON_NAMES) if name not in arrays]
        if missing or meta.get("navmesh_format") != FORMAT_VERSION:
            raise FileError(
                f"expected a navmesh of format {FORMAT_VERSION}, got format {meta.get('navmesh_format')} "
                f"without {missing}; delete it, it will be built again"
            )
        own = {name: np.asarray(arrays[name]) for name in _ARRAY_NAMES}
        polygons = PolygonArrays(*(np.asarray(arrays[name]) for name in _POLYGON_NAMES))
        return cls(settings=NavMeshSettings(**meta["settings"]), polygons=polygons, **own)

    @cached_property
    def query_arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays of one table row, in the order of `mesh_arrays`."""
        corners = np.ascontiguousarray(self.vertices[:, [0, 2]][self.triangles])
        pieces, owner = self.ground_pieces
        first = np.searchsorted(owner, np.arange(len(self.triangles)))
        y = pieces[:, :, 1]
        heights = np.stack([np.minimum.reduceat(y.min(1), first), np.maximum.reduceat(y.max(1), first)], 1)
        arrays = (
            corners,
            self.links,
            self.triangles,
            self.vertices,
            self.detail_offsets,
            self.detail_triangles,
            self.planes,
            heights,
            self.islands,
            self.turnable,
            self.branches,
            self.grid_frame,
            self.grid_offsets,
            self.grid_items,
            np.array([self.settings.max_climb], np.float64),
            *self.polygons.as_tuple(),
        )
        return tuple(array.reshape(-1) for array in arrays)

    @cached_property
    def address_row(self) -> Int[np.ndarray, "s2"]:
        """(2 SLOT_COUNT,) int64 addresses and lengths of `query_arrays`, one row of a table."""
        return AddressTable([self.query_arrays]).table[0]

    @cached_property
    def ground_pieces(self) -> tuple[Float[np.ndarray, "p 3 3"], Int[np.ndarray, "p"]]:
        """(P, 3, 3) corners of all pieces of the ground and (P,) the triangle each lies under."""
        return mesh_structure.list_ground_pieces(
            self.vertices, self.triangles, self.detail_offsets, self.detail_triangles
        )

    @cached_property
    def _piece_areas(self) -> Float[np.ndarray, "p"]:
        return mesh_structure.compute_areas(self.ground_pieces[0])

    @cached_property
    def triangle_areas(self) -> Float[np.ndarray, "t"]:
        """(T,) square metres of ground under each triangle, slopes included."""
        return np.bincount(self.ground_pieces[1], self._piece_areas, len(self.triangles))

    @property
    def bounds(self) -> tuple[Point, Point]:
        """Lowest and highest corner (3,) of the ground, metres."""
        pieces = self.ground_pieces[0].reshape(-1, 3)
        return pieces.min(0), pieces.max(0)

    @cached_property
    def navigable_area(self) -> float:
        """Square metres of ground, slopes included."""
        return float(self.triangle_areas.sum())

    @property
    def island_count(self) -> int:
        """Number of connected components."""
        return int(self.islands.max()) + 1

    @cached_property
    def island_areas(self) -> Float[np.ndarray, "i"]:
        """(I,) square metres of each island."""
        return np.bincount(self.islands, self.triangle_areas, self.island_count)

    @cached_property
    def island_radii(self) -> Float[np.ndarray, "i"]:
        """(I,) metres from the mean of an island's vertices to the farthest of them."""
        radii = np.zeros(self.island_count)
        for island in range(self.island_count):
            used = np.unique(self.triangles[self.islands == island])
            points = self.vertices[used]
            radii[island] = np.linalg.norm(points - points.mean(0), axis=1).max()
        return radii

    @property
    def largest_island(self) -> int:
        """The island with the largest area."""
        return int(np.argmax(self.island_areas))

    @cached_property
    def table(self) -> NavMeshTable:
        """A table of this navmesh alone, which answers all queries below."""
        return NavMeshTable([self])

    def snap_point(self, points: Points) -> Points:
        """(N, 3) nearest point of the navmesh; NaN rows where none meets the search box (2, 4, 2) m."""
        return self.table.snap_point(None, points)

    def is_navigable(self, points: Points, max_y_delta: float = 0.5) -> Bool[np.ndarray, "n"]:
        """(N,) whether the point is on the navmesh: 1 cm sideways, `max_y_delta` metres up or down."""
        return self.table.is_navigable(None, points, max_y_delta)

    def island(self, points: Points) -> Int[np.ndarray, "n"]:
        """(N,) int32 connected component of the snapped point, -1 where it cannot be snapped."""
        return self.table.island(None, points)

    def island_area(self, points: Points) -> Float[np.ndarray, "n"]:
        """(N,) square metres of the island of each point, 0 where it cannot be snapped."""
        return np.append(self.island_areas, 0.0)[self.island(points)]

    def island_radius(self, points: Points) -> Float[np.ndarray, "n"]:
        """(N,) metres, radius of the island of each point (see island_radii), 0 off the navmesh."""
        return np.append(self.island_radii, 0.0)[self.island(points)]

    def try_step(self, start: Points, end: Points, slide: bool) -> Points:
        """(N, 3) end points of steps from `start` towards `end`; see NavMeshTable.try_step."""
        return self.table.try_step(None, start, end, slide)

    def geodesic_distance(self, start: Points, goal: Points) -> Float[np.ndarray, "n"]:
        """(N,) metres of the shortest paths, inf without one; see NavMeshTable.geodesic_distance."""
        return self.table.geodesic_distance(None, start, goal)

    def geodesic_to_nearest(self, start: Points, goals: Float[np.ndarray, "g 3"]) -> Float[np.ndarray, "n"]:
        """(N,) metres from each start to the nearest of (G, 3) goals, inf when none can be reached."""
        return self.table.geodesic_to_nearest(0, start, goals)

    def shortest_path(
        self, start: Float[np.ndarray, "3"], goal: Float[np.ndarray, "3"]
    ) -> Float[np.ndarray, "k 3"]:
        """(K, 3) start, turning points and goal of the shortest path; (0, 3) without one."""
        return self.table.shortest_path(0, start, goal)

    def distance_to_obstacle(self, points: Points, max_distance: float = 5.0) -> Float[np.ndarray, "n"]:
        """(N,) metres in the plan to the nearest border; see NavMeshTable.distance_to_obstacle."""
        return self.table.distance_to_obstacle(None, points, max_distance)

    def random_point(self, generator: np.random.Generator, count: int, island: int | None = None) -> Points:
        """(count, 3) points on the ground, uniform by area, of one island or of all.

        Raises SceneError when the island does not exist.
        """
        pieces, owner = self.ground_pieces
        return mesh_structure.sample_ground(
            generator, pieces, self._piece_areas, self.islands[owner], count, island
        )

    def top_down_map(self, cell_size: float, height: float) -> TopDownMap:
        """Map of the ground within 0.5 m of world height `height`, in cells of `cell_size` metres."""
        low, high = self.bounds
        return self.table.top_down_map(0, low[[0, 2]], high[[0, 2]], cell_size, height)


_ARRAY_NAMES = (
    "vertices",
    "triangles",
    "neighbors",
    "detail_offsets",
    "detail_triangles",
    "links",
    "islands",
    "turnable",
    "branches",
    "planes",
    "grid_frame",
    "grid_offsets",
    "grid_items",
)
_POLYGON_NAMES = tuple(f"polygon_{part.name}" for part in fields(PolygonArrays))


def _require_valid(
    vertices: Points,
    triangles: Triangles,
    neighbors: Int[np.ndarray, "t 3"],
    detail_offsets: Int[np.ndarray, "t1"],
    detail_triangles: Float[np.ndarray, "d 3 3"],
) -> None:
    count = len(triangles)
    if not count:
        raise SceneError(
            "expected a navmesh with triangles, got none: no floor is walkable; "
            "check the up axis, the scale and the size of the body"
        )
    if not (np.isfinite(vertices).all() and np.isfinite(detail_triangles).all()):
        raise SceneError("expected finite navmesh coordinates, got NaN or infinity; check the mesh")
    if max(np.abs(vertices).max(), np.abs(detail_triangles).max(initial=0.0)) > MAX_COORDINATE:
        raise SceneError(
            f"expected navmesh coordinates within {MAX_COORDINATE:g} m of the origin; check the scale"
        )
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise SceneError(
            f"expected vertex indices below {len(vertices)}, got {triangles.min()} to {triangles.max()}"
        )
    if neighbors.shape != triangles.shape or neighbors.min() < -1 or neighbors.max() >= count:
        raise SceneError(f"expected ({count}, 3) neighbours from -1 to {count - 1}, got {neighbors.shape}")
    steps = np.diff(detail_offsets)
    if len(steps) != count or detail_offsets[0] != 0 or detail_offsets[-1] != len(detail_triangles):
        raise SceneError(
            f"expected {count + 1} detail offsets from 0 to {len(detail_triangles)}, "
            f"got {len(detail_offsets)} up to {detail_offsets[-1]}"
        )
    if (steps < 0).any():
        raise SceneError("expected detail offsets that never fall")
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    facing = np.cross(b - a, c - a)[:, 1]
    if not (facing > 0).all():
        t = int(np.argmin(facing))
        raise SceneError(
            f"expected navmesh triangles counter-clockwise seen from above, got triangle {t} with "
            f"plan area {facing[t] / 2:g}"
        )
