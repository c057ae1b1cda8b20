"""Bad input: one clear line on stderr, exit code 2, and nothing half-written."""

import base64
import gzip
import json
import math
import time
from pathlib import Path

import numpy as np
import pytest

from navarena.cli.main import main
from navarena.core.errors import FileError
from navarena.episodes.dataset import is_own_file, load_episode_file
from navarena.episodes.exchange import open_episode_file

MESH_ERRORS = {
    "missing.obj": None,
    "empty.obj": b"",
    "words.obj": b"this is no mesh at all\n",
    "truncated.glb": b"glTF\x02\x00\x00\x00\xff\xff\x00\x00",
    "words.ply": b"ply\nformat ascii 1.0\nelement vertex 3\n",
    "points.obj": b"v 0 0 0\nv 1 0 0\nv 0 0 1\n",
    "nan.obj": b"v 0 0 nan\nv 1 0 0\nv 0 0 1\nf 1 2 3\n",
    "wall.obj": b"v 0 0 0\nv 4 0 0\nv 4 3 0\nv 0 3 0\nf 1 2 3\nf 1 3 4\n",
    "mesh.xyz": b"0 0 0\n",
}


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that the command prints when it refuses `arguments`."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    last = captured.err.splitlines()[-1]
    assert last.startswith("error: ") and "Traceback" not in captured.err
    return last


