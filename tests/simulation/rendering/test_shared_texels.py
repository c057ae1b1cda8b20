"""Houses draw from one copy of the texels of their tiles, and look the same."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.scenes import cache_store
from navarena.scenes.houses import HouseSettings, build_house
from navarena.scenes.packs import open_pack, write_pack
from navarena.scenes.storage import scene_from_pack, scene_to_arrays
from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import get_body
from navarena.simulation.rendering import Frames, Views, VisibilityRenderer, build_render_mesh
from navarena.simulation.rendering.render_pack import render_mesh_from_pack, render_mesh_to_arrays
from navarena.simulation.rendering.shared_texels import shared_store, shared_texels
from navarena.simulation.world import open_world


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A house as the cache gives it out: its textures lie in the material pack."""
    monkeypatch.setattr(cache_store, "cache_folder", lambda: tmp_path / "cache")
    write_pack(tmp_path / "house.pack", *scene_to_arrays(build_house(1, HouseSettings(rooms=2))))
    return scene_from_pack(open_pack(tmp_path / "house.pack"))


def draw(mesh, scene):
    room = scene.rooms[0]
    x, z = np.mean(room.polygon, 0)
    camera = Camera(width_px=96, height_px=64, hfov=1.5)
    frames = Frames.allocate(1, camera, ("rgb",))
    position = np.array([[x, room.floor_height + 1.4, z]])
    views = Views(camera, np.zeros(1, np.int32), position, np.eye(3)[None])
    VisibilityRenderer([mesh], threads=1).render(views, frames)
    return frames.rgb[0]


def test_a_house_keeps_nothing_that_follows_from_its_scene(house, tmp_path):
    own, sharing = build_render_mesh(house), build_render_mesh(house, share_texels=True)
    assert sharing.shares_texels and not own.shares_texels
    assert sharing.nbytes + own.texel.nbytes == own.nbytes
    write_pack(tmp_path / "render.pack", *render_mesh_to_arrays(house))
    assert (tmp_path / "render.pack").stat().st_size < sharing.nbytes / 8
    restored = render_mesh_from_pack(open_pack(tmp_path / "render.pack"), lambda: house)
    assert restored.categories == sharing.categories
    for one, other in zip(restored.record(), sharing.record(), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(restored.texel, shared_texels())
    assert restored.texel.ctypes.data % 64 == 0 and not restored.texel.flags.writeable
    image = draw(own, house)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 200
    np.testing.assert_array_equal(draw(restored, house), image)


def test_other_meshes_are_stored_as_they_are_drawn(house, tmp_path):
    altered = np.array(house.textures[0])
    altered[0, 0] ^= 1
    scene = replace(house, textures=(altered, *house.textures[1:]))
    write_pack(tmp_path / "render.pack", *render_mesh_to_arrays(scene))
    restored = render_mesh_from_pack(open_pack(tmp_path / "render.pack"), pytest.fail)  # asks for no scene
    for one, other in zip(restored.record(), build_render_mesh(scene).record(), strict=True):
        np.testing.assert_array_equal(one, other)


LARGEST_HOUSE = "houses-v1/train/00078"
"""The listed house with most furniture, 94,000 triangles; train/00402 has as many."""


@pytest.mark.slow
def test_all_that_lies_on_disk_of_the_largest_house_is_below_5_mb(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_store, "cache_folder", lambda: tmp_path / "cache")
    mesh = open_world(LARGEST_HOUSE, get_body("locobot")).render_mesh
    assert mesh.triangle_count > 90_000
    sizes = {
        kind: [p.stat().st_size for p in (tmp_path / "cache").rglob(f"{kind}/*.pack")]
        for kind in ("scene", "render", "navmesh")
    }
    assert all(len(of_kind) == 1 for of_kind in sizes.values())
    assert sum(map(sum, sizes.values())) < 5_000_000


def test_other_textures_stay_with_their_scene(house):
    assert shared_store(()) is None
    odd = np.full((8, 8, 3), 7, np.uint8)
    altered = np.array(house.textures[0])
    altered[0, 0] ^= 1
    for strange in (odd, altered):
        scene = replace(house, textures=(strange, *house.textures[1:]))
        mesh = build_render_mesh(scene, share_texels=True)
        assert not mesh.shares_texels
        np.testing.assert_array_equal(mesh.texel, build_render_mesh(scene).texel)
