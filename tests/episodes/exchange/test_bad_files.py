"""Broken files are refused by one sentence: file, episode, field, expected, got."""

import copy
import gzip
import json

import pytest

from navarena.core.errors import FileError, InputError, UnknownNameError
from navarena.episodes.exchange import detection, open_episode_file
from navarena.episodes.exchange.format import EpisodeFormat
from navarena.episodes.exchange.records import Record

from .samples import HM3D, IMAGENAV, LAYOUTS, MULTION, POINTNAV, ROBOTHOR_2021, changed, store


def stumble(fields):
    return fields["nowhere"]


VLN = {
    "episodes": [
        {
            "episode_id": 0,
            "trajectory_id": 1,
            "scene_id": "x",
            "start_position": [0, 0, 0],
            "start_rotation": [0, 0, 0, 1],
            "instruction": {"instruction_text": "Go."},
        }
    ]
}


def read_all(path):
    return list(open_episode_file(path).episodes)


def drop(*path):
    def change(episode):
        *way, last = path
        for step in way:
            episode = episode[step]
        del episode[last]

    return change


def put(**fields):
    return lambda episode: episode.update(fields)


@pytest.mark.parametrize(
    ("content", "change", "message"),
    [
        (HM3D, drop("start_position"), r"episode 0 \(id '7'\), field start_position: .* missing"),
        (HM3D, put(start_position=[1, 2]), r"episode 0 .*field start_position: .*length 3"),
        (HM3D, put(start_position="a"), r"field start_position: expected array, got str"),
        (HM3D, put(info={"geodesic_distance": "far"}), r"field info.geodesic_distance: .* got str"),
        (HM3D, put(start_rotation=[0, 0, 0, 0]), r"field start_rotation: .*length zero"),
        (HM3D, put(object_category="sofa"), r"goals_by_category: .*glb_sofa.*basis.glb_bed"),
        (POINTNAV, put(goals=5), r"episode 0 \(id 3\), field goals: expected array, got int"),
        (POINTNAV, put(goals=[]), r"episode 0 \(id 3\), field goals: expected one goal, got 0"),
        (POINTNAV, drop("goals", 0, "position"), r"field goals\[0\].position: .* missing"),
        (MULTION, drop("goals", 1, "position"), r"field goals\[1\].position: .* missing"),
        (IMAGENAV, put(goal_image_id=1), r"field goal_image_id: expected an image below 1, got 1"),
        (IMAGENAV, put(goal_object_id="9"), r"field goals: expected goals under 'TEEsavR23oF_9'"),
        (ROBOTHOR_2021, drop("initial_position", "z"), r"field initial_position.z: .* missing"),
        (ROBOTHOR_2021, put(initial_orientation=None), r"field initial_orientation: .*null"),
    ],
)
def test_file_episode_and_field_are_named(tmp_path, content, change, message):
    path = store(tmp_path / "file.json", changed(content, change))
    with pytest.raises(FileError, match=message) as caught:
        read_all(path)
    assert str(path) in str(caught.value)


def test_a_later_episode_and_a_goal_are_named(tmp_path):
    content = copy.deepcopy(HM3D)
    content["episodes"][1]["start_rotation"] = [0, 1, 0]
    with pytest.raises(FileError, match=r"episode 1 \(id '8'\), field start_rotation"):
        read_all(store(tmp_path / "file.json", content))
    content = copy.deepcopy(HM3D)
    content["goals_by_category"]["TEEsavR23oF.basis.glb_bed"][1]["position"] = None
    with pytest.raises(FileError, match=r"goals_by_category\['.*glb_bed'\]\[1\], field position"):
        read_all(store(tmp_path / "file.json", content))


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_python_writes_numbers_that_are_none(tmp_path, word):
    text = json.dumps(POINTNAV).replace("2.5, ", f"{word}, ")
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(
        FileError, match=r"episodes\[0\].info.geodesic_distance: expected a number, got NaN or Inf"
    ):
        open_episode_file(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"nothing", "no JSON"),
        (b'{"episodes": [', "no JSON"),
        (b'"text"', "expected a list of episodes"),
        (b'{"episodes": 3}', "expected a list of episodes"),
        (b"[1, 2]", "JSON objects, got int"),
        (b'{"faces": []}', "expected an episode file of one of the formats .*got fields faces"),
        (b'{"episodes": []}', "expected episodes in .* got none"),
        (b"[]", "expected episodes in .* got none"),
        (b'[{"scene": "a"}]', "got fields scene"),
        (b'{"format": "navarena-episodes-v1", "protocol_id": "x"}', "navarena's own"),
        (gzip.compress(json.dumps(HM3D).encode())[:-30], "damaged"),
    ],
)
def test_other_files_are_refused(tmp_path, data, message):
    path = tmp_path / "file.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        read_all(path)
    assert str(path) in str(caught.value)


