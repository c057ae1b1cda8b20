"""Tables of navmeshes: one native call answers for bodies in any mix of scenes."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from navarena.core.arrays import Points
from navarena.core.errors import InputError
from navarena.simulation.navmesh.queries import distance_fields, geodesic_search, point_queries, stepping
from navarena.simulation.navmesh.queries.mesh_arrays import TRIANGLES, VERTICES, QueryRecord
from navarena.simulation.navmesh.queries.search_state import SearchState


@dataclass(frozen=True)
class TopDownMap:
    """A grid over the plan; row r, column c covers x from origin[0] + c * cell, z from origin[1] + r * cell.

    Attributes:
        grid: (H, W) bool, whether the point (origin + (c, r) * cell) can be stood on.
        origin: (2,) metres, world x and z of the corner of grid[0, 0].
        cell: metres, side of a cell.
    """

    grid: Bool[np.ndarray, "h w"]
    origin: Float[np.ndarray, "2"]
    cell: float

    def to_grid(self, points: Points) -> Float[np.ndarray, "n 2"]:
        """(N, 2) row and column, fractional, of world points (N, 3) in metres."""
        plan = np.asarray(points, float)[:, [2, 0]]
        return np.asarray((plan - self.origin[::-1]) / self.cell)


MeshIndex = Int[np.ndarray, "n"] | None
"""(N,) row of the table for each body; None for the first row for all."""


_LOCAL = threading.local()


class NavMeshTable:
    """Queries over several navmeshes; every method takes the (N,) mesh of each point first.

    All points are (N, 3) float64, metres, world frame of their own scene. Results depend on
    nothing but their own row.

    Args:
        meshes: one or more navmeshes; mesh_index counts in their order.

    Attributes:
        table: (M, 2 K) int64, addresses and lengths of the arrays of each navmesh (see mesh_arrays).
    """

    def __init__(self, meshes: Sequence[QueryRecord]) -> None:
        self.meshes = tuple(meshes)
        self.table = np.stack([mesh.address_row for mesh in self.meshes])
        self._vertex_count = int(self.table[:, 2 * VERTICES + 1].max()) // 3
        self._triangle_count = int(self.table[:, 2 * TRIANGLES + 1].max()) // 3

    def _state(self) -> SearchState:
        """The search state of the calling thread, large enough for every mesh of the table."""
        state: SearchState | None = getattr(_LOCAL, "state", None)
        if state is None or not state.fits(self._vertex_count, self._triangle_count):
            state = SearchState(self._vertex_count, self._triangle_count)
            _LOCAL.state = state
        return state

    def require_index(self, mesh_index: MeshIndex, count: int) -> Int[np.ndarray, "n"]:
        """`mesh_index` as (N,) int64; raises InputError when a number names no mesh."""
        if mesh_index is None:
            return np.zeros(count, np.int64)
        index = np.ascontiguousarray(mesh_index, np.int64)
        if index.shape != (count,):
            raise InputError(f"expected {count} mesh numbers, one for each point, got shape {index.shape}")
        if count and (index.min() < 0 or index.max() >= len(self.meshes)):
            raise InputError(
                f"expected mesh numbers from 0 to {len(self.meshes) - 1}, got {index.min()} to {index.max()}"
            )
        return index

    def locate(self, mesh_index: MeshIndex, points: Points) -> tuple[Int[np.ndarray, "n"], Points]:
        """((N,) int32 triangle, (N, 3) snapped point) of each point; -1 and NaN where none is near."""
        points = require_points(points)
        index = self.require_index(mesh_index, len(points))
        triangles, snapped = np.zeros(len(points), np.int32), np.zeros(points.shape)
        point_queries.snap_points(self.table, index, points, triangles, snapped)
        return triangles, snapped

    def snap_point(self, mesh_index: MeshIndex, points: Points) -> Points:
        """(N, 3) nearest point of the navmesh; NaN rows where none meets the search box (2, 4, 2) m."""
        return self.locate(mesh_index, points)[1]

    def is_navigable(
        self, mesh_index: MeshIndex, points: Points, max_y_delta: float = 0.5
    ) -> Bool[np.ndarray, "n"]:
        """(N,) whether the point is on the navmesh: 1 cm sideways, `max_y_delta` metres up or down."""
        points = require_points(points)
        _require_metres("max_y_delta", max_y_delta)
        index = self.require_index(mesh_index, len(points))
        navigable = np.zeros(len(points), np.bool_)
        point_queries.check_points(self.table, index, points, float(max_y_delta), navigable)
        return navigable

    def island(self, mesh_index: MeshIndex, points: Points) -> Int[np.ndarray, "n"]:
        """(N,) int32 connected component of the snapped point, -1 where it cannot be snapped."""
        points = require_points(points)
        index = self.require_index(mesh_index, len(points))
        islands = np.zeros(len(points), np.int32)
        point_queries.find_islands(self.table, index, points, islands)
        return islands

    def try_step(self, mesh_index: MeshIndex, start: Points, end: Points, slide: bool) -> Points:
        """(N, 3) end points of steps of a body from `start` towards `end`.

        Without sliding the step is cut where it first meets the border; with sliding it ends at
        the border point nearest to `end`. The height is that of the ground. A step whose end
        belongs to another island, and one whose start cannot be snapped, stay at the start.
        """
        start, end = require_points(start), require_points(end)
        _require_equal(start, end)
        index = self.require_index(mesh_index, len(start))
        ends = np.zeros(start.shape)
        stepping.try_steps(self.table, index, start, end, bool(slide), ends)
        return ends

    def step_bodies(
        self,
        mesh_index: Int[np.ndarray, "n"],
        triangles: Int[np.ndarray, "n"],
        positions: Points,
        yaws: Float[np.ndarray, "n"],
        forward: Float[np.ndarray, "n"],
        slide: bool,
        collided: Bool[np.ndarray, "n"],
    ) -> None:
        """Move N bodies in place, each `forward` metres along its yaw: one native call per step.

        Args:
            mesh_index: (N,) int64 row of each body's navmesh; not checked here (see require_index).
            triangles: (N,) int32, the triangle each body stands on, kept from step to step; -1 = look
                it up. Updated.
            positions: (N, 3) float64 contiguous, metres, world frame. Updated.
            yaws: (N,) float64 radians.
            forward: (N,) float64 metres; 0 leaves a body where it is.
            slide: whether blocked steps slide along the border.
            collided: (N,) bool, written: moved^2 + 1e-5 < forward^2.
        """
        visited = np.zeros(stepping.SCRATCH, np.int32)
        stepping.step_bodies(
            self.table, mesh_index, triangles, positions, yaws, forward, bool(slide), visited, collided
        )

    def geodesic_distance(self, mesh_index: MeshIndex, start: Points, goal: Points) -> Float[np.ndarray, "n"]:
        """(N,) metres of the shortest path, inf where a point cannot be snapped or there is no path.

        The path is the shortest in the plan, exactly; its length is the sum of its straight 3-D
        segments. The ends are clamped to the navmesh in x and z and keep the y they were given.
        """
        start, goal = require_points(start), require_points(goal)
        _require_equal(start, goal)
        index = self.require_index(mesh_index, len(start))
        lengths = np.zeros(len(start)) - 1.0
        self._state().run(
            lambda state: int(geodesic_search.search_pairs(self.table, index, state, start, goal, lengths)),
            len(start),
        )
        return lengths

    def geodesic_to_nearest(
        self, mesh: int, start: Points, goals: Float[np.ndarray, "g 3"]
    ) -> Float[np.ndarray, "n"]:
        """(N,) metres from each start to the nearest (in the plan) of (G, 3) goals on one mesh.

        Infinite where no goal can be reached. Goals that cannot be snapped are left out.
        """
        start, goals = require_points(start), require_points(goals)
        triangles, snapped = self.locate(np.full(len(goals), mesh), goals)
        snapped[:, 1] = goals[:, 1]
        lengths = np.zeros(len(start)) - 1.0
        self._state().run(
            lambda state: int(
                distance_fields.search_nearest(self.table, mesh, state, start, snapped, triangles, lengths)
            ),
            len(start),
        )
        return lengths

    def shortest_path(
        self, mesh: int, start: Float[np.ndarray, "3"], goal: Float[np.ndarray, "3"]
    ) -> Float[np.ndarray, "k 3"]:
        """(K, 3) points of the shortest path on one mesh: start, turning points, goal.

        The ends are clamped to the navmesh in x and z and keep their y. (0, 3) without a path.
        """
        ends, state = np.array((start, goal), np.float64), self._state()
        if ends.shape != (2, 3):
            raise InputError(f"expected two points of shape (3,), got {np.shape(start)} and {np.shape(goal)}")
        while (count := geodesic_search.trace_path(self.table, mesh, state.table, ends, state.path)) < 0:
            state.grow()
        return state.path[:count].copy()

    def distance_to_obstacle(
        self, mesh_index: MeshIndex, points: Points, max_distance: float = 5.0
    ) -> Float[np.ndarray, "n"]:
        """(N,) metres in the plan to the nearest border of the navmesh around the snapped point.

        At most `max_distance`. The navmesh keeps the body's radius from walls, so add the radius
        for the distance to the wall. Infinite where the point cannot be snapped.
        """
        points = require_points(points)
        _require_metres("max_distance", max_distance)
        index = self.require_index(mesh_index, len(points))
        distances = np.zeros(len(points))
        stamps, pending = np.zeros((2, self._triangle_count), np.int32)
        point_queries.border_distances(
            self.table, index, points, float(max_distance), stamps, pending, distances
        )
        return distances

    def top_down_map(
        self,
        mesh: int,
        low: Float[np.ndarray, "2"],
        high: Float[np.ndarray, "2"],
        cell_size: float,
        height: float,
        max_y_delta: float = 0.5,
    ) -> TopDownMap:
        """Map of the navigable ground near world height `height` on one mesh, between two plan corners.

        Args:
            mesh: row of the table.
            low: (2,) metres, smallest x and z.
            high: (2,) metres, greatest x and z.
            cell_size: metres, positive; the last row and column reach past `high`.
            height: metres, world y.
            max_y_delta: metres up or down that count as the same floor.
        """
        if not cell_size > 0:
            raise InputError(f"expected a positive cell_size in metres, got {cell_size}")
        _require_metres("max_y_delta", max_y_delta)
        if not np.isfinite(height):
            raise InputError(f"expected a finite height in metres, got {height}")
        width, depth = np.floor((high - low) / cell_size).astype(int) + 1
        grid = np.zeros((depth, width), np.bool_)
        point_queries.draw_map(
            self.table, mesh, low[0], low[1], float(cell_size), float(height), float(max_y_delta), grid
        )
        return TopDownMap(grid, np.asarray(low, float).copy(), float(cell_size))


def _require_metres(name: str, metres: float) -> None:
    """Raise InputError for `metres`, called `name`, below 0, and for NaN."""
    if not metres >= 0:
        raise InputError(f"expected {name} of at least 0 m, got {metres}")


def _require_equal(start: Points, end: Points) -> None:
    if start.shape != end.shape:
        raise InputError(f"expected as many ends as starts, got {start.shape} and {end.shape}")


def require_points(points: Float[np.ndarray, "n 3"]) -> Points:
    """`points` as contiguous (N, 3) float64; raises InputError for another shape."""
    array = np.ascontiguousarray(points, np.float64)
    if array.ndim != 2 or array.shape[1] != 3:
        raise InputError(f"expected points of shape (N, 3), got {array.shape}")
    return array
