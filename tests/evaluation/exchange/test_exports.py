"""Runs in the layouts of reference code."""

import json

import numpy as np
import pytest

from evaluation.analyses.test_failures import FORWARD, FOUND, make_hall
from evaluation.corridor import make_benchmark, make_settings
from navarena.core.errors import CheckFailedError, InputError, UnknownNameError
from navarena.core.geometry import unity_from_world, unity_from_yaw, world_from_unity, yaw_from_unity
from navarena.evaluation import EvaluationSettings, evaluate, execute_actions, read_rows
from navarena.evaluation.exchange.exports import export_run, raw_metrics_of
from navarena.evaluation.records.journal import GoalsRecord, journal_path
from navarena.metrics import compute_metrics, raw_metrics
from navarena.tasks.protocols.multi_on import MultiOn1


def plain(value):
    return json.loads(json.dumps(value))


def test_multion_raw_metrics_are_those_of_the_trajectories(tmp_path):
    from dataclasses import replace

    hall = replace(make_hall(*[FORWARD] * 11, FOUND), metrics=MultiOn1.metrics)
    evaluate(EvaluationSettings("hall-v1", agent="scripted", out=tmp_path / "run"), hall)
    assert export_run(tmp_path / "run", "multion", tmp_path / "raw.json") == 3
    written = json.loads((tmp_path / "raw.json").read_text())
    assert set(written) == {"hall.ahead", "hall.behind", "hall.beside"}
    rows = read_rows(tmp_path / "run")
    pairs = [(row, next(one for one in hall.episodes if one.episode_id == row.episode_id)) for row in rows]
    for row, _, outcome in execute_actions(hall, pairs):
        assert written[f"hall.{row.episode_id}"] == plain(raw_metrics(outcome.trajectory))
        assert compute_metrics(("spl",), outcome.trajectory)["spl"] == row.metrics["spl"]
    assert written["hall.ahead"]["success"] == 1.0


def test_legs_without_a_way_are_null(tmp_path):
    evaluate(make_settings(tmp_path), make_benchmark(count=1))
    (row,) = read_rows(tmp_path)
    import msgspec

    names = ("progress", "ppl_code", "distance_left")
    several = msgspec.structs.replace(
        row,
        goals=GoalsRecord(legs=[2.0, None], found_after=[], walked=[]),
        metrics={**row.metrics, **dict.fromkeys(names, 0.0)},
    )
    assert raw_metrics_of(several)["geodesic_distances"] == [2.0, None]
    with pytest.raises(InputError, match="got one goal in episode 'e000'"):
        raw_metrics_of(row)
    del several.metrics["distance_left"]
    with pytest.raises(InputError, match="metrics of MultiON .* got no distance_left in episode 'e000'"):
        raw_metrics_of(several)


def test_robustnav_tasks(tmp_path):
    benchmark = make_benchmark(count=8)
    evaluate(make_settings(tmp_path / "run"), benchmark)
    assert export_run(tmp_path / "run", "robustnav", tmp_path / "tasks.json", benchmark) == 8
    (document,) = json.loads((tmp_path / "tasks.json").read_text())
    rows = read_rows(tmp_path / "run")
    assert document["success"] == pytest.approx(np.mean([row.metrics["success"] for row in rows]))
    assert document["ep_length"] == pytest.approx(np.mean([row.steps for row in rows]))
    task, row = document["tasks"][1], rows[1]
    info = task["task_info"]
    assert info["taken_actions"] == row.actions and info["action_names"] == ["stop", "east", "west"]
    assert len(info["followed_path"]) == len(info["far_from_goal"]) == row.steps + 1
    assert len(info["action_success"]) == row.steps
    assert [pose["y"] for pose in info["followed_path"]] == [0.9] * (row.steps + 1), "of the agent's centre"
    assert info["took_end_action"] and info["action_success"][-1] == bool(row.metrics["success"])
    assert info["goal_in_range"] == [distance < 0.5 for distance in info["far_from_goal"]]
    assert task["dist_to_target"] == row.metrics["distance_to_goal"]


def test_bad_exports(tmp_path):
    evaluate(make_settings(tmp_path / "run"), make_benchmark(count=4))
    with pytest.raises(UnknownNameError, match="unknown layout of results 'multon'. Did you mean 'multion'"):
        export_run(tmp_path / "run", "multon", tmp_path / "x.json")
    journal = journal_path(tmp_path / "run", 0)
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]))
    for kind in ("multion", "robustnav"):
        with pytest.raises(CheckFailedError):
            export_run(tmp_path / "run", kind, tmp_path / "x.json", make_benchmark(count=4))


def test_unity_and_back():
    points = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]])
    assert world_from_unity(unity_from_world(points)).tolist() == points.tolist()
    yaws = np.array([0.0, 1.0, -3.0])
    assert yaw_from_unity(unity_from_yaw(yaws)) == pytest.approx(yaws)
    assert unity_from_yaw(-np.pi / 2) == pytest.approx(90.0)
