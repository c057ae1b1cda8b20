"""Names of scenes in datasets: as ids, as episode files write them, and as paths."""

import json

import pytest
from dataset_samples import (
    OFFER_HM3D,
    write_gibson,
    write_habitat,
    write_hm3d,
    write_mp3d,
    write_procthor,
    write_replica,
)

from navarena.core.errors import FileError, UnknownNameError
from navarena.scenes import catalog, load_scene, scene_hash, scene_ids
from navarena.scenes.catalog import is_file_path, navmesh_file
from navarena.scenes.datasets import find_dataset_scene, register_root
from navarena.scenes.datasets.roots import registered_roots

SCENE = "val/00800-TEEsavR23oF"
FILE = "TEEsavR23oF.basis.glb"


@pytest.fixture
def home(tmp_path, monkeypatch, kernels_only_cache):
    """An empty data folder, an empty list of datasets, packs of the test's own."""
    monkeypatch.setenv("NAVARENA_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NAVARENA_CONFIG", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def kernels_only_cache(tmp_path, monkeypatch):
    """Packs in a folder of the test's own; compiled kernels stay where they are."""
    from navarena.scenes import cache_store

    monkeypatch.setattr(cache_store, "cache_folder", lambda: tmp_path / "cache")


@pytest.mark.parametrize(
    ("text", "dataset", "scene"),
    [
        (f"hm3d/{SCENE}", "hm3d", SCENE),
        (f"hm3d_v0.2/{SCENE}/{FILE}", "hm3d", SCENE),
        (f"data/scene_datasets/hm3d/{SCENE}/TEEsavR23oF.glb", "hm3d", SCENE),
        ("hm3d/val/00800-TEEsavR23oF/OTHERsavR23.glb", None, None),
        ("hm3d/val/readme", None, None),
        ("mp3d/17DRP5sb8fy", "mp3d", "17DRP5sb8fy"),
        ("mp3d/17DRP5sb8fy/17DRP5sb8fy.glb", "mp3d", "17DRP5sb8fy"),
        ("gibson/Adrian.glb", "gibson", "Adrian"),
        ("gibson/Adrian_semantic.ply", None, None),
        ("replica/apartment_0/habitat/mesh_semantic.ply", "replica", "apartment_0"),
        ("replica/my_room/mesh.ply", None, None),
        ("procthor-10k/train/17", "procthor", "train/17"),
        ("/x/y.scene_instance.json", "habitat", "/x/y.scene_instance.json"),
        ("houses-v0/val/00017", None, None),
        ("meshes/dungeon.obj", None, None),
        ("hm3d", None, None),
        ("", None, None),
    ],
)
def test_what_names_mean(home, text, dataset, scene):
    found = find_dataset_scene(text)
    assert (found and found.dataset, found and found.scene) == (dataset, scene)


def test_all_names_of_a_scene_are_one_scene(home, tmp_path):
    write_hm3d(home / "hm3d")
    names = [
        f"hm3d/{SCENE}",
        f"hm3d_v0.2/{SCENE}/{FILE}",
        f"hm3d/minival/00800-TEEsavR23oF/{FILE}",
        f"data/scene_datasets/hm3d/{SCENE}/{FILE}",
        f"{home}/hm3d/{SCENE}/TEEsavR23oF.glb",
        f"data/hm3d/{SCENE}/TEEsavR23oF.glb",
    ]
    assert len({scene_hash(name) for name in names}) == 1
    for name in names[:2]:
        scene = load_scene(name)
        assert scene.scene_id == name and len(scene.objects) == 4
        assert not is_file_path(name)


def test_datasets_may_lie_in_scene_datasets_as_habitat_has_them(home):
    write_mp3d(home / "scene_datasets" / "mp3d")
    assert load_scene("mp3d/17DRP5sb8fy/17DRP5sb8fy.glb").rooms[0].category == "bedroom"


def test_the_exact_expected_path_is_named(home, monkeypatch):
    with pytest.raises(FileError) as error:
        load_scene(f"hm3d_v0.2/{SCENE}/{FILE}")
    text = str(error.value)
    assert f"{home / 'hm3d_v0.2' / SCENE / 'TEEsavR23oF.glb'}" in text and FILE in text
    assert OFFER_HM3D in text and "navarena scene import --dataset hm3d FOLDER" in text
    monkeypatch.delenv("NAVARENA_DATA")
    with pytest.raises(FileError, match="nothing says where that is.*set NAVARENA_DATA"):
        load_scene("mp3d/17DRP5sb8fy/17DRP5sb8fy.glb")


def test_registered_roots_are_found(home, tmp_path, monkeypatch):
    elsewhere = tmp_path / "disk" / "scans"
    write_mp3d(elsewhere)
    register_root("mp3d", "mp3d", elsewhere)
    first = scene_hash("mp3d/17DRP5sb8fy")
    assert scene_hash(str(elsewhere / "17DRP5sb8fy" / "17DRP5sb8fy.glb")) == first
    monkeypatch.delenv("NAVARENA_DATA")
    assert scene_hash("data/scene_datasets/mp3d/17DRP5sb8fy/17DRP5sb8fy.glb") == first
    assert registered_roots()["mp3d"].path == str(elsewhere)
    list_file = tmp_path / "config" / "datasets.json"
    assert json.loads(list_file.read_text())["mp3d"]["dataset"] == "mp3d"
    list_file.write_text("{")
    with pytest.raises(FileError, match="list of datasets .* is damaged"):
        scene_hash("mp3d/17DRP5sb8fy")


def test_hashes_follow_every_file(home):
    write_hm3d(home / "hm3d")
    first = scene_hash(f"hm3d/{SCENE}")
    table = home / "hm3d" / SCENE / "TEEsavR23oF.semantic.txt"
    table.write_text(table.read_text().replace("armchair", "chair"))
    second = scene_hash(f"hm3d/{SCENE}")
    table.unlink()
    (home / "hm3d" / SCENE / "TEEsavR23oF.semantic.glb").unlink()
    assert len({first, second, scene_hash(f"hm3d/{SCENE}")}) == 3


def test_houses_of_one_file_are_told_apart(home):
    write_procthor(home / "procthor")
    assert scene_hash("procthor/val/0") != scene_hash("procthor/val/1")


def test_habitat_scenes_by_file_and_by_the_name_of_their_dataset(home):
    root = write_habitat(home / "tiny")
    first = scene_hash(str(root / "scenes" / "one.scene_instance.json"))
    assert scene_hash("data/tiny/scenes/one.scene_instance.json") == first
    register_root("tiny", "habitat", root)
    assert scene_hash("tiny/one") == first
    assert len(load_scene("tiny/scenes/one").objects) == 2


def test_scenes_of_a_split(home, tmp_path):
    for name in ("val/00800-TEEsavR23oF", "train/00001-UVdNNRcVyV1", "val/00801-HaxA7YrQdEC"):
        write_hm3d(home / "hm3d", name)
    wanted = ["hm3d/val/00800-TEEsavR23oF", "hm3d/val/00801-HaxA7YrQdEC"]
    assert scene_ids("hm3d", "val") == wanted
    assert len(scene_ids("hm3d_v0.2", "all")) == 3
    with pytest.raises(UnknownNameError, match="unknown split of hm3d 'vall'. Did you mean"):
        scene_ids("hm3d", "vall")
    with pytest.raises(FileError, match="folder of MP3D .* nothing says where"):
        scene_ids("mp3d", "all")
    with pytest.raises(UnknownNameError, match="unknown scene set 'houses'"):
        scene_ids("houses", "val")
    root = write_habitat(tmp_path / "tiny")
    register_root("tiny", "habitat", root)
    assert scene_ids("tiny", "scenes") == ["tiny/scenes/one"]


def test_paths_of_no_dataset_stay_mesh_files(home, tmp_path):
    write_gibson(home / "gibson")
    assert is_file_path("meshes/dungeon.obj") and is_file_path("gibson/room.obj")
    with pytest.raises(UnknownNameError, match="neither a file nor a scene id"):
        load_scene("nothing/val/00001")


def test_nothing_half_built_stays_in_the_cache(home, tmp_path):
    folder = write_hm3d(home / "hm3d")
    (folder / "TEEsavR23oF.semantic.txt").write_text("HM3D Semantic Annotations\n1,")
    with pytest.raises(FileError, match=r"semantic\.txt:2"):
        load_scene(f"hm3d/{SCENE}")
    packs = [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.suffix == ".pack"]
    assert packs == [] and catalog.scene_hash(f"hm3d/{SCENE}")


@pytest.mark.parametrize("basis", [False, True])
@pytest.mark.parametrize("name", ["TEEsavR23oF.basis.navmesh", "TEEsavR23oF.navmesh"])
def test_navmesh_files_beside_the_mesh(home, basis, name):
    folder = write_hm3d(home / "hm3d", basis=basis, semantic=False)
    assert navmesh_file(f"hm3d/{SCENE}") is None and navmesh_file("houses-v0/val/00017") is None
    key = scene_hash(f"hm3d/{SCENE}")
    (folder / name).write_bytes(b"any")
    mesh = next(folder.glob("*.glb"))
    assert navmesh_file(f"hm3d/{SCENE}") == navmesh_file(f"{mesh}?up=z") == folder / name
    assert scene_hash(f"hm3d/{SCENE}") != key


def test_the_navmesh_of_replica_is_beside_the_mesh_with_labels(home):
    write_replica(home / "replica")
    file = home / "replica" / "room_0" / "habitat" / "mesh_semantic.navmesh"
    file.write_bytes(b"any")
    assert navmesh_file("replica/room_0/mesh.ply") == file
