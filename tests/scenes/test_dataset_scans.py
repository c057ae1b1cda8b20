"""HM3D, MP3D, Gibson and Replica: small files of the exact layouts, and broken ones."""

import json
import logging

import numpy as np
import pytest
from dataset_samples import (
    BED_COLOR,
    CHAIR_COLOR,
    FLOOR_COLOR,
    GIBSON_TABLE,
    HM3D_TABLE,
    MP3D_HOUSE,
    OFFER_HM3D,
    WALL_COLOR,
    GlbMesh,
    glb,
    grid_quad,
    painted_meshes,
    ply,
    png,
    replica_table,
    room_meshes,
    write_gibson,
    write_hm3d,
    write_mp3d,
    write_replica,
)

from navarena.core.errors import FileError, NavarenaError, SceneError
from navarena.scenes.datasets import get_dataset
from navarena.scenes.datasets.hm3d import MPCAT40, hm3d_goal_of, mpcat40_of, read_annotations
from navarena.scenes.datasets.mp3d_house import read_house
from navarena.scenes.validation import validate_scene

HM3D_NAME = "val/00800-TEEsavR23oF"
STEM = "TEEsavR23oF"
MP3D_NAME = "17DRP5sb8fy"


def _build(dataset, root, name):
    source = get_dataset(dataset)
    scene = source.build(source.locate(root, name), f"{dataset}/{name}")
    validate_scene(scene)
    return scene


def _objects(scene):
    return {obj.object_id: obj for obj in scene.objects}


def _centers(scene, key):
    return scene.vertices[scene.triangles[scene.triangle_object == key]].mean(1)


def _assert_box(obj, center, half, yaw=0.0):
    np.testing.assert_allclose(obj.center, center, atol=0.02)
    np.testing.assert_allclose(obj.half_size, half, atol=0.02)
    assert obj.yaw == pytest.approx(yaw, abs=1e-3)


def _assert_bed_is_labelled(scene, key):
    """All of the bed's triangles, and (nearly) none beside it; world frame, y up."""
    corners = scene.vertices[scene.triangles]
    inside = (corners.min(1) >= [-1.81, 0.02, 0.29]) & (corners.max(1) <= [0.21, 0.51, 1.81])
    assert (scene.triangle_object[inside.all(1)] == key).all()
    beside = (corners.max(1)[:, 0] < -1.85) | (corners.min(1)[:, 0] > 0.25) | (corners.max(1)[:, 1] < 0.01)
    assert not (scene.triangle_object[beside] == key).any()


# HM3D


def test_hm3d_scene(tmp_path, caplog):
    write_hm3d(tmp_path)
    with caplog.at_level(logging.WARNING):
        scene = _build("hm3d", tmp_path, HM3D_NAME)
    assert not caplog.records
    np.testing.assert_allclose(scene.bounds, [[-2, 0, -2], [2, 2.5, 2]])  # z up became y up
    objects = _objects(scene)
    assert {key: obj.category for key, obj in objects.items()} == {
        1: "floor",
        2: "wall",
        16: "bed",
        30: "armchair",
    }
    assert dict(objects[16].attributes) == {"name": "bed_16", "mpcat40": "bed", "goal": "bed"}
    assert objects[30].attributes["goal"] == "chair" and "goal" not in objects[2].attributes
    _assert_box(objects[16], (-0.8, 0.25, 1.05), (1.0, 0.25, 0.75))
    _assert_bed_is_labelled(scene, 16)
    assert (scene.triangle_object > 0).all()
    room = scene.rooms[0]
    assert (room.room_id, room.category, room.floor_height, room.ceiling_height) == (0, "room", 0.0, 2.5)
    assert np.ptp(np.array(room.polygon), axis=0).tolist() == [4, 4]
    assert objects[16].room == 0 and objects[30].room == 1


def test_hm3d_without_labels_is_a_scene_without_semantics(tmp_path):
    write_hm3d(tmp_path, semantic=False)
    scene = _build("hm3d", tmp_path, HM3D_NAME)
    assert not scene.has_semantics and scene.rooms == ()


