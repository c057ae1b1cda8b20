"""What is said of a run while it goes on."""

import json

import pytest

from navarena.evaluation.running.live import RunMonitor
from navarena.metrics.statistics import wilson_interval


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def write(folder, name, *lines, tail=b""):
    with (folder / name).open("ab") as file:
        file.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines) + tail)


def row(success):
    return {"episode_id": "e", "metrics": {"success": success, "spl": 0.5}}


def test_a_run_by_hand(folder):
    """Two of three succeed in four seconds, one of them before; 3 s of 4 s are the simulator's."""
    seconds = iter((0.0, 4.0))
    write(folder, "journal-0.jsonl", row(1.0))
    monitor = RunMonitor(folder, lambda: next(seconds))
    write(folder, "journal-0.jsonl", row(0.0))
    write(folder, "journal-1.jsonl", row(1.0), tail=b'{"metrics": {"succ')
    write(folder, "times-0.jsonl", {"episode_id": "e", "simulator": 3.0, "agent": 1.0, "output": 0.0})
    low, high = wilson_interval(2, 3)
    assert monitor.describe() == (
        f"success 66.7 % ({100 * low:.1f} to {100 * high:.1f} %), 0.5 episodes/s, "
        "75 % simulator, 25 % agent, 0 % output"
    )


def test_a_line_counts_once_it_is_whole(folder):
    seconds = iter(range(10))
    monitor = RunMonitor(folder, lambda: next(seconds))
    whole = json.dumps(row(1.0)).encode() + b"\n"
    write(folder, "journal-0.jsonl", tail=whole[:20])
    assert monitor.describe() == ""
    write(folder, "journal-0.jsonl", tail=whole[20:])
    assert monitor.describe().startswith("success 100.0 % (20.7 to 100.0 %), 0.5 episodes/s")
    assert monitor.describe().startswith("success 100.0 % (20.7 to 100.0 %), 0.333 episodes/s")


def test_what_has_no_success_is_only_counted(folder):
    """Infinite, missing and partial successes are no rate; damaged lines are for those who read results."""
    seconds = iter((0.0, 1.0))
    monitor = RunMonitor(folder, lambda: next(seconds))
    write(folder, "journal-0.jsonl", row(None), row(0.5), {"metrics": {}}, tail=b"not json\n")
    assert monitor.describe() == "3 episodes/s"
