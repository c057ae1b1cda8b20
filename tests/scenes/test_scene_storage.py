"""Scenes survive the way through a pack bit for bit."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scene_samples import assert_scenes_equal, full_scene, plain_scene

from navarena.core.errors import FileError
from navarena.scenes import cache_store
from navarena.scenes.houses import HouseSettings, build_house
from navarena.scenes.packs import open_pack, write_pack
from navarena.scenes.storage import (
    narrow_triangles,
    narrow_vertices,
    scene_from_pack,
    scene_to_arrays,
    widen_triangles,
    widen_vertices,
)
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
    obj = replace(scene.objects[0])
    object.__setattr__(obj, "attributes", {"color": np.zeros(3)})  # past the run-time type checks
    bad = replace(scene, objects=(obj,))
    with pytest.raises(TypeError, match="expected a number, text"):
        scene_to_arrays(bad)


@pytest.fixture
def own_packs(tmp_path, monkeypatch):
    """Packs in a folder of the test's own."""
    monkeypatch.setattr(cache_store, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path


@cache
def some_house():
    return build_house(0, HouseSettings(rooms=4))


def test_houses_share_their_tiles_and_are_narrowed(own_packs):
    scene = some_house()
    arrays, meta = scene_to_arrays(scene)
    assert not [name for name in arrays if name.startswith("texture_")]
    path = own_packs / "house.pack"
    write_pack(path, arrays, meta)
    as_they_are = (scene.vertices, scene.triangles, scene.triangle_uv, scene.vertex_light)
    assert path.stat().st_size < 0.75 * sum(array.nbytes for array in as_they_are if array is not None)
    restored = scene_from_pack(open_pack(path))
    assert_scenes_equal(scene, restored)
    again = scene_from_pack(open_pack(path))
    for one, other in zip(restored.textures, again.textures, strict=True):
        np.testing.assert_array_equal(one, other)
        assert not one.flags.writeable
    assert len(list((own_packs / "cache").rglob("materials/*.pack"))) == 1
    assert restored.triangle_uv is not None and not restored.triangle_uv.flags.writeable


def test_tiles_of_another_version_are_refused(own_packs):
    arrays, meta = scene_to_arrays(some_house())
    write_pack(own_packs / "old.pack", arrays, {**meta, "material_key": "0" * 32})
    with pytest.raises(FileError, match="tiles of this version.*compiles it again"):
        scene_from_pack(open_pack(own_packs / "old.pack"))


def test_copies_of_tiles_are_a_scenes_own(own_packs):
    scene = some_house()
    copied = replace(scene, textures=tuple(texture.copy() for texture in scene.textures))
    arrays, meta = scene_to_arrays(copied)
    assert not any(meta["textures"]) and "texture_0" in arrays
    write_pack(own_packs / "own.pack", arrays, meta)
    assert_scenes_equal(copied, scene_from_pack(open_pack(own_packs / "own.pack")))


POSITIONS = (0.0, -0.0, 0.001, 12.345, -32.767, 32.768, -32.768, 1e9, 0.0004, 1 / 3, 32.7675)


@given(st.lists(st.sampled_from(POSITIONS), min_size=3, max_size=24), st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_vertices_of_any_kind_come_back(positions, whole):
    """Whole millimetres are narrowed; too far, between two, and negative zero stay as they are."""
    column = np.array([*positions, *[0.5] * whole], np.float32)
    vertices = np.repeat(column, 3).reshape(-1, 3)
    restored = widen_vertices(narrow_vertices(vertices))
    np.testing.assert_array_equal(restored.view(np.uint32), vertices.view(np.uint32))


@given(st.lists(st.integers(0, 2**31 - 1), max_size=6), st.integers(0, 40))
@settings(max_examples=60, deadline=None)
def test_triangles_of_any_kind_come_back(numbers, near):
    corners = [*numbers, *range(near), 127, 0, 255]  # steps of 127, -127, 255, and up to 2^31
    triangles = np.array(corners[: len(corners) // 3 * 3], np.int32).reshape(-1, 3)
    stored = narrow_triangles(triangles)
    np.testing.assert_array_equal(widen_triangles(stored), triangles)
    assert sum(array.nbytes for array in stored.values()) <= triangles.nbytes
