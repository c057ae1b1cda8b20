"""Nearest surfaces against a slow reference, labels by hand, boxes around points."""

from dataclasses import replace

import numpy as np
import pytest
from dataset_samples import floor_mesh, grid_quad
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.scenes.labelling import (
    LabelledSurface,
    SurfacePart,
    TriangleTree,
    transfer_labels,
    upright_box,
)
from navarena.scenes.labelling.nearest_triangles import morton_order
from navarena.scenes.labelling.transfer import sample_weights, split_triangles
from navarena.scenes.scene import Scene, SceneObject
from navarena.scenes.validation import validate_scene


def _corners(mesh):
    points, triangles = mesh
    return np.asarray(points, float)[triangles]


def _scene(mesh, **fields):
    points, triangles = mesh
    zeros = np.zeros(len(triangles), np.int32)
    return Scene("t", points.astype(np.float32), triangles.astype(np.int32), zeros, zeros.copy(), **fields)


def _slow_distance(point, triangle):
    """The distance from a point to a triangle by many samples of it."""
    steps = np.linspace(0, 1, 60)
    u, v = np.meshgrid(steps, steps)
    keep = u + v <= 1 + 1e-12
    a, b, c = triangle
    samples = a + u[keep][:, None] * (b - a) + v[keep][:, None] * (c - a)
    return np.linalg.norm(samples - point, axis=1).min()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_nearest_triangles_agree_with_a_slow_reference(seed, count):
    rng = np.random.default_rng(seed)
    corners = rng.normal(0, 1, (count, 3, 3))
    points = rng.normal(0, 1.5, (6, 3))
    found = TriangleTree(corners).nearest(points)
    for point, triangle, weights, distance in zip(
        points, found.triangle, found.weights, found.distance, strict=True
    ):
        slow = min(_slow_distance(point, corner) for corner in corners)
        assert distance <= slow + 1e-9 and slow - distance < 0.1
        assert weights.sum() == pytest.approx(1) and weights.min() >= -1e-12
        nearest = weights @ corners[triangle]
        assert np.linalg.norm(nearest - point) == pytest.approx(distance, abs=1e-9)


def test_nearest_triangles_do_not_depend_on_threads_or_order(monkeypatch):
    corners = _corners(floor_mesh(6))
    rng = np.random.default_rng(3)
    points = np.round(rng.uniform(-2, 2, (500, 3)), 1)  # many on shared edges: ties
    answers = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("NAVARENA_THREADS", threads)
        answers.append(TriangleTree(corners).nearest(points).triangle)
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])
    order = rng.permutation(len(points))
    np.testing.assert_array_equal(TriangleTree(corners).nearest(points[order]).triangle, answers[0][order])


def test_a_triangle_beyond_the_limit_is_none():
    found = TriangleTree(np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0.0]]])).nearest(
        np.array([[0.2, 0.2, 0.3], [0.2, 0.2, 0.2]]), limit=0.25
    )
    assert found.triangle.tolist() == [-1, 0]
    assert found.distance.tolist() == [np.inf, pytest.approx(0.2)]