def test_hm3d_prefers_the_plain_mesh_and_finds_minival_scenes_in_val(tmp_path):
    folder = write_hm3d(tmp_path, basis=True)
    dataset = get_dataset("hm3d")
    assert dataset.locate(tmp_path, HM3D_NAME).paths["mesh"].name == f"{STEM}.basis.glb"
    (folder / f"{STEM}.glb").write_bytes(b"x")
    assert dataset.locate(tmp_path, HM3D_NAME).paths["mesh"].name == f"{STEM}.glb"
    assert dataset.locate(tmp_path, f"minival/00800-{STEM}").paths["mesh"].parent == folder
    assert dataset.list_scenes(tmp_path) == [HM3D_NAME]


@pytest.mark.parametrize("ending", [".glb", ".semantic.glb", ".semantic.txt"])
def test_hm3d_names_the_missing_file(tmp_path, ending):
    folder = write_hm3d(tmp_path)
    (folder / f"{STEM}{ending}").unlink()
    with pytest.raises(FileError) as error:
        get_dataset("hm3d").locate(tmp_path, HM3D_NAME)
    assert str(folder / f"{STEM}{ending}") in str(error.value) and OFFER_HM3D in str(error.value)


def test_hm3d_labels_by_colours_of_vertices(tmp_path):
    """As the first version of HM3D-Semantics has them."""
    folder = write_hm3d(tmp_path)
    colors = [FLOOR_COLOR, WALL_COLOR, BED_COLOR, CHAIR_COLOR]
    meshes = [
        GlbMesh(points, triangles, color=(c >> 16, c >> 8 & 255, c & 255))
        for (points, triangles), c in zip(room_meshes(3), colors, strict=True)
    ]
    (folder / f"{STEM}.semantic.glb").write_bytes(glb(meshes))
    scene = _build("hm3d", tmp_path, HM3D_NAME)
    assert set(_objects(scene)) == {1, 2, 16, 30}
    _assert_bed_is_labelled(scene, 16)


def test_hm3d_borders_painted_inside_a_triangle_are_followed(tmp_path, caplog):
    """A floor of two triangles, half of it painted as a rug: split once, and reported as ambiguous."""
    folder = write_hm3d(tmp_path)
    points, triangles = grid_quad((-2, -2, 0), (4, 0, 0), (0, 4, 0))
    uv = (points[:, :2] + 2) / 4
    uv[:, 1] = 1 - uv[:, 1]
    pixels = np.full((16, 16, 3), [0x10, 0xA0, 0x20], np.uint8)
    pixels[:, 11:] = [0xC0, 0x10, 0x10]
    (folder / f"{STEM}.glb").write_bytes(glb([GlbMesh(points, triangles)]))
    (folder / f"{STEM}.semantic.glb").write_bytes(glb([GlbMesh(points, triangles, uv, png(pixels))]))
    with caplog.at_level(logging.WARNING):
        scene = _build("hm3d", tmp_path, HM3D_NAME)
    assert len(scene.triangles) == 8
    assert _centers(scene, 16)[:, 0].min() > _centers(scene, 1)[:, 0].min()
    assert "ambiguous on" in caplog.text and f"{STEM}.semantic.glb" in caplog.text
    assert scene.ambiguous_share is not None and 0.02 < scene.ambiguous_share < 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ('Something else\n1,ABCDEF,"bed",0\n', ":1: expected 'HM3D Semantic Annotations'"),
        ("HM3D Semantic Annotations\n", "expected objects after the first line"),
        (HM3D_TABLE[:-8], ":5: expected id,RRGGBB"),
        (HM3D_TABLE[: HM3D_TABLE.index(",1\n")], ":5: expected id,RRGGBB"),
        (HM3D_TABLE + '16,123456,"chair",0\n', ":6: expected another object id than in line 4, got 16"),
        (HM3D_TABLE + '-17,123456,"chair",0\n', ":6: expected id,RRGGBB"),
        (HM3D_TABLE + '17,123456,"chair",one\n', ":6: expected id,RRGGBB"),
        (HM3D_TABLE + '²,123456,"chair",0\n', ":6: expected id,RRGGBB"),
        (HM3D_TABLE + f'17,123456,"{"x" * 200_000}",0\n', ":6: expected id,RRGGBB"),
    ],
)
def test_hm3d_tables_that_are_broken_name_the_line(tmp_path, text, message):
    path = tmp_path / "a.semantic.txt"
    path.write_text(text)
    with pytest.raises(FileError) as error:
        read_annotations(path)
    assert message in str(error.value) and str(path) in str(error.value)


