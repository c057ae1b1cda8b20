import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.simulation.rendering.clusters import NEVER_CULLED, build_clusters, split_by_position


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 700), st.integers(1, 128), st.integers(0, 10_000))
def test_split_is_a_partition_into_small_groups(count, limit, seed):
    points = np.random.default_rng(seed).normal(size=(count, 3))
    order, offset = split_by_position(points, limit)
    assert sorted(order) == list(range(count))
    assert offset[0] == 0 and offset[-1] == count
    sizes = np.diff(offset)
    assert sizes.min() > 0 and sizes.max() <= limit


def test_split_puts_neighbours_together():
    points = np.array([[x, 0, 0] for x in (0.0, 10.0, 0.1, 10.1)])
    order, offset = split_by_position(points, 2)
    groups = {frozenset(order[a:b]) for a, b in itertools.pairwise(offset)}
    assert groups == {frozenset({0, 2}), frozenset({1, 3})}


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 300), st.integers(0, 10_000))
def test_clusters_hold_the_same_triangles(count, seed):
    generator = np.random.default_rng(seed)
    vertices = generator.normal(size=(50, 3)).astype(np.float32)
    triangles = generator.integers(0, 50, (count, 3)).astype(np.int32)
    triangles[0] = 7  # a point
    clusters = build_clusters(vertices, triangles, 32)
    degenerate = (triangles == np.roll(triangles, 1, 1)).any(1)
    if not degenerate.all():
        assert sorted(clusters.order) == list(np.flatnonzero(~degenerate))
    owner = np.repeat(np.arange(len(clusters.triangle_offset) - 1), np.diff(clusters.triangle_offset))
    rebuilt = clusters.vertex[clusters.vertex_offset[owner][:, None] + clusters.corner]
    assert np.array_equal(rebuilt, triangles[clusters.order])
    corners = vertices[triangles[clusters.order]]
    centre, half = clusters.box[:3].T[owner], clusters.box[3:].T[owner]
    assert (np.abs(corners - centre[:, None]) <= half[:, None] + 1e-5).all()


def test_cone_of_a_flat_cluster_is_narrow_and_of_a_box_never_culled():
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
    flat = build_clusters(square, np.array([[0, 1, 2], [0, 2, 3]], np.int32))
    assert flat.cone[:, 0] == pytest.approx([0, 0, 1, 0], abs=1e-3)
    both_sides = build_clusters(square, np.array([[0, 1, 2], [0, 2, 1]], np.int32))
    assert both_sides.cone[3, 0] == NEVER_CULLED
