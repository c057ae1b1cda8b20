"""Whatever is edited in the files of a run, replay notices it, whatever protocol and workers it had."""

import os
from dataclasses import replace

import pytest

from evaluation.corridor import make_benchmark, make_settings
from evaluation.running.test_tour_runs import graph_settings
from navarena.evaluation import EvaluationSettings, evaluate
from tampering import list_edits, tamper

KINDS = {
    "houses": {"protocol": "objectnav-habitat2020-v1", "agent": "expert"},
    "corrupted": {"protocol": "pointnav-v1", "agent": "expert", "corrupt": ("motion_drift", "spatter:3")},
    "several goals": {"protocol": "multion-2on-v1", "agent": "frontier"},
    "apartments": {"protocol": "robustnav-objectnav-v1", "agent": "expert"},
    "continuous": {"protocol": "objectnav-stretch2023-v1", "agent": "random", "episode_steps": 20},
    "tours in houses": {"protocol": "ir2r-ce-v1", "agent": "expert", "episodes": 3},
}


@pytest.mark.parametrize(("agent", "workers"), [("Crasher", 1), ("Peeker", 2)])
def test_every_edit_is_noticed(tmp_path, agent, workers):
    benchmark = replace(make_benchmark(agent, 4), metrics=("success", "path_length"))
    evaluate(make_settings(tmp_path, agent, workers=workers), benchmark)
    edits, unfound = tamper(tmp_path, benchmark, 150)
    assert (edits, unfound) == (150, [])


def test_edits_reach_every_file_and_key(tmp_path):
    evaluate(make_settings(tmp_path, "Peeker"), make_benchmark("Peeker", 4))
    names = {what.partition(" (")[0] for what, _ in list_edits(tmp_path)}
    assert {"run.json .noticed_inputs[0]", "run.json .view_points", "summary.json .metrics.spl.mean"} <= names
    assert {"episodes.parquet spl[3]", "journal-0.jsonl:1 .run", "journal-0.jsonl:5 .actions[0]"} <= names


@pytest.mark.slow
@pytest.mark.turns(6)
@pytest.mark.parametrize("kind", KINDS)
def test_edits_of_real_runs(tmp_path, kind):
    evaluate(EvaluationSettings(out=tmp_path, **{"episodes": 2, **KINDS[kind]}))
    require_noticed(tmp_path)


@pytest.mark.slow
@pytest.mark.turns(6)
@pytest.mark.parametrize("workers", [1, 2])
def test_edits_of_tours_on_graphs(tmp_path, workers):
    settings = graph_settings(tmp_path, agent="path", workers=workers)
    evaluate(settings)
    require_noticed(settings.out)


def require_noticed(folder):
    seed = int(os.environ.get("NAVARENA_TEST_SEED", "0"))
    edits, unfound = tamper(folder, most=60, seed=seed)
    assert edits == 60 and unfound == [], f"seed {seed}"
