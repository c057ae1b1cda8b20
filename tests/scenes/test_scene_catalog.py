"""Scenes by id and by file, compiled once."""

import os
import shutil
import time

import numpy as np
import pytest
from scene_samples import assert_scenes_equal, full_scene, plain_scene

from navarena.core.errors import FileError, SceneError, StorageError, UnknownNameError
from navarena.scenes import catalog, fingerprints
from navarena.scenes.cache_store import cache_usage
from navarena.scenes.scene_set import SceneSet

pytestmark = pytest.mark.usefixtures("empty_cache")

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n"


@pytest.fixture
def stub_set(monkeypatch):
    """A registered set of two scenes that counts how often it builds."""
    built = []

    def build(scene_id):
        built.append(scene_id)
        return full_scene(scene_id) if scene_id.endswith("0") else plain_scene(scene_id)

    ids = ("stub-v1/val/0", "stub-v1/val/1")
    stub = SceneSet("stub-v1", {"val": ids, "mini": ids[:1]}, build, lambda scene_id: f"1 {scene_id}")
    monkeypatch.setitem(catalog.SCENE_SETS._objects, "stub-v1", stub)
    return built


def _packs() -> int:
    return sum(usage.files for usage in cache_usage() if usage.kind == "scene")


def test_a_scene_of_a_set_is_built_once(stub_set):
    first = catalog.load_scene("stub-v1/val/0")
    again = catalog.load_scene("stub-v1/val/0")
    assert stub_set == ["stub-v1/val/0"]
    assert_scenes_equal(first, full_scene("stub-v1/val/0"))
    assert_scenes_equal(again, first)
    assert_scenes_equal(catalog.load_scene("stub-v1/val/1"), plain_scene("stub-v1/val/1"))
    assert _packs() == 2


def test_names_of_sets_splits_and_scenes(stub_set):
    assert set(catalog.scene_sets()) >= {"houses-v0", "stub-v1"}
    assert catalog.scene_ids("stub-v1", "mini") == ["stub-v1/val/0"]
    houses = catalog.scene_sets()["houses-v0"]
    counts = {split: len(ids) for split, ids in houses.splits.items()}
    assert counts == {"train": 800, "val": 100, "test": 100, "mini": 10}
    assert catalog.scene_ids("houses-v0", "val")[17] == "houses-v0/val/00017"
    assert catalog.scene_ids("houses-v0", "mini") == catalog.scene_ids("houses-v0", "val")[:10]


