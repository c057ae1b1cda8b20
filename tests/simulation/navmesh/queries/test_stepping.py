"""Steps: hand-computed, never off the mesh, never through a border."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shapely.geometry import LineString

from navarena.simulation.navmesh import NavMesh
from simulation.navmesh.floors import (
    l_shape,
    mesh_from_polygon,
    mesh_from_triangles,
    random_floor,
    square_with_hole,
    two_storeys,
)

STEP_TABLE = [
    # start, end, with sliding, without
    ((1, 0, 1), (1.25, 0, 1), (1.25, 0, 1), (1.25, 0, 1)),  # free
    ((1.9, 0, 3), (2.15, 0, 3), (2, 0, 3), (2, 0, 3)),  # straight on to the hole
    ((1.9, 0, 3), (2.1, 0, 3.1), (2, 0, 3.1), (2, 0, 3.05)),  # at an angle
    ((0.1, 0, 0.1), (-0.1, 0, -0.1), (0, 0, 0), (0, 0, 0)),  # into a corner
    ((2, 0, 3), (1.8, 0, 3), (1.8, 0, 3), (1.8, 0, 3)),  # away from the border it stands on
    ((2, 0, 3), (2, 0, 3.2), (2, 0, 3.2), (2, 0, 3.2)),  # along it
    ((2, 0, 3), (2.2, 0, 3.1), (2, 0, 3.1), (2, 0, 3)),  # into it
    ((1.95, 0, 1.9), (2.1, 0, 2.05), (2.1, 0, 2), (2.05, 0, 2)),  # past a corner of the hole
    ((1.9, 0, 2), (2.2, 0, 2), (2.2, 0, 2), (2.2, 0, 2)),  # from its corner along its side
    ((3.9, 0, 2), (4.2, 0, 2), (4.2, 0, 2), (4.2, 0, 2)),  # along its side past its corner
    ((1.9, 0, 2.1), (2.1, 0, 1.9), (2.1, 0, 1.9), (2.1, 0, 1.9)),  # touching its corner
    ((1.9, 0, 1.89), (2.1, 0, 2.11), (2, 0, 2.11), (2, 0, 2)),  # straight on to its corner
]


@pytest.mark.parametrize(("start", "end", "sliding", "cut"), STEP_TABLE)
def test_steps_in_the_square(start: tuple, end: tuple, sliding: tuple, cut: tuple) -> None:
    mesh = square_with_hole()
    a, b = np.array([start], float), np.array([end], float)
    assert mesh.try_step(a, b, slide=True) == pytest.approx(np.array([sliding]), abs=1e-9)
    assert mesh.try_step(a, b, slide=False) == pytest.approx(np.array([cut]), abs=1e-9)


def test_height_follows_the_ground() -> None:
    mesh = mesh_from_polygon(random_floor(2, True), (0.3, -0.1))
    start = mesh.random_point(np.random.default_rng(0), 50)
    ends = mesh.try_step(start, start + [0.1, 0, 0.2], slide=True)
    assert ends[:, 1] == pytest.approx(ends[:, 0] * 0.3 - ends[:, 2] * 0.1)


def test_ramp_carries_a_body_from_storey_to_storey() -> None:
    mesh = two_storeys()
    positions, triangles = np.array([[5.0, 0.0, 4.5]]), np.full(1, -1, np.int32)
    collided = np.zeros(1, bool)
    for _ in range(22):  # 5.5 m towards -z
        mesh.table.step_bodies(
            np.zeros(1, np.int64), triangles, positions, np.zeros(1), np.full(1, 0.25), False, collided
        )
    assert positions == pytest.approx(np.array([[5.0, 3.0, -1.0]]))
    for _ in range(12):  # 3 m towards -x, over the place where the ground floor lies below
        mesh.table.step_bodies(
            np.zeros(1, np.int64),
            triangles,
            positions,
            np.full(1, np.pi / 2),
            np.full(1, 0.25),
            False,
            collided,
        )
    assert positions == pytest.approx(np.array([[2.0, 3.0, -1.0]]))
    assert not collided.any()


def two_rooms_that_touch() -> NavMesh:
    """Two squares on both sides of x = 1 that are not neighbours: a wall of no thickness."""
    vertices = [(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1), (1, 0, 0), (2, 0, 0), (2, 0, 1), (1, 0, 1)]
    return mesh_from_triangles(
        np.array(vertices, float), np.array([(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7)])
    )


@pytest.mark.parametrize("slide", [True, False])
def test_thin_walls_are_not_crossed(slide: bool) -> None:
    mesh = two_rooms_that_touch()
    start = np.array([[1.1, 0, 0.5]])
    assert np.array_equal(mesh.try_step(start, np.array([[0.9, 0, 0.5]]), slide), start)  # the other room
    # an end in the wall itself snaps to the first room
    end = mesh.try_step(start, np.array([[1.0, 0, 0.5]]), slide)
    assert mesh.island(start) == 1
    for _ in range(5):
        end = mesh.try_step(end, end + [[-0.05, 0, 0.0]], slide)
        assert mesh.island(end) == 1


def test_a_start_off_the_mesh_stays() -> None:
    mesh = l_shape()
    start = np.array([[50.0, 0, 50.0], [np.nan, 0, 0]])
    assert np.array_equal(mesh.try_step(start, start + 0.1, True), start, equal_nan=True)


def test_bodies_off_the_mesh_collide_and_resting_ones_do_not() -> None:
    mesh = l_shape()
    positions = np.array([[50.0, 0, 50.0], [50.0, 0, 50.0], [1.0, 0, 1.0]])
    before, collided = positions.copy(), np.zeros(3, bool)
    forward = np.array([0.25, 0.0, 0.0])
    mesh.table.step_bodies(
        np.zeros(3, np.int64), np.full(3, -1, np.int32), positions, np.zeros(3), forward, True, collided
    )
    assert collided.tolist() == [True, False, False]
    assert np.array_equal(positions, before)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), aligned=st.booleans(), slide=st.booleans(), length=st.floats(0.01, 0.6))
@example(seed=248, aligned=True, slide=False, length=0.5)  # the way round a corner that is not free
@example(seed=402_789, aligned=True, slide=False, length=0.5)  # along a side between two triangles
def test_steps_never_leave_the_mesh(seed: int, aligned: bool, slide: bool, length: float) -> None:
    polygon = random_floor(seed, aligned)
    mesh, rng = mesh_from_polygon(polygon), np.random.default_rng([seed, 7])
    grown = polygon.buffer(1e-7)
    at = mesh.random_point(rng, 20)
    for _ in range(12):
        angle = rng.integers(0, 12, 20) * np.pi / 6 if aligned else rng.uniform(0, 7, 20)
        end = at + length * np.stack([np.cos(angle), np.zeros(20), np.sin(angle)], 1)
        to = mesh.try_step(at, end, slide)
        moved = np.linalg.norm(to - at, axis=1)
        # sliding goes to the border point nearest to the end, which may lie round a corner
        assert (moved <= (2 if slide else 1) * length + 1e-9).all()
        assert mesh.is_navigable(to).all()
        inside = [grown.covers(LineString([a[[0, 2]], b[[0, 2]]])) for a, b in zip(at, end, strict=True)]
        assert to[inside] == pytest.approx(end[inside], abs=1e-6)
        if not slide:
            assert all(grown.covers(LineString([a[[0, 2]], b[[0, 2]]])) for a, b in zip(at, to, strict=True))
            along = ((to - at) * (end - at)).sum(1) / length
            assert along == pytest.approx(moved, abs=1e-6)  # on the straight line to the end
        at = to


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), slide=st.booleans())
def test_bodies_that_remember_their_triangle_walk_like_those_that_do_not(seed: int, slide: bool) -> None:
    mesh, rng = mesh_from_polygon(random_floor(seed, False)), np.random.default_rng([seed, 8])
    remembered = mesh.random_point(rng, 10)
    looked_up, triangles = remembered.copy(), np.full(10, -1, np.int32)
    meshes, collided, collided2 = np.zeros(10, np.int64), np.zeros(10, bool), np.zeros(10, bool)
    for _ in range(20):
        yaws = rng.uniform(-4, 4, 10)
        ahead = np.full(10, 0.25)
        mesh.table.step_bodies(meshes, triangles, remembered, yaws, ahead, slide, collided)
        fresh = np.full(10, -1, np.int32)
        mesh.table.step_bodies(meshes, fresh, looked_up, yaws, ahead, slide, collided2)
        assert looked_up == pytest.approx(remembered, abs=1e-7)
        assert np.array_equal(collided, collided2)
