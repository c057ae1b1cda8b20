"""Bad input: one clear line on stderr, exit code 2, and nothing half-written."""

import json
from pathlib import Path

import pytest

from navarena.cli.main import main

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
