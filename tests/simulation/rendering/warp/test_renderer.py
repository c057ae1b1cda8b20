"""The renderer of Warp keeps the promises of the Renderer protocol; its arrays are taken without a copy."""

import sys

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Frames, Renderer, Views, build_render_mesh
from render_device import DEVICE

from ..images import look, make_scene, random_views, room_scene
from ..test_extra_objects import extras
from ..test_shading import QUAD, QUAD_UV, TEXTURED

pytestmark = pytest.mark.learn
SQUARE = Camera(width_px=64, height_px=64, hfov=float(np.pi / 2))


@pytest.fixture
def make(device):
    """A renderer of scenes, with a limit of memory."""
    from navarena.simulation.rendering.warp.renderer import WarpRenderer
    from navarena.simulation.rendering.warp.residency import ResidentScenes

    def build(scenes, limit_bytes=None):
        store = ResidentScenes(device, limit_bytes)
        return WarpRenderer([build_render_mesh(scene) for scene in scenes], store)

    return build


def test_it_is_a_renderer(make):
    assert isinstance(make([room_scene()]), Renderer)


def test_batches_and_order_do_not_change_a_bit(cast, make):
    scenes = [room_scene(), make_scene(room_scene().vertices.reshape(-1, 3, 3)[:36])]
    camera = Camera(width_px=35, height_px=25)
    views = random_views(camera, 7, 1, scenes=2)
    together = cast(scenes, views)
    renderer = make(scenes)
    for k in reversed(range(7)):
        one = Frames.allocate(1, camera)
        parts = (part[k : k + 1] for part in (views.scene_index, views.position, views.rotation))
        renderer.render(Views(camera, *parts), one)
        for batch, single in zip(together.arrays(), one.arrays(), strict=True):
            assert np.array_equal(batch[k], single[0])


@pytest.mark.parametrize("outputs", [("depth",), ("rgb",), ("instance",), ("semantic", "depth"), ()])
def test_leaving_outputs_out_does_not_change_the_others(cast, outputs):
    views = random_views(Camera(width_px=50, height_px=40), 3, 2)
    everything, some = cast(room_scene(), views), cast(room_scene(), views, outputs=outputs)
    for name in outputs:
        assert np.array_equal(getattr(some, name), getattr(everything, name))


def test_every_pixel_is_written_and_views_without_a_scene_stay(cast, make):
    views = random_views(Camera(width_px=37, height_px=21), 5, 5)
    some = np.array([True, False, True, True, False])
    frames = Frames.allocate(5, views.camera)
    for array in frames.arrays():
        array[...] = 77
    chosen = np.where(some, 0, -1).astype(np.int32)
    make([room_scene()]).render(Views(views.camera, chosen, views.position, views.rotation), frames)
    for array, expected in zip(frames.arrays(), cast(room_scene(), views).arrays(), strict=True):
        assert np.array_equal(array[some], expected[some]) and (array[~some] == 77).all()


def test_no_views_is_fine(cast):
    cast(room_scene(), random_views(Camera(), 0, 0))


def test_nothing_seen_is_black_zero_and_none(cast):
    frames = cast(room_scene(), look(Camera(width_px=32, height_px=20), (0, 50, 0), pitch=1.5))
    assert not any(array.any() for array in frames.arrays())


def test_a_wall_from_the_front_and_from_behind(cast):
    """The wall is 2 x 2 m, one metre away, and fills the image of 90 degrees."""
    scene = make_scene(QUAD)
    frames = cast(scene, look(SQUARE, (0, 1, 1)))
    assert frames.depth == pytest.approx(1.0, abs=1e-5) and (frames.instance == 1).all()
    assert not cast(scene, look(SQUARE, (0, 1, -1), yaw=np.pi)).depth.any()