def test_hm3d_categories_may_hold_commas(tmp_path):
    path = tmp_path / "a.semantic.txt"
    text = 'HM3D Semantic Annotations\r\n3,0000FF,"table, round",-1\r\n4,F0,"",2\r\n'
    path.write_bytes(text.encode("utf-8-sig"))  # as editors on Windows save it
    first, second = read_annotations(path)
    assert (first.object_id, first.color, first.category, first.region) == (3, 255, "table, round", None)
    assert (second.color, second.category, second.region) == (0xF0, "unlabeled", 2)


def test_hm3d_colours_that_are_wrong_cost_one_object_and_are_told(tmp_path, caplog):
    folder = write_hm3d(tmp_path)
    path = folder / f"{STEM}.semantic.txt"
    path.write_text(HM3D_TABLE + f'17,{BED_COLOR:06X},"sofa",0\n18,C9G373,"radiator",0\n')
    scene = _build("hm3d", tmp_path, HM3D_NAME)
    assert set(_objects(scene)) == {1, 2, 16, 30}
    assert f"{path}:6: the colour is that of line 4" in caplog.text
    assert f"{path}:7: expected a colour RRGGBB, got 'C9G373'; object 18 has no triangles" in caplog.text


def test_hm3d_labels_of_another_scene_are_refused(tmp_path):
    folder = write_hm3d(tmp_path)
    (folder / f"{STEM}.semantic.txt").write_text('HM3D Semantic Annotations\n1,010203,"bed",0\n')
    with pytest.raises(FileError, match="expected the colours listed in"):
        _build("hm3d", tmp_path, HM3D_NAME)
    moved = painted_meshes()
    for mesh in moved:
        mesh.points = mesh.points + [50, 0, 0]
    (folder / f"{STEM}.semantic.txt").write_text(HM3D_TABLE)
    (folder / f"{STEM}.semantic.glb").write_bytes(glb(moved))
    with pytest.raises(SceneError, match="does not fit .* 100% of the surface"):
        _build("hm3d", tmp_path, HM3D_NAME)


def test_hm3d_truncated_meshes_are_errors(tmp_path):
    folder = write_hm3d(tmp_path)
    for ending in (".semantic.glb", ".glb"):
        path = folder / f"{STEM}{ending}"
        path.write_bytes(path.read_bytes()[:-200])
        with pytest.raises(FileError, match="cut short") as error:
            _build("hm3d", tmp_path, HM3D_NAME)
        assert path.name in str(error.value)


def test_a_texture_that_cannot_be_decoded_is_an_error(tmp_path):
    folder = write_hm3d(tmp_path)
    points, triangles = grid_quad((-2, -2, 0), (4, 0, 0), (0, 4, 0))
    mesh = GlbMesh(points, triangles, points[:, :2], b"not an image", name="floor")
    (folder / f"{STEM}.glb").write_bytes(glb([mesh]))
    with pytest.raises(FileError, match=f"{STEM}.glb: cannot decode the images of floor"):
        _build("hm3d", tmp_path, HM3D_NAME)


def test_categories_of_hm3d():
    assert len(MPCAT40) == 42 and MPCAT40[22] == "tv_monitor"
    for raw, name, goal in (
        ("armchair", "chair", "chair"),
        ("couch", "sofa", "sofa"),
        ("flower", "plant", "plant"),
        ("toilet seat", "toilet", "toilet"),
        ("TV", "tv_monitor", "tv_monitor"),
        ("Chest of Drawers", "chest_of_drawers", None),
        ("headboard", "bed", None),
        ("stool", "stool", None),
        ("gym_equipment", "gym_equipment", None),
        ("something nobody listed", "objects", None),
        ("", "unlabeled", None),
    ):
        assert (mpcat40_of(raw), hm3d_goal_of(raw)) == (name, goal), raw


