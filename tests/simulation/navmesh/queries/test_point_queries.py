"""Single points: snapping, islands, random points, obstacles, maps, and the checks of the parts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import Point

from navarena.core.errors import InputError, SceneError
from navarena.core.seeding import make_generator
from navarena.simulation.navmesh import NavMesh, NavMeshTable
from simulation.navmesh.conftest import Dungeon
from simulation.navmesh.floors import (
    SETTINGS,
    l_shape,
    mesh_from_polygon,
    mesh_from_triangles,
    random_floor,
    square_with_hole,
    two_storeys,
)

SNAP_TABLE = [
    ((1, 0, 1), (1, 0, 1)),
    ((1, 0.7, 1), (1, 0, 1)),  # straight down
    ((1, -3.9, 1), (1, 0, 1)),
    ((1, 4.1, 1), None),  # above the box
    ((-1.5, 0.1, 1), (0, 0, 1)),  # sideways
    ((-1.5, 0, -1.5), (0, 0, 0)),  # to a corner 2.1 m away: the box is square
    ((-2.1, 0, 1), None),
    ((3.2, 0, 3), (4, 0, 3)),  # out of the hole, to its nearer side
]


@pytest.mark.parametrize(("point", "snapped"), SNAP_TABLE)
def test_snapping_in_the_square(point: tuple, snapped: tuple | None) -> None:
    found = square_with_hole().snap_point(np.array([point], float))
    expected = np.full((1, 3), np.nan) if snapped is None else np.array([snapped], float)
    assert found == pytest.approx(expected, nan_ok=True)


def test_snapping_prefers_the_floor_within_a_step_over_what_is_nearer_sideways() -> None:
    """A point 0.3 m over one floor and 0.15 m beside another: the climb of 0.2 m is forgiven."""
    vertices = [
        (0, 0, 0),
        (2, 0, 0),
        (2, 0, 2),
        (0, 0, 2),
        (1, 0.3, 0),
        (1, 0.3, 2),
        (3, 0.3, 2),
        (3, 0.3, 0),
    ]
    mesh = mesh_from_triangles(
        np.array(vertices, float), np.array([(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7)])
    )
    assert mesh.snap_point(np.array([[0.85, 0.3, 1.0]])) == pytest.approx(np.array([[0.85, 0, 1]]))
    assert mesh.snap_point(np.array([[0.95, 0.3, 1.0]])) == pytest.approx(np.array([[1, 0.3, 1]]))
    # both floors are within a step of this point: the nearer one
    assert mesh.snap_point(np.array([[1.5, 0.2, 1.0]])) == pytest.approx(np.array([[1.5, 0.3, 1]]))
    assert mesh.snap_point(np.array([[1.5, 0.1, 1.0]])) == pytest.approx(np.array([[1.5, 0, 1]]))


def test_navigable_means_a_centimetre_aside_and_half_a_metre_up_or_down() -> None:
    mesh = l_shape()
    points = np.array(
        [[1, 0.49, 1], [1, -0.51, 1], [-0.009, 0, 1], [-0.011, 0, 1], [3, 0, 3], [np.nan, 0, 0]]
    )
    assert mesh.is_navigable(points).tolist() == [True, False, True, False, False, False]
    assert mesh.is_navigable(points, max_y_delta=1.0).tolist()[:2] == [True, True]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), aligned=st.booleans())
def test_snapping_finds_the_nearest_point_of_a_flat_floor(seed: int, aligned: bool) -> None:
    polygon = random_floor(seed, aligned)
    mesh, rng = mesh_from_polygon(polygon), np.random.default_rng([seed, 3])
    points = np.stack([rng.uniform(-1, 11, 60), np.zeros(60), rng.uniform(-1, 9, 60)], 1)
    snapped = mesh.snap_point(points)
    for point, found in zip(points, snapped, strict=True):
        apart = polygon.distance(Point(point[[0, 2]]))
        if apart < 2 - 1e-6:
            assert np.linalg.norm(found - point) == pytest.approx(apart, abs=1e-6)


def test_islands_are_numbered_and_measured() -> None:
    vertices = [(0, 0, 0), (2, 0, 0), (0, 0, 2), (5, 1, 0), (9, 1, 0), (9, 1, 3), (5, 1, 3)]
    mesh = mesh_from_triangles(np.array(vertices, float), np.array([(0, 1, 2), (3, 4, 5), (3, 5, 6)]))
    points = np.array([[0.2, 0, 0.2], [6, 1, 1], [50, 0, 0]])
    assert mesh.island(points).tolist() == [0, 1, -1]
    assert mesh.island_area(points) == pytest.approx([2, 12, 0])
    assert mesh.island_radius(points)[1:] == pytest.approx([2.5, 0])
    assert mesh.navigable_area == pytest.approx(14) and mesh.largest_island == 1
    assert np.isinf(mesh.geodesic_distance(points[:1], points[1:2])).all()
    low, high = mesh.bounds
    assert low.tolist() == [0, 0, 0] and high.tolist() == [9, 1, 3]


def test_random_points_are_uniform_and_keep_to_their_island(dungeon: Dungeon) -> None:
    mesh = dungeon.mesh
    points = mesh.random_point(make_generator("points"), 4000)
    assert mesh.is_navigable(points, 1e-3).all()  # heights are single precision
    share = np.bincount(mesh.island(points), minlength=mesh.island_count) / len(points)
    assert share == pytest.approx(mesh.island_areas / mesh.navigable_area, abs=0.02)
    assert (mesh.island(mesh.random_point(make_generator("island"), 200, island=2)) == 2).all()
    assert np.array_equal(points, mesh.random_point(make_generator("points"), 4000))
    assert np.array_equal(points[:10], mesh.random_point(make_generator("points"), 10))
    with pytest.raises(SceneError, match="expected an island"):
        mesh.random_point(make_generator("none"), 1, island=99)


def test_random_points_fill_a_square_evenly() -> None:
    points = square_with_hole().random_point(make_generator("square"), 8000)
    counts = np.histogram2d(points[:, 0], points[:, 2], bins=3, range=[[0, 6], [0, 6]])[0]
    assert counts[1, 1] == 0
    assert counts[counts > 0] == pytest.approx(np.full(8, 1000), abs=120)


def test_distance_to_obstacle_knows_the_storey() -> None:
    mesh = two_storeys()
    points = np.array([[1.0, 0, 2.0], [1.0, 3, 2.0], [3.4, 3, 2.0], [90, 0, 0]])
    assert mesh.distance_to_obstacle(points) == pytest.approx([1.0, 1.0, 0.1, np.inf])
    assert mesh.distance_to_obstacle(points[:1], 0.25) == pytest.approx([0.25])


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_distance_to_obstacle_is_that_to_the_outline(seed: int) -> None:
    polygon = random_floor(seed, False)
    mesh = mesh_from_polygon(polygon)
    points = mesh.random_point(np.random.default_rng(seed), 40)
    expected = [polygon.boundary.distance(Point(p[[0, 2]])) for p in points]
    assert mesh.distance_to_obstacle(points, 50.0) == pytest.approx(expected, abs=1e-6)


def test_top_down_map() -> None:
    map_below = l_shape().top_down_map(0.5, 0.0)
    assert map_below.grid.shape == (9, 9) and map_below.cell == 0.5
    assert map_below.origin.tolist() == [0, 0]
    assert map_below.grid[:5].all() and map_below.grid[:, :5].all()
    assert not map_below.grid[5:, 5:].any()
    assert not l_shape().top_down_map(0.5, 2.0).grid.any()
    where = map_below.to_grid(np.array([[1.0, 0, 3.0]]))
    assert where.tolist() == [[6.0, 2.0]]
    above = two_storeys().top_down_map(0.5, 3.0)
    below = two_storeys().top_down_map(0.5, 0.0)
    assert above.grid.sum() != below.grid.sum()
    with pytest.raises(InputError, match="positive cell_size"):
        l_shape().top_down_map(0.0, 0.0)


def test_queries_need_distances_that_are_numbers() -> None:
    mesh, point, corners = l_shape(), np.array([[1.0, 0, 1.0]]), (np.zeros(2), np.ones(2))
    for metres in (-1.0, np.nan):
        with pytest.raises(InputError, match="max_y_delta of at least 0 m"):
            mesh.is_navigable(point, metres)
        with pytest.raises(InputError, match="max_distance of at least 0 m"):
            mesh.distance_to_obstacle(point, metres)
        with pytest.raises(InputError, match="max_y_delta of at least 0 m"):
            mesh.table.top_down_map(0, *corners, 0.5, 0.0, metres)
    with pytest.raises(InputError, match="finite height"):
        mesh.top_down_map(0.5, np.nan)
    with pytest.raises(InputError, match="at least 0 points to draw, got -1"):
        mesh.random_point(np.random.default_rng(0), -1)


def parts() -> list:
    mesh = l_shape()
    return [
        mesh.vertices.copy(),
        mesh.triangles.copy(),
        mesh.neighbors.copy(),
        mesh.detail_offsets.copy(),
        mesh.detail_triangles.copy(),
    ]


@pytest.mark.parametrize(
    ("which", "change", "message"),
    [
        (1, lambda a: a[:0], "got none"),
        (0, lambda a: a * np.nan, "finite"),
        (0, lambda a: a * 1e6, "check the scale"),
        (1, lambda a: a + 100, "vertex indices below"),
        (1, lambda a: a[:, ::-1].copy(), "counter-clockwise"),
        (2, lambda a: a + 99, "neighbours from -1"),
        (2, lambda a: np.where(a < 0, 0, a), "does not answer"),
        (3, lambda a: a + 1, "detail offsets"),
    ],
)
def test_parts_that_do_not_fit_are_refused(which: int, change: object, message: str) -> None:
    given_parts = parts()
    given_parts[which] = change(given_parts[which])  # type: ignore[operator]
    if which == 1 and not len(given_parts[1]):
        given_parts[2], given_parts[3] = given_parts[2][:0], given_parts[3][:1]
    with pytest.raises(SceneError, match=message):
        NavMesh.from_parts(*given_parts, SETTINGS)


def test_one_call_serves_many_meshes_and_equals_single_calls(dungeon: Dungeon) -> None:
    meshes = [square_with_hole(), dungeon.mesh, two_storeys()]
    table, rng = NavMeshTable(meshes), np.random.default_rng(0)
    which = rng.integers(0, 3, 60)
    draws = [[mesh.random_point(rng, 60) for mesh in meshes] for _ in range(2)]
    start, goal = (np.stack([draw[m][i] for i, m in enumerate(which)]) for draw in draws)
    near = start + rng.normal(0, 0.3, start.shape)
    together = [
        table.snap_point(which, near),
        table.is_navigable(which, near),
        table.island(which, near),
        table.try_step(which, start, near, True),
        table.try_step(which, start, near, False),
        table.geodesic_distance(which, start, goal),
        table.distance_to_obstacle(which, near),
    ]
    for i, m in enumerate(which):
        mesh, a, b, c = meshes[m], start[i : i + 1], goal[i : i + 1], near[i : i + 1]
        alone = [
            mesh.snap_point(c),
            mesh.is_navigable(c),
            mesh.island(c),
            mesh.try_step(a, c, True),
            mesh.try_step(a, c, False),
            mesh.geodesic_distance(a, b),
            mesh.distance_to_obstacle(c),
        ]
        for batch, single in zip(together, alone, strict=True):
            assert np.array_equal(batch[i : i + 1], single, equal_nan=batch.dtype.kind == "f")
