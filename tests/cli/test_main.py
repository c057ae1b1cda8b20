"""Finding subcommands, exit codes, and one line for every error."""

import errno
import os
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest

from navarena.cli import main as main_module
from navarena.cli.console import Console
from navarena.cli.main import COMMANDS, UNREAD, Entry, main, parse_command
from navarena.cli.runs.analyse import Analyse
from navarena.core.errors import CheckFailedError, NavarenaError, SceneError
from navarena.evaluation.analyses import ANALYSES

RAISED: list[BaseException] = []


@dataclass(frozen=True)
class Probe:
    """Does what the test says."""

    number: int = 1
    """A number."""
    json: bool = False
    """Print JSON."""

    def run(self, console: Console) -> int:
        """Raise what the test put there, or print the number."""
        if RAISED:
            raise RAISED[0]
        console.text(f"number {self.number}")
        console.result({"number": self.number})
        return 0


@pytest.fixture(autouse=True)
def probe_command(monkeypatch: pytest.MonkeyPatch) -> None:
    RAISED.clear()
    monkeypatch.setattr(main_module, "COMMANDS", {**COMMANDS, "probe": Entry(f"{__name__}:Probe", "test")})


def test_runs_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "--number", "3"]) == 0
    assert capsys.readouterr().out == "number 3\n"
    assert main(["probe", "--json"]) == 0
    assert capsys.readouterr().out == '{\n  "number": 1\n}\n'


def test_names_in_another_encoding_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """As the system hands on the byte 0xff, which is no UTF-8."""
    assert main(["evaluate", "pointnav-v1", "--out", "runs/\udcff"]) == 2
    assert capsys.readouterr().err == (
        "error: expected arguments in UTF-8, got 'runs/\\udcff'; rename that file or folder\n"
    )


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (SceneError("expected a floor,\n got none"), 2, "error: expected a floor, got none\n"),
        (CheckFailedError("3 episodes differ"), 1, "error: 3 episodes differ\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (
            OSError(errno.ENOSPC, "full", "x.bin"),
            2,
            "error: no space left on the disk (x.bin); free some space\n",
        ),
    ],
)
def test_errors_are_one_line(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    RAISED.append(error)
    assert main(["probe"]) == code
    captured = capsys.readouterr()
    assert captured.err == line and captured.out == ""


@pytest.mark.parametrize("error", [RuntimeError("defect"), OSError(errno.EIO, "defect")])
def test_defects_keep_their_traceback(error: Exception) -> None:
    RAISED.append(error)
    with pytest.raises(type(error)):
        main(["probe"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evalute"], "unknown command 'evalute'. Did you mean 'evaluate'?"),
        (["scene", "imprt"], "unknown scene command 'imprt'. Did you mean 'import'?"),
        (["scene"], "unknown scene command ''. Known: import, info, make, preview, view."),
        (["--jsn"], "unknown command '--jsn'."),
    ],
)
def test_unknown_commands(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"error: {message}") and captured.err.count("\n") == 1


def test_wrong_flags_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "--numbr", "3"]) == 2
    line = "error: unknown flag of `navarena probe` '--numbr'. Did you mean '--number'? "
    assert capsys.readouterr().err == line + "Known: --help, --json, --number.\n"
    assert main(["probe", "--number", "three"]) == 2
    captured = capsys.readouterr()
    assert "three" in captured.err and captured.err.count("\n") == 1 and captured.out == ""


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in COMMANDS)
    assert main(["scene", "--help"]) == 0
    out = capsys.readouterr().out
    assert "scene preview" in out and "evaluate" not in out.split("\n\n")[1]
    assert main([]) == 2, "nothing was asked for"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    import navarena

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"navarena {navarena.__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_json(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        parse_command(name, ["--help"])
    out = capsys.readouterr().out
    assert stopped.value.code == 0
    assert "--json" in out and f"navarena {name}" in out


def test_the_help_of_analyse_names_every_analysis() -> None:
    named = set(re.findall(r"[a-z-]+", Analyse.__doc__ or ""))
    assert set(ANALYSES) <= named, set(ANALYSES) - named


def test_a_reader_that_leaves_is_no_error() -> None:
    """`navarena list ... | head -1` closes the pipe early."""
    code = "import sys; from navarena.cli.main import main; sys.exit(main(['--help']))"
    done = subprocess.run(
        f'"{sys.executable}" -c "{code}" | true; exit ${{PIPESTATUS[0]}}',
        shell=True, executable="/bin/bash", capture_output=True, text=True,
    )  # fmt: skip
    assert "Traceback" not in done.stderr


def test_work_that_nobody_reads_is_no_success() -> None:
    """`navarena evaluate ... | head -1` stops the evaluation."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "navarena", "list", "protocols"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (UNREAD, "")


def test_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "navarena", "evalute"], capture_output=True, text=True)
    assert done.returncode == NavarenaError.exit_code
    assert done.stderr.startswith("error: unknown command 'evalute'")
