"""A room of named boxes, as modellers publish them: inside out, upside down, with names of their own."""

import json
from pathlib import Path

import numpy as np
import pytest

from navarena.cli.main import main
from navarena.core.errors import FileError, SceneError, UnknownNameError
from navarena.scenes.catalog import load_scene, scene_hash
from navarena.scenes.formats import import_mesh
from navarena.scenes.houses.vocabulary import propose_category
from navarena.scenes.mesh_reference import join_reference, split_reference
from navarena.scenes.pieces import number_pieces
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.rendering import build_render_mesh
from navarena.simulation.world import open_world

FACES = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))
"""Sides of a box whose corner k has the bits x, y, z; fronts outwards (-z, +z, -y, +y, -x, +x)."""

FURNITURE = {
    "chair_fmx_4": ((0.5, 0.0, 0.5), (0.9, 0.8, 0.9)),
    "chair_fmx_5": ((0.5, 0.0, 2.5), (0.9, 0.8, 2.9)),
    "Table_3": ((3.0, 0.0, 3.0), (3.8, 0.7, 3.6)),
    "CoffeeTable.001": ((3.0, 0.0, 0.5), (3.6, 0.4, 1.0)),
    "Mesh_12": ((2.0, 0.0, 4.0), (2.3, 0.6, 4.3)),
}


def write_room(path: Path, furniture=FURNITURE, inside_out=False, names=True, ceiling=True) -> Path:
    """A room of 5 m x 5 m x 2.5 m seen from inside, with boxes on its floor."""
    lines, count = [], 0
    for name, (low, high) in {"room": ((0, 0, 0), (5, 2.5, 5)), **furniture}.items():
        lines += [f"o {name}"] * names
        lines += [
            f"v {(low, high)[k & 1][0]} {(low, high)[k >> 1 & 1][1]} {(low, high)[k >> 2][2]}"
            for k in range(8)
        ]
        for face in FACES if ceiling or name != "room" else FACES[:3] + FACES[4:]:
            outwards = (name != "room") != inside_out
            corners = sorted_fronts(face)[:: 1 if outwards else -1]
            lines.append("f " + " ".join(str(count + corner + 1) for corner in corners))
        count += 8
    path.write_text("\n".join(lines) + "\n")
    return path


def sorted_fronts(face: tuple[int, ...]) -> tuple[int, ...]:
    """The corners of a box's side, counter-clockwise seen from outside."""
    corners = np.array([[k & 1, k >> 1 & 1, k >> 2] for k in face], float) - 0.5
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
    return face if normal @ corners.mean(0) > 0 else face[::-1]


@pytest.fixture(autouse=True)
def packs(tmp_path, monkeypatch):
    from navarena.scenes import cache_store

    monkeypatch.setattr(cache_store, "cache_folder", lambda: tmp_path / "cache")


def test_references_name_every_option():
    text = "a.obj?up=z&scale=0.5&sides=both&categories=map.json"
    assert join_reference(*split_reference(text)) == text
    assert split_reference(text)[3:] == ("both", "map.json") and split_reference("a.obj")[3:] == ("front", "")
    with pytest.raises(UnknownNameError, match="Did you mean 'both'"):
        split_reference("a.obj?sides=bth")


def test_a_room_inside_out_is_turned_round(tmp_path):
    good, bad = write_room(tmp_path / "good.obj"), write_room(tmp_path / "bad.obj", inside_out=True)
    area = open_world(str(good), LOCOBOT).navmesh.navigable_area
    bare = write_room(tmp_path / "bare.obj", {}, inside_out=True, ceiling=False)
    with pytest.raises(SceneError, match=r"floors face downwards .* try --flip .* or --double-sided"):
        open_world(str(bare), LOCOBOT)
    flipped = open_world(f"{bad}?sides=back", LOCOBOT)
    assert flipped.navmesh.navigable_area == pytest.approx(area) and area > 10
    both = open_world(f"{bad}?sides=both", LOCOBOT)
    assert len(both.scene.triangles) == 2 * len(flipped.scene.triangles)
    assert both.navmesh.is_navigable(np.array([[2.5, 0.0, 2.0]]))[0]
    assert len({scene_hash(f"{bad}{end}") for end in ("", "?sides=back", "?sides=both")}) == 3


def test_double_sides_carry_their_objects(tmp_path):
    room = write_room(tmp_path / "room.obj")
    one, two = import_mesh(room), import_mesh(room, sides="both")
    for thing in one.objects:
        assert (two.triangle_object == thing.object_id).sum() == 2 * (
            one.triangle_object == thing.object_id
        ).sum()
    corners = one.vertices[one.triangles]
    normals = {tuple(np.cross(t[1] - t[0], t[2] - t[0])) for t in corners}
    turned = {tuple(np.cross(t[1] - t[0], t[2] - t[0])) for t in two.vertices[two.triangles]}
    assert turned == normals | {tuple(-np.array(n)) for n in normals}


