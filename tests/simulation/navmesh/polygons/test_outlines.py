"""Tracing and thinning outlines of drawn layers, and filling them with triangles."""

from itertools import pairwise

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.simulation.navmesh.polygons.outlines import (
    Outlines,
    layer_polygons,
    simplify_outlines,
    trace_layers,
)
from navarena.simulation.navmesh.polygons.simplification import segments_clash
from navarena.simulation.navmesh.polygons.triangulation import (
    NUDGE,
    link_triangles,
    part_visits,
    signed_area,
    triangulate_polygons,
    valid_polygons,
)
from navarena.simulation.navmesh.voxels.walkable_floors import WalkableFloors


def draw_floors(labels: np.ndarray) -> WalkableFloors:
    """One floor per cell of a (z, x) image of layer numbers, -1 = nothing; all on one height."""
    depth, width = labels.shape
    there = labels >= 0
    numbers = np.where(there, np.cumsum(there.ravel()).reshape(labels.shape) - 1, -1)
    padded = np.pad(numbers, 1, constant_values=-1)
    sides = [padded[1:-1, 2:], padded[2:, 1:-1], padded[1:-1, :-2], padded[:-2, 1:-1]]
    columns = np.flatnonzero(there.ravel()).astype(np.int32)
    return WalkableFloors(
        starts=np.searchsorted(columns, np.arange(depth * width + 1)).astype(np.int32),
        columns=columns,
        heights=np.ones(len(columns), np.float32),
        links=np.stack([side[there] for side in sides], 1).astype(np.int32),
        layers=labels[there].astype(np.int32),
    )


def label_pieces(mask: np.ndarray) -> np.ndarray:
    """4-connected pieces of a mask, numbered from 0."""
    labels = np.full(mask.shape, -1)
    pieces = 0
    for seed in np.argwhere(mask):
        stack = [tuple(seed)]
        if labels[stack[0]] >= 0:
            continue
        while stack:
            z, x = stack.pop()
            inside = 0 <= z < mask.shape[0] and 0 <= x < mask.shape[1]
            if inside and mask[z, x] and labels[z, x] < 0:
                labels[z, x] = pieces
                stack += [(z + 1, x), (z - 1, x), (z, x + 1), (z, x - 1)]
        pieces += 1
    return labels


def test_outlines_of_a_ring_run_around_both_ways():
    image = np.full((3, 4), 0)
    image[1, 1] = -1
    outlines = trace_layers(draw_floors(image), 4)
    rings = [
        np.stack([outlines.x[a:b], outlines.z[a:b]], 1).astype(float) for a, b in pairwise(outlines.offsets)
    ]
    assert sorted(signed_area(ring) for ring in rings) == [-1.0, 12.0]
    assert (outlines.across == -1).all()
    kept = simplify_outlines(outlines, 0.0)
    assert np.add.reduceat(kept[outlines.corners].astype(int), outlines.offsets[:-1]).tolist() == [4, 4]


def test_layers_share_the_corners_of_their_border():
    image = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, -1]])
    outlines = trace_layers(draw_floors(image), 4)
    kept = simplify_outlines(outlines, 5.0)
    polygons = layer_polygons(outlines, kept)[0]
    assert valid_polygons(polygons).all()
    # the common border is one line for both, so nothing is covered twice or left out between them
    assert shapely.area(shapely.intersection(*polygons)) == 0
    border = shapely.intersection(polygons[0], polygons[1])
    assert border.length > 2.9
    _, owner = triangulate_polygons(polygons)
    assert set(owner.tolist()) == {0, 1}


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from([0.0, 1.3, 4.0]), st.sampled_from([0.1, 0.3, 0.5]))
def test_thinned_outlines_stay_simple_and_near(seed, max_error, holes):
    draw = np.random.default_rng(seed)
    mask = draw.random((18, 23)) > holes
    labels = label_pieces(mask)
    outlines = trace_layers(draw_floors(labels), 23)
    kept = simplify_outlines(outlines, max_error)
    polygons = layer_polygons(outlines, kept)[0]
    assert valid_polygons(polygons).all()
    exact = layer_polygons(outlines, np.ones(len(outlines.heights), bool))[0]
    np.testing.assert_allclose(shapely.area(exact), np.bincount(labels[mask]), atol=0.1)
    traced = shapely.points(outlines.x, outlines.z)
    away = shapely.distance(shapely.boundary(polygons)[outlines.layers[outlines.loops]], traced)
    assert away.max() <= max_error + 2 * NUDGE
    corners, owner = triangulate_polygons(polygons)
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    areas = -(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]) / 2
    assert (areas > 0).all()  # clockwise
    np.testing.assert_allclose(np.bincount(owner, areas, len(polygons)), shapely.area(polygons))


