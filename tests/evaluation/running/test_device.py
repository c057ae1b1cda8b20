"""Runs whose images another engine draws."""

import json

import pytest

from navarena.core import render_devices as module
from navarena.core.errors import InputError, UnknownNameError
from navarena.evaluation import EvaluationSettings, evaluate, open_benchmark
from navarena.evaluation.records.record import describe_versions, read_record
from navarena.evaluation.running.replay import replay_run


def test_runs_of_the_cpus_engine_are_called_as_ever():
    settings = EvaluationSettings("pointnav-v1", agent="stop", episodes=2)
    assert "device" not in settings.decisive and "warp" not in describe_versions()
    assert "engine" not in str(open_benchmark(settings).identity)


def test_unknown_devices_are_refused():
    with pytest.raises(UnknownNameError, match="unknown device 'gpu'"):
        EvaluationSettings("pointnav-v1", device="gpu")


def test_a_missing_gpu_is_noticed_before_anything_is_written(monkeypatch, tmp_path):
    def missing(name):
        raise InputError("expected an NVIDIA driver")

    monkeypatch.setattr("navarena.evaluation.benchmark.find_device", missing)
    with pytest.raises(InputError, match="expected an NVIDIA driver"):
        evaluate(EvaluationSettings("pointnav-v1", "stop", episodes=1, device="cuda", out=tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.learn
def test_runs_of_warp_name_their_engine_and_replay(tmp_path):
    warp = pytest.importorskip("warp", reason="needs pip install 'navarena[gpu]'")
    folder = tmp_path / "run"
    evaluate(
        EvaluationSettings(
            "pointnav-v1", "frontier", episodes=2, episode_steps=20, device="warp-cpu", out=folder
        )
    )
    record = read_record(folder)
    assert record.identity.startswith("pointnav-v1+custom+engine=warp+episode_steps=20@")
    assert record.settings["device"] == "warp-cpu"
    assert record.versions["warp"] == warp.__version__
    assert record.versions["device"] == module.find_device("warp-cpu").name
    assert json.loads((folder / "run.json").read_text())["settings"]["device"] == "warp-cpu"
    assert not replay_run(folder).differences
