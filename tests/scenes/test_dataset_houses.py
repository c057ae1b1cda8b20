"""ProcTHOR houses and Habitat scene datasets: small files of the exact layouts, and broken ones."""

import json

import numpy as np
import pytest
from dataset_samples import (
    GlbMesh,
    glb,
    grid_quad,
    procthor_assets,
    procthor_house,
    write_habitat,
    write_procthor,
)

from navarena.core.errors import FileError, MissingExtraError
from navarena.scenes import cache_store
from navarena.scenes.catalog import load_scene, navmesh_file, scene_hash
from navarena.scenes.datasets import get_dataset
from navarena.scenes.datasets.procthor_house import category_name, read_assets, read_house
from navarena.scenes.validation import validate_scene


def _build(dataset, root, name):
    source = get_dataset(dataset)
    scene = source.build(source.locate(root, name), f"{dataset}/{name}")
    validate_scene(scene)
    return scene


def _normals(scene, chosen):
    a, b, c = (scene.vertices[scene.triangles[chosen, k]].astype(float) for k in range(3))
    normals = np.cross(b - a, c - a)
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def _object(scene, name):
    return next(obj for obj in scene.objects if obj.attributes["name"] == name)


# ProcTHOR


@pytest.mark.parametrize("name", ["val/1", "mine"])
def test_procthor_house(tmp_path, name):
    scene = _build("procthor", write_procthor(tmp_path), name)
    assert [(room.category, room.floor_height, room.ceiling_height) for room in scene.rooms] == [
        ("living room", 0.0, 2.5),
        ("kitchen", 0.0, 2.5),
    ]
    table = _object(scene, "DiningTable|2|0")
    assert table.category == "dining table" and table.room == 0
    assert table.center == pytest.approx((2, 0.4, -1)) and table.half_size == pytest.approx((0.8, 0.4, 0.4))
    assert table.yaw == pytest.approx(-np.pi / 2)  # 90 degrees clockwise
    placed = scene.vertices[scene.triangles[scene.triangle_object == table.object_id]].reshape(-1, 3)
    np.testing.assert_allclose(placed.min(0), [1.6, 0, -1.8], atol=1e-6)
    cup = _object(scene, "Cup|2|1")
    assert cup.attributes["parent"] == "DiningTable|2|0" and cup.center[2] == pytest.approx(-1.3)
    assert _object(scene, "Fridge|3|0").room == 1


def test_procthor_walls_face_their_rooms_and_have_openings(tmp_path):
    scene = _build("procthor", write_procthor(tmp_path), "mine")
    floors = [obj for obj in scene.objects if obj.category == "floor"]
    for floor in floors:
        np.testing.assert_allclose(_normals(scene, scene.triangle_object == floor.object_id)[:, 1], 1)
    wall = _object(scene, "wall|2|2")  # between the rooms, seen from the first: at x = 4, looking to -x
    mine = scene.triangle_object == wall.object_id
    np.testing.assert_allclose(_normals(scene, mine), np.tile([-1, 0, 0], (mine.sum(), 1)), atol=1e-9)
    other = scene.triangle_object == _object(scene, "wall|3|0").object_id
    np.testing.assert_allclose(_normals(scene, other), np.tile([1, 0, 0], (other.sum(), 1)), atol=1e-9)
    exterior = scene.triangle_object == _object(scene, "wall|exterior|0").object_id
    np.testing.assert_allclose(_normals(scene, exterior)[:, 0], -1, atol=1e-9)
    for chosen in (mine, other):  # 3 m x 2.5 m less a doorway of 1 m x 2.1 m at the same place
        corners = scene.vertices[scene.triangles[chosen]].astype(float)
        area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        assert area.sum() / 2 == pytest.approx(7.5 - 2.1)
        centers = corners.mean(1)
        in_hole = (centers[:, 2] < -1.5) & (centers[:, 2] > -2.5) & (centers[:, 1] < 2.1)
        assert not in_hole.any()
    door, window = _object(scene, "door|2|3"), _object(scene, "window|2")
    assert door.center == pytest.approx((4, 1.05, -2)) and dict(door.attributes)["state"] == "open"
    assert not (scene.triangle_object == door.object_id).any()
    assert window.center == pytest.approx((0, 1.5, -1.5))
    assert (scene.triangle_object == window.object_id).sum() == 12


