"""Navmeshes of whole meshes: hand-computed halls, storeys, random boxes, bad input, the dungeon."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import SceneError
from navarena.simulation.navmesh.building.mesh_navmesh import build_navmesh, compute_mesh_parts
from navarena.simulation.navmesh.mesh_structure import NavMeshParts
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from simulation.navmesh.build_meshes import (
    ground_pieces,
    hall,
    island_areas,
    island_labels,
    join_meshes,
    plan_polygons,
    plane_height,
    plate,
    prism,
    rectangle,
    require_sound,
)

BODY = NavMeshSettings(radius=0.18, height=0.88)
BODIES = {"r018_h088": BODY, "r010_h150": NavMeshSettings(radius=0.1, height=1.5)}


def test_an_empty_hall_is_two_triangles():
    parts = compute_mesh_parts(*hall(4.0, []), BODY)
    require_sound(parts)
    assert len(parts.triangles) == 2
    # 4 m less 0.2 m (4 cells) and up to one cell of wall on each side
    (area,) = island_areas(parts)
    assert 3.5**2 <= area <= 3.6**2 + 1e-9
    np.testing.assert_allclose(parts.vertices[:, 1], 0.0, atol=1e-6)
    assert len(parts.detail_triangles) == 0


def test_a_wall_with_a_door_leaves_one_island_and_without_two():
    door = [rectangle(2.0, 0.75, 0.05, 0.75), rectangle(2.0, 3.25, 0.05, 0.75)]
    assert len(island_areas(compute_mesh_parts(*hall(4.0, door), BODY))) == 1
    shut = [rectangle(2.0, 2.0, 0.05, 2.0)]
    assert len(island_areas(compute_mesh_parts(*hall(4.0, shut), BODY))) == 2


def two_storeys() -> tuple[np.ndarray, np.ndarray]:
    """Floors at 0 and 2 above each other, joined by a ramp outside their eastern side."""
    return join_meshes(
        plate(0.0, 0.0, 6.0, 4.0),
        plate(6.0, 0.0, 12.0, 1.5, [0.0, 0.0, 2.0, 2.0]),
        plate(12.0, 0.0, 13.5, 4.0, 2.0),
        plate(0.0, 2.5, 12.0, 4.0, 2.0),
    )


def test_storeys_over_each_other_are_linked_by_a_ramp():
    parts = compute_mesh_parts(*two_storeys(), BODY)
    require_sound(parts)
    labels = island_labels(parts)
    heights = parts.vertices[parts.triangles][..., 1]
    assert len(set(labels.tolist())) == 1
    assert heights.min() == pytest.approx(0.0, abs=0.01) and heights.max() == pytest.approx(2.0, abs=0.01)
    polygons = plan_polygons(parts)
    upper = shapely.union_all(polygons[heights.min(1) > 1.9])
    lower = shapely.union_all(polygons[heights.max(1) < 0.1])
    assert shapely.area(shapely.intersection(upper, lower)) > 4.0


def test_the_ground_follows_a_hump():
    ramp = join_meshes(
        plate(0.0, 0.0, 3.0, 3.0),
        plate(3.0, 0.0, 4.0, 3.0, [0.0, 0.0, 0.5, 0.5]),
        plate(4.0, 0.0, 5.0, 3.0, [0.5, 0.5, 0.0, 0.0]),
        plate(5.0, 0.0, 8.0, 3.0),
    )
    parts = compute_mesh_parts(*ramp, BODY)
    require_sound(parts)
    assert len(parts.detail_triangles) > 0
    pieces, _ = ground_pieces(parts)
    polygons = shapely.polygons(pieces[..., [0, 2]])
    for x, expected in ((1.5, 0.0), (3.5, 0.25), (4.0, 0.5), (4.5, 0.25), (6.0, 0.0)):
        inside = np.flatnonzero(shapely.intersects(polygons, shapely.Point(x, 1.5)))
        height = plane_height(pieces[inside[0]], x, 1.5)
        assert height == pytest.approx(expected, abs=BODY.detail_max_error + 0.02)


def random_hall(seed: int) -> tuple[list[list[tuple[float, float]]], tuple[np.ndarray, np.ndarray]]:
    draw = np.random.default_rng(seed)
    obstacles = [
        rectangle(*draw.uniform(0.2, 4.8, 2), *draw.uniform(0.05, 0.8, 2), draw.uniform(0, 6))
        for _ in range(draw.integers(1, 9))
    ]
    return obstacles, hall(5.0, obstacles)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from([0.05, 0.18, 0.3, 0.4]))
def test_triangles_keep_clear_of_random_boxes(seed, radius):
    obstacles, mesh = random_hall(seed)
    body = NavMeshSettings(radius=radius, height=1.2)
    parts = compute_mesh_parts(*mesh, body)
    require_sound(parts)
    on_floor = parts.vertices[parts.triangles][..., 1].max(1) < 0.5
    blocked = shapely.union_all([shapely.Polygon(plan) for plan in obstacles])
    blocked = shapely.union(blocked, shapely.box(0, 0, 5, 5).exterior)
    polygons = plan_polygons(parts)[on_floor]
    clearance = shapely.distance(shapely.centroid(polygons), blocked)
    assert clearance.min() >= radius - body.cell_size
    # nowhere nearer than the simplified outline and Recast's distances across corners allow
    assert shapely.distance(polygons, blocked).min() >= radius - 0.11 * radius - 1.3 * body.cell_size
    # triangles of the floor do not overlap
    assert shapely.area(polygons).sum() == pytest.approx(shapely.union_all(polygons).area, abs=1e-6)
    # and what is surely free is covered, where it hangs together with enough room
    sure = shapely.box(0, 0, 5, 5).difference(blocked).buffer(-(radius * 1.1 + 3 * body.cell_size))
    uncovered = sure.difference(shapely.union_all(polygons).buffer(1e-6))
    assert max((part.area for part in shapely.get_parts(uncovered)), default=0.0) < body.min_island_area


def canonical(parts: NavMeshParts) -> set[tuple]:
    corners = np.round(parts.vertices[parts.triangles], 9)
    return {tuple(sorted(map(tuple, triangle.tolist()))) for triangle in corners}


def test_the_order_of_triangles_does_not_matter():
    _, (vertices, faces) = random_hall(7)
    one = compute_mesh_parts(vertices, faces, BODY)
    again = compute_mesh_parts(vertices, faces, BODY)
    other = compute_mesh_parts(vertices, faces[np.random.default_rng(1).permutation(len(faces))], BODY)
    for name in ("vertices", "triangles", "neighbors", "detail_offsets", "detail_triangles"):
        np.testing.assert_array_equal(getattr(one, name), getattr(again, name))
    assert canonical(one) == canonical(other)


def test_float32_and_int32_scenes_are_taken():
    _, (vertices, faces) = random_hall(3)
    navmesh = build_navmesh(vertices.astype(np.float32), faces.astype(np.int32), BODY)
    assert navmesh.navigable_area > 10


def swapped(mesh: tuple[np.ndarray, np.ndarray], order: list[int]) -> tuple[np.ndarray, np.ndarray]:
    return mesh[0][:, order], mesh[1]


def pipe() -> tuple[np.ndarray, np.ndarray]:
    """A narrow passage with a floor and a wall; nothing to stand on when it is tipped over."""
    return join_meshes(plate(0.0, 0.0, 1.2, 4.0), prism(rectangle(1.3, 2.0, 0.1, 2.0), 0.0, 0.3))


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        ((np.zeros((0, 3)), np.zeros((0, 3), int)), "triangles, got none"),
        ((np.array([(0.0, 0, 0), (0, 0, 1), (np.nan, 0, 0)]), np.array([(0, 1, 2)])), "finite.*index 2"),
        ((np.zeros((3, 3)), np.array([(0, 1, 3)])), "0 to 2, got 0 to 3"),
        (plate(0.0, 0.0, 0.004, 0.003), "too small"),
        ((pipe()[0], pipe()[1][:2, ::-1]), "--flip"),
        (swapped(pipe(), [1, 2, 0]), "up_axis='x'"),
        (swapped(pipe(), [2, 0, 1]), "up_axis='z'"),
        (plate(0.0, 0.0, 1000.0, 900_000.0), "too large"),
    ],
)
def test_bad_meshes_are_explained(mesh, message):
    vertices, faces = mesh
    with pytest.raises(SceneError, match=message):
        compute_mesh_parts(np.asarray(vertices, float), np.asarray(faces), BODY)


def test_a_low_ceiling_leaves_no_room():
    mesh = join_meshes(plate(0.0, 0.0, 4.0, 4.0), prism(rectangle(2, 2, 2, 2), 0.5, 100.0))
    with pytest.raises(SceneError, match="height 0.88"):
        compute_mesh_parts(*mesh, NavMeshSettings(radius=2.5, height=0.88))


@cache
def dungeon_parts(folder: Path, body: str) -> NavMeshParts:
    mesh = np.load(folder / "mesh_dungeon.npz")
    return compute_mesh_parts(mesh["vertices"], mesh["faces"], BODIES[body])


@pytest.mark.parametrize("body", list(BODIES))
def test_the_dungeon_has_the_islands_of_the_goldens(dungeon_folder, body):
    golden = np.load(dungeon_folder / f"nav_dungeon_{body}.npz")
    parts = dungeon_parts(dungeon_folder, body)
    require_sound(parts)
    assert len(parts.triangles) < 1000
    corners = parts.vertices[parts.triangles]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    assert areas.sum() == pytest.approx(float(golden["navigable_area"]), rel=0.015)
    labels = island_labels(parts)
    islands = sorted(areas[labels == label].sum() for label in set(labels.tolist()))
    assert len(islands) == int(golden["num_islands"])
    np.testing.assert_allclose(islands, np.sort(golden["island_area"]), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("body", list(BODIES))
def test_points_of_the_goldens_lie_on_the_dungeon_navmesh(dungeon_folder, body):
    golden = np.load(dungeon_folder / f"nav_dungeon_{body}.npz")
    parts = dungeon_parts(dungeon_folder, body)
    pieces, owners = ground_pieces(parts)
    polygons = shapely.polygons(pieces[..., [0, 2]])
    tree = shapely.STRtree(polygons)
    labels = island_labels(parts)

    def find(point: np.ndarray) -> int:
        """Island under a golden point, which floats up to 0.4 m above the floor; -1 = none near."""
        spot = shapely.Point(point[0], point[2])
        best, island = np.inf, -1
        for t in tree.query(spot, "dwithin", 0.1):
            drop = point[1] - plane_height(pieces[t], point[0], point[2])
            away = shapely.distance(polygons[t], spot)
            if -0.2 < drop < 0.6 and away < best:
                best, island = away, int(labels[owners[t]])
        return island

    starts = [find(point) for point in golden["any_start"].astype(float)]
    ends = [find(point) for point in golden["any_end"].astype(float)]
    assert np.mean(np.array(starts + ends) >= 0) > 0.98
    reachable = np.isfinite(golden["any_geodesic"])
    same = np.array(starts) == np.array(ends)
    assert np.mean(same == reachable) >= 0.98


@pytest.mark.parametrize("body", list(BODIES))
def test_distances_in_the_dungeon_are_those_of_the_goldens(dungeon_folder, body):
    golden = np.load(dungeon_folder / f"nav_dungeon_{body}.npz")
    navmesh = NavMesh.from_parts(**dungeon_parts(dungeon_folder, body).as_arguments())
    for pairs in ("any", "big"):
        start, goal = golden[f"{pairs}_start"].astype(float), golden[f"{pairs}_end"].astype(float)
        # Detour's distances are upper bounds that differ by direction; the goldens' README
        expected = np.minimum(golden[f"{pairs}_geodesic"], golden[f"{pairs}_geodesic_reverse"])
        distance = navmesh.geodesic_distance(start, goal)
        reached = np.isfinite(distance)
        assert np.mean(reached == np.isfinite(expected)) >= 0.98
        both = reached & np.isfinite(expected) & (expected > 0)
        ratio = distance[both] / expected[both]
        assert np.mean(ratio <= 1.01) >= 0.99
        assert np.median(ratio) == pytest.approx(1.0, abs=0.002)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000), st.integers(1, 80), st.sampled_from([0.02, 0.5, 3.0]))
def test_any_soup_of_triangles_is_answered_or_refused(seed, count, size):
    draw = np.random.default_rng(seed)
    centres = draw.uniform(0, 4, (count, 1, 3)) * (1, 0.3, 1)
    corners = np.round(centres + draw.normal(0, size, (count, 3, 3)) * (1, 0.1, 1), draw.integers(1, 6))
    corners[:: max(2, count // 5), 2] = corners[:: max(2, count // 5), 1]  # some without area
    vertices, faces = corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)
    body = NavMeshSettings(radius=0.1, height=0.5, region_min_size=3)
    try:
        parts = compute_mesh_parts(vertices, faces, body)
    except SceneError as error:
        assert "expected" in str(error)
    else:
        require_sound(parts)
        NavMesh.from_parts(**parts.as_arguments())
