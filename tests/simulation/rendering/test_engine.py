import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Frames, Views, VisibilityRenderer, build_render_mesh

from .images import draw, look, make_scene, plain_image, random_views, room_scene

SIZES = [(16, 16), (17, 9), (128, 128), (300, 400), (31, 33), (5, 7), (1, 1), (640, 480), (480, 640)]


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a.arrays(), b.arrays(), strict=True))


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_any_image_size_agrees_with_the_plain_image(width, height):
    scene, camera = room_scene(), Camera(width_px=width, height_px=height)
    views = look(camera, (0.2, 1.2, -0.4), yaw=0.1, pitch=-0.2)
    frames = draw(scene, views)
    expected = plain_image(scene.vertices[scene.triangles], camera, views.position[0], views.rotation[0])
    assert np.abs(frames.depth[0] - expected.depth)[expected.clear].max(initial=0) < 1e-3
    objects = np.where(expected.triangle >= 0, scene.triangle_object[expected.triangle], 0)
    assert np.array_equal(frames.instance[0][expected.clear], objects[expected.clear])
    assert (frames.depth > 0).all()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 1_000_000), st.sampled_from([0.05, 0.5, 3.0]), st.sampled_from([0.02, 1.0, 10.0]))
@example(7, 3.0, 10.0)
@example(657, 0.05, 10.0)
@example(881, 3.0, 10.0)
def test_random_triangles_and_poses_agree_with_the_plain_image(seed, spread, size):
    generator = np.random.default_rng(seed)
    centre = generator.normal(size=(12, 1, 3)) * spread
    corners = (centre + generator.normal(size=(12, 3, 3)) * size).astype(np.float32)
    corners[0] = corners[0, 0]  # a point
    corners[1, 2] = corners[1, 1]  # a line
    camera = Camera(width_px=40, height_px=24, hfov=float(generator.uniform(0.6, 2.2)))
    rotation = rotation_from_yaw_pitch(generator.uniform(0, 6.28), generator.uniform(-1.5, 1.5))
    position = generator.normal(size=3) * spread
    views = Views(camera, np.zeros(1, np.int32), position[None], rotation[None])
    frames = draw(make_scene(corners, np.arange(1, 13)), views)
    expected = plain_image(corners, camera, position.astype(np.float32), rotation)
    clear = expected.clear
    assert np.array_equal(frames.instance[0][clear], expected.triangle[clear] + 1)
    seen = clear & (expected.triangle >= 0)
    inverse = 1 / frames.depth[0][seen] - 1 / expected.depth[seen]
    # a tenth of a millimetre on what is seen at a grazing angle from a centimetre away
    is_near = np.abs(frames.depth[0][seen] - expected.depth[seen]) < 1e-4
    assert np.abs(inverse[~is_near]).max(initial=0) < 5e-5 + 3e-4 / expected.depth[seen].min(initial=1e9)


def test_closed_surfaces_have_no_holes():
    corners = room_scene().vertices.reshape(-1, 3, 3)
    walls = make_scene(corners[:12])
    frames = draw(walls, random_views(Camera(width_px=200, height_px=150), 40, 3))
    assert (frames.depth > 0).all()


def test_batches_threads_and_order_do_not_change_a_bit():
    scenes = [room_scene(), make_scene(room_scene().vertices.reshape(-1, 3, 3)[:36])]
    camera = Camera(width_px=70, height_px=50)
    views = random_views(camera, 9, 1, scenes=2)
    together = draw(scenes, views)
    assert same(together, draw(scenes, views, threads=2))
    assert same(together, draw(scenes, views, threads=7))
    renderer = VisibilityRenderer([build_render_mesh(scene) for scene in scenes], threads=1)
    for k in reversed(range(9)):
        one = Frames.allocate(1, camera)
        parts = (part[k : k + 1] for part in (views.scene_index, views.position, views.rotation))
        renderer.render(Views(camera, *parts), one)
        for batch, single in zip(together.arrays(), one.arrays(), strict=True):
            assert np.array_equal(batch[k], single[0])


