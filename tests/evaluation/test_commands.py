"""`navarena evaluate` and `navarena replay` on the corridor: tables, JSON keys, exit codes."""

import errno
import json
import os
import tempfile
from pathlib import Path

import pytest

from evaluation.corridor import open_corridor
from navarena.cli.main import main
from navarena.core.registry import load_target
from reports.corridor_plan import make_plan

EVALUATE_KEYS = {
    "identity",
    "agent",
    "episodes",
    "scenes",
    "statuses",
    "confidence",
    "metrics",
    "pooled",
    "first_error",
    "resumed",
    "tours",
    "seconds",
    "notices",
    "out",
    "report",
    "times",
    "costs",
    "repeats",
    "variance",
}
METRIC_KEYS = {"title", "unit", "better", "mean", "low", "high", "n", "infinite", "method"}
REPLAY_KEYS = {"identity", "agent", "declared", "episodes", "exact", "equal", "differences"}
DIFFERENCE_KEYS = {"episode_id", "name", "logged", "replayed"}


@pytest.fixture(autouse=True)
def corridor(monkeypatch, tmp_path):
    """The commands find the corridor under any protocol id."""
    monkeypatch.setattr("navarena.evaluation.running.runner.open_benchmark", open_corridor)
    monkeypatch.setattr("navarena.evaluation.running.replay.open_benchmark", open_corridor)
    monkeypatch.setattr("navarena.cli.runs.evaluating.open_benchmark", open_corridor)
    monkeypatch.setattr("navarena.cli.runs.evaluating.open_plans", lambda benchmark: make_plan)
    monkeypatch.chdir(tmp_path)


def evaluate(*flags):
    return main(["evaluate", "corridor-v1", *flags])


def test_tables_for_people(capsys):
    assert evaluate("--agent", "Crasher", "--out", "run") == 0
    out, err = capsys.readouterr()
    assert "Crasher on corridor-v1@corridors/mini#0123456789abcdef" in out
    for title in ("Success", "SPL", "SoftSPL", "Wilson", "t over scenes"):
        assert title in out
    assert "7 of 40 episodes were broken by the agent and count as failures (7 crashed); the first is" in err
    assert "e000, crashed: ZeroDivisionError: the walker stumbled" in err
    assert f"report: {Path('run/report.html').absolute()}" in out
    assert Path("run/report.html").stat().st_size > 10_000
    assert "Crasher on corridor-v1: 40/40" in err


@pytest.mark.parametrize("flags", [(), ("--quiet",), ("--json",)])
def test_when_every_episode_broke_the_exit_code_is_1(capsys, flags):
    assert evaluate("--agent", "Wreck", "--out", "run", *flags) == 1
    out, err = capsys.readouterr()
    assert "40 of 40 episodes were broken by the agent" in err
    assert "the first is e000, crashed: RuntimeError: on the rocks" in err
    if "--json" in flags:
        first = {"episode_id": "e000", "status": "crashed", "error": "RuntimeError: on the rocks"}
        assert json.loads(out)["first_error"] == first


def test_an_agent_that_closes_stdout(capsys):
    """Its rows are written, the tables printed, and both lines of its message are shown."""
    assert evaluate("--agent", "Closer", "--out", "run") == 1
    out, err = capsys.readouterr()
    assert "Success" in out and "report: " in out
    assert "the first is e000, crashed: RuntimeError: weights are missing: see the manual" in err


def test_what_an_agent_prints_does_not_break_the_document(capfd):
    assert evaluate("--agent", "Talker", "--out", "run", "--json") == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["episodes"] == 40
    assert "said by print" in err and "said to descriptor 1" in err


def test_the_keys_of_evaluate(capsys):
    assert evaluate("--agent", "Walker", "--out", "run", "--workers", "2", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result) == EVALUATE_KEYS
    assert {frozenset(metric) for metric in result["metrics"].values()} == {frozenset(METRIC_KEYS)}
    assert (result["episodes"], result["scenes"], result["statuses"]) == (40, 10, {"ok": 40})
    assert (result["out"], result["resumed"]) == (str(Path("run").absolute()), 0)
    assert result["report"] == str(Path("run/report.html").absolute())


def test_keys_are_documented():
    for command, keys in [
        ("evaluate:Evaluate", EVALUATE_KEYS | METRIC_KEYS),
        ("replay:Replay", REPLAY_KEYS | DIFFERENCE_KEYS),
    ]:
        card = load_target(f"navarena.cli.runs.{command}").__doc__
        assert [key for key in keys if key not in card] == []


def test_the_same_command_resumes_in_the_default_folder(capsys):
    assert evaluate("--agent", "Walker", "--json") == 0
    first = json.loads(capsys.readouterr().out)
    assert first["out"].startswith(str(Path("navarena-runs/corridor-v1-Walker-mini-").absolute()))
    assert evaluate("--agent", "Walker", "--json") == 0
    captured = capsys.readouterr()
    again = json.loads(captured.out)
    assert (again["out"], again["resumed"], again["metrics"]) == (first["out"], 40, first["metrics"])
    assert "40 episodes are finished" in captured.err


