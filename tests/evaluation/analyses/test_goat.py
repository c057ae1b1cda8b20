"""GOAT-Bench's tables, training seeds, and RobustNav's table against sums by hand."""

import math

import numpy as np
import pytest
from msgspec.structs import replace as change

from evaluation.analyses.written import make_row, write_run
from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.evaluation import compare, read_rows
from navarena.evaluation.analyses import contestants, fitting_analyses, read_labelled, run_analysis
from navarena.evaluation.analyses.breakdowns import break_down
from navarena.evaluation.analyses.contestants import read_contestant
from navarena.evaluation.records.results import summarize
from navarena.metrics import paired
from navarena.metrics.paired import estimate_relative_drop
from navarena.metrics.statistics import estimate_weighted
from navarena.reports.comparison import estimate_table
from navarena.reports.papers import write_latex
from navarena.reports.runs.tables import summary_table
from navarena.reports.tables import metric_notes, metric_table

MODALITIES = ("object", "description", "image")
METRICS = (
    "success",
    "subtasks",
    "subtask_success",
    "subtask_spl",
    *(f"{modality}_{what}" for modality in MODALITIES for what in ("subtasks", "success", "spl")),
    *(f"subtask_{place}_{what}" for place in range(1, 6) for what in ("success", "spl")),
)


def lifelong(k, modalities, hits):
    """An episode whose sub-tasks are `modalities` (o, d, i) and succeed where `hits` has a 1; SPL is half."""
    names = [next(one for one in MODALITIES if one[0] == letter) for letter in modalities]
    values = [float(hit) for hit in hits]

    def mean(chosen):
        return sum(chosen) / len(chosen) if chosen else 0.0

    metrics = {"subtasks": float(len(modalities)), "subtask_success": mean(values)}
    for one in MODALITIES:
        own = [value for name, value in zip(names, values, strict=True) if name == one]
        metrics |= {f"{one}_subtasks": float(len(own)), f"{one}_success": mean(own)}
    for place in range(1, 6):
        chosen = values[4:] if place == 5 else values[place - 1 : place]
        metrics[f"subtask_{place}_success"] = mean(chosen)
    halves = {name.replace("success", "spl"): value / 2 for name, value in metrics.items()}
    return change(make_row(k, **{**halves, **metrics}), goals=None)


def write(folder, *told_hits, **settings):
    rows = [lifelong(k, *pair) for k, pair in enumerate(told_hits)]
    return write_run(folder, rows, METRICS, "goat-v1", **settings)


FOLDER = (("ooddii", "101010"), ("o", "1"), ("iiiiiii", "1111110"))
"""Objects 2 of 3, descriptions 1 of 2, images 7 of 9."""

RULES = "goat-v1+custom+success=object+corrupt=goal_noise"


def test_modalities(tmp_path):
    analysis = run_analysis("modalities", read_labelled([str(write(tmp_path / "a", *FOLDER))]))
    assert [row[1:3] for row in analysis.rows] == [
        ("by name", 3),
        ("in words", 2),
        ("by image", 9),
        ("all", 14),
    ]
    assert [row[3].mean for row in analysis.rows] == pytest.approx([2 / 3, 1 / 2, 7 / 9, 10 / 14])
    assert [row[3].n for row in analysis.rows] == [3, 2, 9, 14]
    assert [row[4].mean for row in analysis.rows] == pytest.approx([1 / 3, 1 / 4, 7 / 18, 5 / 14])
    assert [row[5].mean for row in analysis.rows] == pytest.approx(
        [0.75, 0.5, (0.5 + 6 / 7) / 2, (1.5 + 6 / 7) / 3]
    )
    assert [row[5].n for row in analysis.rows] == [2, 1, 2, 3]


