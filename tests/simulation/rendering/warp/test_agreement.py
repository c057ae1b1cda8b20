"""Ray casting in Warp against the rasteriser and against embreex: three ways to the same images."""

import numpy as np
import pytest

from navarena.cli.benchmarks.render_scenes import sample_views, scan_like
from navarena.scenes.catalog import load_scene
from navarena.scenes.houses import build_house
from navarena.scenes.houses.settings import HouseSettings
from navarena.simulation.body import Camera

from ..images import draw, random_views, room_scene
from ..test_extra_objects import extras
from ..test_reference import dungeon, golden_views, off_edges, reference

pytestmark = pytest.mark.learn
CAMERA = Camera(width_px=112, height_px=84)


def require_agreement(ours, theirs):
    """The share of pixels that may differ away from edges; edges are where the other engine has them."""
    clear = off_edges(theirs)
    assert clear.mean() > 0.4
    assert (np.abs(ours.depth - theirs.depth) < 0.01)[clear].mean() >= 0.999
    assert (ours.instance == theirs.instance)[clear].mean() >= 0.999
    assert (ours.semantic == theirs.semantic)[clear].mean() >= 0.999
    assert (np.abs(ours.rgb.astype(int) - theirs.rgb).max(-1) <= 2)[clear].mean() >= 0.99
    assert ((ours.depth == 0) & (theirs.depth > 0)).mean() < 1e-4, "rays slip between triangles"


@pytest.fixture(scope="module")
def house():
    return build_house(3, HouseSettings(rooms=5), scene_id="house")


@pytest.mark.parametrize("shading", ["flat", "vertex", "textured"])
def test_house(cast, house, shading):
    views = sample_views(house, CAMERA, 8)
    ours = cast(house, views, shading)
    require_agreement(ours, draw(house, views, shading))
    require_agreement(ours, reference(house, views, shading))


def test_scan(cast, house):
    """Many small triangles, one large texture, no baked light."""
    scan = scan_like(house, 60_000)
    views = sample_views(house, CAMERA, 6)
    ours = cast(scan, views)
    require_agreement(ours, draw(scan, views))
    require_agreement(ours, reference(scan, views))


def test_apartment(cast):
    scene = load_scene("robothor-like-v1/val/00000")
    views = sample_views(scene, CAMERA, 6)
    ours = cast(scene, views)
    require_agreement(ours, draw(scene, views))


def test_dungeon_with_vertex_colours(cast, dungeon_folder):
    with np.load(dungeon_folder / "cam_dungeon.npz") as golden:
        views = golden_views(golden, 128, 128)
    scene = dungeon(dungeon_folder, colored=True)
    require_agreement(cast(scene, views), draw(scene, views))


def test_extras(cast):
    views = random_views(Camera(width_px=100, height_px=80), 6, 11)
    where = np.random.default_rng(1).uniform((-1.5, 0, -4), (1.5, 1, -1), (6, 3))
    objects = extras(range(6), where, yaw=0.4)
    ours = cast(room_scene(), views, extras=objects)
    assert (ours.instance == 900).any() and (ours.semantic == 40).any()
    require_agreement(ours, draw(room_scene(), views, extras=objects))
    require_agreement(ours, reference(room_scene(), views, objects=objects))
