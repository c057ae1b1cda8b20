"""Agents that exit, answer nonsense, close files, leave their folder, and look where they may not."""

import os
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from evaluation.corridor import CorridorSetup, Peeker, Walker, make_benchmark, make_settings
from evaluation.running.test_tour_runs import graph_settings
from navarena.agents.simple import RandomAgent
from navarena.core.errors import CheckFailedError, StorageError
from navarena.evaluation import evaluate, replay_run
from navarena.evaluation.records.journal import journal_paths
from navarena.evaluation.records.lock import FolderLock
from navarena.evaluation.records.record import read_record

CHOSEN = "e003"


class Faulty(Walker):
    """Does what it must not in one episode."""

    def act(self, observations, active):
        if CHOSEN in [self.episodes[slot] for slot in np.flatnonzero(active).tolist()]:
            return self.misbehave(super().act(observations, active))
        return super().act(observations, active)


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def raising(error):
    def misbehave(agent, actions):
        raise error

    return misbehave


def closing(agent, actions):
    for name in os.listdir("/proc/self/fd"):
        path = f"/proc/self/fd/{name}"
        if os.path.exists(path) and ".jsonl" in os.readlink(path):
            os.close(int(name))
    return actions


def removing(agent, actions):
    shutil.rmtree(os.environ["RUN_FOLDER"])
    return actions


def leaving(agent, actions):
    os.chdir("/")
    return actions


def ending(agent, actions):
    os._exit(7)


def aborting(agent, actions):
    os.abort()


DEEDS = {
    "SystemExit": raising(SystemExit(0)),
    "BaseException": raising(BaseException("bare")),
    "GeneratorExit": raising(GeneratorExit()),
    "surrogate": raising(ValueError("\ud800 half a letter")),
    "unprintable": raising(Unprintable()),
    "long": raising(ValueError("x" * 10**6)),
    "NaN": lambda agent, actions: np.full(len(actions), np.nan),
    "float": lambda agent, actions: actions + 0.5,
    "2-D": lambda agent, actions: actions[:, None],
    "too many": lambda agent, actions: np.zeros(5_000_000, np.int64),
    "None": lambda agent, actions: None,
    "text": lambda agent, actions: "east",
    "ragged": lambda agent, actions: [[1], [1, 2]],
    "object": lambda agent, actions: object(),
    "bool": lambda agent, actions: actions > 0,
    "closing": closing,
    "removing": removing,
    "leaving": leaving,
    "ending": ending,
    "aborting": aborting,
}


class Unmade(Walker):
    def __init__(self):
        os._exit(3)


@dataclass(frozen=True)
class Setup(CorridorSetup):
    def make_agent(self):
        if self.agent in DEEDS:
            return type("Faulty", (Faulty,), {"misbehave": DEEDS[self.agent]})()
        return {"Peeker": Peeker, "Unmade": Unmade}[self.agent]()


def run(folder, agent, count=8, **settings):
    benchmark = replace(make_benchmark("Walker", count), setup=Setup(agent))
    return evaluate(make_settings(folder, agent, **settings), benchmark)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return evaluate(make_settings(tmp_path_factory.mktemp("expected")), make_benchmark(count=8)).rows


def require_one_broken(evaluation, expected, status):
    """Only the chosen episode is broken; all others came out as those of a good agent."""
    for row, good in zip(evaluation.rows, expected, strict=True):
        if row.episode_id == CHOSEN:
            assert row.status == status and row.metrics["success"] == 0.0 and row.traceback
        else:
            assert row == good


@pytest.mark.parametrize(
    "deed", ["SystemExit", "BaseException", "GeneratorExit", "surrogate", "unprintable", "long"]
)
def test_whatever_an_agent_raises_is_a_row(tmp_path, expected, deed):
    evaluation = run(tmp_path, deed, batch_size=3)
    require_one_broken(evaluation, expected, "crashed")
    assert len(next(row.traceback for row in evaluation.rows if row.failed)) < 25_000


@pytest.mark.parametrize(
    "deed", ["NaN", "float", "2-D", "too many", "None", "text", "ragged", "object", "bool"]
)
def test_an_answer_that_is_no_action_is_a_row(tmp_path, expected, deed):
    require_one_broken(run(tmp_path, deed, batch_size=3), expected, "illegal_action")
    benchmark = replace(make_benchmark("Walker", 8), setup=Setup(deed))
    assert not replay_run(tmp_path, benchmark).differences


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_closed_files_are_one_line(tmp_path):
    with pytest.raises(
        StorageError, match=r"removed, replaced, or closed by the agent .* same command again"
    ):
        run(tmp_path, "closing", batch_size=1)


