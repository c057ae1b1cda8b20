"""Demonstrations that are killed without a word, and written by several processes: the bytes are the same."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import navarena
from navarena.cli.main import main
from navarena.core.errors import NavarenaError
from navarena.evaluation.demonstrations.manifest import FILE_NAME, read_manifest
from navarena.evaluation.demonstrations.plan import SHARD_FRAMES
from navarena.evaluation.running.replay import replay_run

from .small import files_of

SOURCES = Path(navarena.__file__).parents[1]
KILLS = 4
PATIENCE_SECONDS = 300.0
ARGUMENTS = ("demos", "pointnav-v1+rgb=64x48+depth=64x48", "--split", "val", "--episodes", "60", "--quiet")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("demos") / "whole"
    assert main([*ARGUMENTS, "--out", str(folder)]) == 0
    manifest = read_manifest(folder)
    assert manifest.frames > 2 * SHARD_FRAMES  # at least three files
    return files_of(folder)


def written(folder: Path) -> int:
    """How far a command has come: rows that are journaled, and files that are written."""
    rows = sum(path.read_bytes().count(b"\n") for path in folder.glob("run/journal-*.jsonl"))
    return rows + 100 * len(list(folder.glob("parts/*.json")))


def is_complete(folder: Path) -> bool:
    try:
        return (folder / FILE_NAME).exists() and read_manifest(folder).complete
    except NavarenaError:
        return False


@pytest.mark.turns(6)
@pytest.mark.parametrize("workers", [1, 2])
def test_kill_9_at_any_time(workers: int, whole: dict[str, bytes], tmp_path: Path) -> None:
    folder = tmp_path / "demos"
    command = [sys.executable, "-m", "navarena", *ARGUMENTS, "--out", str(folder), "--workers", str(workers)]
    environment = os.environ | {"PYTHONPATH": str(SOURCES)}
    killed = 0
    for _ in range(KILLS):
        before = written(folder)
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while process.poll() is None and written(folder) <= before and time.monotonic() < deadline:
            time.sleep(0.02)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)  # the driver alone: workers end by themselves
            killed += 1
        process.wait()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    assert killed >= 2 and is_complete(folder)
    assert files_of(folder) == whole
    replay_run(folder / "run").require_equal()


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_cluster_writes_the_same_bytes(
    whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # of a cluster that nobody else reaches
    assert main([*ARGUMENTS, "--out", str(tmp_path / "demos"), "--ray", "local", "--workers", "2"]) == 0
    assert files_of(tmp_path / "demos") == whole
