"""The rasteriser against ray casting, and both against the field's standard simulator."""

import numpy as np
import pytest

from navarena.core.errors import MissingExtraError
from navarena.core.geometry import rotation_from_quaternion, rotation_from_yaw_pitch
from navarena.scenes.houses import build_house
from navarena.scenes.houses.settings import HouseSettings
from navarena.scenes.scene import Material, Scene
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Frames, ReferenceRenderer, Views

from .images import draw, look, random_views, room_scene
from .test_extra_objects import extras


def neighbourhood(images):
    """(N, H, W, 9) each pixel with its neighbours."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)), mode="edge")
    return np.stack(
        [padded[:, i : i + images.shape[1], j : j + images.shape[2]] for i in range(3) for j in range(3)], -1
    )


def off_edges(frames):
    """Where neither depth (by 5 cm) nor object changes among the neighbours."""
    depth, objects = neighbourhood(frames.depth), neighbourhood(frames.instance)
    return (np.ptp(depth, axis=-1) < 0.05) & (np.ptp(objects, axis=-1) == 0)


def reference(scene, views, shading="textured", objects=None):
    frames = Frames.allocate(len(views), views.camera)
    ReferenceRenderer([scene]).render(views, frames, extras=objects, shading=shading)
    return frames


def dungeon(folder, colored=False):
    with np.load(folder / "mesh_dungeon.npz") as mesh:
        vertices, triangles = mesh["vertices"].astype(np.float32), mesh["faces"].astype(np.int32)
        colors = {"vertex_color": mesh["vcol_rgb"]} if colored else {}
    nothing = np.zeros(len(triangles), np.int32)
    return Scene("dungeon", vertices, triangles, nothing, nothing, (Material("white"),), **colors)


def golden_views(golden, width=256, height=256):
    rotation = [rotation_from_quaternion(q[[1, 2, 3, 0]]) for q in golden["sensor_rot_wxyz"].astype(float)]
    camera = Camera(width_px=width, height_px=height, hfov=float(np.deg2rad(golden["hfov_deg"])))
    count = len(rotation)
    return Views(camera, np.zeros(count, np.int32), golden["sensor_pos"].astype(float), np.array(rotation))


@pytest.fixture(scope="module")
def house():
    return build_house(0, HouseSettings(rooms=6), scene_id="house")


@pytest.fixture(scope="module")
def house_views(house):
    generator = np.random.default_rng(0)
    position, rotation = [], []
    for room in (*house.rooms, *house.rooms):
        low, high = np.min(room.polygon, 0), np.max(room.polygon, 0)
        x, z = low + (high - low) * generator.uniform(0.3, 0.7, 2)
        position.append([x, room.floor_height + generator.uniform(0.5, 1.9), z])
        rotation.append(rotation_from_yaw_pitch(generator.uniform(0, 6.28), generator.uniform(-0.5, 0.3)))
    camera = Camera(width_px=160, height_px=120)
    return Views(camera, np.zeros(len(position), np.int32), np.array(position), np.array(rotation))


@pytest.mark.parametrize("shading", ["flat", "vertex", "textured"])
def test_house_agrees_with_ray_casting(house, house_views, shading):
    ours, theirs = draw(house, house_views, shading), reference(house, house_views, shading)
    clear = off_edges(theirs)
    assert clear.mean() > 0.5
    assert (np.abs(ours.depth - theirs.depth) < 0.01)[clear].mean() > 0.999
    assert (ours.instance == theirs.instance)[clear].mean() > 0.9999
    assert (ours.semantic == theirs.semantic)[clear].mean() > 0.9999
    assert ((ours.depth == 0) & (theirs.depth > 0)).sum() == 0
    different = np.abs(ours.rgb.astype(int) - theirs.rgb).max(-1) > 2
    assert different[clear].mean() < 0.01


def test_dungeon_agrees_with_ray_casting(dungeon_folder):
    with np.load(dungeon_folder / "cam_dungeon.npz") as golden:
        views = golden_views(golden)
    scene = dungeon(dungeon_folder)
    ours, theirs = draw(scene, views), reference(scene, views)
    clear = off_edges(theirs)
    assert (np.abs(ours.depth - theirs.depth) < 0.01)[clear].mean() > 0.999


def test_dungeon_agrees_with_the_goldens(dungeon_folder):
    with np.load(dungeon_folder / "cam_dungeon.npz") as golden:
        views, depth, colors = golden_views(golden), golden["depth"], golden["rgb_vcol"]
    frames = draw(dungeon(dungeon_folder, colored=True), views)
    assert (np.abs(frames.depth - depth) < 0.02).mean() > 0.999
    assert ((frames.depth > 0) == (depth > 0)).mean() > 0.9999
    assert (np.abs(frames.rgb.astype(int) - colors).max(-1) <= 1).mean() > 0.999


@pytest.mark.real_data
def test_all_golden_poses_and_the_wide_image(real_data):
    folder = real_data / "goldens"
    with np.load(folder / "cam_dungeon.npz") as file:
        golden = dict(file)
    scene = dungeon(folder, colored=True)
    frames = draw(scene, golden_views(golden))
    assert (np.abs(frames.depth - golden["depth"]) < 0.02).mean() > 0.999
    assert (np.abs(frames.rgb.astype(int) - golden["rgb_vcol"]).max(-1) <= 1).mean() > 0.999
    one = {key: value[:1] if value.ndim else value for key, value in golden.items()}
    wide = draw(scene, golden_views(one, 640, 480))
    assert (np.abs(wide.depth[0] - golden["wide_depth"]) < 0.02).mean() > 0.999


def test_extras_agree_with_ray_casting():
    views = random_views(Camera(width_px=100, height_px=80), 6, 11)
    where = np.random.default_rng(1).uniform((-1.5, 0, -4), (1.5, 1, -1), (6, 3))
    objects = extras(range(6), where, yaw=0.4)
    ours, theirs = draw(room_scene(), views, extras=objects), reference(room_scene(), views, objects=objects)
    clear = off_edges(theirs)
    assert (theirs.instance == 900).any()
    for name in ("instance", "semantic"):
        assert np.array_equal(getattr(ours, name)[clear], getattr(theirs, name)[clear])
    assert (np.abs(ours.rgb.astype(int) - theirs.rgb)[clear].max(-1) <= 1).mean() > 0.999
    assert np.abs(ours.depth - theirs.depth)[clear].max() < 1e-3


def test_reference_without_embreex_says_what_to_install(monkeypatch):
    import navarena.simulation.rendering.reference as module

    def missing(name, extra):
        raise MissingExtraError(f"{name} is not installed; run: pip install 'navarena[{extra}]'")

    monkeypatch.setattr(module, "require_extra", missing)
    with pytest.raises(MissingExtraError, match=r"navarena\[test\]"):
        reference(room_scene(), look(Camera(width_px=16, height_px=16), (0, 1, -1)))