def test_a_folder_that_was_deleted_is_noticed_at_the_next_row(tmp_path, monkeypatch):
    monkeypatch.setenv("RUN_FOLDER", str(tmp_path / "run"))
    rows = []
    benchmark = replace(make_benchmark("Walker", 8), setup=Setup("removing"))
    with pytest.raises(StorageError, match=r"journal-0\.jsonl, got a file that was removed"):
        evaluate(make_settings(tmp_path / "run", "removing", batch_size=1), benchmark, lambda: rows.append(1))
    assert len(rows) == 3 and not (tmp_path / "run").exists()


def test_an_agent_may_leave_the_directory(tmp_path, monkeypatch, expected):
    monkeypatch.chdir(tmp_path)
    evaluation = run(Path("run"), "leaving")
    assert evaluation.rows == expected
    assert (tmp_path / "run" / "summary.json").exists()


def require_ended(rows, expected, how):
    chosen = [row for row in rows if row.episode_id == CHOSEN]
    assert len(chosen) == 1 and chosen[0].status == "crashed"
    assert chosen[0].traceback.startswith("the process of the agent ended twice in this episode: " + how)
    assert [row for row in rows if row.episode_id != CHOSEN] == [
        row for row in expected if row.episode_id != CHOSEN
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_an_episode_that_ends_its_process_is_a_row(tmp_path, expected):
    evaluation = run(tmp_path, "aborting", workers=2, batch_size=2)
    require_ended(evaluation.rows, expected, "killed by signal 6 (SIGABRT)")
    assert sum("SIGABRT" in notice for notice in evaluation.notices) == 2


def test_a_run_whose_process_ended_goes_on_in_a_worker(tmp_path, expected):
    with FolderLock(tmp_path) as lock:
        assert not lock.was_abandoned
        lock._descriptor, kept = None, lock._descriptor  # as if the process had ended here
    os.close(kept)
    evaluation = run(tmp_path, "ending", batch_size=4)
    require_ended(evaluation.rows, expected, "ended with exit code 7")
    assert (
        "ended by its agent, without a word; what is left runs in a worker process" in evaluation.notices[0]
    )
    with FolderLock(tmp_path) as lock:
        assert not lock.was_abandoned


@pytest.mark.slow
def test_memory_is_rebuilt_without_the_episode_that_ends_processes(tmp_path):
    """An episode of a scene ended its process; another one of the scene is run anew, and the first is not."""
    run(tmp_path, "ending", workers=2, forget="never")
    paths = journal_paths(tmp_path)  # which workers wrote the rows of the scene depends on timing
    path, row = next(
        (path, line)
        for path in paths
        for line in path.read_bytes().splitlines(keepends=True)
        if b'"e00' in line and b"corridor/00" in line and CHOSEN.encode() not in line
    )
    path.write_bytes(path.read_bytes().replace(row, b""))
    again = run(tmp_path, "ending", forget="never")
    assert again.resumed == 7 and [row.episode_id for row in again.rows if row.failed] == [CHOSEN]


def test_workers_that_end_before_they_run_are_not_started_for_ever(tmp_path):
    with pytest.raises(CheckFailedError, match="every worker died .* with 8 episodes left"):
        run(tmp_path, "Unmade", workers=2)


def test_one_that_looks_into_its_batch_is_privileged(tmp_path):
    evaluation = run(tmp_path / "peeker", "Peeker")
    assert evaluation.record.privileged
    assert evaluation.record.privileged_inputs == ("state of the simulator (not declared)",)
    assert read_record(tmp_path / "peeker") == evaluation.record
    with_workers = run(tmp_path / "workers", "Peeker", workers=2)
    assert with_workers.record.privileged_inputs == evaluation.record.privileged_inputs
    honest = evaluate(make_settings(tmp_path / "honest"), make_benchmark(count=8))  # keeps it, does not look
    assert not honest.record.privileged


class TourFault(RandomAgent):
    """Misbehaves in the second episode of the first tour."""

    deed = "SystemExit"

    def reset(self, starts):
        super().reset(starts)
        self.ids = {**getattr(self, "ids", {}), **{start.slot: start.episode_id for start in starts}}

    def act(self, observations, active):
        actions = super().act(observations, active)
        is_there = any(self.ids[slot] == self.chosen for slot in np.flatnonzero(active).tolist())
        return DEEDS[self.deed](self, actions) if is_there else actions


@pytest.mark.parametrize(("deed", "status"), [("SystemExit", "crashed"), ("NaN", "illegal_action")])
def test_tours_go_on_after_an_episode_that_was_broken(tmp_path, deed, status):
    whole = evaluate(graph_settings(tmp_path, "whole")).rows
    chosen = next(row.episode_id for row in whole if row.tour.position == 1)
    agent = type("TourFault", (TourFault,), {"deed": deed, "chosen": chosen})
    settings = graph_settings(tmp_path, agent=agent)
    rows = evaluate(settings).rows
    assert [row.episode_id for row in rows] == [row.episode_id for row in whole]
    assert [row.episode_id for row in rows if row.failed] == [chosen]
    assert next(row.status for row in rows if row.failed) == status
    assert not replay_run(settings.out, None).differences