def test_pooled_means_stand_before_those_that_count_missing_sub_tasks_as_0(tmp_path):
    """Of two images one is found: 1/2. Over three episodes, two without an image: (1/2 + 0 + 0) / 3."""
    (run,) = read_labelled([str(write(tmp_path / "a", ("oii", "110"), ("o", "1"), ("o", "0")))])
    summary = summarize(run.rows[0], run.identity, run.agent, METRICS)
    macro, pooled = summary.metrics["image_success"], summary.pooled["image_success"]
    assert (macro.title, macro.mean, macro.n) == ("Success by image, macro", pytest.approx(1 / 6), 3)
    assert (pooled.title, pooled.mean, pooled.n) == ("Success by image", 0.5, 2)
    assert "description_success" not in summary.pooled and "subtask_success" not in summary.pooled
    rows = metric_table(summary).rows
    place = [row[0] for row in rows].index("Success by image")
    assert [row[:2] + (row[4],) for row in rows[place : place + 2]] == [
        ("Success by image", "0.500", "2"),
        ("Success by image, macro", "0.167", "3"),
    ]
    result = compare([run])
    assert result.pooled[0]["image_success"].mean == 0.5
    titles = [row[0] for row in estimate_table(result).rows]
    assert titles.index("Success by image") + 1 == titles.index("Success by image, macro")
    assert summary_table(result).rows[titles.index("Success by image")][1][0].n == "2"
    (note,) = metric_notes(METRICS)
    assert "Those called macro are the reference code" in note
    assert r"& Success by image $\uparrow$ & Success by image, macro $\uparrow$ &" in write_latex(result)


def test_places(tmp_path):
    runs = read_labelled([str(write(tmp_path / "a", *FOLDER))])
    analysis = run_analysis("subtasks", runs)
    assert [row[1:3] for row in analysis.rows] == [("1", 3), ("2", 2), ("3", 2), ("4", 2), ("5 and later", 2)]
    assert [row[3].mean for row in analysis.rows] == pytest.approx([1, 0.5, 1, 0.5, (0.5 + 2 / 3) / 2])
    success, spl = analysis.curves
    assert success.x == spl.x == (1, 2, 3, 4, 5) and [y.n for y in success.y] == [3, 2, 2, 2, 2]
    assert [y.mean for y in spl.y] == pytest.approx([y.mean / 2 for y in success.y])
    assert [one.name for one in fitting_analyses(runs)] == ["modalities", "subtasks"]
    with pytest.raises(InputError, match="expected runs of GOAT-Bench"):
        run_analysis("subtasks", read_labelled([str(write_run(tmp_path / "m", [make_row(0)]))]))


def test_breakdowns_of_subtasks(tmp_path):
    """compare --by modality and --by subtask pool sub-tasks, as the analyses do."""
    rows = read_rows(write(tmp_path / "a", *FOLDER))
    modalities = break_down(rows, "modality", ())
    assert [(one.name, one.n) for one in modalities] == [("by name", 3), ("in words", 2), ("by image", 9)]
    means = [one.estimates["success"].mean for one in modalities]
    assert means == pytest.approx([2 / 3, 1 / 2, 7 / 9])
    places = break_down(rows, "subtask", ())
    assert [(one.name, one.n) for one in places][-2:] == [("sub-task 4", 2), ("sub-task 5 and later", 5)]
    assert places[-1].estimates["success"].mean == pytest.approx((0.5 * 2 + 2 / 3 * 3) / 5)
    assert places[0].estimates["spl"].mean == 0.5


def test_goal_noise(tmp_path):
    clean = write(tmp_path / "clean", *FOLDER)
    noisy = write(
        tmp_path / "noisy", ("ooddii", "000010"), ("o", "1"), ("iiiiiii", "1111110"), corrupt="goal_noise"
    )
    analysis = run_analysis("goal-noise", read_labelled([str(noisy), str(clean)], groups=True))
    assert [row[2] for row in analysis.rows] == ["by name", "in words", "by image", "mean drop"]
    drops = [row[6].mean for row in analysis.rows]
    assert drops == pytest.approx([0.5, 1.0, 0.0, 0.5]) and analysis.rows[3][3] == 14
    assert analysis.rows[3][4].mean == pytest.approx(10 / 14) and analysis.rows[3][6].n == 14
    with pytest.raises(InputError, match="got 2 and 0"):
        run_analysis("goal-noise", read_labelled([str(clean), str(clean)], groups=True))
    other = write(tmp_path / "other", *FOLDER[:2], corrupt="goal_noise")
    with pytest.raises(InputError, match="expected the episodes of"):
        run_analysis("goal-noise", read_labelled([str(clean), str(other)], groups=True))
    kept = [change(lifelong(k, *pair), identity=f"{RULES}@houses/mini#0") for k, pair in enumerate(FOLDER)]
    ruled = write_run(tmp_path / "ruled", kept, METRICS, "goat-v1+success=object", corrupt="goal_noise")
    with pytest.raises(InputError, match="same rules but for the noise, got .*success=object; give"):
        run_analysis("goal-noise", read_labelled([str(clean), str(ruled)], groups=True))