def test_faces_from_behind_hide_nothing(cast):
    """Three sheets, 1, 1.00002 and 2 m away: the first two are seen from behind."""
    turned = QUAD.reshape(2, 3, 3)[:, ::-1].reshape(-1, 3)
    sheets = np.concatenate([turned, turned - [0, 0, 2e-5], 2 * QUAD - [0, 1, 1]])
    frames = cast(make_scene(sheets, [1, 1, 2, 2, 3, 3]), look(SQUARE, (0, 1, 1)))
    assert (frames.instance == 3).all() and frames.depth == pytest.approx(2.0, abs=1e-5)


def test_surfaces_of_two_sides_are_seen_from_both(cast):
    """A wall of two triangles and the same two turned around; each side is an object of its own."""
    turned = QUAD.reshape(2, 3, 3)[:, ::-1].reshape(-1, 3)
    for sheets in (np.concatenate([QUAD, turned]), np.concatenate([turned, QUAD])):
        front = 1 if np.array_equal(sheets[:6], QUAD) else 2
        scene = make_scene(sheets, [1, 1, 2, 2])
        assert (cast(scene, look(SQUARE, (0.1, 1, 0.7))).instance == front).all()
        assert (cast(scene, look(SQUARE, (0.1, 1, -0.7), yaw=np.pi)).instance == 3 - front).all()


def test_the_other_sides_of_triangles(device):
    from navarena.simulation.rendering.warp.visibility import find_backs

    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [-0.0, 0, 0], [5, 5, 5]], np.float32)
    triangles = np.array([[0, 1, 2], [1, 2, 4], [2, 1, 3], [1, 2, 0]])
    assert find_backs(vertices, triangles[:3]).tolist() == [2, -1, 0]
    assert find_backs(vertices, triangles[[0, 1, 3]]).tolist() == []


def test_images_are_copied_from_devices_of_their_own(make, cast):
    """What a GPU's images go through, on the CPU device."""
    views = random_views(Camera(width_px=20, height_px=10), 4, 5)
    some = np.array([True, False, True, False])
    frames = Frames.allocate(4, views.camera, ("rgb", "semantic"))
    frames.rgb[...], frames.semantic[...] = 7, 7
    renderer = make([room_scene()])
    renderer._copies = True
    chosen = np.where(some, 0, -1).astype(np.int32)
    renderer.render(Views(views.camera, chosen, views.position, views.rotation), frames)
    expected = cast(room_scene(), views)
    assert np.array_equal(frames.rgb[some], expected.rgb[some]) and (frames.rgb[~some] == 7).all()
    assert np.array_equal(frames.semantic[some], expected.semantic[some])


def test_the_near_plane_is_at_one_centimetre(cast):
    camera = Camera(width_px=8, height_px=8, hfov=float(np.pi / 2))
    assert (cast(make_scene(QUAD), look(camera, (0, 1, 0.011))).depth > 0).all()
    assert not cast(make_scene(QUAD), look(camera, (0, 1, 0.009))).depth.any()


def test_texels_stand_upright_and_repeat(cast):
    texture = np.random.default_rng(1).integers(0, 256, (16, 32, 3)).astype(np.uint8)
    fields = {"textures": (texture,), "materials": TEXTURED}
    scene = make_scene(QUAD, triangle_uv=QUAD_UV * np.float32([2, 4]) - 3, **fields)
    assert np.array_equal(cast(scene, look(SQUARE, (0, 1, 1))).rgb[0], np.tile(texture, (4, 2, 1)))


def test_light_is_interpolated(cast):
    """Vertex light 0 below and 1 above on a white wall: the byte at row r of 64 is 255 (63.5 - r) / 64."""
    light = (QUAD[:, 1] / 2).astype(np.float32)
    rgb = cast(make_scene(QUAD, vertex_light=light), look(SQUARE, (0, 1, 1)), "vertex").rgb[0]
    expected = 255 * (63.5 - np.arange(64)) / 64
    assert np.abs(rgb.astype(float) - expected[:, None, None]).max() <= 1


def test_unknown_shading_is_answered_with_the_nearest(cast):
    with pytest.raises(UnknownNameError, match="Did you mean 'textured'"):
        cast(room_scene(), look(SQUARE, (0, 1, -1)), "texture")