def test_missing_files_and_empty_folders(tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        open_episode_file(tmp_path / "none.json")
    with pytest.raises(FileError, match="folder with episode files"):
        open_episode_file(tmp_path)


def test_a_folder_of_two_formats_is_refused(tmp_path):
    store(tmp_path / "a.json", ROBOTHOR_2021)
    store(tmp_path / "b.json", LAYOUTS["robustnav pointnav"][1])
    with pytest.raises(FileError, match=r"of robothor-2021 .* got robustnav-pointnav in .*b\.json"):
        read_all(tmp_path)


def test_an_unknown_scene_is_answered_with_the_nearest(tmp_path):
    file = open_episode_file(store(tmp_path / "file.json", HM3D))
    with pytest.raises(UnknownNameError, match="Did you mean 'TEEsavR23oF'"):
        file.of_scene("TEEsavR23o")


@pytest.mark.parametrize(
    ("field", "command"),
    [
        ("instructions", r"navarena evaluate r2r-v1 --agent expert --dataset \S+paths.json --scenes"),
        ("tour_id", r"navarena evaluate ir2r-v1 --agent expert --dataset R2R_FILE --tours \S+paths.json"),
    ],
)
def test_files_for_graphs_name_the_command_that_reads_them(tmp_path, field, command):
    path = tmp_path / "paths.json"
    path.write_text(json.dumps([{"scan": "s", "path": ["a", "b"], field: ["go"]}]))
    with pytest.raises(FileError, match=command):
        open_episode_file(path)


def place(content, scene, *names):
    """`content` with its first episode once for each of `names`, in `scene`."""
    path = f"data/{scene}.glb"
    episodes = [{**content["episodes"][0], "scene_id": path, "episode_id": name} for name in names]
    goals = {f"{scene}.glb_bed": next(iter(content.get("goals_by_category", {"": []}).values()))}
    return {**content, "episodes": episodes, **({"goals_by_category": goals} if HM3D is content else {})}


@pytest.mark.parametrize(
    ("content", "parts", "message"),
    [
        (POINTNAV, {"a": ("a", "0", "0")}, r"got 'a-0' twice in \S+a\.json; drop one"),
        (
            POINTNAV,
            {"a": ("x", 0, 1), "b": ("x", 2, 1)},
            r"got 'x-1' twice in \S+a\.json and \S+b\.json; drop one",
        ),
        (HM3D, {"a": ("x", "0"), "b": ("x", "1")}, r"got 'x-0' twice in \S+a\.json and \S+b\.json; drop one"),
        (VLN, {"a": ("x", 0), "b": ("y", 0)}, r"got '0' twice in \S+a\.json and \S+b\.json; drop one"),
    ],
)
def test_an_id_stands_once_in_all_parts(tmp_path, content, parts, message):
    stub = store(tmp_path / "val.json", {"episodes": []})
    for name, (scene, *names) in parts.items():
        store(tmp_path / "content" / f"{name}.json", place(content, scene, *names))
    file = open_episode_file(stub)
    with pytest.raises(FileError, match=f"expected unique episode ids in .*val.json, {message}"):
        file.require_unique_ids()


@pytest.mark.parametrize(("content", "names"), [(POINTNAV, ("0", "1")), (HM3D, ("0", "0"))])
def test_ids_may_begin_again_in_each_scene(tmp_path, content, names):
    """Loaders of ObjectNav number episodes themselves, so that theirs need not be unique at all."""
    for scene in ("x", "y"):
        store(tmp_path / "content" / f"{scene}.json", place(content, scene, *names))
    file = open_episode_file(store(tmp_path / "val.json", {"episodes": []}))
    file.require_unique_ids()
    assert [one.episode_id for one in file.episodes] == ["x-0", "x-1", "y-0", "y-1"]
    assert [name for part in file.documents() for name in part.ids] == ["x-0", "x-1", "y-0", "y-1"]


def test_a_byte_order_mark_is_no_damage(tmp_path):
    plain = open_episode_file(store(tmp_path / "plain.json", POINTNAV))
    path = tmp_path / "marked.json"
    path.write_bytes(b"\xef\xbb\xbf" + plain.path.read_bytes())
    marked = open_episode_file(path)
    assert list(marked.episodes) == list(plain.episodes) and marked.hash == plain.hash


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("hfov", 1.5708, r"image_goals\[0\].hfov: expected float >= 10.0"),
        ("hfov", 180, r"image_goals\[0\].hfov: expected int <= 170"),
        ("image_dimensions", [0, 512], r"image_dimensions\[0\]: expected int >= 1"),
        ("rotation", [0, 0, 0, 0], r"episode 0 .*rotation of the camera of an image, got one of length zero"),
    ],
)
def test_cameras_of_goals_that_see_nothing_are_refused(tmp_path, field, value, message):
    content = copy.deepcopy(IMAGENAV)
    content["goals"]["TEEsavR23oF_516"]["image_goals"][0][field] = value
    with pytest.raises(FileError, match=message):
        read_all(store(tmp_path / "file.json", content))


def test_a_format_of_a_package_that_fails_is_named(tmp_path, monkeypatch):
    layout = EpisodeFormat("elsewhere", "Elsewhere", "pointnav", Record, lambda *_: None, recognises=stumble)
    monkeypatch.setattr(detection, "_added_formats", lambda: (layout,))
    with pytest.raises(InputError, match=r"format 'elsewhere' failed .* KeyError: 'nowhere' .*mend"):
        open_episode_file(store(tmp_path / "file.json", POINTNAV))