def test_relative_drop_has_an_interval_that_covers_it(monkeypatch):
    rng = make_generator("test", "drop")
    weights = rng.integers(1, 4, (2, 60)).astype(float)
    clean, noisy = rng.random((2, 60)), 0.6 * rng.random((2, 60))
    scenes = [f"s{k % 30}" for k in range(60)]
    drop = estimate_relative_drop(clean, noisy, weights, scenes, make_generator("x"))
    pooled = [(weights * one).sum(1) / weights.sum(1) for one in (clean, noisy)]
    assert drop.mean == pytest.approx(np.mean(1 - pooled[1] / pooled[0]))
    assert drop.low < drop.mean < drop.high and drop.method == "bootstrap over scenes"
    assert drop == estimate_relative_drop(clean, noisy, weights, scenes, make_generator("x"))
    monkeypatch.setattr(paired, "DRAWS_AT_ONCE", 7 * 60)  # in blocks of seven
    assert drop == estimate_relative_drop(clean, noisy, weights, scenes, make_generator("x"))
    same = estimate_relative_drop(clean, clean, weights, scenes, make_generator("x"))
    assert (same.mean, same.low, same.method) == (0, None, "none: all values equal")
    few = estimate_relative_drop(
        clean, noisy, weights, [f"s{k % 29}" for k in range(60)], make_generator("x")
    )
    assert (few.mean, few.low, few.method) == (drop.mean, None, "none: n too small")
    assert estimate_relative_drop(0 * clean, noisy, weights, scenes, make_generator("x")) is None
    with pytest.raises(InputError, match="parts of every kind"):
        estimate_relative_drop(clean, noisy, 0 * weights, scenes, make_generator("x"))


def test_weighted_means_agree_with_means_over_parts():
    """Weights of 1 are the mean itself; a weight of 3 is the value three times in one scene."""
    values, weights = np.array([0.2, 0.4, 0.9, 0.0]), np.array([1.0, 3.0, 2.0, 0.0])
    pooled = estimate_weighted(values, weights, ["a", "b", "c", "d"], make_generator("w"))
    assert pooled.mean == pytest.approx((0.2 + 1.2 + 1.8) / 6) and pooled.n == 6
    assert 0.0 <= pooled.low < pooled.mean < pooled.high <= 1.0
    single = estimate_weighted(values[:1], weights[:1], ["a"], make_generator("w"))
    assert (single.low, single.n) == (pytest.approx(0.2 / (1 + 1.959964**2)), 1)
    with pytest.raises(InputError, match="at least one weight above 0"):
        estimate_weighted(values, 0 * weights, list("abcd"), make_generator("w"))
    with pytest.raises(InputError, match="finite values to pool"):
        estimate_weighted(values + np.inf, weights, list("abcd"), make_generator("w"))


def test_scores_by_seed_and_scene(tmp_path, monkeypatch):
    """Scenes by name, whatever the order of their episodes; rows are read once for each run."""
    ppl = {"a": [(0, "s1", 0.2), (1, "s0", 0.5), (2, "s1", 0.4)], "b": [(0, "s1", 1.0), (1, "s0", 0.0)]}
    ppl["b"].append((2, "s1", math.inf))
    runs = [
        write_run(tmp_path / name, [make_row(k, scene=scene, ppl=one) for k, scene, one in rows])
        for name, rows in ppl.items()
    ]
    read, counted = contestants.metric_values, []
    monkeypatch.setattr(contestants, "metric_values", lambda *pair: counted.append(pair) or read(*pair))
    assert read_contestant("A", runs).scores("ppl").tolist() == [[0.5, pytest.approx(0.3)], [0.0, 1.0]]
    assert len(counted) == 2


