"""Results files of RoboTHOR 2021, written from runs and read by what reads those of others."""

import json
from pathlib import Path

import pytest

from navarena.cli.main import main
from navarena.core.errors import InputError
from navarena.evaluation import EvaluationSettings, evaluate
from navarena.evaluation.benchmark import open_benchmark
from navarena.evaluation.exchange.exports import export_run
from navarena.evaluation.exchange.official import ROBOTHOR_ACTIONS, ShortestPath, read_robothor

PROTOCOL = "objectnav-robothor2021-v1"


def test_what_is_written_is_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = EvaluationSettings(PROTOCOL, agent="expert", episodes=2, out=tmp_path / "run")
    rows = evaluate(settings).rows
    file = tmp_path / "results.json"
    assert main(["export", str(settings.out), "robothor2021", "--out", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["episodes"] == 2
    written = json.loads(file.read_text())
    assert list(written) == ["mini"] and set(written["mini"]) == {"episodes", "ep_len", "success", "spl"}
    benchmark = open_benchmark(settings, needs_agent=False)
    paths = {}
    for one in benchmark.episodes:
        x, y, z = one.start_position
        start = written["mini"]["episodes"][one.episode_id]["trajectory"][0]
        assert (start["x"], start["y"], start["z"]) == pytest.approx((x, y + 0.9, -z))
        assert start["horizon"] == pytest.approx(30.0), "downwards, as the camera begins"
        assert one.geodesic_distance is not None
        paths[one.episode_id] = ShortestPath(one.scene_id, one.geodesic_distance, (x, -z))
    results = read_robothor(file, "mini", ROBOTHOR_ACTIONS, paths, "d")
    assert results.notices == (
        "whether the object was visible at Stop is the file's word; it keeps no images",
    ), "no mean and no start disagrees"
    for row, own in zip(results.rows, rows, strict=True):
        assert row.actions == own.actions and row.episode_id == own.episode_id
        for name in ("success", "spl", "path_length", "num_actions"):
            assert row.metrics[name] == pytest.approx(own.metrics[name]), name


def test_runs_with_other_actions_have_no_such_file(tmp_path: Path) -> None:
    settings = EvaluationSettings("pointnav-v1", agent="stop", episodes=1, out=tmp_path / "run")
    evaluate(settings)
    with pytest.raises(InputError, match="expected the six actions of RoboTHOR 2021"):
        export_run(tmp_path / "run", "robothor2021", tmp_path / "x.json")
    assert not (tmp_path / "x.json").exists()
