"""The commands `navarena scene` and `navarena cache`, with their result keys frozen."""

import json

import numpy as np
import pytest
from PIL import Image
from scene_samples import full_scene, plain_scene

from navarena.cli.main import main
from navarena.reports.preview.surfaces import open_storey, shade_bare, tint_by_height
from navarena.scenes import catalog
from navarena.scenes.formats import import_mesh
from navarena.scenes.scene_set import SceneSet

SCENE_KEYS = [
    "scene_id",
    "triangles",
    "vertices",
    "low",
    "high",
    "objects",
    "rooms",
    "levels",
    "materials",
    "textures",
    "lit",
    "colored",
    "labelled_share",
    "ambiguous_share",
    "categories",
    "room_categories",
    "hash",
    "body",
    "navigable_area",
    "islands",
    "largest_island_area",
    "up_advice",
    "proposed_categories",
    "file",
]
PREVIEW_KEYS = ["scene_id", "file", "width_px", "height_px", "views"]


@pytest.fixture
def room_set(monkeypatch):
    """A set with one scene: a floor of 4 m x 4 m with a table."""
    stub = SceneSet("room-v1", {"val": ("room-v1/val/0",)}, full_scene, lambda scene_id: "1", "one room")
    monkeypatch.setitem(catalog.SCENE_SETS._objects, "room-v1", stub)
    return "room-v1/val/0"


