"""Counted pixels of instance images against NumPy."""

import numpy as np

from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.instance_images import count_pixels, farthest_depths, object_boxes, render_instances
from navarena.simulation.world import open_world


def test_pixels_of_each_image_are_counted_for_its_own_id():
    images = np.random.default_rng(0).integers(0, 4, (5, 7, 33)).astype(np.int32)
    wanted, counts = np.array([0, 1, 2, 3, 9], np.int32), np.full(5, -1.0)
    count_pixels(images, wanted, counts)
    assert np.array_equal(counts, (images == wanted[:, None, None]).sum((1, 2)))
    assert counts[-1] == 0 and (counts[:-1] > 20).all()
    shares = (images == wanted[:, None, None]).mean((1, 2))
    assert np.array_equal(counts / (7 * 33), shares), "not a bit of a coverage changes"


def test_what_lies_behind_an_object_may_be_missing_and_changes_none_of_its_pixels():
    world = open_world("houses-v1/val/00000", LOCOBOT)
    scene, draws = world.scene, np.random.default_rng(0)
    chosen = [scene.objects[k] for k in draws.permutation(len(scene.objects))[:24]]
    ids = np.repeat(np.array([obj.object_id for obj in chosen], np.int32), 3)
    towards = draws.uniform(0, 2 * np.pi, len(ids))
    centers = np.repeat([obj.center for obj in chosen], 3, 0)
    feet = centers + 1.4 * np.stack([np.sin(towards), np.zeros(len(ids)), np.cos(towards)], 1)
    feet[:, 1] = scene.rooms[0].floor_height
    camera = Camera(width_px=160, height_px=120)
    poses = (feet, towards + draws.uniform(-0.3, 0.3, len(ids)), np.full(len(ids), -0.2))
    counts = []
    for boxes in (None, object_boxes(scene, ids)):
        counts.append(np.zeros(len(ids)))
        for first, last, images in render_instances(world, camera, *poses, wanted=boxes):
            count_pixels(images, ids[first:last], counts[-1][first:last])
            blank = float((images == 0).mean())
    assert np.array_equal(*counts)
    assert (counts[0] > 0).mean() > 0.3
    assert blank > 0.1, "little is left out"


def test_boxes_hold_all_triangles_of_their_object():
    world = open_world("houses-v1/val/00000", LOCOBOT)
    ids = np.array([obj.object_id for obj in world.scene.objects[:5]] * 2 + [10**6], np.int32)
    boxes = object_boxes(world.scene, ids)
    for number, box in zip(ids[:5], boxes[:5], strict=True):
        mine = world.scene.vertices[world.scene.triangles[world.scene.triangle_object == number]]
        assert np.array_equal(box, [mine.min((0, 1)), mine.max((0, 1))])
    assert np.array_equal(boxes[5:10], boxes[:5]) and not boxes[10].any()


def test_farthest_corners_along_the_axis():
    box = np.array([[[1.0, 0.0, -5.0], [2.0, 1.0, -3.0]]])
    depths = farthest_depths(
        np.repeat(box, 3, 0), np.zeros((3, 3)), np.array([[0.0, 0, -1], [1, 0, 0], [-1, 0, 0]])
    )
    assert np.allclose(depths, [5.0, 2.0, -1.0], atol=0.02) and (depths > [5.0, 2.0, -1.0]).all()
