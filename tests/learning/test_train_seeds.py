"""Trainings side by side: a shell script stands for the command, so that no process imports anything."""

import json
import os
import time

import pytest

from navarena.cli.console import Console
from navarena.cli.training import seeds as train_seeds
from navarena.cli.training.seeds import SeedFailure, SeedTraining, read_frames, train_side_by_side
from navarena.cli.training.train import describe_failures

SCRIPT = """#!/bin/sh
cd "$(dirname "$0")"
case "$3" in
good) echo '{"frames": 8, "out": "'"$4"'", "threads": "'"$NAVARENA_THREADS"'"}' ;;
bad) echo "a line before" >&2; echo "error: expected more room" >&2; exit 2 ;;
dies) kill -9 $$ ;;
meets) touch "$4"; until [ -e "$5" ]; do sleep 0.05; done; echo '{"frames": 8, "out": ""}' ;;
alone) mkdir lock || exit 1; sleep 0.1; rmdir lock; echo '{"frames": 8, "out": ""}' ;;
waits) echo $$ > pid.part; mv pid.part pid; exec sleep 600 ;;
esac
"""


@pytest.fixture
def train(tmp_path, monkeypatch):
    """A function that runs commands of the script as the trainings of the seeds 0, 1, ..."""
    script = tmp_path / "script"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    monkeypatch.setattr(train_seeds.sys, "executable", str(script))
    monkeypatch.setattr(train_seeds, "POLL_SECONDS", 0.02)

    def run(*commands, workers=2):
        trainings = [
            SeedTraining(seed, tmp_path / f"seed-{seed}", tuple(one.split()), 8)
            for seed, one in enumerate(commands)
        ]
        return train_side_by_side(Console(json=True), "training", trainings, workers, 3, True)

    return run


def test_those_that_fail_are_named_and_the_others_stay(train, capsys):
    done, failed = train("good a", "bad", "dies", "good b")
    assert done == [
        {"frames": 8, "out": out, "threads": "3", "seed": seed} for out, seed in (("a", 0), ("b", 3))
    ]
    assert failed == [
        SeedFailure(1, 2, "expected more room"),
        SeedFailure(2, -9, "its process was ended by signal 9"),
    ]
    assert "seed 1 failed: expected more room" in capsys.readouterr().err
    error = describe_failures(failed, 4)
    assert error.exit_code == 2
    assert str(error) == (
        "2 of 4 trainings failed, the same command goes on with them; seed 1: expected more room; seed 2: "
        "its process was ended by signal 9"
    )
    assert describe_failures([SeedFailure(0, 1, "a loss that is not finite")], 2).exit_code == 1


def test_as_many_run_at_a_time_as_there_are_workers(train):
    done, failed = train("meets here there", "meets there here")
    assert [one["seed"] for one in done] == [0, 1] and not failed
    done, failed = train("alone", "alone", "alone", workers=1)
    assert [one["seed"] for one in done] == [0, 1, 2] and not failed


def test_an_interrupt_ends_all_of_them(train, tmp_path, monkeypatch):
    sleep = time.sleep

    def interrupt(seconds):
        while not (tmp_path / "pid").exists():
            sleep(0.02)
        raise KeyboardInterrupt

    monkeypatch.setattr(train_seeds.time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        train("waits", "good a")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_frames_are_read_off_the_last_whole_line_of_a_log(tmp_path):
    assert read_frames(tmp_path) == 0
    lines = [json.dumps({"frames": frames, "kind": "x" * 900}) for frames in range(40)]
    (tmp_path / train_seeds.LOG).write_text("\n".join(lines[:1]))
    assert read_frames(tmp_path) == 0, "a line that is being written"
    (tmp_path / train_seeds.LOG).write_text("\n".join(lines) + "\n" + lines[0][:50])
    assert read_frames(tmp_path) == 39
    for damaged in ("\0\0", "{", "[1]", '{"frames": null}', '{"kind": "x"}', ""):
        (tmp_path / train_seeds.LOG).write_text(f"{lines[0]}\n{damaged}\n")
        assert read_frames(tmp_path) == 0, damaged
