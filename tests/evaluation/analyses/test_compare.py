"""Runs side by side, broken down, and repeated."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluation.analyses.written import make_row as make_multi_on_row
from evaluation.analyses.written import write_run
from evaluation.corridor import make_benchmark, make_settings, open_corridor
from navarena.core.errors import CheckFailedError, FileError, InputError, UnknownNameError
from navarena.episodes.episode import Episode, LifelongGoal, MultiGoal, ObjectGoal, ObjectInstance, PointGoal
from navarena.episodes.goals import Subtask
from navarena.evaluation import EvaluationSettings, evaluate, read_rows, read_table
from navarena.evaluation.analyses.breakdowns import BREAKDOWNS, break_down, radius_groups, subtask_groups
from navarena.evaluation.analyses.compare import compare, find_best, find_obstacles
from navarena.evaluation.analyses.contestants import estimate_part, read_contestant
from navarena.evaluation.records.journal import GoalsRecord, Row, journal_path
from navarena.evaluation.records.traits import find_traits, record_goals
from navarena.evaluation.running.repeats import repeat_settings, split_runs
from navarena.metrics import MultiGoalTrajectory, ShortestPath, Trajectory
from navarena.metrics.repetitions import SEEDS_AND_SCENES
from navarena.metrics.statistics import OVER_SCENES


def run(folder, agent="Walker", count=40, **settings):
    evaluate(make_settings(folder, agent, **settings), make_benchmark(agent, count))
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    return {
        "walker": run(root / "walker"),
        "again": run(root / "again", seed=1),
        "blind": run(root / "blind", "Blind"),
        "short": run(root / "short", count=20),
    }


def contest(runs, *names):
    return [
        read_contestant(label, [runs[k] for k in name.split(",")])
        for label, name in zip("ABC"[: len(names)], names, strict=True)
    ]


def test_paired_differences(runs):
    result = compare(contest(runs, "blind", "walker"), ["success", "spl"])
    assert [(one.label, one.metric) for one in result.differences] == [("B", "success"), ("B", "spl")]
    success = result.differences[0].result
    rows = {name: [row.metrics["success"] for row in read_rows(runs[name])] for name in ("blind", "walker")}
    gains = np.subtract(rows["walker"], rows["blind"])
    assert success.difference.mean == pytest.approx(gains.mean())
    counted = ((gains > 0).sum(), (gains == 0).sum(), (gains < 0).sum())
    assert (success.wins, success.ties, success.losses) == counted
    assert success.difference.low > 0 and success.p_value < 0.01 and success.p_method == "swaps of scenes"
    assert result.estimates[0]["success"].method == "Wilson" and result.notices == ()
    assert result == compare(contest(runs, "blind", "walker"), ["success", "spl"])  # the same draws


def test_other_episodes_are_said(runs):
    first, second = contest(runs, "walker", "short")
    notices = find_obstacles(first, second)
    assert any("share 20 episodes of 40 and 20" in notice for notice in notices)
    assert any("differ in optimal path length" in notice for notice in notices)
    assert compare([first, second]).differences[0].result.difference.n == 20
    other = replace(second, rows=(tuple(replace_row(row, scene_id="elsewhere") for row in second.rows[0]),))
    assert any("share no episode" in notice for notice in find_obstacles(first, other))
    assert compare([first, other]).differences == ()


def test_episodes_in_twins_are_paired_with_those_in_the_apartments(runs):
    first, second = contest(runs, "blind", "walker")
    own, twin = (
        replace(one, rows=(tuple(replace_row(row, scene_id=f"{name}/val/00003") for row in one.rows[0]),))
        for one, name in ((first, "robothor-like-v1"), (second, "robothor-like-v1-twin"))
    )
    paired = compare([own, twin], ["success"])
    assert paired.differences[0].result.difference.n == 40
    assert not any("share" in notice for notice in paired.notices)


def test_a_metric_that_is_infinite_in_every_episode_is_shown_so(runs):
    (one,) = contest(runs, "walker")
    lost = [replace_row(row, metrics={**row.metrics, "spl": None}) for row in one.rows[0]]
    found = compare([replace(one, rows=(tuple(lost),))], ["spl"]).estimates[0]["spl"]
    assert (found.mean, found.infinite, found.n) == (math.inf, 40, 40)
    nothing = estimate_part(one, "spl", np.zeros(40, bool))
    assert nothing is None


def replace_row(row, **changes):
    import msgspec

    return msgspec.structs.replace(row, **changes)


def test_training_seeds(runs):
    result = compare(contest(runs, "blind", "walker,again"), ["success", "num_actions"])
    assert [(one.label, one.metric, one.seeds) for one in result.seeds] == [
        ("A", "success", 1),
        ("B", "success", 2),
    ]
    both = result.seeds[1]
    assert both.improvement is not None and both.improvement > 0.9
    assert both.profile[0] >= both.profile[-1] == 0.0
    rows = [read_rows(runs[name]) for name in ("walker", "again")]
    mean = np.mean([[row.metrics["success"] for row in one] for one in rows])
    assert result.estimates[1]["success"].mean == pytest.approx(mean)
    assert result.estimates[1]["success"].method == "t over scenes"  # halves are no rate


def test_a_folder_of_runs_is_told_from_a_run(runs):
    folder = runs["walker"].parent
    with pytest.raises(FileError, match=rf"expected the folder of a run, got {folder}, .* name .*walker"):
        read_contestant("A", [folder])


def test_what_are_no_training_seeds_of_one_method(runs, tmp_path):
    rows = [make_multi_on_row(k, found=1) for k in range(6)]
    clean, same = write_run(tmp_path / "clean", rows), write_run(tmp_path / "same", rows)
    options = "multion-1on-v1+corrupt=spatter:3@test/mini#0"
    muddy = [replace_row(row, identity=options) for row in rows]
    corrupt = write_run(tmp_path / "mud", muddy, corrupt="spatter:3")
    with pytest.raises(InputError, match="by the same rules, got .*spatter"):
        read_contestant("A", [clean, corrupt])
    shutil.copytree(clean, tmp_path / "copy")
    for again in (tmp_path / "clean" / ".." / "clean", tmp_path / "copy"):
        with pytest.raises(InputError, match=r"expected other runs beside .*clean, got it twice"):
            read_contestant("A", [clean, again])
    assert compare([read_contestant("A", [clean, same])]).notices == ()
    other = write_run(tmp_path / "other", rows, agent="random")
    (notice,) = compare([read_contestant("A", [clean, other])]).notices
    assert notice == "A pools runs of different agents: walker, random"


def test_seeds_in_other_scenes_do_not_improve_on_the_first(tmp_path):
    def rows_in(name):
        return [make_multi_on_row(k, scene=f"{name}{k}") for k in range(4)]

    def runs_in(name):
        return [
            write_run(
                tmp_path / f"{name}{seed}", [make_multi_on_row(k, scene=f"{name}{k}") for k in range(4)]
            )
            for seed in range(2)
        ]

    first, other = runs_in("a"), runs_in("b")
    contestants = [read_contestant("A", first), read_contestant("B", other)]
    assert [one.improvement for one in compare(contestants, ["spl"]).seeds] == [None, None]
    assert compare([contestants[0], read_contestant("C", first)], ["spl"]).seeds[1].improvement == 0.5


def test_what_cannot_be_compared(runs, tmp_path):
    with pytest.raises(InputError, match="on the same episodes, got others"):
        contest(runs, "walker,short")
    with pytest.raises(UnknownNameError, match="unknown metric of these runs 'spll'"):
        compare(contest(runs, "walker"), ["spll"])
    broken = run(tmp_path / "broken")
    journal = journal_path(broken, 0)
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:8]))
    with pytest.raises(CheckFailedError, match="expected 40 finished episodes .* got 7"):
        read_contestant("A", [broken])


def make_row(number, **changes):
    values = {
        "identity": "p@d/s#0",
        "episode_id": f"e{number}",
        "scene_id": "a",
        "status": "ok",
        "steps": 3,
        "start_distance": 1.0,
        "actions": [1, 1, 0],
        "metrics": {"success": 1.0, "stopped": 1.0, "distance_to_goal": 0.05},
    }
    return Row(**values | changes)


def test_success_by_radius_counts_declarations_only():
    def at(number, distance, stopped):
        return make_row(number, metrics={"stopped": stopped, "distance_to_goal": distance})

    rows = [at(0, 0.05, 1.0), at(1, 0.3, 1.0), at(2, 0.0, 0.0), at(3, None, 1.0)]
    groups = radius_groups([rows], (0.1, 0.3, 0.5))
    assert (groups[0].name, groups[0].n) == ("nearer than 0.1 m", 4)
    assert [group.estimates["success"].mean for group in groups] == [0.25, 0.25, 0.5]
    assert radius_groups([[make_row(0, metrics={"success": 1.0})]]) == []


def test_subtasks_by_hand():
    def found(number, count, goals):
        record = GoalsRecord(legs=[1.0] * goals, found_after=list(range(1, count + 1)), walked=[1.0] * count)
        return make_row(number, goals=record)

    rows = [found(0, 2, 2), found(1, 1, 3), found(2, 0, 3), make_row(3)]
    groups = subtask_groups([rows])
    assert [(group.name, group.n, group.estimates["success"].mean) for group in groups] == [
        ("goal 1", 3, 2 / 3),
        ("goal 2", 3, 1 / 3),
        ("goal 3", 2, 0.0),
    ]
    assert radius_groups([[found(0, 2, 2)]]) == []  # one distance says nothing of two goals
    broken = [replace_row(rows[0], status="crashed"), *rows[1:]]
    assert subtask_groups([broken])[0].estimates["success"].mean == 1 / 3
    both = subtask_groups([rows, broken])[0]
    assert both.n == 3 and both.estimates["success"].mean == pytest.approx(0.5)  # (1 + 1 + 0 + 0 + 1 + 0) / 6


def test_an_episode_of_several_seeds_counts_once_in_a_breakdown():
    """Three equal runs are no more episodes than one."""
    rows = [make_row(k, scene_id=f"s{k}", metrics={"success": float(k % 4 == 0)}) for k in range(40)]
    (band,) = break_down(rows, "band", ["success"], [rows, rows])
    assert (band.name, band.n, band.estimates["success"].n) == ("0 to 2 m", 40, 40)
    assert band.estimates["success"].mean == 0.25


def test_every_breakdown(runs):
    rows = read_rows(runs["walker"])
    for by in BREAKDOWNS:
        groups = break_down(rows, by, ["success"])
        assert sum(group.n for group in groups) in (0, 40) or by == "radius"
    assert [group.name for group in break_down(rows, "modality", ["success"])] == ["point"]
    assert break_down(rows, "category", ["success"]) == []
    mixed = [make_row(0, traits={"category": "chair"}), make_row(1)]
    assert [group.name for group in break_down(mixed, "category", ["success"])] == ["chair", "unknown"]
    with pytest.raises(UnknownNameError, match="unknown breakdown 'categori'"):
        break_down(rows, "categori", ["success"])


def make_track(climb=None):
    way = None if climb is None else ShortestPath(5.0, 0.0, climb)
    zeros = np.zeros(2)
    return Trajectory(
        np.zeros((2, 3)), zeros, np.zeros(1, int), zeros[:1] > 0, zeros, 2.0, True, 0.2, shortest=way
    )


def test_traits():
    def traits(goal, climb=None, difficulty=""):
        episode = Episode("e", "s", (0.0, 0.0, 0.0), 0.0, goal, 1.0, difficulty=difficulty)
        return find_traits(episode, make_track(climb))

    point = PointGoal((1.0, 0.0, 0.0))
    assert traits(point) == {"modality": "point"}
    assert traits(point, 0.5, "easy") == {"modality": "point", "floors": "same floor", "difficulty": "easy"}
    assert traits(point, 0.51)["floors"] == "other floor"
    assert traits(ObjectGoal("chair")) == {"modality": "object", "category": "chair"}
    several = MultiGoal(tuple(ObjectInstance(str(k), "c", (0.0, 0.0, 0.0)) for k in range(3)))
    assert traits(several) == {"modality": "objects", "goals": "3"}
    chair, image = Subtask("object", "chair", ()), Subtask("image", "chair", ())
    assert traits(LifelongGoal((image, image))) == {"modality": "image", "goals": "2"}
    assert traits(LifelongGoal((chair, image, chair))) == {"modality": "mixed", "goals": "3"}


def test_goals_are_recorded():
    assert record_goals(make_track()) is None
    tour = MultiGoalTrajectory(
        positions=np.array([[0.0, 0, 0], [3, 0, 0], [3, 4, 0]]),
        yaws=np.zeros(3),
        actions=np.array([1, 0]),
        collided=np.zeros(2, bool),
        distance_to_goal=np.array([1.0, 1.0, np.inf]),
        start_distance=np.inf,
        stopped=True,
        success_distance=1.5,
        legs=np.array([3.0, np.inf]),
        found_after=np.array([2]),
    )
    assert record_goals(tour) == GoalsRecord(legs=[3.0, None], found_after=[2], walked=[7.0])


def test_the_table_holds_traits(runs):
    table = read_table(runs["walker"] / "episodes.parquet")
    assert {row["trait_modality"] for row in table} == {"point"}
    assert "legs" not in table[0]


def test_repeats(tmp_path):
    chosen = list(repeat_settings(make_settings(tmp_path, seed=3), 2))
    assert [(one.seed, one.out) for one in chosen] == [(3, tmp_path / "seed-3"), (4, tmp_path / "seed-4")]
    assert [one.out for one in repeat_settings(make_settings(tmp_path), 1)] == [tmp_path]
    with pytest.raises(InputError, match="repeat of at least 1"):
        list(repeat_settings(make_settings(tmp_path), 0))
    results = [evaluate(one, make_benchmark()) for one in chosen]
    split = split_runs([one.rows for one in results], ["success", "spl"])
    assert split["success"].n == 40 and split["success"].repeats == 2
    assert split["spl"].mean == pytest.approx(np.mean([one.summary.metrics["spl"].mean for one in results]))


def test_repeats_draw_noise_anew(tmp_path):
    noisy = EvaluationSettings("pointnav-habitat2020-v1", corrupt=("pyrobot:half",))
    first, second = repeat_settings(noisy, 2, redraw=True)
    assert first == noisy
    anew = ("gaussian_noise:draw-1", "redwood_depth:draw-1", "pyrobot:half:draw-1")
    assert second.seed == 1 and second.corrupt == anew
    with pytest.raises(InputError, match="expected corruptions to draw anew, got pointnav-v1 without any"):
        list(repeat_settings(EvaluationSettings("pointnav-v1"), 2, redraw=True))
    with pytest.raises(InputError, match="expected --repeat 2 or more beside --redraw, got 1"):
        list(repeat_settings(noisy, 1, redraw=True))


def test_infinite_episodes_are_left_out_of_a_split():
    rows = [[make_row(k, metrics={"d": None if k == 0 else float(k)}) for k in range(3)]] * 2
    assert split_runs(rows, ["d"])["d"].n == 2
    assert split_runs([run[:2] for run in rows], ["d"]) == {}


@pytest.fixture
def corridor_command(monkeypatch, tmp_path):
    from navarena.cli.main import main
    from reports.corridor_plan import make_plan

    monkeypatch.setattr("navarena.evaluation.running.runner.open_benchmark", open_corridor)
    monkeypatch.setattr("navarena.cli.runs.evaluating.open_plans", lambda benchmark: make_plan)
    monkeypatch.chdir(tmp_path)
    return main


def test_repeat_from_the_command_line(corridor_command, capsys):
    arguments = ["evaluate", "corridor-v1", "--agent", "Walker", "--repeat", "2", "--out", "runs"]
    assert corridor_command([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["repeats"] == [str(Path.cwd() / "runs" / f"seed-{k}") for k in range(2)]
    assert set(result["variance"]["spl"]) == {
        "mean", "episode", "agent", "agent_share", "standard_error", "single_error", "spread", "n", "repeats",
    }  # fmt: skip
    assert corridor_command(arguments) == 0
    assert "where the variance comes from" in capsys.readouterr().out
    assert corridor_command(["compare", "runs/seed-0,runs/seed-1", "--by", "band", "--by", "category"]) == 0
    captured = capsys.readouterr()
    assert "interquartile mean" in captured.out and "A by band" in captured.out
    assert "A holds nothing to break down by category" in captured.err
    assert corridor_command(["compare", "runs/seed-0", "runs/seed-1", "--metric", "success"]) == 0
    assert "win / tie / loss" in capsys.readouterr().out
    assert corridor_command(["compare", "runs/seed-0", "--by", "bandd"]) == 2
    assert corridor_command(["compare"]) == 2


def test_a_run_has_one_interval_wherever_it_is_shown(tmp_path):
    summary = evaluate(make_settings(tmp_path), make_benchmark()).summary
    (estimates,) = compare([read_contestant("A", [tmp_path])]).estimates
    for name, shown in summary.metrics.items():
        assert (estimates[name].low, estimates[name].high) == (shown.low, shown.high), name


def test_three_seeds_of_each_method_are_resampled_with_the_scenes(tmp_path):
    """Two methods of three seeds in 40 scenes; with two seeds of one the scenes alone are resampled."""

    def runs_of(name, shift):
        folders = []
        for seed in range(3):
            values = [0.2 + shift * (0.95 + 0.1 * (k % 2)) + 0.02 * seed for k in range(80)]
            rows = [make_multi_on_row(k, scene=f"s{k % 40}", ppl=ppl) for k, ppl in enumerate(values)]
            folders.append(write_run(tmp_path / f"{name}{seed}", rows))
        return folders

    low, high = runs_of("low", 0.0), runs_of("high", 0.3)
    result = compare([read_contestant("A", low), read_contestant("B", high)], ["ppl"])
    difference = result.differences[0].result.difference
    assert difference.mean == pytest.approx(0.3) and difference.method == SEEDS_AND_SCENES
    error = 1.96 * np.sqrt(2) * 0.02 / np.sqrt(3)  # standard deviation 0.02 between the seeds of either
    assert (difference.high - difference.low) / 2 == pytest.approx(error, rel=0.2)
    assert result.estimates[0]["ppl"].method == SEEDS_AND_SCENES
    assert estimate_part(read_contestant("A", low), "ppl").method == SEEDS_AND_SCENES
    fewer = compare([read_contestant("A", low[:2]), read_contestant("B", high)], ["ppl"])
    assert fewer.differences[0].result.difference.method == OVER_SCENES


def test_seeds_that_differ_make_none_the_best(tmp_path):
    """Each checkpoint is better in every scene, but which method is depends on the seeds: no star."""

    def runs_of(name, values):
        folders = []
        for seed, value in enumerate(values):
            rows = [make_multi_on_row(k, scene=f"s{k}", ppl=value + 0.001 * (k % 5)) for k in range(40)]
            folders.append(write_run(tmp_path / f"{name}{seed}", rows))
        return read_contestant(name, folders)

    wide = compare([runs_of("A", (0.1, 0.3, 0.6)), runs_of("B", (0.2, 0.5, 0.8))], ["ppl"])
    assert wide.differences[0].result.p_value < 0.01 and find_best(wide, "ppl") is None
    sure = compare([runs_of("C", (0.1, 0.11, 0.12)), runs_of("D", (0.5, 0.52, 0.54))], ["ppl"])
    assert find_best(sure, "ppl") == 1