@pytest.mark.real_data
def test_names_of_published_goals_match(real_data):
    """Every goal instance of the published minival episodes has the category that we would give it."""
    import gzip

    path = real_data / "hm3d" / "objectnav_v2_minival" / f"{STEM}.json.gz"
    content = json.loads(gzip.decompress(path.read_bytes()))
    checked = 0
    for goals in content["goals_by_category"].values():
        for goal in goals:
            raw = goal["object_name"].rpartition("_")[0]
            assert hm3d_goal_of(raw) == goal["object_category"], goal["object_name"]
            checked += 1
    assert checked > 20


# MP3D


def test_mp3d_scene(tmp_path):
    write_mp3d(tmp_path)
    scene = _build("mp3d", tmp_path, MP3D_NAME)
    objects = _objects(scene)
    assert {key: obj.category for key, obj in objects.items()} == {1: "wall", 2: "bed", 4: "floor"}
    assert objects[4].attributes["name"] == "0_0_0", "0 is no object, 3 has no category"
    assert _centers(scene, 4)[:, 1] == pytest.approx(0)
    assert dict(objects[2].attributes) == {
        "name": "0_0_2",
        "raw_category": "king size bed",
        "mpcat40": "bed",
    }
    _assert_box(objects[2], (-0.8, 0.25, 1.05), (1.0, 0.25, 0.75))
    _assert_bed_is_labelled(scene, 2)
    chair = (scene.vertices[scene.triangles].min(1) >= [0.99, 0.05, -1.51]).all(1)
    chair &= (scene.vertices[scene.triangles].max(1) <= [1.51, 0.91, -0.99]).all(1)
    assert chair.any() and not scene.triangle_object[chair].any()  # its object has no category
    (room,) = scene.rooms
    assert (room.room_id, room.category, room.level) == (0, "bedroom", 0)
    assert sorted(room.polygon) == [(-2, -2), (-2, 2), (2, -2), (2, 2)]
    assert (room.floor_height, room.ceiling_height) == (0, 2.5) and objects[2].room == 0


def test_mp3d_without_labels_and_with_half_of_them(tmp_path):
    folder = write_mp3d(tmp_path)
    (folder / f"{MP3D_NAME}.house").unlink()
    with pytest.raises(FileError) as error:
        get_dataset("mp3d").locate(tmp_path, MP3D_NAME)
    assert f"{folder / MP3D_NAME}.house" in str(error.value) and "niessner.github.io" in str(error.value)
    (folder / f"{MP3D_NAME}_semantic.ply").unlink()
    assert not _build("mp3d", tmp_path, MP3D_NAME).has_semantics


def test_mp3d_oriented_boxes_that_are_turned_stay_turned(tmp_path):
    quarter = np.sqrt(0.5)
    turned = (
        f"O 2 0 1  -0.8 -1.05 0.25  {quarter} {quarter} 0  {-quarter} {quarter} 0  1 0.75 0.25 " + "0 " * 8
    )
    lines = [turned if line.startswith("O 2 ") else line for line in MP3D_HOUSE.splitlines()]
    write_mp3d(tmp_path, house="\n".join(lines))
    scene = _build("mp3d", tmp_path, MP3D_NAME)
    bed = _objects(scene)[2]
    assert abs(bed.yaw) == pytest.approx(np.pi / 4, abs=1e-6)
    assert sorted(bed.half_size) == pytest.approx([0.25, 0.75, 1.0])


def _without(prefix):
    return "\n".join(line for line in MP3D_HOUSE.splitlines() if not line.startswith(prefix))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("ASCII 9\n", ":1: expected 'ASCII 1.1'"),
        ("ASCII 1.1\n", "begins with H"),
        (_without("E 3"), "expected 4 segments, as its H line says, got 3"),
        (_without("L"), "expected the index of a level of the file, got 0"),
        (_without("C 1"), "expected 3 categories, as its H line says, got 2"),
        (MP3D_HOUSE.replace("R 0 0", "R zero 0"), ":4: expected a whole number in field 2, got zero"),
        (MP3D_HOUSE.replace("-0.8 -1.05 0.25", "-0.8 nan 0.25"), "expected three finite numbers in field 5"),
        (MP3D_HOUSE.replace("O 3 0", "O 2 0"), ":16: expected each id once, got 2 again"),
        (MP3D_HOUSE.replace("C 1 20", "C 0 20"), ":11: expected each id once, got 0 again"),
        (MP3D_HOUSE[: MP3D_HOUSE.index("O 2 0 1") + 20], "as its H line says, got"),
        (MP3D_HOUSE[: MP3D_HOUSE.index("E 3 3 ") + 4], ":20: expected a whole number in field 3"),
        (
            MP3D_HOUSE.replace("E 3 3 1003", "E 3 9 1003"),
            "the index of an object of the file, got 9",
        ),
        (f"{MP3D_HOUSE.rstrip()}\nV 4 0 V", "expected three numbers in field 4, got V: 'V 4 0 V'"),
    ],
)
def test_mp3d_houses_that_are_broken_name_the_line(tmp_path, text, message):
    path = tmp_path / "a.house"
    path.write_text(text)
    with pytest.raises(FileError) as error:
        read_house(path)
    assert message in str(error.value) and str(path) in str(error.value)


