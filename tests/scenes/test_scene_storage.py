"""Scenes survive the way through a pack bit for bit."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scene_samples import assert_scenes_equal, full_scene, plain_scene

from navarena.core.errors import FileError
from navarena.scenes import cache_store
from navarena.scenes.houses import HouseSettings, build_house
from navarena.scenes.packs import open_pack, write_pack
from navarena.scenes.storage import scene_from_pack, scene_to_arrays
from navarena.scenes.validation import validate_scene


@pytest.mark.parametrize("make", [full_scene, plain_scene])
def test_round_trip_of_everything(tmp_path, make):
    scene = make()
    write_pack(tmp_path / "scene.pack", *scene_to_arrays(scene))
    restored = scene_from_pack(open_pack(tmp_path / "scene.pack"))
    assert_scenes_equal(scene, restored)
    assert not restored.vertices.flags.writeable
    validate_scene(restored)


def test_records_must_hold_plain_values():
    scene = full_scene()
    thing = replace(scene.objects[0])
    object.__setattr__(thing, "attributes", {"color": np.zeros(3)})  # past the run-time type checks
    bad = replace(scene, objects=(thing,))
    with pytest.raises(TypeError, match="expected a number, text"):
        scene_to_arrays(bad)


@pytest.fixture
def own_packs(tmp_path, monkeypatch):
    """Packs in a folder of the test's own."""
    monkeypatch.setattr(cache_store, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path


@cache
def large_house():
    return build_house(0, HouseSettings(storeys=3, area_m2=(300, 400)))


def test_houses_share_their_tiles_and_stay_small(own_packs):
    scene = large_house()
    arrays, meta = scene_to_arrays(scene)
    assert not [name for name in arrays if name.startswith("texture_")]
    path = own_packs / "house.pack"
    write_pack(path, arrays, meta)
    assert path.stat().st_size < 5_000_000
    restored = scene_from_pack(open_pack(path))
    assert_scenes_equal(scene, restored)
    again = scene_from_pack(open_pack(path))
    for one, other in zip(restored.textures, again.textures):
        np.testing.assert_array_equal(one, other)
        assert not one.flags.writeable
    assert len(list((own_packs / "cache").rglob("materials/*.pack"))) == 1
    assert restored.triangle_uv is not None and not restored.triangle_uv.flags.writeable


def test_tiles_of_another_version_are_refused(own_packs):
    arrays, meta = scene_to_arrays(large_house())
    write_pack(own_packs / "old.pack", arrays, {**meta, "material_key": "0" * 32})
    with pytest.raises(FileError, match="tiles of this version.*compiles it again"):
        scene_from_pack(open_pack(own_packs / "old.pack"))


def test_copies_of_tiles_are_a_scenes_own(own_packs):
    scene = large_house()
    copied = replace(scene, textures=tuple(texture.copy() for texture in scene.textures))
    arrays, meta = scene_to_arrays(copied)
    assert not any(meta["textures"]) and "texture_0" in arrays
    write_pack(own_packs / "own.pack", arrays, meta)
    assert_scenes_equal(copied, scene_from_pack(open_pack(own_packs / "own.pack")))