def test_degenerate_triangles_answer_without_nan():
    corners = np.array([[[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[5, 5, 5], [5, 5, 5], [5, 5, 5.0]]])
    found = TriangleTree(corners).nearest(np.array([[1.0, 1, 0], [5, 5, 6]]))
    assert found.triangle.tolist() == [0, 1] and found.distance.tolist() == pytest.approx([1, 1])
    assert np.isfinite(found.weights).all()


def test_morton_order_is_a_permutation_also_of_equal_points():
    assert sorted(morton_order(np.zeros((5, 3))).tolist()) == [0, 1, 2, 3, 4]


def test_sample_points_are_spread_evenly():
    for order in (1, 2, 4):
        weights = sample_weights(order)
        assert len(weights) == order**2 and weights.min() > 0
        np.testing.assert_allclose(weights.sum(1), 1)
        np.testing.assert_allclose(weights.mean(0), 1 / 3)


def test_labels_of_triangles_corners_and_texels():
    corners = _corners(grid_quad((0, 0, 0), (2, 0, 0), (0, 0, 2)))
    of_triangle = SurfacePart(corners, of_triangle=np.array([4, 9]))
    of_corner = SurfacePart(corners, of_corner=np.array([[1, 2, 3], [1, 3, 2]]))
    uv = corners[:, :, [0, 2]] / 2
    image = SurfacePart(corners, image=np.array([[10, 11], [12, 13]], np.int32), uv=uv)
    points = np.array([[0.2, 0.0, 0.1], [1.9, 0.0, 1.8], [0.1, 0.0, 1.7]])
    for part, wanted in ((of_triangle, [4, 4, 9]), (of_corner, [1, 3, 2]), (image, [12, 11, 10])):
        labels, distance = LabelledSurface([part]).labels_near(points, 1.0)
        assert labels.tolist() == wanted and distance.max() < 1e-12


def test_a_part_without_labels_is_our_own_mistake():
    part = SurfacePart(np.zeros((1, 3, 3)))
    with pytest.raises(ValueError, match="needs labels"):
        part.labels_at(np.array([0]), np.array([[1.0, 0, 0]]))


def _halves(split_at):
    """A labelled floor: 1 for x below `split_at`, else 2; y up."""
    left = _corners(grid_quad((-2, 0, -2), (0, 0, 4), (split_at + 2, 0, 0)))
    right = _corners(grid_quad((split_at, 0, -2), (0, 0, 4), (2 - split_at, 0, 0)))
    labels = np.repeat([1, 2], [len(left), len(right)])
    return LabelledSurface([SurfacePart(np.concatenate([left, right]), of_triangle=labels)])


def test_triangles_that_fit_are_labelled_whole():
    scene = _scene(grid_quad((-2, 0, -2), (0, 0, 4), (4, 0, 0), 2))
    labelled, report = transfer_labels(scene, _halves(0.0))
    assert len(labelled.triangles) == len(scene.triangles)
    centers = labelled.vertices[labelled.triangles].mean(1)
    np.testing.assert_array_equal(labelled.triangle_object, np.where(centers[:, 0] < 0, 1, 2))
    assert (report.ambiguous_share, report.far_share, report.split_triangles) == (0, 0, 0)


def test_straddling_triangles_are_split_once_and_the_rest_is_told():
    scene = _scene(grid_quad((-2, 0, -2), (0, 0, 4), (4, 0, 0)))
    labelled, report = transfer_labels(scene, _halves(1.0))
    obj = SceneObject(1, "rug", (0.0, 0.0, 0.0), (1.0, 0.0, 1.0))
    validate_scene(replace(labelled, objects=(obj, replace(obj, object_id=2))))
    assert report.split_triangles == 2 and len(labelled.triangles) == 8
    assert set(labelled.triangle_object.tolist()) == {1, 2}
    assert 0.02 < report.ambiguous_share < 0.3
    area = lambda s: np.linalg.norm(  # noqa: E731
        np.cross(
            s.vertices[s.triangles[:, 1]] - s.vertices[s.triangles[:, 0]],
            s.vertices[s.triangles[:, 2]] - s.vertices[s.triangles[:, 0]],
        ),
        axis=1,
    ).sum()
    assert area(labelled) == pytest.approx(area(scene))


def test_what_is_far_has_no_label():
    scene = _scene(grid_quad((-2, 5, -2), (0, 0, 4), (4, 0, 0)))
    labelled, report = transfer_labels(scene, _halves(0.0))
    assert not labelled.triangle_object.any() and report.far_share == 1.0


def test_split_triangles_keep_looks_and_neighbours_share_new_points():
    points, triangles = grid_quad((0, 0, 0), (0, 0, 1), (1, 0, 0))
    uv = points[triangles][:, :, [0, 2]].astype(np.float32)
    scene = _scene(
        (points, triangles),
        triangle_uv=uv,
        vertex_color=(points[:, [0, 1, 2]] * 100).astype(np.uint8),
        vertex_light=points[:, 0].astype(np.float32),
    )
    finer, source = split_triangles(scene, np.array([0, 1]))
    assert source.tolist() == [0] * 4 + [1] * 4
    assert len(finer.vertices) == 4 + 5  # five sides, one of them shared
    placed = finer.vertices[finer.triangles]
    np.testing.assert_allclose(finer.triangle_uv, placed[:, :, [0, 2]], atol=1e-7)
    np.testing.assert_allclose(finer.vertex_light, finer.vertices[:, 0])
    np.testing.assert_allclose(finer.vertex_color[:, 0], finer.vertices[:, 0] * 100)
    normal = np.cross(placed[:, 1] - placed[:, 0], placed[:, 2] - placed[:, 0])
    np.testing.assert_allclose(normal, np.tile([0, 0.25, 0], (8, 1)), atol=1e-7)


@settings(max_examples=30, deadline=None)
@given(st.floats(-3, 3), st.floats(0.1, 3), st.floats(0.1, 3))
def test_boxes_follow_what_is_turned(yaw, length, width):
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    points = (signs * [length, 0.5, width]) @ turn.T + [3, 1, -2]
    box = upright_box(points)
    assert -np.pi / 4 <= box.yaw <= np.pi / 4
    np.testing.assert_allclose(box.center, [3, 1, -2], atol=1e-6)
    assert sorted(box.half_size) == pytest.approx(sorted([length, 0.5, width]), rel=1e-4)
    c, s = np.cos(box.yaw), np.sin(box.yaw)
    local = (points - box.center) @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    assert (np.abs(local) <= np.array(box.half_size) + 1e-6).all()


@pytest.mark.parametrize(
    ("points", "half"),
    [
        ([[1, 2, 3]], (0, 0, 0)),
        ([[0, 0, 0], [2, 0, 0]], (1, 0, 0)),
        ([[0, 0, 0], [0, 4, 0]], (0, 2, 0)),
        ([[0, 0, 0], [1, 0, 1], [2, 0, 2]], (np.sqrt(2), 0, 0)),
    ],
)
def test_boxes_of_points_and_lines(points, half):
    box = upright_box(np.array(points, float))
    assert sorted(box.half_size) == pytest.approx(sorted(half), abs=1e-9)
    np.testing.assert_allclose(box.center, np.mean(points, axis=0), atol=1e-9)