def test_procthor_closed_doors_block(tmp_path):
    house = procthor_house()
    house["doors"][0] |= {"openable": True, "openness": 0}
    scene = _build("procthor", write_procthor(tmp_path, house), "mine")
    door = _object(scene, "door|2|3")
    assert door.attributes["state"] == "closed" and (scene.triangle_object == door.object_id).sum() == 12


def test_procthor_empty_walls_are_not_built(tmp_path):
    house = procthor_house()
    house["walls"][1]["empty"] = True
    names = {
        obj.attributes["name"] for obj in _build("procthor", write_procthor(tmp_path, house), "mine").objects
    }
    assert "wall|2|1" not in names and "wall|2|0" in names


def test_procthor_floors_with_a_corner_that_comes_often(tmp_path):
    house = procthor_house()
    corners = house["rooms"][1]["floorPolygon"]
    corners += 130 * corners[-1:]
    scene = _build("procthor", write_procthor(tmp_path, house), "mine")
    floor = next(obj for obj in scene.objects if obj.category == "floor" and obj.room == 1)
    corners = scene.vertices[scene.triangles[scene.triangle_object == floor.object_id]].astype(float)
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    assert areas.sum() == pytest.approx(3 * 3)


def test_procthor_lists_and_names(tmp_path):
    dataset = get_dataset("procthor")
    write_procthor(tmp_path)
    assert dataset.list_scenes(tmp_path) == ["mine", "val/0", "val/1"]
    assert dataset.scene_name("val.jsonl.gz/1") == "val/1" == dataset.scene_name("val/001")
    assert dataset.scene_name("mine.json") == "mine" and dataset.scene_name("mine.obj") is None
    (tmp_path / "asset-database.json").unlink()
    with pytest.raises(FileError, match="asset-database.json, found no such file.*allenai"):
        dataset.locate(tmp_path, "mine")


def test_procthor_files_that_are_cut_short(tmp_path):
    write_procthor(tmp_path)
    with pytest.raises(FileError, match="expected a house from 0 to 1, got 2"):
        _build("procthor", tmp_path, "val/2")
    packed = tmp_path / "val.jsonl.gz"
    packed.write_bytes(packed.read_bytes()[:-40])
    with pytest.raises(FileError, match="only a part of an archive"):
        _build("procthor", tmp_path, "val/1")
    (tmp_path / "train.jsonl").write_text('{"rooms": [\n')
    with pytest.raises(FileError, match=r"train\.jsonl:1: this line is no JSON"):
        _build("procthor", tmp_path, "train/0")


def test_procthor_blank_lines_are_no_houses_and_names_may_hold_blanks(tmp_path):
    line = json.dumps(procthor_house())
    write_procthor(tmp_path)
    (tmp_path / "val.jsonl.gz").unlink()
    (tmp_path / "mine.json").rename(tmp_path / "mein häuschen 1.json")
    (tmp_path / "val.jsonl").write_bytes(f"{line}\r\n\r\n{line}\r\n{{\r\n\n".encode())
    dataset = get_dataset("procthor")
    assert dataset.list_scenes(tmp_path) == ["mein häuschen 1", "val/0", "val/1", "val/2"]
    assert dataset.scene_name("mein häuschen 1.json") == "mein häuschen 1"
    assert len(_build("procthor", tmp_path, "val/1").rooms) == 2
    with pytest.raises(FileError, match=r"val\.jsonl:4: this line is no JSON"):
        _build("procthor", tmp_path, "val/2")


def _broken(**changes):
    house = procthor_house()
    for path, value in changes.items():
        *keys, last = path.split("__")
        place = house
        for key in keys:
            place = place[int(key) if key.isdigit() else key]
        place[int(last) if last.isdigit() else last] = value
    return house


