"""`navarena bench render --device`, and what doctor says of GPUs."""

import json

import pytest

from navarena.cli import doctor
from navarena.cli.main import main
from navarena.core import render_devices as module


def test_other_benchmarks_have_no_device(capsys):
    assert main(["bench", "step", "--device", "cuda"]) == 2
    assert "run: navarena bench render --device cuda" in " ".join(capsys.readouterr().err.split())


def test_unknown_device(capsys):
    assert main(["bench", "render", "--device", "gpu"]) == 2
    assert "unknown device 'gpu'" in capsys.readouterr().err


@pytest.mark.learn
def test_rates_on_warps_cpu_device(capsys, monkeypatch):
    pytest.importorskip("warp", reason="needs pip install 'navarena[gpu]'")
    monkeypatch.setattr("navarena.cli.benchmarks.render_device.TARGETS", {16: 1})
    assert main(["bench", "render", "--device", "warp-cpu", "--quick", "--json"]) == 0
    rate, memory = json.loads(capsys.readouterr().out)["measurements"]
    assert rate["name"] == "16x16 on warp-cpu" and rate["value"] > 0 and rate["target"] is None
    assert memory["unit"] == "MiB" and memory["value"] > 1


def test_doctor_names_the_gpus_or_why_there_are_none(monkeypatch):
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None)
    assert "navarena[gpu]" in doctor.check_gpu().remedy
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(module, "describe_devices", lambda: ["cuda:0 GPU, 80 GiB"])
    assert doctor.check_gpu() == doctor.Finding("GPU", "ok", "cuda:0 GPU, 80 GiB")
    monkeypatch.setattr(module, "describe_devices", lambda: [])
    monkeypatch.setattr(module, "find_warp", lambda: None)
    monkeypatch.setattr(module, "describe_missing_cuda", lambda warp: "expected a GPU, got none; get one")
    assert doctor.check_gpu() == doctor.Finding("GPU", "missing", "expected a GPU, got none", "get one")