@pytest.mark.parametrize("name", MESH_ERRORS)
@pytest.mark.parametrize("command", ["import", "info"])
def test_bad_meshes(
    name: str, command: str, tmp_path: Path, empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    content = MESH_ERRORS[name]
    if content is not None:
        path.write_bytes(content)
    line = refused(["scene", command, str(path)], capsys)
    assert name in line or "expected a floor" in line
    assert not [p for p in empty_cache.rglob("*.pack") if "scene" not in p.parts], "nothing half-made stays"


def test_wrong_up_axis_is_named(
    tmp_path: Path, dungeon_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A floor that stands upright: the message names the option that mends it."""
    path = tmp_path / "floor.obj"
    path.write_text("v 0 0 0\nv 5 0 0\nv 5 5 0\nv 0 5 0\nf 1 2 3\nf 1 3 4\n")
    assert "up" in refused(["scene", "info", str(path)], capsys)
    assert main(["scene", "info", str(path), "--up", "z"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "pointnav-v2"], "unknown protocol 'pointnav-v2'. Did you mean 'pointnav-v1'?"),
        (["evaluate", "pointnav-v1", "--agent", "exprt"], "unknown agent 'exprt'. Did you mean 'expert'?"),
        (["evaluate", "pointnav-v1", "--split", "valid"], "Did you mean 'val'?"),
        (["evaluate", "pointnav-v1", "--agent", "nowhere:Agent"], "cannot import 'nowhere'"),
        (["evaluate", "pointnav-v1", "--agent", "math:pi"], "expected"),
        (["evaluate", "pointnav-v1", "--dataset", "houses-v9"], "houses-v"),
        (["evaluate", "pointnav-v1", "--corrupt", "speckle"], "Did you mean 'speckle_noise'?"),
        (
            ["evaluate", "pointnav-v1", "--corrupt", "speckle_noise:9"],
            "severity among (1, 2, 3, 4, 5)",
        ),
        (["evaluate", "pointnav-v1", "--episodes", "0"], "expected episodes of at least 1, got 0"),
        (["evaluate", "pointnav-v1", "--workers", "0"], "expected workers of at least 1, got 0"),
        (["scene", "info", "houses-v7/val/00000"], "Did you mean 'houses-v"),
        (["scene", "info", "houses-v0/vall/00000"], "Did you mean 'val'?"),
        (["scene", "info", "houses-v0/val/99999"], "unknown scene"),
        (["scene", "info", "houses-v0/val/00000", "--body", "locobott"], "Did you mean 'locobot'?"),
        (["replay", "no-such-run"], "does not exist"),
        (["episodes", "info", "no-such-file.json"], "does not exist"),
        (["episodes", "make", "pointnav-v1", "--out", "e.json"], "expected either --scene or --split"),
        (["cache", "clear", "kernel"], "Did you mean 'kernels'?"),
    ],
)
def test_unknown_names(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert message in refused(arguments, capsys)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()], "nothing half-written"


def test_a_corruption_of_what_the_agent_does_not_observe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "blind_agent.py").write_text(
        "import navarena\n\n\nclass Blind(navarena.SingleAgent):\n    sensors = ('depth',)\n\n"
        "    def reset(self):\n        pass\n\n    def act(self, observations):\n        return 0\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    command = ["evaluate", "pointnav-v1", "--episodes", "1", "--agent", "blind_agent:Blind", "--corrupt"]
    message = refused([*command, "motion_drift,spatter:5"], capsys)
    assert "a sensor of colour images for the corruption 'spatter:5', got blind_agent:Blind" in message
    assert not (tmp_path / "navarena-runs").exists()


def test_semantics_of_a_scene_without(
    dungeon_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """An agent that wants `semantic` in a mesh without labels is refused, not shown zeros."""
    (tmp_path / "labels_agent.py").write_text(
        "import navarena\n\n\nclass Labels(navarena.SingleAgent):\n    sensors = ('semantic',)\n\n"
        "    def reset(self):\n        pass\n\n    def act(self, observations):\n        return 0\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    mesh = str(dungeon_folder / "dungeon.obj")
    line = refused(
        ["evaluate", "pointnav-v1", "--dataset", mesh, "--agent", "labels_agent:Labels", "--episodes", "1"],
        capsys,
    )
    assert "semantic" in line
    assert not (tmp_path / "navarena-runs").exists() or not list((tmp_path / "navarena-runs").iterdir())


def test_damaged_journal(dungeon_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    mesh = str(dungeon_folder / "dungeon.obj")
    arguments = [
        "evaluate",
        "pointnav-v1",
        "--dataset",
        mesh,
        "--agent",
        "forward",
        "--episodes",
        "2",
        "--out",
        str(out),
    ]
    assert main(arguments) == 0
    journal = next(out.glob("journal-*.jsonl"))
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join(["{broken", *lines[1:]]) + "\n")
    capsys.readouterr()
    assert journal.name in refused(["replay", str(out)], capsys)


def test_another_run_in_the_folder(
    dungeon_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder holds one run: other settings are refused, and the first result stays."""
    out = tmp_path / "run"
    mesh = str(dungeon_folder / "dungeon.obj")
    common = ["evaluate", "pointnav-v1", "--dataset", mesh, "--episodes", "2", "--out", str(out), "--agent"]
    assert main([*common, "forward"]) == 0
    before = json.loads((out / "summary.json").read_text())
    capsys.readouterr()
    assert str(out) in refused([*common, "random"], capsys)
    assert json.loads((out / "summary.json").read_text()) == before


def test_full_disk(
    dungeon_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import errno
    import os

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    mesh = str(dungeon_folder / "dungeon.obj")
    out = tmp_path / "preview.png"
    line = refused(["scene", "preview", mesh, "--out", str(out)], capsys)
    assert "No space left" in line and not list(tmp_path.glob("*preview*"))


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--features", "expected no features for ir2r-ce-v1"),
        ("--vocabulary", "expected no vocabulary for ir2r-ce-v1"),
        ("--r2r", "--dataset"),
        ("--connectivity", "--scenes"),
        ("--tours", "expected an episode file"),
    ],
)
def test_files_of_graphs_are_refused_in_houses(flag, message, tmp_path, capsys):
    run = ("evaluate", "ir2r-ce-v1", "--agent", "stop", "--out", str(tmp_path / "run"))
    assert main([*run, flag, str(tmp_path / "x")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def episode_text(**changes: object) -> str:
    """An episode file of Habitat's PointNav, with other values for fields of its episode."""
    episode = {
        "episode_id": "0",
        "scene_id": "a.glb",
        "start_position": [0, 0, 0],
        "start_rotation": [0, 0, 0, 1],
        "goals": [{"position": [1, 0, 2.5], "radius": 0.2}],
    }
    return json.dumps({"episodes": [episode | changes]})


def goal(**changes: object) -> list[dict[str, object]]:
    return [{"position": [1, 0, 2.5], "radius": 0.2} | changes]


EPISODE_ERRORS: dict[str, tuple[bytes, str]] = {
    "latin.json": (episode_text().encode().replace(b"a.glb", b"\xe4.glb"), "utf-8"),
    "latin.json.gz": (gzip.compress(b'{"format": "navarena-episodes-v1", "name": "\xe4"}'), "utf-8"),
    "nested.json": (b"[" * 3000 + b"]" * 3000, "damaged or of another kind"),
    "inside.json": (episode_text(info={"a": 0}).encode().replace(b'"a": 0', b'"a":' * 3000), "damaged"),
    "huge.json": (episode_text(start_position=[0, 10**400, 0]).encode(), "start_position[1]: expected"),
    "far.json": (episode_text(start_position=[0, 1e308, 0]).encode(), "start_position[1]: expected"),
    "turned.json": (episode_text(start_rotation=[0, 2**64, 0, 1]).encode(), "start_rotation[1]: expected"),
    "negative.json": (episode_text(goals=goal(radius=-1)).encode(), "goals[0].radius: expected"),
    "wide.json": (episode_text(goals=goal(radius=1e9)).encode(), "goals[0].radius: expected"),
    "bomb.json.gz": (gzip.compress(b"[" + b" " * (80 << 20)), "unpacks to more than 200 times"),
}


@pytest.mark.parametrize("name", EPISODE_ERRORS)
def test_bad_episode_files(name: str, tmp_path: Path) -> None:
    """Without the command around it, in which the checks of types would read the episodes first."""
    content, message = EPISODE_ERRORS[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileError) as caught:
        load_episode_file(path) if is_own_file(path) else list(open_episode_file(path).episodes)
    assert name in str(caught.value) and message in str(caught.value)


def test_flipped_bits_of_archives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.json.gz"
    data = gzip.compress(episode_text().encode())
    for place in range(12, len(data) - 8, 7):
        path.write_bytes(data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :])
        assert "one.json.gz" in refused(["episodes", "info", str(path)], capsys)


def gltf_text(**changes: object) -> str:
    """A triangle as glTF, with other values at the top level."""
    points = base64.b64encode(np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1]], "<f4").tobytes()).decode()
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36, "uri": f"data:application/octet-stream;base64,{points}"}],
    }
    return json.dumps(tree | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"buffers": 3}, "glTF"),
        ({"buffers": ["x"]}, "glTF"),
        ({"images": {"uri": 5}}, "glTF"),
        ({"nodes": [{"mesh": 0, "matrix": [math.nan] * 16}]}, "'matrix' of node 0"),
        ({"nodes": [{"mesh": 0, "rotation": [0, 2.0**64, 0, 1]}]}, "'rotation' of node 0"),
        ({"nodes": [{"mesh": 0, "translation": [0, 1e308, 0]}]}, "'translation' of node 0"),
    ],
)
def test_bad_gltf(
    changes: dict[str, object], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "one.gltf"
    path.write_text(gltf_text(**changes))
    line = refused(["scene", "info", str(path)], capsys).lower()
    assert "one.gltf" in line and message.lower() in line


def test_meshes_out_of_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mesh.obj"
    path.write_text("v 0 0 0\nv 1e8 0 0\nv 0 0 1\nf 1 2 3\n")
    assert "coordinates within 1,000,000 m" in refused(["scene", "info", str(path)], capsys)
    ring = "".join(f"v {math.cos(k)} 0 {math.sin(k)}\n" for k in range(300))
    corners = " ".join(str(1 + k % 300) for k in range(300_000))
    path.write_text(f"{ring}f {corners}\n")
    began = time.perf_counter()
    line = refused(["scene", "info", str(path)], capsys)
    assert "at most 4096 corners in a face, got 300000 in line 301" in line
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    "arguments",
    [
        ["scene", "info", "x" * 3000 + ".obj"],
        ["episodes", "info", "x" * 3000 + ".json"],
        ["replay", "x" * 3000],
        ["evaluate", "pointnav-v1", "--dataset", "x" * 3000],
    ],
)
def test_paths_that_are_too_long(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "too long" in refused(arguments, capsys)


def test_long_messages_lose_their_middle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(["evaluate", "pointnav-v1", "--agent", "x" * 9000], capsys)
    assert len(line) < 2100 and "unknown agent 'xxx" in line and "Known: " in line


@pytest.mark.parametrize("address", ["http://localhost:99999", "http://localhost:x", "http://[::1:80"])
def test_addresses_of_no_agent(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(["evaluate", "pointnav-v1", "--agent", address], capsys)
    assert "expected an agent's address as http://host:port" in line


@pytest.mark.parametrize("name", ["file", "file/below", "x" * 3000])
def test_a_cache_that_cannot_be(
    name: str, tmp_path: Path, dungeon_folder: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path / name))
    line = refused(["scene", "info", str(dungeon_folder / "dungeon.obj")], capsys)
    assert "NAVARENA_CACHE" in line or "too long" in line


def test_metrics_that_no_row_has(
    dungeon_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, mesh = tmp_path / "run", str(dungeon_folder / "dungeon.obj")
    common = ["evaluate", "pointnav-v1", "--dataset", mesh, "--episodes", "2", "--agent", "forward"]
    assert main([*common, "--out", str(run)]) == 0
    capsys.readouterr()
    record = json.loads((run / "run.json").read_text())
    record["metrics"] = [*record["metrics"], "sdtw"]
    (run / "run.json").write_text(json.dumps(record))
    assert "sdtw" in refused(["compare", str(run), str(run)], capsys)