@pytest.mark.parametrize(
    ("house", "message"),
    [
        ([], "expected a ProcTHOR house"),
        (_broken(rooms=[]), "expected at least one room"),
        (
            _broken(rooms__0__floorPolygon=[{"x": 0, "y": 0, "z": 0}]),
            r"rooms\[0\] \(id 'room|2'\).*at least 3",
        ),
        (_broken(rooms__0__roomType=None), "expected a text 'roomType', got None"),
        (_broken(walls__0__polygon__1={"x": 0, "y": 0}), r"walls\[0\].*polygon\[1\].*numbers x, y and z"),
        (_broken(walls__0__polygon=[{"x": 0, "y": 0, "z": 0}] * 4), "expected an upright rectangle"),
        (_broken(doors__0__wall0="wall|9"), r"doors\[0\] \(id 'door\|2\|3'\).*got 'wall\|9'"),
        (_broken(doors__0__holePolygon=[{"x": 1, "y": 0, "z": 0}] * 2), "an opening with width and height"),
        (_broken(windows__0__boundingBox=None), "expected 'holePolygon' or 'boundingBox'"),
        (_broken(objects__0__assetId="Nothing_1"), r"'DiningTable\|2\|0'.*got 'Nothing_1'"),
        (_broken(objects__0__position={"x": 0, "y": float("nan"), "z": 0}), "expected numbers of at most 1e"),
        (_broken(objects__1={"assetId": "Cup_1"}), r"objects\[1\]: expected an object with a text 'id'"),
        (_broken(rooms__1__id="room|2"), r"mine.json: rooms: expected each id once, got 'room\|2'"),
        (_broken(walls__0__roomId="room|9"), r"wall 'wall\|2\|0': expected the id of a room, got 'room\|9'"),
        (_broken(objects__0__children={}), None),
        (_broken(objects__0__children={"a": 1}), "expected a list as 'children'"),
    ],
)
def test_procthor_houses_that_are_broken_name_the_id(tmp_path, house, message):
    write_procthor(tmp_path, house)
    if message is None:
        _build("procthor", tmp_path, "mine")
        return
    with pytest.raises(FileError, match=message) as error:
        _build("procthor", tmp_path, "mine")
    assert "mine.json" in str(error.value)


def test_asset_databases_come_in_three_shapes(tmp_path):
    grouped = procthor_assets()
    flat = [asset for group in grouped.values() for asset in group]
    by_id = {asset["assetId"]: asset for asset in flat}
    wanted = read_assets(grouped, tmp_path)
    assert wanted["Cup_1"] == ("Cup", (0.1, 0.1, 0.1))
    assert read_assets(flat, tmp_path) == wanted == read_assets(by_id, tmp_path)
    with pytest.raises(FileError, match="expected assets with"):
        read_assets({}, tmp_path)
    with pytest.raises(FileError, match="expected an asset database"):
        read_assets({"Cup": 3}, tmp_path)
    with pytest.raises(FileError, match="sizes of 0 or more"):
        read_assets([{"assetId": "a", "boundingBox": {"x": -1, "y": 0, "z": 0}}], tmp_path)


def test_names_of_unity_become_words():
    names = ("LivingRoom", "TVStand", "Bed", "alarm_clock", "DiningTable")
    assert [category_name(name) for name in names] == [
        "living room",
        "tv stand",
        "bed",
        "alarm clock",
        "dining table",
    ]


def test_headings_and_depth_change_their_sign(tmp_path):
    house = read_house(procthor_house(), tmp_path)
    assert house.objects[0].yaw == pytest.approx(-np.pi / 2)
    assert house.rooms[0].outline[:, 2].tolist() == [0, -3, -3, 0]


# Habitat


def test_habitat_scene(tmp_path):
    scene = _build("habitat", write_habitat(tmp_path / "tiny"), "one")
    np.testing.assert_allclose(scene.bounds, [[-2, 0, -2], [2, 2.5, 2]])  # the stage has z up
    stool, lamp = scene.objects
    assert (stool.category, lamp.category) == ("stool", "lamp")
    assert stool.center == pytest.approx((1, 0.5, 0)) and stool.half_size == pytest.approx((0.25, 0.5, 0.25))
    assert abs(stool.yaw) == pytest.approx(np.pi / 4)
    assert lamp.center == pytest.approx((-0.9, 0.25, -0.9))  # by its own origin, scaled
    assert (scene.triangle_object == 0).sum() == len(scene.triangles) - 24


def test_habitat_names(tmp_path):
    root = write_habitat(tmp_path / "tiny")
    dataset = get_dataset("habitat")
    assert dataset.list_scenes(root) == ["scenes/one"]
    config = root / "tiny.scene_dataset_config.json"
    assert dataset.list_scenes(config) == ["scenes/one"]
    stage = dataset.build(dataset.locate(root, str(root / "stages" / "room.stage_config.json")), "t")
    assert stage.objects == () and len(stage.triangles) == len(_build("habitat", root, "one").triangles) - 24
    files = dataset.locate(root, "one").paths.values()
    assert {path.name for path in files} >= {"stool.glb", "lamp.glb", "room.glb", "names.json"}


