"""`navarena scene import --dataset`, with its result keys frozen."""

import json

import pytest
from dataset_samples import OFFER_HM3D, write_gibson, write_habitat, write_hm3d, write_mp3d

from navarena.cli.main import main
from navarena.scenes.datasets.roots import registered_roots

KEYS = ["dataset", "root", "body", "failed", "scenes"]
SCENE_KEYS = ["scene_id", "triangles", "objects", "rooms", "navigable_area", "ambiguous_share", "error"]


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """A list of datasets and packs of the test's own; compiled kernels stay where they are."""
    from navarena.scenes import cache_store

    monkeypatch.setenv("NAVARENA_CONFIG", str(tmp_path / "config"))
    monkeypatch.delenv("NAVARENA_DATA", raising=False)
    monkeypatch.setattr(cache_store, "cache_folder", lambda: tmp_path / "cache")


def _run(capsys, *arguments, code=0):
    assert main(["scene", "import", *map(str, arguments), "--json"]) == code
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


def _fail(capsys, *arguments):
    assert main(["scene", "import", *map(str, arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("error: ") and captured.err.count("\n") == 1
    return captured.err


def test_import_of_a_folder_registers_it(capsys, tmp_path):
    root = tmp_path / "disk" / "hm3d"
    write_hm3d(root)
    write_hm3d(root, "train/00001-UVdNNRcVyV1", semantic=False)
    result, _ = _run(capsys, root, "--dataset", "hm3d", "--workers", "1")
    assert list(result) == KEYS and list(result["scenes"][0]) == SCENE_KEYS
    assert [row["scene_id"] for row in result["scenes"]] == [
        "hm3d/train/00001-UVdNNRcVyV1",
        "hm3d/val/00800-TEEsavR23oF",
    ]
    assert [row["objects"] for row in result["scenes"]] == [0, 4] and result["failed"] == 0
    plain, labelled = (row["ambiguous_share"] for row in result["scenes"])
    assert plain is None and 0 <= labelled < 0.02
    assert all(row["navigable_area"] > 5 and row["triangles"] > 500 for row in result["scenes"])
    assert registered_roots()["hm3d"].path == str(root)
    # From now on episode files find their scenes.
    assert main(["scene", "info", "hm3d_v0.2/val/00800-TEEsavR23oF/TEEsavR23oF.basis.glb", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["objects"] == 4
    only, _ = _run(capsys, root, "--dataset", "hm3d", "--only", "val/", "--workers", "1")
    assert len(only["scenes"]) == 1


def test_one_scene_by_its_folder_or_file(capsys, tmp_path):
    folder = write_mp3d(tmp_path / "mp3d")
    write_mp3d(tmp_path / "mp3d", "1LXtFkjw3qL")
    for path in (folder, folder / "17DRP5sb8fy.glb"):
        result, _ = _run(capsys, path, "--dataset", "mp3d")
        assert [row["scene_id"] for row in result["scenes"]] == ["mp3d/17DRP5sb8fy"]
        assert result["root"] == str(tmp_path / "mp3d")


def test_missing_files_are_named_before_anything_is_compiled(capsys, tmp_path):
    folder = write_hm3d(tmp_path / "hm3d")
    write_hm3d(tmp_path / "hm3d", "train/00001-UVdNNRcVyV1")
    (folder / "TEEsavR23oF.semantic.txt").unlink()
    text = _fail(capsys, tmp_path / "hm3d", "--dataset", "hm3d")
    assert str(folder / "TEEsavR23oF.semantic.txt") in text and OFFER_HM3D in text
    assert "1 of 2 scenes lack a file" in text
    assert not (tmp_path / "cache").exists() and registered_roots() == {}


def test_folders_that_hold_something_else(capsys, tmp_path):
    assert "found nothing" in _fail(capsys, tmp_path / "none", "--dataset", "mp3d")
    text = _fail(capsys, tmp_path, "--dataset", "mp3d")
    assert "17DRP5sb8fy.glb" in text and "niessner.github.io" in text
    assert "Did you mean 'hm3d'" in _fail(capsys, tmp_path, "--dataset", "hm3")
    write_mp3d(tmp_path / "mp3d")
    assert "begins with 'x'" in _fail(capsys, tmp_path / "mp3d", "--dataset", "mp3d", "--only", "x")
    assert "--workers of 0 or more" in _fail(capsys, tmp_path, "--dataset", "mp3d", "--workers", "-1")


def test_a_damaged_scene_is_told_and_the_others_are_compiled(capsys, tmp_path):
    root = write_gibson(tmp_path / "gibson")
    write_gibson(root, "Broken")
    (root / "Broken.scn").write_text("{")
    result, printed = _run(capsys, root, "--dataset", "gibson", "--workers", "1", code=2)
    assert result["failed"] == 1
    assert [bool(row["error"]) for row in result["scenes"]] == [False, True]
    assert "gibson/Broken: " in printed and "Broken.scn" in printed


def test_habitat_datasets_go_by_their_own_name(capsys, tmp_path):
    root = write_habitat(tmp_path / "tiny")
    result, _ = _run(capsys, root / "tiny.scene_dataset_config.json", "--dataset", "habitat")
    assert [row["scene_id"] for row in result["scenes"]] == ["tiny/scenes/one"]
    assert "rename" in _fail(capsys, write_habitat(tmp_path / "hm3d", "hm3d"), "--dataset", "habitat")


@pytest.mark.slow
@pytest.mark.turns(6)
def test_several_at_once_in_processes(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path / "all"))
    root = write_gibson(tmp_path / "gibson")
    write_gibson(root, "Second")
    result, _ = _run(capsys, root, "--dataset", "gibson", "--workers", "2")
    assert result["failed"] == 0 and len(result["scenes"]) == 2
