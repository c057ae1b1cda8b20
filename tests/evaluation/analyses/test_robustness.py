"""Rows of finished runs under corruptions, against sums by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace as replace_fields

from evaluation.corridor import METRICS, make_benchmark, make_settings
from navarena.agents import Declaration
from navarena.core.errors import CheckFailedError, InputError, UnknownNameError
from navarena.evaluation import evaluate, read_rows
from navarena.evaluation.analyses.robustness import (
    estimate_missed_stops,
    estimate_premature_stops,
    find_runs,
    kind_of,
    read_robustness,
    relative_drop,
)
from navarena.evaluation.records.journal import GoalsRecord, Row
from navarena.metrics.statistics import wilson_interval

STOPS = ("stopped", "near_steps", "min_distance", "oracle_success")


def run(folder: Path, behaves: str, corrupt: str = "", **settings) -> Path:
    """A run of "Walker" under `corrupt`, which makes it behave as the agent `behaves`."""
    benchmark = make_benchmark(behaves)
    declared = Declaration(trained_with=("color_jitter", "speckle_noise"))
    benchmark = replace(benchmark, metrics=(*METRICS, *STOPS), declaration=declared)
    evaluate(
        make_settings(folder, "Walker", corrupt=tuple(corrupt.split(",")) if corrupt else (), **settings),
        benchmark,
    )
    return folder


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("suite")
    run(root / "a" / "clean", "Walker")
    run(root / "a" / "clean-again", "Walker", seed=1)
    run(root / "drift", "Blind", "motion_drift")
    run(root / "mild", "Walker", "defocus_blur:1", seed=3)
    run(root / "strong", "Lawless", "defocus_blur:5")
    run(root / "speckles", "Walker", "speckle_noise")
    run(root / "pair", "Blind", "defocus_blur:5,motion_drift")
    run(root / "pose", "Crasher", "localisation_noise:5")
    return root


def values(folder: Path, name: str) -> np.ndarray:
    return np.array([row.metrics[name] for row in read_rows(folder)])


def test_runs_are_found_below_folders(root: Path, tmp_path: Path) -> None:
    assert len(find_runs([root])) == 8
    assert find_runs([root / "a", root / "a" / "clean"]) == [root / "a" / "clean", root / "a" / "clean-again"]
    with pytest.raises(InputError, match=r"expected runs in .*, found no run.json"):
        find_runs([tmp_path])


def test_rows_stand_in_the_papers_order(root: Path) -> None:
    (one,) = read_robustness(find_runs([root]))
    assert (one.protocol, one.agent, one.metrics) == ("corridor-v1", "Walker", ("success", "spl"))
    assert [row.title for row in (one.clean, *one.rows)] == [
        "clean",
        "defocus_blur:1",
        "defocus_blur:5",
        "speckle_noise:3",
        "motion_drift",
        "localisation_noise:5",
        "defocus_blur:5 + motion_drift",
    ]
    assert [row.seen for row in one.rows] == [False, False, True, False, False, False]
    assert [row.kinds for row in one.rows[-3:]] == [("motion",), ("pose",), ("sight", "motion")]
    assert len(one.clean.runs.rows) == 2, "seeds are pooled"


def test_changes_are_paired_with_the_mean_of_the_clean_seeds(root: Path) -> None:
    (one,) = read_robustness(find_runs([root]))
    clean = (values(root / "a" / "clean", "spl") + values(root / "a" / "clean-again", "spl")) / 2
    drift = one.rows[3].changes["spl"]
    lost = values(root / "drift", "spl") - clean
    assert drift.difference.mean == pytest.approx(lost.mean()) and drift.difference.high < 0
    assert drift.first == pytest.approx(clean.mean())
    assert relative_drop(drift) == pytest.approx(-lost.mean() / clean.mean())
    assert relative_drop(replace(drift, first=0.0)) is None
    assert one.clean.changes == {}
    assert one.rows[3].estimates["collisions"].mean == pytest.approx(
        values(root / "drift", "collisions").mean()
    )


def test_draws_of_a_corruption_are_pooled(root: Path, tmp_path: Path) -> None:
    again = run(tmp_path / "drift-again", "Walker", "motion_drift:draw-1", seed=1)
    (one,) = read_robustness([root / "a" / "clean", root / "drift", again], ["spl"])
    (row,) = one.rows
    mean = (values(root / "drift", "spl") + values(again, "spl")).mean() / 2
    assert row.title == "motion_drift" and row.estimates["spl"].mean == pytest.approx(mean)


def test_headline_leaves_out_what_is_not_looked_at(root: Path, tmp_path: Path) -> None:
    """The walker acts under blur as in clean images: that row says nothing of its robustness."""
    blurred = run(tmp_path / "blurred", "Walker", "defocus_blur:2")
    (one,) = read_robustness([root / "a" / "clean", root / "drift", blurred], ["spl"])
    assert [row.title for row in one.rows if row.unheeded] == ["defocus_blur:2"]
    assert one.headline["spl"].second == pytest.approx(values(root / "drift", "spl").mean())


def test_headline_leaves_out_what_was_seen_in_training(root: Path) -> None:
    (one,) = read_robustness(find_runs([root]), ["spl"])
    unseen = [root / name for name in ("mild", "strong", "drift", "pose", "pair")]
    mean = np.mean([values(folder, "spl") for folder in unseen])
    assert one.headline["spl"].second == pytest.approx(mean)
    assert one.metrics == ("spl",) and list(one.headline) == ["spl"]
    (alone,) = read_robustness([root / "a" / "clean", root / "speckles"])
    assert alone.headline == {}


def test_curves_begin_with_the_clean_runs(root: Path) -> None:
    (one,) = read_robustness(find_runs([root]))
    curves = one.curves("spl")
    assert list(curves) == ["defocus_blur"], "a single severity makes no curve"
    assert [severity for severity, _ in curves["defocus_blur"]] == [0, 1, 5]
    assert curves["defocus_blur"][0][1] == one.clean.estimates["spl"]


def test_agents_and_protocols_are_kept_apart(root: Path, tmp_path: Path) -> None:
    other = replace(make_benchmark("Blind"), metrics=(*METRICS, *STOPS))
    evaluate(make_settings(tmp_path / "blind", "Blind"), other)
    first, second = read_robustness([root / "a" / "clean", root / "drift", tmp_path / "blind"])
    assert (first.agent, second.agent) == ("Walker", "Blind")
    assert second.rows == ()


def test_what_cannot_be_compared_is_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a clean run beside .*drift, found none"):
        read_robustness([root / "drift"])
    with pytest.raises(UnknownNameError, match="unknown metric of these runs 'sple'"):
        read_robustness([root / "a" / "clean"], ["sple"])
    short = replace(make_benchmark("Walker", 8), metrics=(*METRICS, *STOPS))
    evaluate(make_settings(tmp_path / "short", "Walker", corrupt=("lighting:2",)), short)
    with pytest.raises(InputError, match="expected the episodes of .*clean in .*short, got others"):
        read_robustness([root / "a" / "clean", tmp_path / "short"])
    journal = next((tmp_path / "short").glob("journal-*.jsonl"))
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]))
    with pytest.raises(CheckFailedError, match="expected 8 finished episodes"):
        read_robustness([root / "a" / "clean", tmp_path / "short"])


def make_row(number: int, **metrics: float) -> Row:
    return Row(
        identity="i",
        episode_id=str(number),
        scene_id=f"s{number // 2}",
        status="ok",
        steps=9,
        start_distance=1.0,
        actions=[0],
        metrics=metrics,
    )


def test_stops_by_hand() -> None:
    """Found at once; stopped in the wrong place; passed by thrice; walked past once, then stopped."""
    rows = [
        make_row(0, stopped=1.0, success=1.0, near_steps=1.0),
        make_row(1, stopped=1.0, success=0.0, near_steps=0.0),
        make_row(2, stopped=0.0, success=0.0, near_steps=3.0),
        make_row(3, stopped=1.0, success=1.0, near_steps=2.0),
    ]
    assert estimate_premature_stops(rows).mean == pytest.approx(1 / 3)
    missed = estimate_missed_stops(rows)
    assert missed.n == 3 and missed.mean == pytest.approx((0 + 1 + 0.5) / 3)
    assert estimate_premature_stops(rows[2:3]) is None and estimate_missed_stops(rows[1:2]) is None
    assert estimate_premature_stops([make_row(0, stopped=1.0, progress=0.5)]) is None


def test_stops_of_several_runs_are_those_of_as_many_episodes() -> None:
    """Two equal runs of three declarations, one of them wrong, say no more than one run."""
    rows = [make_row(k, stopped=1.0, success=float(k < 2), near_steps=2.0) for k in range(3)]
    once, twice = estimate_premature_stops(rows), estimate_premature_stops([*rows, *rows])
    assert once is not None and twice is not None and (once.n, twice.n) == (3, 6)
    for found in (once, twice):
        assert (found.low, found.high) == pytest.approx(wilson_interval(1, 3))
    missed = [estimate_missed_stops(own) for own in (rows, [*rows, *rows])]
    assert [one.mean for one in missed if one] == pytest.approx([2 / 3, 2 / 3])
    assert [one.high for one in missed if one] == pytest.approx([wilson_interval(2, 3)[1]] * 2)


def test_stops_of_several_goals_are_not_judged() -> None:
    """Each goal is declared for itself: one success stands beside the steps in range of all of them."""
    two = GoalsRecord(legs=[1.0, 1.0], found_after=[1, 2], walked=[1.0, 2.0])
    row = make_row(0, stopped=1.0, success=1.0, near_steps=2.0)
    for several in (
        replace_fields(row, goals=two),
        replace_fields(row, metrics=row.metrics | {"subtasks": 2.0}),
    ):
        assert estimate_missed_stops([several]) is None and estimate_premature_stops([several]) is None


def test_kinds() -> None:
    kinds = {
        text: kind_of(text) for text in ("spatter:2", "depth_holes", "lower_fov", "motor_failure", "pyrobot")
    }
    assert list(kinds.values()) == ["sight", "sight", "sight", "motion", "motion"]
    assert kind_of("localisation_bias:1") == "pose"
    assert kind_of("goal_synonyms") == kind_of("goal_image_noise:2") == "goal"