def _edit(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_habitat_mistakes_name_file_and_entry(tmp_path):
    root = write_habitat(tmp_path / "tiny")
    dataset, scene = get_dataset("habitat"), root / "scenes" / "one.scene_instance.json"
    good = scene.read_text()
    with pytest.raises(FileError, match=r"expected one of its scenes \(.*scenes/one"):
        dataset.locate(root, "two")
    _edit(scene, object_instances=[{"template_name": "stol"}])
    with pytest.raises(FileError, match="got 'stol'. Did you mean"):
        dataset.locate(root, "one")
    _edit(scene, object_instances=[{"template_name": "stool", "rotation": [0, 0, 0, 0]}])
    with pytest.raises(FileError, match=r"object_instances\[0\]\.rotation: expected a quaternion"):
        dataset.locate(root, "one")
    _edit(scene, object_instances=[{"template_name": "stool", "translation": [1, 2]}])
    with pytest.raises(FileError, match=r"object_instances\[0\]\.translation: expected 3"):
        dataset.locate(root, "one")
    _edit(scene, object_instances="stool")
    with pytest.raises(FileError, match="expected a list as 'object_instances'"):
        dataset.locate(root, "one")
    scene.write_text(good[:-5])
    with pytest.raises(FileError, match="no JSON file"):
        dataset.locate(root, "one")
    scene.write_text(good)
    _edit(root / "stages" / "room.stage_config.json", front=[0, 0, 1])
    with pytest.raises(FileError, match="at a right angle"):
        dataset.locate(root, "one")
    _edit(root / "stages" / "room.stage_config.json", front=[0, 1, 0])
    (root / "objects" / "lamp.glb").unlink()
    with pytest.raises(FileError, match=r"lamp\.glb, found no such file"):
        dataset.locate(root, "one")
    (root / "tiny.scene_dataset_config.json").unlink()
    with pytest.raises(FileError, match="scene_dataset_config.json"):
        dataset.locate(root, str(scene))


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("scene", {"stage_instance": {}}, "stage_instance: expected an object with 'template_name', got {}"),
        ("scene", {"articulated_object_instances": 5}, "expected a list as 'articulated_object_instances'"),
        ("scene", {"translation_origin": "nowhere"}, "expected one of asset_local, com, default, unknown"),
        (
            "scene",
            {"object_instances": [{"template_name": "stool", "uniform_scale": 0.0}]},
            "a size other than 0",
        ),
        ("config", {"stages": {"paths": {".json": 5}}}, r"expected folders as stages.paths.json, got 5"),
        (
            "config",
            {"stages": {"default_attributes": [1], "paths": {".json": ["stages"]}}},
            "stages: expected an",
        ),
        ("config", {"objects": {"configs": [5]}}, r"a list of objects as objects.configs, got \[5\]"),
        ("lamp", {"render_asset": 5}, "lamp.object_config.json: expected the name of a mesh as"),
    ],
)
def test_habitat_mistyped_values_are_errors(tmp_path, file, changes, message):
    root = write_habitat(tmp_path / "tiny")
    names = {
        "scene": "scenes/one.scene_instance.json",
        "config": "tiny.scene_dataset_config.json",
        "lamp": "objects/lamp.object_config.json",
    }
    _edit(root / names[file], **changes)
    with pytest.raises(FileError, match=message) as error:
        get_dataset("habitat").locate(root, "one")
    assert str(root) in str(error.value)


def test_habitat_lexicons_that_are_missing_are_told(tmp_path, caplog):
    root = write_habitat(tmp_path / "tiny")
    (root / "semantics" / "names.json").unlink()
    scene = _build("habitat", root, "one")
    assert {obj.category for obj in scene.objects} == {"stool", "lamp"}
    assert "names.json is missing; objects are called by their templates" in caplog.text


