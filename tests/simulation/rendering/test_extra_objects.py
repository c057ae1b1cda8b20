import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.simulation.body import Camera
from navarena.simulation.rendering import ExtraObjects, Views, make_cylinder, make_template

from .images import box, draw, look, make_scene, plain_image, random_views, room_scene

CAMERA = Camera(width_px=96, height_px=80)
CYLINDER = make_cylinder()


def extras(view, position, yaw=0.0, templates=(CYLINDER,), shape=0):
    """One magenta object, object 900 of category 40, in each of the given views."""
    count = len(view)
    return ExtraObjects(
        templates,
        np.array(view, np.int64),
        np.full(count, shape),
        np.asarray(position, float).reshape(-1, 3) * np.ones((count, 1)),
        np.full(count, float(yaw)),
        np.tile(np.array([255, 0, 255], np.uint8), (count, 1)),
        np.full(count, 900, np.int32),
        np.full(count, 40, np.int32),
    )


def test_cylinder_has_the_size_of_multion():
    points = CYLINDER.triangle_corners().reshape(-1, 3)
    assert points.min(0) == pytest.approx([-0.1, 0, -0.1])
    assert points.max(0) == pytest.approx([0.1, 0.75, 0.1])
    corners = CYLINDER.triangle_corners()
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert ((corners.mean(1) - [0, 0.375, 0]) * normal).sum(1).min() > 0


@pytest.mark.parametrize("shading", ["flat", "vertex", "textured"])
def test_an_extra_occludes_and_is_occluded(shading):
    views = look(CAMERA, (-0.3, 1.0, -0.3))
    bare = draw(room_scene(), views, shading)
    free = draw(room_scene(), views, shading, extras=extras([0], (-0.5, 0.4, -1.5)))
    changed = free.instance[0] == 900
    assert changed.sum() > 100
    assert (free.rgb[0][changed] == (255, 0, 255)).all() and (free.semantic[0][changed] == 40).all()
    assert (free.depth[0][changed] < bare.depth[0][changed]).all()
    for with_it, without in zip(free.arrays(), bare.arrays(), strict=True):
        assert np.array_equal(with_it[0][~changed], without[0][~changed])
    behind_the_box = draw(room_scene(), views, shading, extras=extras([0], (-1.0, 0, -4.3)))
    outside = draw(room_scene(), views, shading, extras=extras([0], (0, 0.5, -5.5)))
    assert 0 < (behind_the_box.instance == 900).sum() < 100
    assert not (outside.instance == 900).any()


def test_extras_agree_with_the_plain_image_from_anywhere():
    generator = np.random.default_rng(3)
    scene = room_scene()
    views = random_views(CAMERA, 20, 8)
    shape = make_template(box((-0.2, 0, -0.1), (0.3, 0.9, 0.1)).astype(float), np.arange(36).reshape(-1, 3))
    where, yaw = generator.uniform((-1.5, 0, -4), (1.5, 1, -1), (20, 3)), 0.7
    frames = draw(
        scene, views, extras=extras(range(20), where, yaw=yaw, templates=(CYLINDER, shape), shape=1)
    )
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    for k in range(20):
        moved = shape.triangle_corners().astype(float) @ turn.T + where[k]
        corners = np.concatenate([scene.vertices[scene.triangles], moved])
        expected = plain_image(corners, CAMERA, views.position[k], views.rotation[k])
        objects = np.append(np.append(scene.triangle_object, np.full(12, 900)), 0)[expected.triangle]
        assert np.array_equal(frames.instance[k][expected.clear], objects[expected.clear])
        assert np.abs(frames.depth[k] - expected.depth)[expected.clear].max() < 1e-3


def test_each_view_shows_its_own_things_only():
    one = look(CAMERA, (0, 1, -0.5))
    views = Views(CAMERA, np.zeros(3, np.int32), one.position.repeat(3, 0), one.rotation.repeat(3, 0))
    objects = ExtraObjects(
        (CYLINDER,),
        np.array([2, 0, 2]),
        np.zeros(3, int),
        np.array([[0.5, 0.5, -1.5], [0, 0.5, -1.5], [-0.5, 0.5, -1.5]]),
        np.zeros(3),
        np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255]], np.uint8),
        np.array([101, 102, 103], np.int32),
        np.array([1, 2, 3], np.int32),
    )
    for threads in (1, 3):
        frames = draw(room_scene(), views, extras=objects, threads=threads)
        seen = [set(np.unique(image)) & {101, 102, 103} for image in frames.instance]
        assert seen == [{102}, set(), {101, 103}]
        assert (frames.rgb[2][frames.instance[2] == 103] == (0, 0, 255)).all()


def test_the_scene_is_left_as_it_was():
    views = look(CAMERA, (0, 1, -0.5))
    before = draw(room_scene(), views)
    draw(room_scene(), views, extras=extras([0], (0, 0.5, -1.5)))
    assert all(
        np.array_equal(a, b) for a, b in zip(before.arrays(), draw(room_scene(), views).arrays(), strict=True)
    )


def test_many_extras_in_a_tiny_scene():
    triangle = make_scene(np.array([[[-9, 0, -9], [9, 0, -9], [0, 9, -9]]], float))
    where = np.stack([np.linspace(-2, 2, 30), np.zeros(30), np.full(30, -3.0)], 1)
    frames = draw(triangle, look(CAMERA, (0, 0.5, 0)), extras=extras([0] * 30, where))
    assert (frames.instance == 900).sum() > 500


@pytest.mark.parametrize(("view", "shape", "name"), [([1], 0, "view_index"), ([0], 2, "template_index")])
def test_unknown_views_and_templates_are_refused(view, shape, name):
    with pytest.raises(InputError, match=f"extras.{name} below 1"):
        draw(room_scene(), look(CAMERA, (0, 1, -1)), extras=extras(view, (0, 0, -2), shape=shape))