@pytest.fixture
def kernels_only_cache(tmp_path, monkeypatch):
    """Packs in a folder of the test's own; compiled kernels stay where they are."""
    from navarena.scenes import cache_store

    monkeypatch.setattr(cache_store, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def _run(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    return json.loads(captured.out)


def _fail(capsys, *arguments):
    assert main(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("error: ") and captured.err.count("\n") == 1
    return captured.err


def test_make_info_and_export(capsys, tmp_path, room_set, kernels_only_cache):
    out = tmp_path / "room.glb"
    made = _run(capsys, "scene", "make", room_set, "--out", str(out))
    assert list(made) == SCENE_KEYS
    assert made["triangles"] == 24 and made["objects"] == 2 and made["rooms"] == 1
    assert made["categories"] == {"floor": 1, "table": 1} and made["room_categories"] == {"kitchen": 1}
    assert made["low"] == pytest.approx([-2, -0.1, -2]) and made["labelled_share"] == 1.0
    assert 5 < made["navigable_area"] < 16
    assert [obj.category for obj in import_mesh(out).objects] == ["floor", "table"]
    info = _run(capsys, "scene", "info", room_set)
    assert info == {**made, "file": None}
    assert main(["scene", "info", room_set]) == 0
    text = capsys.readouterr().out
    assert "2 in 2 categories: 1 floor, 1 table" in text and "1 kitchen" in text


def test_import_and_preview_of_a_file(capsys, tmp_path, dungeon_folder, kernels_only_cache):
    mesh = str(dungeon_folder / "dungeon.obj")
    imported = _run(capsys, "scene", "import", mesh)
    assert list(imported) == SCENE_KEYS
    assert imported["triangles"] == 10133 and imported["objects"] == 0
    assert 1900 < imported["navigable_area"] < 2400
    packs = sorted(path.parent.name for path in kernels_only_cache.rglob("*.pack"))
    assert packs == ["navmesh", "render", "scene"]
    out = tmp_path / "preview.png"
    preview = _run(capsys, "scene", "preview", mesh, "--out", str(out))
    assert list(preview) == PREVIEW_KEYS and len(preview["views"]) == 4
    with Image.open(out) as image:
        assert image.size == (preview["width_px"], preview["height_px"])
        pixels = np.asarray(image)
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 1000  # neither blank nor one colour
    first = out.read_bytes()
    _run(capsys, "scene", "preview", mesh, "--out", str(out))
    assert out.read_bytes() == first


def test_a_mesh_on_its_side(capsys, dungeon_folder, kernels_only_cache):
    mesh = str(dungeon_folder / "dungeon.obj")
    assert "try --up=y, or keep --up=z with --force-up" in _fail(capsys, "scene", "import", mesh, "--up", "z")
    assert _run(capsys, "scene", "info", mesh)["up_advice"] is None
    assert main(["scene", "import", mesh, "--up", "z", "--force-up", "--json"]) == 0
    captured = capsys.readouterr()
    advice = json.loads(captured.out)["up_advice"]
    assert "m2 with y up; try --up=y" in advice and captured.err == f"warning: {advice}\n"


def test_preview_of_a_scene_with_rooms(capsys, tmp_path, room_set, kernels_only_cache):
    out = tmp_path / "preview.png"
    preview = _run(capsys, "scene", "preview", room_set, "--out", str(out))
    assert 1 <= len(preview["views"]) <= 4 and out.stat().st_size > 10_000


def test_bad_input_is_one_line_and_exit_code_2(capsys, tmp_path, room_set, kernels_only_cache):
    (tmp_path / "empty.obj").touch()
    wall = tmp_path / "wall.obj"
    wall.write_text("v 0 0 0\nv 3 0 0\nv 0 3 0\nf 1 2 3\n")
    assert "is empty" in _fail(capsys, "scene", "import", str(tmp_path / "empty.obj"))
    assert "does not exist" in _fail(capsys, "scene", "import", str(tmp_path / "no.obj"))
    assert "expected a mesh file" in _fail(capsys, "scene", "import", room_set)
    assert "expected a scene id" in _fail(capsys, "scene", "make", str(wall))
    assert "unknown up axis" in _fail(capsys, "scene", "import", str(wall), "--up", "w")
    assert "scale above 0" in _fail(capsys, "scene", "import", str(wall), "--scale", "0")
    assert "up_axis" in _fail(capsys, "scene", "import", str(wall))  # nowhere to stand
    assert "unknown body 'locobott'" in _fail(capsys, "scene", "info", room_set, "--body", "locobott")
    assert "Did you mean 'room-v1'" in _fail(capsys, "scene", "info", "room-v2/val/0")
    assert ".png" in _fail(capsys, "scene", "preview", room_set, "--out", str(tmp_path / "a.jpg"))
    assert ".glb" in _fail(capsys, "scene", "make", room_set, "--out", str(tmp_path / "a.obj"))
    (tmp_path / "file").touch()
    nowhere = str(tmp_path / "file" / "a.png")
    assert "cannot write" in _fail(capsys, "scene", "preview", room_set, "--out", nowhere)
    assert not list(tmp_path.glob("*.png")) and not list(tmp_path.glob("*.glb"))


def test_cache_info_and_clear(capsys, room_set, kernels_only_cache):
    _run(capsys, "scene", "make", room_set)
    info = _run(capsys, "cache", "info")
    assert list(info) == ["folder", "limit_bytes", "bytes", "kinds"]
    files = {entry["kind"]: entry["files"] for entry in info["kinds"]}
    assert files == {"navmesh": 1, "render": 1, "scene": 1, "answers": 0, "fingerprints": 0, "kernels": 0}
    assert "unknown kind of cached data 'scenes'" in _fail(capsys, "cache", "clear", "scenes")
    cleared = _run(capsys, "cache", "clear", "scene")
    assert list(cleared) == ["folder", "bytes", "kinds"]
    assert [(entry["kind"], entry["files"]) for entry in cleared["kinds"]] == [("scene", 1)]
    _run(capsys, "cache", "clear")
    assert _run(capsys, "cache", "info")["bytes"] == 0
    assert main(["cache", "info"]) == 0
    assert "NAVARENA_CACHE_LIMIT" in capsys.readouterr().out


def test_bare_scenes_are_shaded_and_tinted():
    scene = plain_scene()
    shaded = shade_bare(scene)
    assert len(shaded.vertices) == 36 and shaded.vertex_light.min() >= 0.3
    up = shaded.vertex_light.reshape(-1, 3)[:, 0]
    assert up.argmax() in (6, 7)  # the top of the box is brightest
    tinted = tint_by_height(scene)
    assert len(np.unique(tinted.vertex_color, axis=0)) == 2
    lit = full_scene()
    assert shade_bare(lit) is lit and tint_by_height(lit) is lit


def test_storeys_are_cut_open():
    scene = full_scene()
    opened = open_storey(scene, 0)
    assert len(opened.triangles) == 24 and opened.vertices[:, 1].max() == pytest.approx(0.7)
    assert len(open_storey(scene, None).triangles) == 24