def test_mp3d_houses_may_come_in_any_order_and_without_labels_of_vertices(tmp_path):
    lines = MP3D_HOUSE.replace(" 0 v  ", " 0  ").splitlines()
    path = tmp_path / "a.house"
    path.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    house = read_house(path)
    assert sorted(house.objects) == [0, 1, 2, 3] and house.segments[1002] == 2
    assert [point.tolist() for point in house.outlines[0]][-1] == [-2, -2, 0]


def test_mp3d_meshes_that_disagree_with_the_house(tmp_path):
    folder = write_mp3d(tmp_path)
    path = folder / f"{MP3D_NAME}_semantic.ply"
    good = path.read_bytes()
    values = [(1000, 0, 10), (1001, 1, 30), (7777, 2, 20), (-1, 3, -1)]
    path.write_bytes(ply(room_meshes(3), ("material_id", "segment_id", "category_id"), values))
    with pytest.raises(FileError, match="segment 7777, of which .*house says nothing"):
        _build("mp3d", tmp_path, MP3D_NAME)
    path.write_bytes(ply(room_meshes(3), ("object_id",), [(1,)] * 4))
    with pytest.raises(FileError, match="expected faces with the property 'material_id'"):
        _build("mp3d", tmp_path, MP3D_NAME)
    path.write_bytes(good[:-37])
    with pytest.raises(FileError, match=f"cannot import .*{MP3D_NAME}_semantic.ply"):
        _build("mp3d", tmp_path, MP3D_NAME)


def test_mp3d_faces_without_a_segment_belong_to_nothing(tmp_path):
    folder = write_mp3d(tmp_path)
    values = [(1000, 0, 10), (1001, 1, 30), (-1, 2, 20), (1003, 3, -1)]
    (folder / f"{MP3D_NAME}_semantic.ply").write_bytes(
        ply(room_meshes(3), ("material_id", "segment_id", "category_id"), values)
    )
    scene = _build("mp3d", tmp_path, MP3D_NAME)
    assert not (scene.triangle_object == 2).any()
    _assert_box(_objects(scene)[2], (-0.8, 0.25, 1.05), (1.0, 0.25, 0.75))  # known from the house alone


def test_mp3d_segments_without_an_object_belong_to_nothing(tmp_path):
    write_mp3d(tmp_path, house=MP3D_HOUSE.replace("E 2 2 1002", "E 2 -1 1002"))
    scene = _build("mp3d", tmp_path, MP3D_NAME)
    assert set(np.unique(scene.triangle_object)) == {0, 1, 4}


# Gibson


def test_gibson_scene(tmp_path):
    write_gibson(tmp_path)
    scene = _build("gibson", tmp_path, "Adrian")
    objects = _objects(scene)
    assert {key: obj.category for key, obj in objects.items()} == {3: "bed", 7: "chair"}
    _assert_box(objects[3], (-0.8, 0.25, 1.05), (1.0, 0.25, 0.75))
    _assert_bed_is_labelled(scene, 3)
    (room,) = scene.rooms
    assert (room.room_id, room.category, room.floor_height) == (1, "living room", 0.0)
    assert (objects[3].room, objects[7].room) == (1, None)