@pytest.mark.parametrize(
    "name, message",
    [
        ("house-v0/val/00001", "neither a file nor a scene id: .*Did you mean 'houses-v0'"),
        ("houses-v0", "expected a scene id such as houses-v0/train/00000, got 'houses-v0'"),
        ("houses-v0/vall/00001", "unknown split of houses-v0 'vall'. Did you mean 'val'"),
        ("houses-v0/val/00100", "unknown scene 'houses-v0/val/00100'. Did you mean 'houses-v0/val/00"),
        ("houses-v0/mini/00000", "unknown scene"),
        ("", "neither a file nor a scene id"),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(name, message):
    for ask in (catalog.load_scene, catalog.scene_hash):
        with pytest.raises(UnknownNameError, match=message):
            ask(name)


def test_unknown_splits_and_sets():
    with pytest.raises(UnknownNameError, match="unknown scene set 'houses'.*Did you mean 'houses-v1'"):
        catalog.scene_ids("houses", "val")
    with pytest.raises(UnknownNameError, match="unknown split of houses-v0 'tests'.*'test'"):
        catalog.scene_ids("houses-v0", "tests")


def test_a_file_is_compiled_once_per_content_and_options(tmp_path):
    path = tmp_path / "a.obj"
    path.write_text(TRIANGLE)
    scene = catalog.load_scene(path)
    assert scene.scene_id == str(path) and len(scene.triangles) == 1
    catalog.load_scene(path)
    assert _packs() == 1
    turned = catalog.load_scene(path, "z", 2.0)
    np.testing.assert_array_equal(turned.vertices[2], (0, 2, 0))
    assert _packs() == 2
    copy = shutil.copy(path, tmp_path / "b.obj")
    assert catalog.load_scene(copy).scene_id == str(copy)  # the same pack under its own name
    assert _packs() == 2
    path.write_text(TRIANGLE.replace("v 1 0 0", "v 5 0 0"))
    assert catalog.load_scene(path).bounds[1][0] == 5
    assert _packs() == 3


def test_the_hash_covers_what_the_file_refers_to(tmp_path):
    path, library = tmp_path / "a.obj", tmp_path / "looks.mtl"
    path.write_text("mtllib looks.mtl\n" + TRIANGLE.replace("f ", "usemtl paint\nf "))
    missing = catalog.scene_hash(path)
    library.write_text("newmtl paint\nKd 1 0 0\nmap_Kd picture.png\n")
    red = catalog.scene_hash(path)
    library.write_text("newmtl paint\nKd 0 1 0\nmap_Kd picture.png\n")
    green = catalog.scene_hash(path)
    (tmp_path / "picture.png").write_bytes(b"pixels")
    pictured = catalog.scene_hash(path)
    assert len({missing, red, green, pictured}) == 4
    (tmp_path / "picture.png").unlink()
    assert catalog.scene_hash(path) == green
    with pytest.raises(FileError, match="expected the file 'picture.png'"):
        catalog.load_scene(path)
    library.write_text("newmtl paint\nKd 0 1 0\n")
    assert catalog.load_scene(path).materials[0].color == (0, 255, 0)


def test_bad_files_leave_nothing_in_the_cache(tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        catalog.load_scene(tmp_path / "no.obj")
    (tmp_path / "bad.obj").write_text("v 0 nan 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n")
    with pytest.raises(SceneError, match="finite"):
        catalog.load_scene(tmp_path / "bad.obj")
    with pytest.raises(FileError, match="got the folder"):
        catalog.load_scene(tmp_path)
    assert _packs() == 0


def test_a_set_that_builds_nonsense_is_found_out(monkeypatch):
    def build(scene_id):
        scene = plain_scene(scene_id)
        scene.vertices[0] = np.nan
        return scene

    stub = SceneSet("bad-v1", {"val": ("bad-v1/val/0",)}, build, str)
    monkeypatch.setitem(catalog.SCENE_SETS._objects, "bad-v1", stub)
    with pytest.raises(SceneError, match="scene bad-v1/val/0: expected finite"):
        catalog.load_scene("bad-v1/val/0")
    assert _packs() == 0


def test_large_files_are_hashed_once(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprints, "REMEMBERED_BYTES", 10)
    path = tmp_path / "large.bin"
    path.write_bytes(b"a" * 100)
    os.utime(path, (1000, 1000))
    first = fingerprints.file_fingerprint(path)
    read = []
    real = fingerprints._digest
    monkeypatch.setattr(fingerprints, "_digest", lambda p: (read.append(p), real(p))[1])
    assert fingerprints.file_fingerprint(path) == first and not read
    path.write_bytes(b"b" * 100)
    second = fingerprints.file_fingerprint(path)
    assert second != first and read
    path.write_bytes(b"c" * 100)  # the same size within the same moment
    os.utime(path, (time.time(), time.time()))
    assert fingerprints.file_fingerprint(path) != second
    with pytest.raises(FileError, match="does not exist"):
        fingerprints.file_fingerprint(tmp_path / "no.bin")


def test_a_full_cache_disk_does_not_stop_hashing(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprints, "REMEMBERED_BYTES", 10)
    path = tmp_path / "large.bin"
    path.write_bytes(b"a" * 100)
    os.utime(path, (1000, 1000))

    def refuse(*args):
        raise StorageError("full")

    monkeypatch.setattr(fingerprints, "write_atomic", refuse)
    assert len(fingerprints.file_fingerprint(path)) == 32
