"""Geodesics on generated houses against exact shortest paths that share no code with the navmesh.

The reference reads the scene's walkable surfaces alone: where the centre of a body can be is their
union without what stands in its way, less the radius, with arcs three times as fine as the navmesh's;
the shortest path runs over the visibility graph of that area's corners.
"""

import numpy as np
import pytest
import shapely
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from shapely.geometry.base import BaseGeometry

from navarena.scenes.catalog import load_scene
from navarena.scenes.scene import WalkableSurface
from navarena.simulation.body_catalog import get_body
from navarena.simulation.navmesh import NavMesh, NavMeshSettings
from navarena.simulation.navmesh.building.floor_navmesh import build_floor_navmesh

BODY = NavMeshSettings.for_body(get_body("locobot"))
ARC_SEGMENTS = 12
"""Of a quarter circle: their chords lie 0.2 % of the radius inside the arc."""

WELD = 1e-4
"""Metres by which floors are grown over the seams between them."""

SLACK = 1e-6
"""Metres that a line of sight may run outside, for those along a border."""

HOUSES, PAIRS = 10, 100


def free_area(walkable: tuple[WalkableSurface, ...], body: NavMeshSettings) -> BaseGeometry:
    """Where the centre of a body can be on level floors of one storey."""
    floors = [shapely.Polygon(floor.outline, floor.holes) for floor in walkable]
    blocked = [
        shapely.Polygon(obj.polygon)
        for floor in walkable
        for obj in floor.obstacles
        if obj.high > floor.plane[2] + body.max_climb and obj.low < floor.plane[2] + body.height
    ]
    ground = shapely.union_all(shapely.buffer(floors, WELD, join_style="mitre"))
    ground = shapely.difference(ground, shapely.buffer(shapely.union_all(blocked), WELD, join_style="mitre"))
    return ground.buffer(-body.radius, quad_segs=ARC_SEGMENTS)


class ExactPaths:
    """Shortest paths in one polygon, in the plan.

    Args:
        area: the polygon.

    Of all straight ways only those are tried that a taut string could take: at a corner the border
    must run on one side of them, before and after it.
    """

    def __init__(self, area: shapely.Polygon) -> None:
        self.grown = area.buffer(SLACK, join_style="mitre")
        shapely.prepare(self.grown)
        rings = [shapely.get_coordinates(ring)[:-1] for ring in shapely.get_rings(shapely.normalize(area))]
        corners = np.concatenate(rings)
        before = np.concatenate([np.roll(ring, 1, axis=0) for ring in rings]) - corners
        after = np.concatenate([np.roll(ring, -1, axis=0) for ring in rings]) - corners
        # shapely's normal form: outer rings clockwise, inner ones counter-clockwise, the area on the right
        inwards = cross(-before, after) > 0
        self.corners, self.before, self.after = corners[inwards], before[inwards], after[inwards]
        own = np.arange(len(self.corners))
        first, second = np.nonzero(self._taut(self.corners) & self._taut(self.corners).T)
        self.links = self._visible(own[first], self.corners[first], second)

    def _taut(self, points: np.ndarray) -> np.ndarray:
        """(N, C) whether a string from points (N, 2) could bend round each corner."""
        ways = self.corners[None] - points[:, None]
        one, other = cross(ways, self.before[None]), cross(ways, self.after[None])
        return (one * other > -SLACK * SLACK) & (np.abs(ways).max(2) > 0)

    def _visible(self, row: np.ndarray, points: np.ndarray, column: np.ndarray) -> tuple[np.ndarray, ...]:
        """(rows, corners, metres) of those straight ways from points (M, 2) that stay inside."""
        lines = np.stack([points, self.corners[column]], 1)
        inside = shapely.covers(self.grown, shapely.linestrings(lines))
        lengths = np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)
        return row[inside], column[inside], lengths[inside]

    def distances(self, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """(N,) metres of the shortest path between plan points (N, 2) and (N, 2)."""
        count, n = len(self.corners), len(start)
        ends = np.concatenate([start, goal])
        row, column = np.nonzero(self._taut(ends))
        rows, columns, lengths = self._visible(row, ends[row], column)
        rows, columns, lengths = (
            np.concatenate(both) for both in zip(self.links, (rows + count, columns, lengths), strict=True)
        )
        graph = csr_array((lengths, (rows, columns)), (count + 2 * n, count + 2 * n))
        table = dijkstra(graph, directed=False, indices=np.arange(count, count + n))
        around = table[np.arange(n), np.arange(count + n, count + 2 * n)]
        lines = shapely.linestrings(np.stack([start, goal], 1))
        straight = np.linalg.norm(goal - start, axis=1)
        return np.where(shapely.covers(self.grown, lines), straight, around)


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Twice the signed area between vectors (..., 2)."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def compare(index: int) -> np.ndarray:
    """Relative differences of at least PAIRS geodesics in one house."""
    walkable = load_scene(f"houses-v0/val/{index:05d}").walkable
    mesh: NavMesh = build_floor_navmesh(walkable, BODY)
    draw = np.random.default_rng(index)
    start, goal = mesh.random_point(draw, 2 * PAIRS), mesh.random_point(draw, 2 * PAIRS)
    area = free_area(walkable, BODY)
    largest = max(shapely.get_parts(area), key=shapely.area)
    inside = shapely.contains_xy(largest, start[:, [0, 2]]) & shapely.contains_xy(largest, goal[:, [0, 2]])
    start, goal = start[inside][:PAIRS], goal[inside][:PAIRS]
    assert len(start) == PAIRS
    exact = ExactPaths(largest).distances(start[:, [0, 2]], goal[:, [0, 2]])
    return np.abs(mesh.geodesic_distance(start, goal) / exact - 1)


def single_storeys(count: int) -> list[int]:
    """The first houses of the validation split whose floors are all level and at one height."""
    found = []
    for index in range(100):
        planes = {floor.plane for floor in load_scene(f"houses-v0/val/{index:05d}").walkable}
        if len(planes) == 1 and next(iter(planes))[:2] == (0.0, 0.0):
            found.append(index)
        if len(found) == count:
            break
    return found


def test_the_reference_turns_at_a_corner() -> None:
    room = shapely.box(0, 0, 6, 6).difference(shapely.box(2, 2, 4, 4))
    start, goal = (
        np.array([[1.0, 3.0], [1.0, 1.0], [2.0, 1.0]]),
        np.array([[5.0, 3.0], [5.0, 5.0], [2.0, 5.0]]),
    )
    exact = [2 * np.hypot(1, 1) + 2, np.hypot(1, 3) + np.hypot(3, 1), 4.0]
    assert ExactPaths(room).distances(start, goal) == pytest.approx(exact)


@pytest.mark.slow
def test_geodesics_in_houses_are_exact_to_two_per_mille() -> None:
    houses = single_storeys(HOUSES)
    assert len(houses) == HOUSES
    errors = np.concatenate([compare(index) for index in houses])
    assert len(errors) >= HOUSES * PAIRS
    assert np.quantile(errors, 0.99) < 0.002
    assert np.median(errors) < 5e-4
