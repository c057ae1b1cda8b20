"""kill -9 of the driver or of a worker at any moment, then the same command: the same table."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.corridor import make_benchmark, make_settings
from navarena.core.errors import CheckFailedError
from navarena.evaluation import evaluate
from navarena.evaluation.records.journal import journal_paths, read_journal

SCRIPT = Path(__file__).parents[1] / "corridor.py"
TESTS = SCRIPT.parents[1]
DERIVED = ("summary.json", "episodes.parquet")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9")


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")
    evaluate(make_settings(folder, "SlowWalker"), make_benchmark("SlowWalker"))
    return [(folder / name).read_bytes() for name in DERIVED]


def launch(folder, agent, workers):
    code = f"import evaluation.corridor as c; c.main({str(folder)!r}, {agent!r}, {workers}, 2)"
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def wait_for_rows(process, count):
    for _ in range(count):
        assert process.stdout.readline() == "row\n"


def finish(folder, agent, workers):
    return evaluate(make_settings(folder, agent, workers=workers), make_benchmark(agent))


@pytest.mark.parametrize("workers", [1, 2])
def test_the_driver_is_killed(tmp_path, expected, workers):
    process = launch(tmp_path, "SlowWalker", workers)
    wait_for_rows(process, 7)
    process.kill()
    process.wait()
    process.stdout.close()
    again = finish(tmp_path, "SlowWalker", workers)
    assert again.resumed >= 7
    assert [(tmp_path / name).read_bytes() for name in DERIVED] == expected


def test_ctrl_c(tmp_path, expected):
    process = launch(tmp_path, "SlowWalker", 2)
    wait_for_rows(process, 3)
    process.send_signal(signal.SIGINT)
    process.wait(30)
    process.stdout.close()
    again = finish(tmp_path, "SlowWalker", 1)
    assert again.resumed >= 3
    assert [(tmp_path / name).read_bytes() for name in DERIVED] == expected


def test_a_worker_is_killed_and_the_other_takes_over(tmp_path, expected, monkeypatch):
    monkeypatch.setenv("MARKER", str(tmp_path / "marker"))
    evaluation = evaluate(
        make_settings(tmp_path / "run", "Suicide", workers=2, batch_size=2), make_benchmark("Suicide")
    )
    assert (tmp_path / "marker").exists()
    assert any("killed by signal 9" in notice for notice in evaluation.notices)
    assert sum(len(read_journal(path).rows) for path in journal_paths(tmp_path / "run")) == 40
    table = (tmp_path / "run" / "episodes.parquet").read_bytes()
    assert table == expected[1]


def test_an_episode_that_kills_every_worker(tmp_path, monkeypatch):
    monkeypatch.delenv("MARKER", raising=False)
    with pytest.raises(CheckFailedError, match=r"every worker died .*killed by signal 9.* episodes left"):
        evaluate(make_settings(tmp_path, "Suicide", workers=2), make_benchmark("Suicide"))
    assert not (tmp_path / "summary.json").exists()