def test_gibson_without_objects_and_with_boxes_alone(tmp_path, caplog):
    write_gibson(tmp_path, table=False, labels=False)
    assert not _build("gibson", tmp_path, "Adrian").has_semantics
    write_gibson(tmp_path, "Boxes", labels=False)
    scene = _build("gibson", tmp_path, "Boxes")
    _assert_bed_is_labelled(scene, 3)
    assert "cut out of the scan by their boxes" in caplog.text
    write_gibson(tmp_path, "Half", table=False)
    with pytest.raises(FileError, match=r"Half\.scn"):
        get_dataset("gibson").locate(tmp_path, "Half")
    assert get_dataset("gibson").list_scenes(tmp_path) == ["Adrian", "Boxes", "Half"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "expected a list 'objects'"),
        ({"objects": [{"id": "3", "class_": "bed"}]}, r"objects\[0\]: expected a whole number"),
        ({"objects": [{"id": 3, "class_": "bed"}, {"id": 3, "class_": "sofa"}]}, r"objects\[1\].* 3 again"),
        ({"objects": [{"id": 3, "class_": "bed", "location": [1, 2], "size": [1, 1, 1]}]}, r"\.location"),
        ({**GIBSON_TABLE, "rooms": [{"id": -1}]}, r"rooms\[0\]: expected a whole number"),
        ({"objects": [{"id": 99, "class_": "bed"}]}, "expected the object ids listed in"),
    ],
)
def test_gibson_tables_that_are_broken(tmp_path, table, message):
    write_gibson(tmp_path)
    (tmp_path / "Adrian.scn").write_text(json.dumps(table))
    with pytest.raises(NavarenaError, match=message):
        _build("gibson", tmp_path, "Adrian")
    (tmp_path / "Adrian.scn").write_text(json.dumps(GIBSON_TABLE)[:-3])
    with pytest.raises(FileError, match="no JSON file"):
        _build("gibson", tmp_path, "Adrian")


# Replica


@pytest.mark.parametrize("own_ids", [False, True])
def test_replica_scene(tmp_path, own_ids):
    write_replica(tmp_path, own_ids=own_ids)
    scene = _build("replica", tmp_path, "room_0")
    np.testing.assert_allclose(scene.bounds, [[-2, 0, -2], [2, 2.5, 2]])
    assert scene.vertex_color is not None and (scene.vertex_color == 90).all()
    objects = _objects(scene)
    assert {key: obj.category for key, obj in objects.items()} == {1: "floor", 5: "bed", 9: "chair"}
    _assert_box(objects[5], (-0.8, 0.25, 1.05), (1.0, 0.25, 0.75))  # a turned box of the file
    _assert_bed_is_labelled(scene, 5)
    walls = scene.vertices[scene.triangles].min(1)[:, 1] > 1
    assert not scene.triangle_object[walls].any()


def test_replica_names_the_missing_file(tmp_path):
    folder = write_replica(tmp_path)
    for name in ("habitat/mesh_semantic.ply", "habitat/info_semantic.json", "mesh.ply"):
        (folder / name).unlink()
        with pytest.raises(FileError) as error:
            get_dataset("replica").locate(tmp_path, "room_0")
        assert str(folder / name) in str(error.value) and "Replica-Dataset" in str(error.value)


def _table(**changes):
    return {**replica_table(), **changes}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"classes": []}, "expected a list 'objects'"),
        (_table(classes=[{"id": 3}]), r"classes\[0\]: expected 'id' and 'name'"),
        (_table(objects=[{"id": 5, "class_id": 777}]), r"objects\[0\] \(id 5\).* class_id 777"),
        (
            _table(objects=[{"id": 5, "class_id": 7}, {"id": 5, "class_id": 7}]),
            r"objects\[1\]: expected each id once",
        ),
        (_table(objects=[{"id": 5, "class_id": 7, "oriented_bbox": {"abb": {}}}]), "oriented_bbox"),
        (_table(objects=[{"id": 77, "class_id": 7}]), "expected the object ids listed in"),
    ],
)
def test_replica_tables_that_are_broken(tmp_path, table, message):
    folder = write_replica(tmp_path)
    (folder / "habitat" / "info_semantic.json").write_text(json.dumps(table))
    with pytest.raises(NavarenaError, match=message):
        _build("replica", tmp_path, "room_0")
