"""Failure classes by replay, in a drawn hall with a cylinder to be found."""

import errno
import json
import tempfile
from dataclasses import dataclass, replace

import numpy as np
import pytest

from navarena.agents import SingleAgent, wrap
from navarena.core.errors import FileError
from navarena.evaluation import Benchmark, EvaluationSettings, Identity, evaluate
from navarena.evaluation.analyses.failures import classify_run, load_evaluation, read_failures
from navarena.reports import render_report
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.multi_on import MultiOn1
from navarena.tasks.protocols.multi_on_options import MultiOnOptions
from tasks.small import SMALL_BODY, as_objects, make_cache, make_episode

FOUND, FORWARD, LEFT = 0, 1, 2


class HallMultiOn(MultiOn1):
    embodiment = SMALL_BODY


EPISODES = tuple(
    as_objects(make_episode(name, (5.0, 0.0, 5.0), (5.0, 0.0, 2.4), yaw=yaw, distance=2.6))
    for name, yaw in (("ahead", 0.0), ("behind", np.pi), ("beside", np.pi / 2))
)
"""A cylinder 2.6 m to the north; the body looks at it, away from it, past it."""


class Scripted(SingleAgent):
    """Acts by a script, over and over."""

    def __init__(self, script):
        self._script = script

    def reset(self):
        self._step = 0

    def act(self, observations):
        self._step += 1
        return self._script[(self._step - 1) % len(self._script)]


@dataclass(frozen=True)
class HallSetup:
    script: tuple

    def make_batch(self, slots, sensors, threads):
        task = HallMultiOn(MultiOnOptions(max_steps=12))
        return NavigationBatch(task, slots, threads, sensors, worlds=make_cache())

    def make_agent(self):
        return wrap(lambda: Scripted(self.script), sensors=())


def make_hall(*script):
    identity = Identity("hall-v1", "hall", "mini", "0")
    metrics = ("success", "distance_to_goal")
    return Benchmark(identity, EPISODES, MultiOn1.actions, metrics, HallSetup(script))


def classify(folder, *script):
    benchmark = make_hall(*script)
    evaluate(EvaluationSettings("hall-v1", agent="scripted", out=folder), benchmark)
    return classify_run(folder, benchmark)


def test_a_wrong_declaration_is_early_in_view_and_false_otherwise(tmp_path):
    found = classify(tmp_path, FOUND)
    assert found.classes == {"ahead": "stopped_early", "behind": "false_stop", "beside": "false_stop"}
    assert found.count() == {"false_stop": 2, "stopped_early": 1} and found.episodes == 3
    assert json.loads((tmp_path / "failures.json").read_text())["classes"] == found.classes
    evaluation = load_evaluation(tmp_path, make_hall(FOUND))
    assert "Why episodes failed" in render_report(evaluation)
    run = found.record, evaluation.rows
    assert read_failures(tmp_path, *run) == found.classes
    assert read_failures(tmp_path / "elsewhere", *run) is None
    (tmp_path / "failures.json").write_text('{"classes": {"ahead": "tired"}}')
    with pytest.raises(FileError, match="make it again with: navarena failures"):
        read_failures(tmp_path, *run)


def test_failures_of_a_run_that_may_only_be_read_are_classified(tmp_path, monkeypatch):
    def refuse(**place):
        raise PermissionError(errno.EACCES, "Permission denied")

    found = classify(tmp_path, FOUND)
    (tmp_path / "failures.json").unlink()
    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    assert classify_run(tmp_path, make_hall(FOUND)).classes == found.classes
    assert not (tmp_path / "failures.json").exists()


def test_classes_of_other_rows_are_not_read(tmp_path):
    """The last episode runs again, with another end."""
    classes = classify(tmp_path, FOUND).classes
    journal = tmp_path / "journal-0.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    again = evaluate(EvaluationSettings("hall-v1", agent="scripted", out=tmp_path), make_hall(FORWARD))
    assert read_failures(tmp_path, again.record, again.rows) is None
    assert "Not computed yet" in render_report(again)
    assert classify_run(tmp_path, make_hall(FORWARD)).classes != classes
    assert "Not computed yet" not in render_report(again)


def test_who_never_looks_never_sees(tmp_path):
    found = classify(tmp_path, LEFT, LEFT, LEFT, LEFT, LEFT, LEFT, LEFT, LEFT, LEFT, LEFT, LEFT, LEFT)
    assert set(found.classes.values()) == {"saw_not_reached"}  # a whole turn on the spot
    away = classify(tmp_path / "away", FORWARD)
    assert away.classes == {"ahead": "not_stopped", "behind": "never_saw", "beside": "never_saw"}


def test_a_run_without_failures(tmp_path):
    assert classify(tmp_path / "found", *[FORWARD] * 11, FOUND).classes.keys() == {"behind", "beside"}
    only = replace(make_hall(*[FORWARD] * 11, FOUND), episodes=EPISODES[:1])
    evaluate(EvaluationSettings("hall-v1", agent="scripted", out=tmp_path / "only"), only)
    assert classify_run(tmp_path / "only", only).classes == {}
