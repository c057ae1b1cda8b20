"""Notices of long work: when they are written, what they say, and who silences them."""

import subprocess
import sys
import threading

import pytest

from navarena.core import notices
from navarena.core.notices import announce


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands, no thread that looks at it, and nothing done yet."""
    clock = Clock()
    monkeypatch.setattr(notices, "time", clock)
    monkeypatch.setattr(notices, "_notices", notices._Notices())
    monkeypatch.setattr(notices._Notices, "_watch", lambda self, is_idle: None)
    monkeypatch.delenv("NAVARENA_QUIET")
    return clock


def work(clock, seconds, name="building", item=""):
    with announce(name, item):
        clock.now += seconds


def test_short_work_is_not_mentioned(clock, capsys):
    work(clock, 0.9)
    clock.now += 6.0
    work(clock, 0.9)
    assert capsys.readouterr() == ("", "")


def test_many_short_ones_together_are(clock, capsys):
    for _ in range(3):
        work(clock, 0.4, "building", "scene 7")
    assert capsys.readouterr() == ("", "navarena: building scene 7 (2 done, 1 s)\n")


def test_lines_keep_their_distance(clock, capsys):
    for _ in range(12):
        work(clock, 1.0)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"navarena: building ({text})" for text in ("1 s", "5 done, 6 s", "10 done, 11 s")]


def test_the_newest_block_is_named_and_each_work_counted(clock, capsys):
    with announce("generating episodes of", "a house"):
        work(clock, 0.5, "compiling")
        clock.now += 0.3
        work(clock, 0.5, "compiling", "snap")
        clock.now += 7.0
    assert capsys.readouterr().err.splitlines() == [
        "navarena: compiling snap (1 done, 1 s)",
        "navarena: generating episodes of a house (8 s)",
    ]


def test_a_pause_begins_anew(clock, capsys):
    work(clock, 0.9)
    clock.now += 5.1
    work(clock, 0.9)
    assert not capsys.readouterr().err
    work(clock, 0.2)
    assert capsys.readouterr().err == "navarena: building (1 done, 1 s)\n"


def test_quiet(clock, capsys, monkeypatch):
    monkeypatch.setenv("NAVARENA_QUIET", "0")
    work(clock, 3.0)
    assert "building (3 s)" in capsys.readouterr().err
    clock.now += 6.0
    notices.silence_notices()
    work(clock, 3.0)
    assert capsys.readouterr() == ("", "")


def test_stderr_may_be_gone(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    work(clock, 3.0)


def test_a_failure_ends_its_block(clock, capsys):
    with pytest.raises(ZeroDivisionError), announce("building"):
        clock.now += 0.5
        1 / 0  # noqa: B018
    work(clock, 0.6)
    assert capsys.readouterr().err == "navarena: building (1 done, 1 s)\n"


def test_one_long_block_is_told_while_it_goes_on(monkeypatch, capsys):
    """The thread that looks at the clock ends with the work."""
    monkeypatch.delenv("NAVARENA_QUIET")
    monkeypatch.setattr(notices, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(notices, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(notices, "_notices", notices._Notices())
    before, told = threading.active_count(), threading.Event()
    monkeypatch.setattr(notices, "_write", lambda text: told.set())
    with announce("building"):
        assert told.wait(60.0)
    for thread in threading.enumerate():
        if thread.name.endswith("(_watch)"):
            thread.join(60.0)
    assert threading.active_count() <= before


CODE = """
import numpy as np
from navarena.core import notices
from navarena.corruptions.motion_kernels import lengthen
notices.FIRST_SECONDS = 0.0
lengthen(np.zeros((1, 3)), np.zeros((1, 3)), np.zeros((1, 3)), 0, 1)
"""


def test_compiling_is_announced_where_the_cache_is_cold_only(tmp_path, monkeypatch):
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NAVARENA_QUIET")
    (tmp_path / "code.py").write_text(CODE)
    said = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, tmp_path / "code.py"], capture_output=True, text=True, check=True
        )
        assert done.stdout == ""
        said.append(done.stderr)
    assert "navarena: compiling kernels, once on this machine: lengthen" in said[0]
    assert said[1] == ""
