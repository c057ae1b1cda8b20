"""What goes to stdout and stderr, with and without --json."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from navarena.cli.console import Console, format_cell, plain_json


def test_people_get_text_and_tables(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    console.text("done")
    console.table("speed", ["work", "value"], [["draw", 1234.5], ["step", None]])
    console.result({"unseen": 1})
    out = capsys.readouterr().out
    assert "done" in out and "speed" in out and "1,234" in out and "-" in out
    assert "unseen" not in out


def test_json_gets_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(json=True)
    console.text("done")
    console.table("speed", ["work"], [["draw"]])
    with console.keep_stdout():
        console.result({"path": Path("a/b"), "n": np.int64(3), "bad": math.nan, "grid": np.eye(2)})
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"path": "a/b", "n": 3, "bad": None, "grid": [[1, 0], [0, 1]]}
    assert captured.err == ""


def test_notes_go_to_stderr_in_both_modes(capsys: pytest.CaptureFixture[str]) -> None:
    Console(json=True).note("one worker died")
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == "one worker died\n"


def test_progress_without_a_terminal_is_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with Console().progress(20, "episodes") as progress:
        for _ in range(20):
            progress.advance()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "episodes: 2/20" and lines[-1] == "episodes: 20/20" and len(lines) == 10


def test_progress_says_how_the_work_goes(capsys: pytest.CaptureFixture[str]) -> None:
    with Console().progress(10, "episodes", lambda: "success 50.0 %") as progress:
        progress.advance(5)
    assert capsys.readouterr().err == "episodes: 5/10, success 50.0 %\n"


def test_quiet_progress_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with Console().progress(2, "episodes", quiet=True) as progress:
        progress.advance(2)
    assert capsys.readouterr().err == ""


def test_progress_with_json_and_no_terminal_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with Console(json=True).progress(2, "episodes") as progress:
        progress.advance(2)
    assert capsys.readouterr().err == ""


def test_progress_on_a_terminal_is_a_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Console().progress(2, "episodes") as progress:
        progress.advance()
        progress.advance()
    captured = capsys.readouterr()
    assert "2/2" in captured.err and captured.out == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.123456, "0.1235"), (12345.6, "12,346"), (3, "3"), (None, "-"), (True, "yes"), ("a", "a"), (0.0, "0")],
)
def test_cells(value: object, text: str) -> None:
    assert format_cell(value) == text


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, np.float32("nan")])
def test_json_knows_no_infinity(value: float) -> None:
    assert plain_json({"x": [value]}) == {"x": [None]}
