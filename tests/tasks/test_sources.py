"""Episodes in the meshes of a folder."""

import inspect
from dataclasses import replace

import pytest

from navarena.core.errors import FileError
from navarena.episodes.episode import Episode, PointGoal
from navarena.episodes.scene_places import move_episodes


def _moved(folder, *scene_ids):
    """Where below `folder` the scenes are found."""
    episodes = [
        Episode(str(number), scene_id, (0.0, 0.0, 0.0), 0.0, PointGoal((1.0, 0.0, 0.0)), 1.0)
        for number, scene_id in enumerate(scene_ids)
    ]
    return [one.scene_id.removeprefix(f"{folder}/") for one in move_episodes(episodes, folder)]


@pytest.fixture
def meshes(tmp_path):
    """Makes empty files."""

    def make(*names):
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()
        return tmp_path

    return make


def test_meshes_of_one_name_are_told_apart_by_their_folders(meshes):
    folder = meshes("replica/room_0/mesh.ply", "replica/room_1/mesh.ply", "other/room_1/mesh.ply")
    scenes = "data/replica/room_1/mesh.ply", "replica/room_0/mesh.ply", "other/room_1/mesh.ply"
    expected = ["replica/room_1/mesh.ply", "replica/room_0/mesh.ply", "other/room_1/mesh.ply"]
    assert _moved(folder, *scenes) == expected
    with pytest.raises(FileError, match=r"one mesh called mesh .*'room_2/mesh.ply', got .*room_0.*room_1"):
        _moved(folder, "room_2/mesh.ply")
    with pytest.raises(FileError, match=r"got \S+other/room_1/mesh.ply, \S+replica/room_1/mesh.ply; name"):
        _moved(folder, "room_1/mesh.ply")


def test_files_with_and_without_basis_are_one_scene(meshes):
    official = "hm3d_v0.2/val/00800-TEEsavR23oF/TEEsavR23oF.basis.glb"
    plain, basis = (f"val/00800-TEEsavR23oF/TEEsavR23oF{end}" for end in (".glb", ".basis.glb"))
    folder = meshes(basis, "val/00800-TEEsavR23oF/TEEsavR23oF.semantic.glb")
    assert _moved(folder, official, official.replace(".basis", "")) == [basis, basis]
    assert _moved(meshes(plain), official) == [plain]


def test_scene_instances_are_not_taken_for_their_empty_stages(meshes):
    """HSSD names the stage, a house without objects, as it does the scene."""
    stage, scene = "hssd-hab/stages/102344280.glb", "hssd-hab/scenes/102344280.scene_instance.json"
    folder = meshes(stage, scene, "hssd-hab/stages/102344280.stage_config.json")
    official = "data/scene_datasets/hssd-hab/scenes/102344280.scene_instance.json"
    assert _moved(folder, official, "102344280", stage) == [scene, scene, stage]
    with pytest.raises(FileError, match=r"expected a scene called apt_0 \(.scene_instance.json\) in "):
        _moved(meshes("replica_cad/stages/apt_0.glb"), "replica_cad/apt_0.scene_instance.json")


def test_a_scene_without_a_mesh_is_named(meshes):
    with pytest.raises(FileError, match=r"expected a mesh called a .* for scene 'x/a.gltf', got none"):
        _moved(meshes("b.glb"), "x/a.gltf")
    assert _moved(meshes("a.obj"), "x/a.gltf", "x/a") == ["a.obj", "a.obj"]
    with pytest.raises(FileError, match="expected a folder of meshes"):
        _moved(meshes() / "b.glb")


def test_scenes_are_looked_for_when_their_episodes_are_read(meshes):
    """Who has one scene of a data set can evaluate in it, and of millions of episodes a few are read."""
    episode = Episode("0", "mp3d/a/a.glb", (0.0, 0.0, 0.0), 0.0, PointGoal((1.0, 0.0, 0.0)), 1.0)
    folder = meshes("a.glb")
    unchecked = inspect.unwrap(move_episodes)  # a check of types would read one of the two
    moved = unchecked([episode, replace(episode, scene_id="mp3d/b/b.glb")], folder)
    assert len(moved) == 2
    assert [one.scene_id for one in moved[:1]] == [str(folder / "a.glb")]
    with pytest.raises(FileError, match="a mesh called b "):
        moved[1]
