"""Wrong flags: one line that names what is wrong and the nearest right one."""

from pathlib import Path
from typing import get_type_hints

import pytest

from navarena.cli.flags import OutputFile
from navarena.cli.main import COMMANDS, main
from navarena.core.registry import load_target


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate"], "expected PROTOCOL Protocol id, such as pointnav-v1;"),
        (["evaluate", "pointnav-v1", "--agnt", "expert"], "Did you mean '--agent'?"),
        (["evaluate", "pointnav-v1", "--agnt=expert"], "unknown flag of `navarena evaluate` '--agnt'."),
        (["evaluate", "pointnav-v1", "more"], "unexpected more;"),
        (["evaluate", "pointnav-v1", "--workers"], "missing value for argument '--workers'."),
        (["evaluate", "pointnav-v1", "--seed", "two"], "--seed: invalid literal for int()"),
        (["evaluate", "pointnav-v1", "--episodes", "x"], "INT could be instantiated from ['x'];"),
        (["scene", "info", "house.glb", "--scale", "big"], "could not convert string to float: 'big'"),
        (["scene", "info", "house.glb", "--up", "-z"], "--flag=-value"),
        (["list", "agent"], "unknown kind of names 'agent'. Did you mean 'agents'?"),
        (["bench", "sped"], "Expected one of ('render', 'images',"),
    ],
)
def test_wrong_flags(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert captured.err.startswith("error: ") and message in captured.err
    assert not set("─│╭╮╰╯") & set(captured.err) and "---" not in captured.err


WRITERS = {
    "checkpoint curves": ("runs", ".html"),
    "corruptions sheet": ("houses-v1/val/00000", ".png"),
    "encoder calibrate": ("words", ".json"),
    "episodes make": ("pointnav-v1", "--scene=houses-v1/val/00000", ".json"),
    "export": ("run", "r2r", ".json"),
    "features make": ("mini", ".hdf5"),
    "goals preview": ("houses-v1/val/00000", ".png"),
    "goals reword": ("list.json", "--writer=http://127.0.0.1/v1#none", ".json"),
    "report": ("run", ".html"),
    "robustness": ("run", ".html"),
    "scene preview": ("houses-v1/val/00000", ".png"),
}
"""Command -> arguments that it needs beside --out, and an ending of the file that it writes."""


@pytest.mark.parametrize("name", WRITERS)
def test_files_that_cannot_be_written_are_refused_before_any_work(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder, and a path below a file; nothing that the command would do has begun."""
    *arguments, ending = WRITERS[name]
    kind = load_target(COMMANDS[name].target)

    def fail(self: object, console: object) -> int:
        raise AssertionError("it began its work")

    monkeypatch.setattr(kind, "run", fail)
    folder, below = tmp_path / f"folder{ending}", tmp_path / "file" / f"out{ending}"
    folder.mkdir()
    (tmp_path / "file").write_text("")
    for out, message in ((folder, "which is none"), (below, "Not a directory")):
        assert main([*name.split(), *arguments, "--out", str(out)]) == 2
        line = capsys.readouterr().err
        assert line.startswith("error: ") and line.count("\n") == 1 and message in line


def test_flags_that_name_files_to_write_are_marked() -> None:
    """Every --out is an OutputFile, or that of a command which writes a folder; so are these others."""
    others = {"details", "plot", "propose", "rerun"}
    for name, entry in COMMANDS.items():
        kind = load_target(entry.target)
        for field, hint in get_type_hints(kind, include_extras=True).items():
            marks = [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, OutputFile)]
            assert field != "out" or bool(marks) != (name in FOLDER_WRITERS), name
            assert field not in others or marks, f"{name} --{field}"


FOLDER_WRITERS = {
    *("evaluate", "play", "train", "demos", "import", "replay", "serve", "serve export", "serve import"),
    *("checkpoint export", "checkpoint import", "segmenter import", "tours draw", "tours houses"),
}
"""Commands whose --out is a folder."""