def test_people_do_not_walk_on_the_ceiling(tmp_path):
    room = str(write_room(tmp_path / "room.obj"))
    open_world(room, LOCOBOT)
    with pytest.raises(
        SceneError, match=r"got 5 that hang .* and 0 that stand: .* try --up=y, or keep --up=-y"
    ):
        open_world(room, LOCOBOT, up_axis="-y")
    assert open_world(room, LOCOBOT, up_axis="-y", force_up=True).navmesh.navigable_area > 10
    lamps = {f"lamp_{k}": ((k, 2.2, 4.0), (k + 0.2, 2.5, 4.2)) for k in range(4)}
    lit = write_room(tmp_path / "lit.obj", {**FURNITURE, **lamps})
    assert open_world(str(lit), LOCOBOT).navmesh.navigable_area > 10


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("chair_fmx_4", "chair"),
        ("Table_3", "table"),
        ("CoffeeTable.001", "coffee_table"),
        ("wooden table_lamp2", "table_lamp"),
        ("KitchenCabinets", "kitchen_cabinet"),
        ("TVStand", "tv_stand"),
        ("couch-2", "sofa"),
        ("GarbageCan", "trash_can"),
        ("Mesh_12", None),
        ("", None),
    ],
)
def test_names_speak_of_categories(name, category):
    assert propose_category(name) == category


def test_categories_are_proposed_written_and_used(tmp_path, capsys):
    room, table = str(write_room(tmp_path / "room.obj")), tmp_path / "map.json"
    assert main(["scene", "import", room]) == 0
    shown = capsys.readouterr().out
    assert "coffee_table" in shown and "--propose" in shown and "no proposal for Mesh_12, room" in shown
    assert main(["scene", "import", room, "--propose", str(table), "--json"]) == 0
    proposed = json.loads(capsys.readouterr().out)["proposed_categories"]
    assert proposed == json.loads(table.read_text()) == {
        "CoffeeTable.001": "coffee_table", "Table_3": "table", "chair_fmx_4": "chair", "chair_fmx_5": "chair",
    }  # fmt: skip
    table.write_text(json.dumps({"Mesh_*": "box", **proposed}))
    assert main(["scene", "import", room, "--categories", str(table), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["categories"] == {"chair": 2, "box": 1, "coffee_table": 1, "room": 1, "table": 1}
    assert made["scene_id"] == f"{room}?categories={table}" and made["proposed_categories"] == {}
    scene = load_scene(made["scene_id"])
    assert {one.attributes["name"] for one in scene.objects if one.category == "chair"} == {
        "chair_fmx_4", "chair_fmx_5",
    }  # fmt: skip
    before = scene_hash(made["scene_id"])
    table.write_text(json.dumps({**proposed, "Table_3": "desk"}))
    assert scene_hash(made["scene_id"]) != before, "another map, another scene"


def test_bad_maps_of_categories(tmp_path):
    room, table = write_room(tmp_path / "room.obj"), tmp_path / "map.json"
    for text in ("{", "[]", '{"chair_fmx_4": 3}', '{"chair_fmx_4": ""}'):
        table.write_text(text)
        with pytest.raises(FileError, match=r"map\.json"):
            import_mesh(room, categories=str(table))
    table.write_text('{"stool_*": "stool"}')
    with pytest.raises(SceneError, match=r"got stool_\*; the mesh has CoffeeTable.001"):
        import_mesh(room, categories=str(table))
    with pytest.raises(FileError, match="no.json"):
        load_scene(f"{room}?categories={tmp_path / 'no.json'}")


def test_options_of_meshes_are_for_meshes(capsys, tmp_path):
    room = str(write_room(tmp_path / "room.obj"))
    assert main(["scene", "info", "houses-v1/val/00000", "--flip"]) == 2
    assert "expected a mesh file" in capsys.readouterr().err
    assert main(["scene", "info", room, "--flip", "--double-sided"]) == 2
    assert "got both" in capsys.readouterr().err


def test_instances_of_a_mesh_without_names_are_its_pieces(tmp_path):
    named, bare = write_room(tmp_path / "a.obj"), write_room(tmp_path / "b.obj", names=False)
    scene = import_mesh(bare)
    assert not scene.has_semantics and scene.triangle_object.max() == 0
    pieces = number_pieces(scene.vertices, scene.triangles)
    assert pieces.tolist() == import_mesh(named).triangle_object.tolist()
    assert sorted(set(build_render_mesh(scene).surface[:, 1].tolist())) == [1, 2, 3, 4, 5, 6]
    soup = scene.vertices[scene.triangles].reshape(-1, 3)  # corners that no two triangles share
    alone = np.arange(len(soup), dtype=np.int32).reshape(-1, 3)
    assert number_pieces(soup, alone).tolist() == pieces.tolist()