def test_seeds(tmp_path):
    """Success of three seeds: 1/2, 3/4, 1; their deviation is 1/4."""
    hits = ([1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1])
    folders = []
    for seed, own in enumerate(hits):
        rows = [make_row(k, 1, hit, scene="s") for k, hit in enumerate(own)]
        folders.append(str(write_run(tmp_path / str(seed), rows, seed=seed)))
    (one,) = read_labelled([",".join(folders)])
    analysis = run_analysis("seeds", [one])
    title, seeds, episodes, mean, error = analysis.rows[0][1:6]
    assert (title, seeds, episodes, mean) == ("Success", 3, 4, 0.75)
    assert error == pytest.approx(0.25 / np.sqrt(3))
    assert analysis.rows[0][6].mean == 0.75 and analysis.rows[0][6].n == 3
    (curve,) = analysis.curves
    above = dict(zip(curve.x, [y.mean for y in curve.y], strict=True))
    assert above[0.0] == 1 and above[0.5] == pytest.approx(2 / 3) and above[1.0] == 0
    with pytest.raises(InputError, match="several training seeds of 'walker', got one"):
        run_analysis("seeds", read_labelled(folders[:1]))


def test_degradation(tmp_path):
    metrics = ("success", "spl", "stopped", "collisions", "min_distance", "near_steps", "oracle_success")

    def rows(hits):
        more = {"collisions": 2.0, "min_distance": 0.5, "near_steps": 2.0, "oracle_success": 1.0}
        return [make_row(k, 1, hit, **more) for k, hit in enumerate(hits)]

    clean = write_run(tmp_path / "clean", rows([1, 1, 1, 0]), metrics)
    mild = write_run(tmp_path / "mild", rows([1, 1, 0, 0]), metrics, corrupt="defocus_blur:1")
    strong = write_run(tmp_path / "strong", rows([0, 0, 0, 0]), metrics, corrupt="defocus_blur:5")
    runs = read_labelled([str(mild), str(clean), str(strong)])
    analysis = run_analysis("degradation", runs)
    assert [row[2] for row in analysis.rows] == ["clean", "defocus_blur:1", "defocus_blur:5"]
    assert [row[5] for row in analysis.rows] == [None, pytest.approx(1 / 3), 1.0]
    heads = analysis.headings
    row = analysis.rows[1]
    assert row[heads.index("collisions")].mean == 2 and row[heads.index("least distance")].mean == 0.5
    assert row[heads.index("final distance")] is None and row[heads.index("success, oracle stop")].mean == 1
    assert row[heads.index("stop failures, positive")].mean == 0.5
    assert row[heads.index("stop failures, negative")].mean == pytest.approx((0.5 + 0.5 + 1 + 1) / 4)
    (curve,) = analysis.curves
    assert curve.x == (0, 1, 5) and [y.mean for y in curve.y] == [0.75, 0.5, 0]
    assert "degradation" in [one.name for one in fitting_analyses(runs)]


def test_severities(tmp_path):
    hits = {None: [1, 1, 1, 0], "defocus_blur:1": [1, 1, 0, 0], "defocus_blur:5": [0] * 4}
    hits["spatter:5"] = [0] * 4
    folders = []
    for number, (name, own) in enumerate(hits.items()):
        rows = [make_row(k, 1, hit) for k, hit in enumerate(own)]
        folder = write_run(tmp_path / str(number), rows, ("success", "spl", "stopped"), corrupt=name)
        folders.append(str(folder))
    runs = read_labelled(folders)
    table = run_analysis("severities", runs)
    assert table.headings == ("agent", "corruption", "clean", "severity 1", "severity 5")
    ((agent, corruption, *rates),) = table.rows
    assert (agent, corruption) == ("walker", "defocus_blur")
    assert [rate.mean for rate in rates] == [0.75, 0.5, 0.0]
    assert "severities" in [one.name for one in fitting_analyses(runs)]
    assert "severities" not in [one.name for one in fitting_analyses([runs[0], runs[3]])]
    with pytest.raises(InputError, match="a corruption at two severities at least"):
        run_analysis("severities", [runs[0], runs[3]])
    for side in ("left", "right"):  # variants, not severities
        rows = [make_row(k, 1, 0) for k in range(4)]
        run = write_run(tmp_path / side, rows, ("success", "spl", "stopped"), corrupt=f"motor_failure:{side}")
        folders.append(str(run))
    names = [one.name for one in fitting_analyses(read_labelled([folders[0], *folders[-2:]]))]
    assert "degradation" in names and "severities" not in names
