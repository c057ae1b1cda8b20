"""Shortest paths: hand-computed, against an exact visibility graph, and as invariants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.simulation.navmesh import GoalFields
from navarena.simulation.navmesh.queries import goal_fields, navmesh_table, search_state
from navarena.simulation.navmesh.queries.search_arrays import COUNT_SEARCHES, LAST_SEARCH
from simulation.navmesh.floors import (
    VisibilityGraph,
    l_shape,
    mesh_from_polygon,
    plan_length,
    random_floor,
    square_with_hole,
    stays_inside,
    two_storeys,
)

ROOT2 = np.sqrt(2)

SQUARE_TABLE = [
    # start, goal, length
    ((1, 0, 1), (1, 0, 1), 0.0),
    ((1, 0, 1), (5, 0, 1), 4.0),
    ((1, 0, 3), (5, 0, 3), 2 * np.hypot(1, 1) + 2),  # round the hole: two corners
    ((1, 0, 1), (5, 0, 5), np.hypot(1, 3) + np.hypot(3, 1)),  # round one corner
    ((2, 0, 2), (4, 0, 4), 4.0),  # along its sides
    ((0, 0, 0), (6, 0, 6), np.hypot(4, 2) + np.hypot(2, 4)),
    ((3, 0, 2), (3, 0, 4), 4.0),  # from side to side
    ((1, 0, 2), (5, 0, 2), 4.0),  # grazing one side
]


@pytest.mark.parametrize(("start", "goal", "length"), SQUARE_TABLE)
def test_square_with_hole(start: tuple, goal: tuple, length: float) -> None:
    mesh = square_with_hole()
    a, b = np.array([start], float), np.array([goal], float)
    assert mesh.geodesic_distance(a, b) == pytest.approx([length], abs=1e-12)
    assert mesh.geodesic_distance(b, a) == pytest.approx([length], abs=1e-12)


def test_l_shape_turns_at_its_corner() -> None:
    mesh = l_shape()
    path = mesh.shortest_path(np.array([3.0, 0, 1.0]), np.array([1.0, 0, 3.0]))
    assert path == pytest.approx(np.array([[3, 0, 1], [2, 0, 2], [1, 0, 3]]))
    path = mesh.shortest_path(np.array([4.0, 0, 1.0]), np.array([1.0, 0, 4.0]))
    assert path == pytest.approx(np.array([[4, 0, 1], [2, 0, 2], [1, 0, 4]]))
    straight = mesh.shortest_path(np.array([0.5, 0, 0.5]), np.array([3.0, 0, 1.0]))
    assert straight == pytest.approx(np.array([[0.5, 0, 0.5], [3, 0, 1]]))


def test_ends_are_clamped_sideways_and_keep_their_height() -> None:
    mesh = l_shape()
    path = mesh.shortest_path(np.array([-0.5, 0.3, 1.0]), np.array([1.0, -0.2, 1.0]))
    assert path == pytest.approx(np.array([[0, 0.3, 1], [1, -0.2, 1]]))
    distance = mesh.geodesic_distance(np.array([[-0.5, 0.3, 1.0]]), np.array([[1.0, -0.2, 1.0]]))
    assert distance == pytest.approx([np.hypot(1, 0.5)])


def test_storeys_over_each_other_are_joined_by_the_ramp_alone() -> None:
    mesh = two_storeys()
    below, above = np.array([[2.0, 0, 2.0]]), np.array([[2.0, 3, 2.0]])
    assert mesh.snap_point(np.concatenate([below, above + [0, 0.3, 0]])) == pytest.approx(
        np.concatenate([below, above])
    )
    path = mesh.shortest_path(below[0], above[0])
    # to the foot of the ramp, up its inner side, round its head, and back over the start
    assert path == pytest.approx(np.array([[2, 0, 2], [4, 0, 4], [4, 3, 0], [3.5, 3, 0], [2, 3, 2]]))
    length = np.hypot(2, 2) + 5 + 0.5 + np.hypot(1.5, 2)
    assert mesh.geodesic_distance(below, above) == pytest.approx([length])
    assert mesh.geodesic_distance(above, below) == pytest.approx([length])
    assert mesh.island_count == 1


def test_unreachable_and_unsnappable_points_are_infinitely_far() -> None:
    mesh = mesh_from_polygon(random_floor(0, True))
    far = np.array([[100.0, 0, 100.0], [np.nan, 0, 0], [1.0, 50.0, 1.0]])
    here = np.tile(mesh.random_point(np.random.default_rng(0), 1), (3, 1))
    assert np.isinf(mesh.geodesic_distance(here, far)).all()
    assert np.isinf(mesh.geodesic_distance(far, here)).all()
    assert mesh.shortest_path(here[0], far[0]).shape == (0, 3)
    assert np.isinf(mesh.geodesic_to_nearest(here, far)).all()
    assert np.isinf(mesh.geodesic_to_nearest(far, here)).all()


def test_bad_arguments_are_named() -> None:
    mesh = l_shape()
    one = np.zeros((1, 3))
    with pytest.raises(InputError, match="mesh numbers from 0 to 0"):
        mesh.table.geodesic_distance(np.ones(1, np.int64), one, one)
    with pytest.raises(InputError, match="at least one goal"):
        GoalFields(1).set_goals(0, mesh, np.zeros((0, 3)))


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_distances_equal_those_of_the_visibility_graph(seed: int, aligned: bool) -> None:
    polygon = random_floor(seed, aligned)
    mesh = mesh_from_polygon(polygon)
    generator = np.random.default_rng(seed)
    start, goal = mesh.random_point(generator, 25), mesh.random_point(generator, 25)
    if aligned:  # on corners, on sides, in line with them
        start = mesh.snap_point((start * 2).round() / 2 + [0.05, 0, 0.05])
        goal = mesh.snap_point((goal * 2).round() / 2 - [0.05, 0, 0.05])
    exact = VisibilityGraph(polygon).distances(start[:, [0, 2]], goal[:, [0, 2]])
    assert mesh.geodesic_distance(start, goal) == pytest.approx(exact, abs=1e-6)
    for a, b, length in zip(start, goal, exact, strict=True):
        path = mesh.shortest_path(a, b)
        assert plan_length(path) == pytest.approx(length, abs=1e-6)
        assert stays_inside(polygon, path)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), aligned=st.booleans(), slope=st.sampled_from([0.0, 0.4]))
def test_distances_are_a_metric_on_a_plane(seed: int, aligned: bool, slope: float) -> None:
    mesh = mesh_from_polygon(random_floor(seed, aligned), (slope, 0.0))
    a, b, c = (mesh.random_point(np.random.default_rng([seed, k]), 20) for k in range(3))
    ab, bc, ac = mesh.geodesic_distance(a, b), mesh.geodesic_distance(b, c), mesh.geodesic_distance(a, c)
    assert mesh.geodesic_distance(b, a) == pytest.approx(ab, abs=1e-9)
    assert (ab >= np.linalg.norm(a - b, axis=1) - 1e-9).all()
    if not slope:
        assert (ac <= ab + bc + 1e-9).all()
    assert (mesh.geodesic_distance(a, a) == 0).all()
    path = mesh.shortest_path(a[0], b[0])
    assert path[[0, -1]] == pytest.approx(np.stack([a[0], b[0]]), abs=1e-9)
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).sum() == pytest.approx(ab[0], abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), aligned=st.booleans())
def test_fields_and_nearest_goals_agree_with_single_searches(seed: int, aligned: bool) -> None:
    mesh = mesh_from_polygon(random_floor(seed, aligned), (0.1, 0.2))
    points = mesh.random_point(np.random.default_rng([seed, 1]), 15)
    goals = mesh.random_point(np.random.default_rng([seed, 2]), 6)
    each = np.stack([mesh.geodesic_distance(points, np.tile(goal, (15, 1))) for goal in goals])
    fields = GoalFields(3)
    fields.set_goals(0, mesh, goals[:1])
    fields.set_goals(2, mesh, goals)
    assert fields.distance(np.zeros(15, np.int64), points) == pytest.approx(each[0], abs=1e-9)
    # the nearest goal is nearest in the plan; on a tilted plane another may be as near within 3 %
    nearest = mesh.geodesic_to_nearest(points, goals)
    assert (nearest >= each.min(0) - 1e-9).all() and (nearest <= each.min(0) * 1.05 + 1e-9).all()
    assert fields.distance(np.full(15, 2), points) == pytest.approx(nearest, abs=1e-9)


def test_field_tells_where_the_path_turns() -> None:
    mesh = l_shape()
    fields = GoalFields(1)
    fields.set_goals(0, mesh, np.array([[1.0, 0, 3.0]]))
    distance, ahead = fields.ask([0, 0, 0], np.array([[3.0, 0, 1.0], [0.5, 0, 1.0], [50.0, 0, 0]]))
    assert distance == pytest.approx([2 * ROOT2, np.hypot(0.5, 2), np.inf])
    assert ahead[:2] == pytest.approx(np.array([[2, 0, 2], [1, 0, 3]]))
    assert np.isnan(ahead[2]).all()


def test_fields_do_not_depend_on_what_was_asked_before() -> None:
    mesh = mesh_from_polygon(random_floor(3, False))
    points = mesh.random_point(np.random.default_rng(0), 30)
    goal = mesh.random_point(np.random.default_rng(1), 1)
    together, apart = GoalFields(1), GoalFields(1)
    together.set_goals(0, mesh, goal)
    first = together.distance(np.zeros(30, np.int64), points)
    for k in np.random.default_rng(2).permutation(30):
        apart.set_goals(0, mesh, goal)
        assert apart.distance([0], points[k : k + 1])[0] == first[k]
    assert np.array_equal(together.distance(np.zeros(30, np.int64), points), first)


def test_slots_with_the_same_goals_share_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """In any order of goals and questions, with any capacity: the distances of fields of their own."""
    monkeypatch.setattr(goal_fields, "FIRST_CAPACITY", 8)
    monkeypatch.setattr(goal_fields, "KEPT_FIELDS", 2)
    meshes = [mesh_from_polygon(random_floor(k, False)) for k in range(2)]
    generator = np.random.default_rng(0)
    goals = [[mesh.random_point(generator, count) for count in (5, 7, 1)] for mesh in meshes]
    shared = GoalFields(3)
    for _ in range(120):
        slot, row, which = (int(generator.integers(most)) for most in (3, 2, 3))
        shared.set_goals(slot, meshes[row], goals[row][which])
        point = meshes[row].random_point(generator, 1)
        own = GoalFields(1)
        own.set_goals(0, meshes[row], goals[row][which])
        assert shared.distance([slot], point)[0] == own.distance([0], point)[0]
        asked = [k for k in range(3) if shared._meshes[k] is meshes[row]]
        shared.distance(asked, np.tile(point, (len(asked), 1)))
    assert len(shared._shared) == 2


def test_search_state_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = mesh_from_polygon(random_floor(1, False))
    start, goal = (mesh.random_point(np.random.default_rng(k), 40) for k in range(2))
    expected = mesh.geodesic_distance(start, goal)
    nearest = mesh.geodesic_to_nearest(start, goal)
    path = mesh.shortest_path(start[0], goal[0])
    monkeypatch.setattr(goal_fields, "FIRST_CAPACITY", 8)
    fields = GoalFields(1)
    fields.set_goals(0, mesh, goal[:1])
    across = mesh.geodesic_distance(start, np.tile(goal[:1], (40, 1)))
    assert np.array_equal(fields.distance(np.zeros(40, np.int64), start), across)

    def small() -> search_state.SearchState:
        return search_state.SearchState(len(mesh.vertices), len(mesh.triangles), 8)

    monkeypatch.setattr(navmesh_table._LOCAL, "state", small())
    assert np.array_equal(mesh.geodesic_distance(start, goal), expected)
    monkeypatch.setattr(navmesh_table._LOCAL, "state", small())
    assert np.array_equal(mesh.geodesic_to_nearest(start, goal), nearest)
    monkeypatch.setattr(navmesh_table._LOCAL, "state", small())
    assert np.array_equal(mesh.shortest_path(start[0], goal[0]), path)


def test_search_numbers_start_anew() -> None:
    mesh = mesh_from_polygon(random_floor(1, False))
    start, goal = (mesh.random_point(np.random.default_rng(k), 20) for k in range(2))
    expected = mesh.geodesic_distance(start, goal)
    navmesh_table._LOCAL.state.arrays[9][COUNT_SEARCHES] = LAST_SEARCH - 10
    assert np.array_equal(mesh.geodesic_distance(start, goal), expected)
    assert navmesh_table._LOCAL.state.arrays[9][COUNT_SEARCHES] == 10
