"""Graphs of places: poses over edges against a common frame, shortest ways, and local maps laid together."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navarena.mapping.place_graph import PlaceGraph, PlaceSettings, carry, invert, join
from navarena.mapping.place_kernels import fit_scan, lay_over, rate_fit

POSES = st.tuples(
    st.floats(-5, 5, allow_subnormal=False),
    st.floats(-5, 5, allow_subnormal=False),
    st.floats(-3.1, 3.1, allow_subnormal=False),
).map(np.array)
SMALL = PlaceSettings(cell=0.5, size=4.0, window=8.0, spacing=2.0, margin=0.4, trust=20.0)


def matrix(pose):
    """(3, 3) of x, z and 1, written down anew: yaw grows to the left, from -z towards -x."""
    x, z, yaw = pose
    return np.array([[math.cos(yaw), math.sin(yaw), x], [-math.sin(yaw), math.cos(yaw), z], [0, 0, 1]])


@given(POSES, POSES)
def test_poses_compose_as_matrices(one, other):
    np.testing.assert_allclose(matrix(join(one, other)), matrix(one) @ matrix(other), atol=1e-9)
    np.testing.assert_allclose(matrix(invert(one)), np.linalg.inv(matrix(one)), atol=1e-9)
    points = np.array([[1.0, 0.5, -2.0], [0.0, 1.0, 3.0]])
    expected = matrix(one) @ np.stack([points[:, 0], points[:, 2], np.ones(2)])
    np.testing.assert_allclose(carry(one, points)[:, [0, 2]].T, expected[:2], atol=1e-9)
    assert (carry(one, points)[:, 1] == points[:, 1]).all()


def test_a_step_ahead_after_a_turn_to_the_left_goes_to_the_left():
    left = np.array([0.0, 0.0, math.pi / 2])
    np.testing.assert_allclose(join(left, np.array([0.0, -1.0, 0.0])), [-1.0, 0.0, math.pi / 2], atol=1e-12)


def walk(graph, *motions):
    """Walk, and settle as an agent would: new places where the others are far, nearer ones entered."""
    for motion in motions:
        graph.move(np.array(motion, float))
        nearest, away = graph.nearest()
        if nearest != graph.here:
            graph.go_over(nearest, graph.routes()[nearest].pose)
        elif away > graph.settings.spacing:
            graph.begin_place()


def test_places_begin_where_others_are_far_and_edges_lie_along_the_walk():
    graph = PlaceGraph(SMALL)
    walk(graph, *[(0, -1.0, 0)] * 7)
    assert [sorted(place.edges) for place in graph.places] == [[1], [0, 2], [1]]
    assert graph.here == 2 and graph.pose.tolist() == [0, -1.0, 0]
    np.testing.assert_allclose(graph.routes()[0].pose, [0, 6.0, 0])
    assert graph.routes()[0].length == 6.0 and graph.route_to(0) == [1, 0] and graph.route_to(2) == []
    walk(graph, (0, 0, math.pi), *[(0, -1.0, 0)] * 7)
    assert graph.here == 0 and len(graph.places) == 3, "it goes back over places that it knows"
    np.testing.assert_allclose(graph.pose[:2], [0, 0], atol=1e-9)


def test_a_recognised_place_shortens_the_way_and_leaves_other_edges_as_they_are():
    graph = PlaceGraph(replace(SMALL, trust=5.0))
    for _ in range(4):
        walk(graph, *[(0, -1.0, 0)] * 3)
        graph.move(np.array([0, 0, math.pi / 2]))
    assert len(graph.places) == 5, "what lies 11 m back along the walk is not believed to be so near"
    assert graph.routes()[0].length == pytest.approx(11.0)
    drifted = np.array([0.5, 0.3, 0.1])
    graph.go_over(0, drifted)
    np.testing.assert_allclose(graph.routes()[4].pose, invert(drifted))
    np.testing.assert_allclose(graph.places[1].edges[0], [0, 3.0, 0], atol=1e-9)
    assert graph.route_to(3) == [4, 3] and graph.routes()[3].length == pytest.approx(2 + math.hypot(0.5, 0.3))


def test_ways_are_the_shortest_of_all():
    """Dijkstra against trying every order of places."""
    graph = PlaceGraph(SMALL)
    generator = np.random.default_rng(3)
    for _ in range(5):
        graph.move(np.array([*generator.uniform(-3, 3, 2), 0]))
        graph.begin_place()
    for one, other in ((0, 3), (1, 5), (2, 4)):
        graph._connect(one, other, np.array([*generator.uniform(-3, 3, 2), 0.0]))

    def lengths(place, seen):
        yield place, 0.0
        for other, edge in graph.places[place].edges.items():
            if other not in seen:
                step = math.hypot(edge[0], edge[1])
                yield from ((end, step + rest) for end, rest in lengths(other, seen | {other}))

    best = {}
    for end, length in lengths(graph.here, {graph.here}):
        best[end] = min(length, best.get(end, math.inf))
    assert {place: pytest.approx(route.length) for place, route in graph.routes().items()} == best


def test_maps_of_places_are_put_together_by_the_stronger_evidence():
    graph = PlaceGraph(SMALL)
    graph.place.box[:] = 0, 8, 0, 8
    graph.place.scores[3, 4] = 5  # the cell right of and before the origin
    graph.place.scores[0, 0] = 7
    graph.move(np.array([0.0, -2.1, 0.0]))
    graph.begin_place()
    graph.place.box[:] = 0, 8, 0, 8
    graph.place.scores[0, 0] = -3
    around = graph.surroundings()
    assert around.shape == (16, 16) and around[4, 4] == -3
    assert around[3 + 4 + 4, 4 + 4] == 5, "the map before lies 2 m behind: edges are whole cells"
    assert around[4 + 4, 4] == 7 and np.count_nonzero(around) == 3
    graph.place.scores[7, 4] = -9
    assert graph.surroundings()[7 + 2, 8] == 0 and graph.surroundings()[9 + 2, 8] == -9, "never stale"
    graph.place.scores[7, 4] = -5
    assert graph.surroundings(0)[4, 4] == 7 and (graph.surroundings(0)[11 - 4, 8]) == 5, "an obstacle wins"


def test_a_turned_map_is_laid_by_its_nearest_cells():
    source, target = np.zeros((8, 8), np.int8), np.zeros((8, 8), np.int8)
    source[0, 2] = 1
    lay_over(target, source, np.array([0, 8, 0, 8]), 0.0, 0.0, math.pi / 2, 0.5)
    assert np.argwhere(target).tolist() == [[5, 0]], "what lay ahead lies to the left"


def scan_of_corner():
    """A local map with a corner of walls, and the scan of it from the origin: points (P, 4)."""
    scores = np.full((80, 80), -4, np.int8)
    scores[10, 10:71], scores[10:71, 70] = 8, 8
    ahead = [(x, -1.475) for x in np.arange(-1.4, 1.45, 0.05)]
    right = [(1.525, z) for z in np.arange(-1.4, 1.45, 0.05)]
    return scores, np.array([[x, z, 1.0, 0.0] for x, z in ahead + right])


def test_scans_fit_where_they_were_taken():
    scores, points = scan_of_corner()
    true = np.array([0.2, -0.1, math.radians(8)])
    moved = points.copy()
    local = carry(invert(true), np.stack([points[:, 0], 0 * points[:, 0], points[:, 1]], 1))
    moved[:, :2] = local[:, [0, 2]]
    pose = np.zeros(3)
    before = rate_fit(scores, moved, len(moved), *pose.tolist(), 0.05)
    best = fit_scan(scores, moved, len(moved), 0.05, 4, 0.1, 4, math.radians(4), pose)
    assert before < 0.4 < 0.8 < best
    np.testing.assert_allclose(pose, true, atol=0.07)
    assert rate_fit(scores, moved, 0, *pose.tolist(), 0.05) == 0.0


def test_views_are_matched_best_first():
    graph = PlaceGraph(SMALL)
    graph.remember_view(np.array([1.0, 0.0], np.float32))
    assert graph.has_view(0.5, 0.3)
    graph.move(np.array([0.0, -1.0, 0.5]))
    assert not graph.has_view(0.5, 0.6) and not graph.has_view(1.5, 0.3) and graph.has_view(1.5, 0.6)
    graph.remember_view(np.array([0.8, 0.6], np.float32))
    near = np.array([0.9, math.sqrt(0.19)], np.float32)
    assert [pose.tolist() for _, pose in graph.match_view(near, 0.95)] == [[0.0, -1.0, 0.5]]
    assert [pose[1] for _, pose in graph.match_view(near, 0.85)] == [-1.0, 0.0]