def test_image_sizes_that_no_call_can_draw(device):
    from navarena.simulation.rendering.warp.renderer import DeviceFrames

    for camera in (Camera(width_px=0), Camera(width_px=100_000, height_px=100_000)):
        with pytest.raises(InputError, match="another image size"):
            DeviceFrames.allocate(1, camera, device)


def on_device(make, device, shown=("rgb", "depth", "instance", "semantic")):
    from navarena.simulation.rendering.warp.renderer import DeviceFrames

    views = random_views(Camera(width_px=40, height_px=30), 3, 2)
    frames = DeviceFrames.allocate(3, views.camera, device, shown)
    make([room_scene()]).render(views, frames)
    return views, frames


def test_device_frames_hold_the_same_images(make, device, cast):
    views, frames = on_device(make, device)
    for array, expected in zip(frames.arrays(), cast(room_scene(), views).arrays(), strict=True):
        assert np.array_equal(array.numpy(), expected)


@pytest.mark.skipif(DEVICE != "warp-cpu", reason="NumPy takes no memory of a GPU")
def test_device_frames_are_taken_by_dlpack_without_a_copy(make, device):
    _, frames = on_device(make, device)
    for array in frames.arrays():
        taken = np.from_dlpack(array)
        assert taken.ctypes.data == array.ptr and taken.any()


def test_torch_takes_device_frames_without_a_copy(make, device):
    torch = pytest.importorskip("torch")
    _, frames = on_device(make, device)
    for array, kind in zip(
        frames.arrays(), (torch.uint8, torch.float32, torch.int32, torch.int32), strict=True
    ):
        taken = torch.from_dlpack(array)
        assert taken.data_ptr() == array.ptr and taken.dtype == kind and tuple(taken.shape) == array.shape


def test_scenes_beyond_the_limit_are_refused_by_number(make):
    scenes = [room_scene() for _ in range(4)]
    views = random_views(Camera(width_px=8, height_px=8), 4, 0, scenes=4)
    one = make(scenes[:1])
    one.render(Views(views.camera, np.zeros(4, np.int32), views.position, views.rotation), Frames())
    size = one._scenes.nbytes
    with pytest.raises(InputError, match="got 4 scenes .* the first 2 fit"):
        make(scenes, 2 * size + size // 2).render(views, Frames())


def test_least_recently_drawn_scenes_leave(device):
    from navarena.simulation.rendering.warp.residency import ResidentScenes

    meshes = [build_render_mesh(room_scene()) for _ in range(4)]
    store = ResidentScenes(device)
    store.table(meshes[:1])
    size = store.nbytes
    store = ResidentScenes(device, 2 * size)
    for chosen in ([0], [1], [0], [2]):
        store.table([meshes[k] for k in chosen])
    held = {scene.mesh() for scene in store._scenes.values()}
    assert held == {meshes[0], meshes[2]} and store.nbytes <= store.limit_bytes
    del meshes[0], held
    store.table([meshes[2]])
    assert len(store) <= 2 and store.nbytes <= store.limit_bytes


def test_evicted_scenes_come_back_the_same(device, cast):
    from navarena.simulation.rendering.warp.renderer import WarpRenderer
    from navarena.simulation.rendering.warp.residency import ResidentScenes

    scenes = [room_scene(), make_scene(QUAD)]
    meshes = [build_render_mesh(scene) for scene in scenes]
    views = look(SQUARE, (0, 1, 1))
    store = ResidentScenes(device, 40_000)
    for k in (0, 1, 0, 1):
        frames = Frames.allocate(1, views.camera)
        WarpRenderer([meshes[k]], store).render(views, frames, extras=extras([0], (0, 0.5, 0.3)))
        expected = cast(scenes[k], views, extras=extras([0], (0, 0.5, 0.3)))
        for array, right in zip(frames.arrays(), expected.arrays(), strict=True):
            assert np.array_equal(array, right)


def test_drawing_on_the_cpu_loads_no_warp():
    code = "import sys; import navarena.simulation.observer; assert 'warp' not in sys.modules"
    import subprocess

    subprocess.run([sys.executable, "-c", code], check=True)
