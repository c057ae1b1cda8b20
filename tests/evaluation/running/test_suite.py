"""Suites of corruptions: every row a run of its own, checked first, resumed later."""

import json

import pytest

from navarena.cli.main import main
from navarena.core.errors import InputError, UnknownNameError
from navarena.corruptions.suites import CLEAN, SUITES, Suite
from navarena.evaluation import EvaluationSettings
from navarena.evaluation.running.suite import plan_suite

ROWS = (CLEAN, ("motion_drift",), ("localisation_noise:5", "motor_failure"))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setitem(SUITES, "small", Suite("three rows", ROWS))


@pytest.fixture
def mesh(dungeon_folder):
    return str(dungeon_folder / "dungeon.obj")


def settings(mesh, **others):
    return EvaluationSettings("pointnav-v1", agent="random", dataset=mesh, episodes=3, **others)


def test_rows_lie_side_by_side(mesh, tmp_path):
    runs = plan_suite(settings(mesh, out=tmp_path), "small")
    assert [run.corruptions for run in runs] == list(ROWS)
    assert [run.settings.corrupt for run in runs] == [
        (),
        ("motion_drift",),
        ("localisation_noise:5", "motor_failure"),
    ]
    names = ["clean", "motion_drift", "localisation_noise-5+motor_failure"]
    assert [run.folder for run in runs] == [tmp_path / name for name in names]
    again = plan_suite(settings(mesh), "small")
    assert [run.folder for run in again] == [run.folder for run in plan_suite(settings(mesh), "small")]
    assert again[0].folder.parent.name.endswith("-small")


def test_what_cannot_run_is_refused_before_anything_starts(mesh, tmp_path, monkeypatch):
    with pytest.raises(UnknownNameError, match="Did you mean 'severity-5'"):
        plan_suite(settings(mesh), "severity5")
    with pytest.raises(InputError, match="either a suite or corruptions of one run"):
        plan_suite(settings(mesh, corrupt=("motion_drift",)), "small")
    monkeypatch.setitem(SUITES, "small", Suite("odd", (CLEAN, ("odometry_noise",))))
    with pytest.raises(InputError, match="a sensor of odometry"):
        plan_suite(settings(mesh, out=tmp_path), "small")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_command_runs_reports_and_resumes(mesh, tmp_path, capsys):
    command = ["evaluate", "pointnav-v1", "--agent", "random", "--dataset", mesh, "--episodes", "3"]
    command += ["--suite", "small", "--out", str(tmp_path), "--json"]
    assert main(command) == 0
    out, err = capsys.readouterr()
    first = json.loads(out)
    (result,) = first["results"]
    assert [row["corruptions"] for row in result["rows"]] == [list(row) for row in ROWS]
    assert "row 3 of 3: localisation_noise:5 + motor_failure" in err and "resuming" not in err
    assert (tmp_path / "robustness.html").exists()
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == first and "3 episodes are finished" in err


@pytest.mark.parametrize("more", [("--repeat", "2"), ("--redraw",)])
def test_a_suite_is_not_repeated(more, capsys):
    assert main(["evaluate", "pointnav-v1", "--suite", "severity-5", *more]) == 2
    assert "expected --suite without --repeat and --redraw, got both" in capsys.readouterr().err
