"""kill -9 at random moments of real runs, tours included: no row is lost or doubled, no number is another.

python tests/evaluation/running/test_kills.py KILLS SEED    so many for each protocol, and their count
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2]))  # for the command above
from evaluation.running.test_tour_runs import graph_settings
from navarena.evaluation import EvaluationSettings, evaluate, read_rows, replay_run
from navarena.evaluation.records.journal import journal_paths, read_journal
from navarena.tasks.catalog import TASKS

DERIVED = ("summary.json", "episodes.parquet")
KINDS = {
    "points": {"protocol": "pointnav-v1", "agent": "random", "corrupt": ("motion_drift",)},
    "objects": {"protocol": "objectnav-habitat2020-v1", "agent": "expert"},
    "several goals": {"protocol": "multion-2on-v1", "agent": "random", "episode_steps": 40},
    "apartments": {"protocol": "robustnav-pointnav-v1", "agent": "random", "episode_steps": 40},
    "tours in houses": {"protocol": "ir2r-ce-v1", "agent": "expert"},
    "tours on graphs": {"protocol": "ir2r-v1", "agent": "path"},
}
CODE = """
import json, sys
from pathlib import Path
from navarena.evaluation import EvaluationSettings, evaluate
settings = json.loads(sys.argv[1])
settings["out"] = Path(settings["out"])
if __name__ == "__main__":
    evaluate(EvaluationSettings(**settings), on_row=lambda: print("row", flush=True))
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9"),
]


def settings_of(kind, folder, out):
    """As keywords that JSON can hold."""
    given = {"episodes": 8, "batch_size": 2, **KINDS[kind], "out": str(folder / out)}
    if kind == "tours on graphs":
        own = graph_settings(folder, out)
        given |= {name: getattr(own, name) for name in ("dataset", "scenes", "tours")} | {"episodes": None}
    return given


def run_whole(given):
    return evaluate(EvaluationSettings(**given | {"out": Path(given["out"])}))


def survive(kind, folder, kills, seed):
    """Kill a run so many times, go on each time, and compare; returns how many kills met a running one."""
    draws = np.random.Generator(np.random.PCG64(seed))
    expected = run_whole(settings_of(kind, folder, "undisturbed"))
    met = run = 0
    for _ in range(kills):
        given = settings_of(kind, folder, f"killed-{run}") | {"workers": int(draws.integers(1, 3))}
        met += kill(given, rows=int(draws.integers(0, 4)), delay=float(draws.random() * 0.1), draws=draws)
        done = {row.episode_id for row in read_rows(folder / f"killed-{run}")}
        if len(done) > 4:  # enough of this run
            check(given, folder, expected)
            run += 1
    check(settings_of(kind, folder, f"killed-{run}"), folder, expected)
    return met


def kill(given, rows, delay, draws):
    """Start a run, and kill its processes, or the driver alone, after so many rows and seconds."""
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, json.dumps(given)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"NAVARENA_QUIET": "1"},
    )
    for _ in range(rows):
        process.stdout.readline()
    time.sleep(delay)
    running = process.poll() is None
    if running and draws.random() < 0.5:
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    process.stdout.close()
    return running


def check(given, folder, expected):
    """Go on with a run to its end: each episode is there once, and all is as in the undisturbed one."""
    run_whole(given)
    out = Path(given["out"])
    counts = Counter(row.episode_id for path in journal_paths(out) for row in read_journal(path).rows)
    assert counts == Counter(row.episode_id for row in expected.rows)
    for name in DERIVED:
        assert (out / name).read_bytes() == (expected.folder / name).read_bytes(), name
    assert replay_run(out).differences == ()


@pytest.mark.turns(6)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost(tmp_path, kind):
    assert survive(kind, tmp_path, kills=2, seed=int(os.environ.get("NAVARENA_TEST_SEED", "0"))) > 0


if __name__ == "__main__":
    total = 0
    known = {given["protocol"] for given in KINDS.values()}
    KINDS |= {name: {"protocol": name, "agent": "expert"} for name in TASKS.names() if name not in known}
    for name in KINDS:
        with tempfile.TemporaryDirectory() as scratch:
            total += (met := survive(name, Path(scratch), int(sys.argv[1]), int(sys.argv[2])))
            print(f"{name}: {met} kills, nothing lost or changed", flush=True)
    print(f"{total} kills in all")