@pytest.mark.parametrize("is_listed", [True, False])
def test_habitat_navmeshes_that_scenes_name(tmp_path, caplog, is_listed):
    """By a name of their own or by their file's; one that is missing is told, an unknown one an error."""
    root = write_habitat(tmp_path / "tiny")
    scene, config = root / "scenes" / "one.scene_instance.json", root / "tiny.scene_dataset_config.json"
    (root / "navmeshes").mkdir()
    file = root / "navmeshes" / "one_of_fetch.navmesh"
    file.write_bytes(b"kept")
    listed = {"walk": "navmeshes/one_of_fetch.navmesh"}
    _edit(config, navmesh_instances=listed if is_listed else {"paths": {".navmesh": ["navmeshes"]}})
    assert navmesh_file(str(scene)) is None
    _edit(scene, navmesh_instance="walk" if is_listed else "one_of_fetch")
    assert navmesh_file(str(scene)) == file
    before = scene_hash(str(scene))
    file.write_bytes(b"other")
    assert scene_hash(str(scene)) != before
    _edit(scene, navmesh_instance="run")
    with pytest.raises(FileError, match=r"one.scene_instance.json: expected one of the navmesh.*got 'run'"):
        navmesh_file(str(scene))
    if is_listed:
        _edit(scene, navmesh_instance="walk")
        file.unlink()
        assert navmesh_file(str(scene)) is None
        _build("habitat", root, "one")
        assert "one_of_fetch.navmesh is missing; a navmesh is built from the meshes" in caplog.text


def test_habitat_missing_textures_are_named_and_nothing_is_kept(tmp_path, monkeypatch):
    """In a file beside a stage; and compressed where nothing decodes it. The cache stays empty."""
    monkeypatch.setattr(cache_store, "cache_folder", lambda: tmp_path / "cache")
    root = write_habitat(tmp_path / "tiny")
    scene, stage = root / "scenes" / "one.scene_instance.json", root / "stages" / "room.obj"
    stage.write_text("mtllib looks.mtl\nusemtl oak\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\n")
    (root / "stages" / "looks.mtl").write_text("newmtl oak\nmap_Kd oak.png\n")
    _edit(root / "stages" / "room.stage_config.json", render_asset="room.obj")
    with pytest.raises(
        FileError, match=r"room\.obj: expected the file 'oak.png' that it names at .*put it there"
    ):
        load_scene(str(scene))
    points, triangles = grid_quad((0, 0, 0), (1, 0, 0), (0, 1, 0))
    basis = GlbMesh(points, triangles, points[:, :2], b"sB", "image/x-basis", "GOOGLE_texture_basis")
    (root / "stages" / "room.glb").write_bytes(glb([basis]))
    _edit(root / "stages" / "room.stage_config.json", render_asset="room.glb")
    monkeypatch.setattr("navarena.scenes.formats.gltf_materials.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"room\.glb.*pip install 'navarena\[hm3d\]'"):
        load_scene(str(scene))
    assert not list((tmp_path / "cache").rglob("*.pack"))


def test_habitat_articulated_objects_are_left_out_and_told(tmp_path, caplog):
    root = write_habitat(tmp_path / "tiny")
    _edit(
        root / "scenes" / "one.scene_instance.json",
        articulated_object_instances=[{"template_name": "fridge"}],
        stage_instance={"template_name": "NONE"},
    )
    scene = _build("habitat", root, "one")
    assert len(scene.triangles) == 24 and "1 articulated objects are left out" in caplog.text


def test_habitat_templates_in_the_configuration_itself(tmp_path):
    root = write_habitat(tmp_path / "tiny")
    config = root / "tiny.scene_dataset_config.json"
    content = json.loads(config.read_text())
    content["objects"]["configs"] = [
        {"template_handle": "big lamp", "attributes": {"render_asset": "objects/lamp.glb", "COM": [0, 0, 0]}},
        {
            "template_handle": "small lamp",
            "original_file": "objects/lamp.object_config.json",
            "attributes": {"scale": [0.1, 0.1, 0.1]},
        },
    ]
    config.write_text(json.dumps(content))
    scene = root / "scenes" / "one.scene_instance.json"
    _edit(scene, object_instances=[{"template_name": "big lamp"}, {"template_name": "small lamp"}])
    big, small = _build("habitat", root, "one").objects
    assert big.center == pytest.approx((0.5, 0.5, 0.5)) and big.half_size == pytest.approx((0.5, 0.5, 0.5))
    assert small.center == pytest.approx((0, 0, 0)) and small.half_size == pytest.approx((0.05, 0.05, 0.05))


def test_habitat_mirrored_objects_keep_their_fronts(tmp_path):
    root = write_habitat(tmp_path / "tiny")
    scene = root / "scenes" / "one.scene_instance.json"
    _edit(scene, object_instances=[{"template_name": "stool", "non_uniform_scale": [-1, 1, 1]}])
    built = _build("habitat", root, "one")
    mine = built.triangle_object == 1
    outward = built.vertices[built.triangles[mine]].mean(1) - built.objects[0].center
    assert (np.einsum("tk,tk->t", _normals(built, mine), outward) > 0).all()