@pytest.mark.parametrize("outputs", [("depth",), ("rgb",), ("instance",), ("semantic", "depth"), ()])
def test_leaving_outputs_out_does_not_change_the_others(outputs):
    views = random_views(Camera(width_px=50, height_px=40), 3, 2)
    everything = draw(room_scene(), views)
    some = draw(room_scene(), views, outputs=outputs)
    for name in ("rgb", "depth", "instance", "semantic"):
        if name in outputs:
            assert np.array_equal(getattr(some, name), getattr(everything, name))
        else:
            assert getattr(some, name) is None


def test_nothing_seen_is_black_zero_and_none():
    views = look(Camera(width_px=32, height_px=20), (0, 50, 0), pitch=1.5)
    frames = draw(room_scene(), views)
    assert not any(array.any() for array in frames.arrays())


def test_every_pixel_is_written():
    views = random_views(Camera(width_px=37, height_px=21), 2, 5)
    frames = Frames.allocate(2, views.camera)
    for array in frames.arrays():
        array[...] = 77
    VisibilityRenderer([build_render_mesh(room_scene())]).render(views, frames)
    assert same(frames, draw(room_scene(), views))


def test_one_renderer_serves_cameras_of_different_sizes():
    renderer = VisibilityRenderer([build_render_mesh(room_scene())], threads=2)
    for size in ((64, 48), (200, 100), (64, 48)):
        camera = Camera(width_px=size[0], height_px=size[1])
        views = random_views(camera, 4, 6)
        frames = Frames.allocate(4, camera)
        renderer.render(views, frames)
        assert same(frames, draw(room_scene(), views))


def test_no_views_is_fine():
    draw(room_scene(), random_views(Camera(), 0, 0))


@pytest.mark.parametrize("width", [5, 40])
@pytest.mark.parametrize("threads", [1, 3])
def test_views_without_a_scene_leave_their_frames(width, threads):
    views = random_views(Camera(width_px=width, height_px=12), 9, 4)
    whole = draw(room_scene(), views)
    some = np.array([True, True, False, True, False, False, True, True, False])
    left_out = Views(views.camera, np.where(some, 0, -1).astype(np.int32), views.position, views.rotation)
    frames = Frames.allocate(9, views.camera)
    for array in frames.arrays():
        array[:] = 7
    VisibilityRenderer([build_render_mesh(room_scene())], threads).render(left_out, frames)
    for array, expected in zip(frames.arrays(), whole.arrays(), strict=True):
        assert np.array_equal(array[some], expected[some]) and (array[~some] == 7).all()


def test_unknown_shading_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'textured'"):
        draw(room_scene(), look(Camera(), (0, 1, -1)), shading="texture")


ORIGIN, STRAIGHT = np.zeros((1, 3)), np.eye(3)[None]
FIRST, SECOND = np.zeros(1, np.int32), np.ones(1, np.int32)


@pytest.mark.parametrize(
    ("views", "message"),
    [
        (Views(Camera(), SECOND, ORIGIN, STRAIGHT), "scene indices from -1 to 0, got 1 to 1"),
        (Views(Camera(), FIRST, ORIGIN * np.nan, STRAIGHT), "finite camera poses"),
        (Views(Camera(hfov=4.0), FIRST, ORIGIN, STRAIGHT), "0 < hfov < pi"),
        (Views(Camera(width_px=0), FIRST, ORIGIN, STRAIGHT), "at least one pixel"),
    ],
)
def test_views_that_do_not_fit_are_refused(views, message):
    frames = Frames.allocate(1, Camera())
    with pytest.raises(InputError, match=message):
        VisibilityRenderer([build_render_mesh(room_scene())]).render(views, frames)


def test_frames_that_do_not_fit_are_refused():
    renderer = VisibilityRenderer([build_render_mesh(room_scene())])
    views = look(Camera(width_px=32, height_px=16), (0, 1, -1))
    with pytest.raises(InputError, match=r"frames.depth C-contiguous float32 of shape \(1, 16, 32\)"):
        renderer.render(views, Frames(depth=np.zeros((1, 32, 16), np.float32)))
    with pytest.raises(InputError, match="strides"):
        renderer.render(views, Frames(depth=np.zeros((1, 16, 64), np.float32)[:, :, ::2]))
