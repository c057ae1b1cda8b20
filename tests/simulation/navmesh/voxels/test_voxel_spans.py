"""Voxelisation against a slow reference that clips every triangle with Shapely's rectangles."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from navarena.core.errors import SceneError
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.navmesh.voxels.voxel_spans import Grid, Spans, plan_grid, voxelise
from simulation.navmesh.build_meshes import join_meshes, plate, prism, rectangle

SETTINGS = NavMeshSettings(radius=0.1, height=0.8)


def voxels_of(vertices: np.ndarray, faces: np.ndarray) -> tuple[Grid, Spans]:
    grid = plan_grid(vertices[faces.ravel()], SETTINGS)
    return grid, voxelise(vertices, faces.astype(np.int64), grid, SETTINGS)


def column_spans(grid: Grid, spans: Spans) -> dict[tuple[int, int], list[tuple[int, int, bool]]]:
    found = {}
    for z in range(grid.nz):
        for x in range(grid.nx):
            first, last = spans.starts[z * grid.nx + x : z * grid.nx + x + 2]
            if last > first:
                rows = zip(
                    spans.lows[first:last], spans.highs[first:last], spans.walkable[first:last], strict=True
                )
                found[x, z] = [(int(low), int(high), bool(stands)) for low, high, stands in rows]
    return found


def clip(points: list[np.ndarray], axis: int, sign: float, line: float) -> list[np.ndarray]:
    """Sutherland and Hodgman: the part of a polygon where sign * (coordinate - line) >= 0."""
    kept = []
    for a, b in zip(points, points[1:] + points[:1], strict=True):
        da, db = sign * (a[axis] - line), sign * (b[axis] - line)
        if da >= 0:
            kept.append(a)
        if (da > 0) != (db > 0) and da != db and da * db < 0:
            kept.append(a + (b - a) * da / (da - db))
    return kept


def slow_ranges(grid: Grid, triangle: np.ndarray) -> dict[tuple[int, int], tuple[float, float, float]]:
    """Column -> lowest and highest y (voxels) of the triangle's part inside it, and its extent in plan."""
    points = (triangle - grid.origin) / grid.scale
    ranges = {}
    low, high = np.floor(points.min(0)).astype(int), np.floor(points.max(0)).astype(int)
    for z in range(low[2], high[2] + 1):
        for x in range(low[0], high[0] + 1):
            part = list(points)
            for axis, sign, line in ((0, 1, x), (0, -1, x + 1), (2, 1, z), (2, -1, z + 1)):
                part = clip(part, axis, sign, line)
            if len(part) >= 3:
                xs, ys, zs = zip(*part, strict=True)
                ranges[x, z] = min(ys), max(ys), max(max(xs) - min(xs), max(zs) - min(zs))
    return ranges


coordinate = st.floats(-0.4, 0.4).map(lambda value: round(value, 3))


@settings(max_examples=60, deadline=None)
@given(st.lists(coordinate, min_size=9, max_size=9))
@example([-0.284, 0, 0, 0, 0, -0.284, 0, 0, 0])  # an edge through a corner of columns
def test_a_triangle_fills_the_columns_that_it_touches(numbers):
    # offset so that no corner lies on a line of the grid, where a column may be filled or not
    triangle = np.array(numbers).reshape(3, 3) + [0.0123, 0.0321, 0.0217]
    anchors = np.array([(-0.9, -0.9, -0.9), (-0.89, -0.9, -0.9), (-0.9, -0.9, -0.89)])
    vertices = np.concatenate([anchors, triangle])
    faces = np.array([(0, 1, 2), (3, 4, 5)])
    if np.linalg.norm(np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])) < 1e-4:
        return
    grid, spans = voxels_of(vertices, faces)
    found = column_spans(grid, spans)
    found.pop((0, 0))
    expected = slow_ranges(grid, triangle)
    touched = {column for column, (_, _, extent) in expected.items() if extent < 1e-9}
    assert set(expected) - touched <= set(found) <= set(expected)
    for column in found:
        low, high, _ = expected[column]
        assert found[column][0][:2] == (
            int(np.floor(low + 1e-4)),
            max(int(np.ceil(high - 1e-4)), int(np.floor(low + 1e-4)) + 1),
        )


def test_spans_are_sorted_apart_and_independent_of_order():
    pieces = [
        prism(rectangle(0.1 * k, 0.05 * k, 0.3, 0.2, k), 0.15 * (k % 4), 0.15 * (k % 4) + 0.3)
        for k in range(9)
    ]
    vertices, faces = join_meshes(plate(-0.5, -0.5, 1.2, 1.0), *pieces)
    grid, spans = voxels_of(vertices, faces)
    for column in column_spans(grid, spans).values():
        for (low, high, _), (next_low, _, _) in itertools.pairwise(column):
            assert low < high < next_low
    order = np.random.default_rng(5).permutation(len(faces))
    _, shuffled = voxels_of(vertices, faces[order])
    for name in ("starts", "lows", "highs", "walkable", "heights"):
        np.testing.assert_array_equal(getattr(spans, name), getattr(shuffled, name))


def test_tops_are_walkable_by_slope_and_know_their_height():
    steep = np.tan(np.deg2rad(50))
    gentle = np.tan(np.deg2rad(40))
    flat = plate(0.0, 0.0, 0.5, 0.5, 0.07)
    easy = plate(1.0, 0.0, 1.5, 0.5, [0.0, 0.0, 0.5 * gentle, 0.5 * gentle])
    hard = plate(2.0, 0.0, 2.5, 0.5, [0.0, 0.0, 0.5 * steep, 0.5 * steep])
    ceiling = plate(3.0, 0.0, 3.5, 0.5)
    mesh = join_meshes(flat, easy, hard, (ceiling[0], ceiling[1][:, ::-1]))
    grid, spans = voxels_of(*mesh)
    for x, walkable in ((0.26, True), (1.26, True), (2.26, False), (3.26, False)):
        column = int(0.26 / 0.05) * grid.nx + int(x / 0.05)
        (i,) = range(spans.starts[column], spans.starts[column + 1])
        assert spans.walkable[i] == walkable
    at = spans.starts[5 * grid.nx + 5]
    assert spans.heights[at] * 0.2 + grid.origin[1] == pytest.approx(0.07, abs=1e-6)
    at = spans.starts[5 * grid.nx + 25]
    assert spans.heights[at] * 0.2 + grid.origin[1] == pytest.approx(0.275 * gentle, abs=1e-6)


def test_many_spans_make_room_for_themselves():
    layers = [plate(0.0, 0.0, 1.0, 1.0, 0.5 * level) for level in range(20)]
    grid, spans = voxels_of(*join_meshes(*layers))
    counts = np.diff(spans.starts).reshape(grid.nz, grid.nx)
    assert (counts[:20, :20] == 20).all()


def test_a_mesh_in_millimetres_is_refused():
    vertices, faces = plate(0.0, 0.0, 12_000.0, 9_000.0)
    with pytest.raises(SceneError, match=r"1\.2e\+04 x 0 x 9000.*scale=0\.01"):
        plan_grid(vertices[faces.ravel()], SETTINGS)