def test_thinning_does_not_depend_on_the_direction():
    image = label_pieces(np.random.default_rng(3).random((30, 30)) > 0.25)
    one = trace_layers(draw_floors(image), 30)
    backwards = Outlines(
        offsets=one.offsets,
        layers=one.layers,
        corners=np.concatenate([one.corners[a:b][::-1] for a, b in pairwise(one.offsets)]),
        x=np.concatenate([one.x[a:b][::-1] for a, b in pairwise(one.offsets)]),
        z=np.concatenate([one.z[a:b][::-1] for a, b in pairwise(one.offsets)]),
        across=one.across,
        heights=one.heights,
    )
    np.testing.assert_array_equal(simplify_outlines(one, 1.3), simplify_outlines(backwards, 1.3))


@pytest.mark.parametrize(
    ("a", "b", "c", "d", "clash"),
    [
        ((0, 0), (2, 2), (0, 2), (2, 0), True),  # cross
        ((0, 0), (2, 0), (2, 0), (2, 2), False),  # corner in common
        ((0, 0), (4, 0), (2, 0), (2, 2), True),  # an end inside the other
        ((0, 0), (4, 0), (1, 0), (2, 0), True),  # overlap
        ((0, 0), (4, 0), (4, 0), (1, 0), True),  # overlap from a common end
        ((0, 0), (1, 0), (2, 0), (3, 0), False),  # apart on one line
        ((0, 0), (1, 1), (1, 1), (0, 0), True),  # the same, backwards
        ((0, 0), (1, 0), (0, 1), (1, 1), False),  # parallel
    ],
)
def test_segments_clash(a, b, c, d, clash):
    assert segments_clash(*a, *b, *c, *d) == clash
    assert segments_clash(*d, *c, *b, *a) == clash


def test_visits_to_one_corner_are_moved_apart():
    # around two squares that touch in (1, 1), the free ground on the left
    ring = np.array([(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 1), (1, 1), (1, 0)], float)
    parted = part_visits(ring, np.array([0, 8]))
    aside = NUDGE / np.sqrt(2)
    np.testing.assert_allclose(parted[2], (1 - aside, 1 + aside), rtol=1e-12)
    np.testing.assert_allclose(parted[6], (1 + aside, 1 - aside), rtol=1e-12)
    np.testing.assert_array_equal(np.delete(parted, [2, 6], 0), np.delete(ring, [2, 6], 0))


def test_triangles_are_linked_across_shared_edges():
    triangles = np.array([(0, 1, 2), (2, 1, 3), (3, 1, 4), (5, 6, 7)], np.int32)
    assert link_triangles(triangles).tolist() == [[-1, 1, -1], [0, 2, -1], [1, -1, -1], [-1, -1, -1]]


def test_an_edge_of_three_triangles_links_none():
    triangles = np.array([(0, 1, 2), (1, 0, 3), (1, 0, 4)], np.int32)
    assert (link_triangles(triangles) == -1).all()


def test_nothing_links_nothing():
    assert link_triangles(np.zeros((0, 3), np.int32)).shape == (0, 3)
