"""`navarena episodes info`, `stats` and `audit` on files of the community, and an evaluation on one."""

import json
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from navarena.cli.main import main
from navarena.core.errors import FileError, InputError
from navarena.episodes.catalog import get_recipe, load_episodes, make_episodes
from navarena.episodes.exchange import make_document, write_document
from navarena.episodes.exchange.json_files import read_json_bytes
from navarena.episodes.scene_places import place_scenes
from navarena.episodes.view_points import find_view_points
from navarena.simulation.world import open_world

from .exchange.samples import HM3D, MULTION, ROBOTHOR_TEST, store


@pytest.fixture(scope="module")
def dungeon(dungeon_folder):
    return dungeon_folder / "dungeon.obj"


@pytest.fixture(scope="module")
def pointnav_file(dungeon, tmp_path_factory):
    """Eight episodes in the dungeon in the layout of Habitat, whose scene has the path of a data set."""
    made = make_episodes("pointnav-v1", [str(dungeon)], 8).episodes
    named = [replace(one, scene_id="meshes/dungeon.obj") for one in made]
    path = tmp_path_factory.mktemp("habitat") / "val.json.gz"
    write_document(make_document("habitat-pointnav", named), path)
    return path


def printed(capsys, *arguments, code=0):
    assert main([*map(str, arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_info_and_stats(tmp_path, capsys):
    file = store(tmp_path / "val.json.gz", {**HM3D, "license": "MIT"})
    output = printed(capsys, "episodes", "info", file)
    assert (output["format"], output["episodes"], output["objects"]) == (
        "habitat-objectnav-hm3d",
        2,
        {"bed": 2},
    )
    assert list(output["unknown_fields"]) == ["(top level) license"]
    numbers = printed(capsys, "episodes", "stats", file)
    assert numbers["categories"] == {"bed": 2} and numbers["path_length"] == pytest.approx(2 * 5.40846)
    assert main(["episodes", "info", str(file)]) == 0
    assert main(["episodes", "stats", str(file), "--plot", str(tmp_path / "plot.svg")]) == 0
    out = capsys.readouterr().out
    assert "ObjectNav of Habitat on HM3D" in out and "####" in out and "license" in out
    drawn = ElementTree.fromstring((tmp_path / "plot.svg").read_text())
    assert drawn.findtext("{*}title") == file.name, "no folder of this machine"
    assert drawn.tag.endswith("svg") and len(drawn.findall(".//{*}rect[@class='bar']")) >= 3


def test_files_that_hide_their_distances(tmp_path, capsys):
    file = store(tmp_path / "test.json", ROBOTHOR_TEST)
    output = printed(capsys, "episodes", "info", file)
    assert output["hidden"] == 1 and output["geodesic"] is None
    assert main(["episodes", "stats", str(file)]) == 0


def test_what_is_mended_is_one_note(tmp_path, capsys):
    file = store(tmp_path / "val.json", {**MULTION, "episodes": MULTION["episodes"] * 3})
    assert main(["episodes", "info", str(file)]) == 0
    captured = capsys.readouterr()
    assert captured.err.count("note: ") == 1 and "normalised" in captured.err
    assert "goals in an episode" in captured.out


def test_splits_have_statistics(capsys, tmp_path):
    assert printed(capsys, "episodes", "stats", "houses-v1/mini")["scenes"] == 10
    assert main(["episodes", "stats", "mini", "--plot", str(tmp_path / "a.png")]) == 2
    assert "end in .svg" in capsys.readouterr().err


def test_an_audit_passes_and_fails(pointnav_file, dungeon, tmp_path, capsys):
    output = printed(capsys, "episodes", "audit", pointnav_file, "--scenes", dungeon)
    assert output["expert"] and output["episodes"] == 8 and not output["findings"]
    assert output["protocol"] == "pointnav-v1" and output["body"] == "locobot"
    bad = [
        replace(one, geodesic_distance=99.0)
        for one in load_episodes("pointnav-v1", "", pointnav_file).episodes[:2]
    ]
    path = tmp_path / "bad.json"
    write_document(make_document("habitat-pointnav", bad), path)
    arguments = ("episodes", "audit", path, "--scenes", dungeon, "--body", "locobot")
    output = printed(capsys, *arguments, code=1)
    assert output["checks"]["distance"] == 2 and len(output["bad_episodes"]) == 2 and not output["expert"]
    assert main([*map(str, arguments)]) == 1
    out = capsys.readouterr().out
    assert "2 of 2 episodes are bad" in out and "99.000" in out


def test_objects_of_our_own_lists_are_counted_in_their_scenes(tmp_path, capsys):
    """All chairs of the house count, not only those that an episode starts near."""
    file, scene = tmp_path / "made.json", "houses-v1/val/00000"
    asked = ("objectnav-hm3d2022-v1", "--scene", scene, "--per-scene", "1")
    assert main(["episodes", "make", *asked, "--out", str(file)]) == 0
    capsys.readouterr()
    output = printed(capsys, "episodes", "stats", file)
    recipe = get_recipe("objectnav-hm3d2022-v1")
    views = find_view_points(open_world(scene, recipe.embodiment), recipe.view_points)
    assert output["instances_by_category"] == dict(sorted(Counter(views.categories).items()))
    assert (
        output["instances_by_scene"] == {scene: len(views.objects)}
        and sum(output["categories"].values()) == 1
    )


def test_the_embedded_episodes_pass_the_audit(capsys):
    output = printed(capsys, "episodes", "audit", "houses-v1/mini")
    assert output["expert"] and output["episodes"] == 40 and not output["findings"]


def test_an_evaluation_runs_on_a_file_of_habitat(pointnav_file, dungeon, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "dungeon.obj").symlink_to(dungeon)
    output = printed(
        capsys, "evaluate", "pointnav-v1", "--dataset", pointnav_file, "--agent", "expert", "--out", "run"
    )
    assert output["identity"].startswith("pointnav-v1@habitat-pointnav/val#")
    assert output["metrics"]["success"]["mean"] == 1 and output["episodes"] == 8


def test_an_evaluation_runs_on_a_folder_of_files(pointnav_file, dungeon, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "dungeon.obj").symlink_to(dungeon)
    folder = tmp_path / "all" / "content"
    folder.mkdir(parents=True)
    (folder / "dungeon.json.gz").write_bytes(pointnav_file.read_bytes())
    arguments = ("--dataset", "all/content", "--agent", "forward", "--episodes", 2, "--out", "run")
    output = printed(capsys, "evaluate", "pointnav-v1", *arguments)
    assert output["identity"].startswith("pointnav-v1@habitat-pointnav/custom-all-first-2#")


def test_an_evaluation_names_what_does_not_fit(tmp_path, pointnav_file, capsys):
    file = store(tmp_path / "val.json", HM3D)
    with pytest.raises(InputError, match="expected episodes of 'pointnav-v1', got those of ObjectNav"):
        load_episodes("pointnav-v1", "val", file)
    assert (
        main(["evaluate", "pointnav-v1", "--dataset", str(pointnav_file), "--out", str(tmp_path / "o")]) == 2
    )
    assert "meshes/dungeon.obj" in capsys.readouterr().err


def test_made_episodes_in_a_layout_of_the_community(dungeon, tmp_path, capsys):
    file = tmp_path / "val.json"
    made = ("episodes", "make", "pointnav-v1", "--scene", dungeon, "--per-scene", 3, "--out", file)
    assert main([*map(str, made), "--layout", "habitat-pointnav"]) == 0
    capsys.readouterr()
    output = printed(capsys, "episodes", "audit", file)
    assert output["episodes"] == 3 and not output["findings"]


@pytest.mark.parametrize(
    ("protocol", "layout", "number"),
    [
        ("objectnav-habitat2020-v1", "habitat-objectnav-hm3d", {"chair": 0, "bed": 6}),
        ("multion-2on-v1", "multion", {"cylinder_red": 0, "cylinder_cyan": 7}),
    ],
)
def test_objects_are_written_with_their_numbers_and_pass_the_audit(
    protocol, layout, number, tmp_path, capsys
):
    file = tmp_path / "val.json"
    made = ("make", protocol, "--scene", "houses-v1/val/00000", "--per-scene", "2", "--layout", layout)
    assert main(["episodes", *made, "--out", str(file)]) == 0
    capsys.readouterr()
    content = json.loads(file.read_text())
    assert number.items() <= content["category_to_task_category_id"].items()
    for goals in content.get("goals_by_category", {}).values():
        assert goals and all(goal["view_points"] for goal in goals)
    output = printed(capsys, "episodes", "audit", file)
    assert output["episodes"] == 2 and output["expert"] and not output["findings"]


def test_one_object_of_robothor_is_written_with_the_way_to_it(tmp_path, capsys):
    file = tmp_path / "val.json"
    scene = "robothor-like-v1/val/00001"
    made = ("make", "objectnav-robothor2020-v1", "--scene", scene, "--per-scene", "2")
    assert main(["episodes", *made, "--layout", "robothor-2020", "--out", str(file)]) == 0
    capsys.readouterr()
    for row in json.loads(file.read_text()):
        path = np.array([[spot[axis] for axis in "xyz"] for spot in row["shortest_path"]])
        length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
        assert length == pytest.approx(row["shortest_path_length"], abs=0.02)
        assert row["target_position"] and row["scene"] == scene
    output = printed(capsys, "episodes", "audit", file, "--protocol", "objectnav-robothor2020-v1")
    assert output["episodes"] == 2 and output["expert"] and not output["findings"]


def test_repeated_ids_are_refused(pointnav_file, tmp_path):
    episode = load_episodes("pointnav-v1", "", pointnav_file).episodes[0]
    path = tmp_path / "twice.json"
    write_document(make_document("habitat-pointnav", [episode, episode]), path)
    with pytest.raises(InputError, match="expected unique episode ids"):
        load_episodes("pointnav-v1", "", path)


def test_scenes_are_found_or_their_path_is_told(tmp_path):
    (tmp_path / "deep").mkdir()
    scene = tmp_path / "deep" / "a.glb"
    scene.write_bytes(b"x")
    found = place_scenes(["data/scene_datasets/mp3d/deep/a.glb", "deep/a.glb"], str(tmp_path))
    assert set(found.values()) == {str(scene)}
    with pytest.raises(FileError) as caught:
        place_scenes(["data/scene_datasets/mp3d/b/b.glb"], str(tmp_path))
    told = f"expected a mesh called b (.glb, .gltf, .ply, .obj) in {tmp_path} for scene 'data/scene_datasets/"
    assert told in str(caught.value)
    assert place_scenes(["a", "b"], None) == {"a": "a", "b": "b"}
    assert place_scenes(["a"], str(scene)) == {"a": str(scene)}
    assert place_scenes(["a"], f"{tmp_path}?up=z&scale=0.01") == {"a": f"{scene}?up=z&scale=0.01"}
    assert place_scenes(["a"], f"{scene}?up=z") == {"a": f"{scene}?up=z"}
    with pytest.raises(InputError, match="option of a mesh file"):
        place_scenes(["a"], f"{tmp_path}?axis=z")
    with pytest.raises(InputError, match="expected episodes of one scene for .*got 2 scenes"):
        place_scenes(["a", "b"], str(scene))
    for missing in ("nowhere", "./no/where", str(tmp_path / "c")):
        with pytest.raises(
            FileError, match=f"folder, a mesh file or a scene id, got '{missing}' .* not there"
        ):
            place_scenes(["a"], missing)


def test_the_audit_finds_a_scene_where_evaluations_do(pointnav_file, dungeon, tmp_path, capsys):
    """HM3D's files say .basis.glb, whichever of its two archives somebody has."""
    text, official = read_json_bytes(pointnav_file), b"hm3d/val/00800-TEEsavR23oF/TEEsavR23oF.basis.glb"
    path = tmp_path / "val.json"
    path.write_bytes(text.replace(b"meshes/dungeon.obj", official))
    (tmp_path / "scans" / "deep").mkdir(parents=True)
    (tmp_path / "scans" / "deep" / "TEEsavR23oF.obj").symlink_to(dungeon)
    output = printed(capsys, "episodes", "audit", path, "--scenes", tmp_path / "scans", "--no-expert")
    assert output["episodes"] == 8 and not output["findings"]


def test_scenes_without_a_suffix_are_found_as_meshes(tmp_path):
    """Files of RoboTHOR name scenes alone; so does the mesh of one who has it."""
    (tmp_path / "FloorPlan_Val1_1.ply").write_bytes(b"x")
    found = place_scenes(["FloorPlan_Val1_1"], str(tmp_path))
    assert found == {"FloorPlan_Val1_1": str(tmp_path / "FloorPlan_Val1_1.ply")}
    with pytest.raises(FileError) as caught:
        place_scenes(["FloorPlan_Val1_2"], str(tmp_path))
    assert f"expected a mesh called FloorPlan_Val1_2 (.glb, .gltf, .ply, .obj) in {tmp_path}" in str(
        caught.value
    )