def test_another_run_in_the_folder_is_bad_input(capsys):
    assert evaluate("--agent", "Walker", "--out", "run") == 0
    assert evaluate("--agent", "Walker", "--out", "run", "--seed", "1") == 2
    assert f"error: {Path('run').absolute()} holds another run: seed is 0, not 1" in capsys.readouterr().err
    assert evaluate("--agent", "Walker", "--out", "run", "--seed", "1", "--fresh") == 0


@pytest.mark.parametrize("flags", [("--workers", "0"), ("--episodes", "-1"), ("--batch-size", "0")])
def test_counts_below_one_are_bad_input(capsys, flags):
    assert evaluate(*flags) == 2
    assert "of at least 1" in capsys.readouterr().err


@pytest.mark.parametrize("flags", [("--video-of", "best"), ("--video-folder", "videos")])
def test_choices_of_videos_without_videos_are_bad_input(capsys, flags):
    assert main(["report", "run", "--no-drawings", *flags]) == 2
    assert (
        "error: expected --videos N beside --video-of and --video-folder, got none" in capsys.readouterr().err
    )


def test_replay(capsys):
    assert evaluate("--agent", "Walker", "--out", "run") == 0
    capsys.readouterr()
    assert main(["replay", "run"]) == 0
    assert "40 episodes replayed, every number is equal" in capsys.readouterr().out
    assert main(["replay", "run", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result) == REPLAY_KEYS
    assert (result["equal"], result["exact"], result["differences"]) == (True, True, [])


def test_a_run_that_may_only_be_read_is_replayed(capsys, monkeypatch):
    """What replay keeps beside it stays unwritten; a full disk is an error still."""
    assert evaluate("--agent", "Walker", "--out", "run") == 0
    mkstemp, refusal = tempfile.mkstemp, [errno.EROFS]

    def refuse(prefix, suffix, dir):
        if "run" in Path(dir).parts:
            raise OSError(refusal[0], os.strerror(refusal[0]))
        return mkstemp(prefix=prefix, suffix=suffix, dir=dir)

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    assert main(["replay", "run"]) == 0
    assert not Path("run/analyses/replay.json").exists()
    refusal[0] = errno.ENOSPC
    assert main(["replay", "run"]) == 2
    assert "No space left" in capsys.readouterr().err


def test_replay_fails_loudly(capsys):
    assert evaluate("--agent", "Walker", "--out", "run") == 0
    journal = Path("run/journal-0.jsonl")
    lines = journal.read_text().splitlines()
    row = json.loads(lines[4])
    row["metrics"]["spl"] = 0.987
    lines[4] = json.dumps(row)
    journal.write_text("\n".join(lines) + "\n")
    capsys.readouterr()
    assert main(["replay", "run", "--json"]) == 1
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert not result["equal"]
    assert {frozenset(difference) for difference in result["differences"]} == {frozenset(DIFFERENCE_KEYS)}
    assert (
        f"error: replay of run found 4 differences in 40 episodes: episode {row['episode_id']}"
        in captured.err
    )
    assert main(["replay", "nothing"]) == 2
    assert "run record nothing/run.json does not exist" in capsys.readouterr().err


def test_analyse_without_a_name_says_which_fit(capsys):
    """With a label or several seeds, too; an unknown name is answered with its neighbours."""
    assert evaluate("--agent", "Walker", "--out", "run") == 0
    assert evaluate("--agent", "Walker", "--seed", "1", "--out", "other") == 0
    for given, fitting, name in (
        ("run", "they are backtracking, ", "NAME"),
        ("a=run,other", "those that fit are seeds", "seeds"),
    ):
        capsys.readouterr()
        assert main(["analyse", given]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        expected = f"expected the name of an analysis before the runs, got the folder {given}; {fitting}"
        assert expected in line and line.endswith(f"such as: navarena analyse {name} {given}")
    assert main(["analyse", "seed", "run"]) == 2
    assert "unknown analysis 'seed'. Did you mean 'seeds'" in capsys.readouterr().err


def test_analyse_refuses_runs_that_do_not_fit(capsys):
    assert evaluate("--agent", "Walker", "--out", "run") == 0
    for name, wanted in (
        ("backtracking", "expected runs of MultiON, got 'e000' of corridor-v1@"),
        ("goal-counts", "expected runs of MultiON, got 'e000' of corridor-v1@"),
        ("modalities", "expected runs of GOAT-Bench, got corridor-v1@"),
    ):
        capsys.readouterr()
        assert main(["analyse", name, "run"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"error: {wanted}")
    assert not Path("run/analyses").exists()


def test_export_refuses_runs_that_do_not_fit(capsys):
    assert evaluate("--agent", "Walker", "--out", "run") == 0
    capsys.readouterr()
    for layout, message in (
        ("multion", "expected rows of several goals for this layout, got one goal in episode 'e000'"),
        ("r2r", "expected a run on navigation graphs, got corridor-v1@corridors/mini"),
    ):
        assert main(["export", "run", layout, "--out", "x.json"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert message in line and not Path("x.json").exists()
