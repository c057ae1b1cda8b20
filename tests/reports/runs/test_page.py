"""The page of several runs holds what it must, and stands alone."""

import dataclasses
import json
import math
import re

import msgspec
import pytest

from evaluation.analyses.written import make_row, write_run
from navarena.cli.main import main
from navarena.evaluation import compare
from navarena.evaluation.analyses import read_labelled, run_analysis, save_analysis
from navarena.evaluation.analyses.breakdowns import scene_groups
from navarena.evaluation.analyses.compare import find_best
from navarena.evaluation.analyses.failures import Failures
from navarena.metrics.failures import FailureClass
from navarena.metrics.statistics import Estimate
from navarena.reports.gallery import PER_CLASS, choose_by_class
from navarena.reports.plots import Line, draw_lines, draw_ranges, draw_shares
from navarena.reports.runs import Drawn, draw_galleries, label_apart, render_runs, write_runs
from navarena.reports.runs.grid import (
    code_column,
    encode_grid,
    episode_columns,
    group_columns,
    number_column,
)
from navarena.reports.runs.page import find_sections
from navarena.reports.runs.tables import breakdown_table, class_table, summary_table
from reports.corridor_plan import make_plan
from reports.runs.made import CLASSES, make_runs
from reports.runs.test_single_run import check


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return make_runs(tmp_path_factory.mktemp("runs"), "Walker", "Crasher", "Blind")


@pytest.fixture(scope="module")
def comparison(runs):
    return compare(runs)


@pytest.fixture(scope="module")
def html(comparison):
    from evaluation.corridor import make_benchmark

    classes = ({}, CLASSES, None)
    galleries = draw_galleries(
        comparison,
        classes,
        lambda one: make_benchmark(one.agent),
        open_scenes=lambda _: make_plan,
    )
    return render_runs(comparison, classes, Drawn(galleries))


def test_it_says_what_was_measured(runs, comparison, html):
    text = " ".join("".join(check(html).text).split())
    assert "Walker, Crasher, Blind on corridor-v1" in text
    assert "120 episodes in 3 runs" in text
    for one, estimates in zip(runs, comparison.estimates, strict=True):
        rate = sum(row.metrics["success"] for row in one.rows[0]) / 40
        assert f"{100 * rate:.1f} %" in text
        assert estimates["success"].n == 40
    for words in (
        "Summary",
        "Paired comparison",
        "Crasher - Walker",
        "Blind - Walker",
        "win / tie / loss",
        "Why episodes failed",
        "went to and fro, or against obstacles",
        "ZeroDivisionError: the walker stumbled",
        "By start distance",
        "Episodes from above",
    ):
        assert words in text, words
    assert f"navarena failures {runs[2].folders[0]}" in text


def test_it_stands_alone(html):
    checker = check(html)
    for tag in ("link", "iframe", "img", "video"):
        assert tag not in checker.count
    links = [value for name, value in checker.attributes if name in ("src", "href", "xlink:href")]
    assert all(link.startswith("#") for link in links)
    assert "http" not in re.sub(r"<code>.*?</code>", "", html)
    assert all(link.startswith("#") for link in re.findall(r"url\(([^)]*)\)", html))


def test_the_same_runs_give_the_same_page(comparison):
    assert render_runs(comparison, (None,) * 3) == render_runs(comparison, (None,) * 3)


def test_one_run_shows_tiles_and_no_comparison(runs, tmp_path):
    one = compare(runs[:1])
    write_runs(tmp_path / "page.html", one, (None,))
    html = (tmp_path / "page.html").read_text()
    check(html)
    assert 'class="tile"' in html and "Paired comparison" not in html


def test_seeds_of_one_method_are_pooled(runs, tmp_path):
    (again,) = make_runs(tmp_path, "Walker")
    pooled = dataclasses.replace(
        runs[0],
        folders=(*runs[0].folders, *again.folders),
        records=(*runs[0].records, *again.records),
        rows=(*runs[0].rows, *again.rows),
    )
    html = render_runs(compare([pooled]), (None,))
    text = "".join(check(html).text)
    assert "Training seeds" in text and "80 episodes" in " ".join(text.split())
    assert '"title":"episodes","kind":"number","values":[4.0,4.0' in html, "a scene has as many as in one run"
    columns = {column.title: column for column in episode_columns([pooled], [None])}
    assert columns["run"].names == ["Walker, seed 1", "Walker, seed 2"]
    assert columns["run"].values == [0] * 40 + [1] * 40


def test_reasons_are_those_of_the_first_run(runs, tmp_path):
    """Of two seeds on the same episodes the second has none, and the section says so."""
    (again,) = make_runs(tmp_path, "Crasher")
    both = dataclasses.replace(
        runs[1],
        folders=(*runs[1].folders, *again.folders),
        records=(*runs[1].records, *again.records),
        rows=(*runs[1].rows, *again.rows),
    )
    reasons = next(one for one in episode_columns([both], [CLASSES]) if one.title == "why it failed")
    assert len(reasons.names) == 2
    assert [k for k, place in enumerate(reasons.values) if place >= 0] == [0, 1, 2]
    said = "Of several training seeds, these are the episodes of the first run."
    assert said in render_runs(compare([both]), (CLASSES,))
    assert said not in render_runs(compare([runs[1]]), (CLASSES,))


def test_stored_analyses_of_other_runs_stand_beside_those_of_the_page(tmp_path):
    one, two, three = (
        write_run(tmp_path / str(m), [make_row(k, m, 1) for k in range(3)], protocol=f"multion-{m}on-v1")
        for m in (1, 2, 3)
    )
    stored = save_analysis(one, run_analysis("lengths", read_labelled([f"old={one}", f"older={two}"])))

    def shown(*folders):
        sections = find_sections(label_apart(read_labelled([str(folder) for folder in folders])))
        return {
            one.title: [row[0] for row in one.table.rows] for one in sections if one.title.startswith(title)
        }

    title = "How long episodes are, and how they end"
    own = ["walker, multion-1on-v1", "walker, multion-3on-v1"]
    assert shown(one, three) == {title: own, f"{title}: old; older": ["old", "older"]}
    moved = (tmp_path / "moved").resolve()
    one.rename(moved)
    assert shown(two, moved) == {title: ["old", "older"]}
    stored = moved / stored.relative_to(one)
    unnamed = json.loads(stored.read_text()) | {"runs": []}
    stored.write_text(json.dumps(unnamed))
    assert shown(moved, three) == {title: own, f"{title}: runs that it does not name": ["old", "older"]}


def test_a_stored_analysis_of_episodes_that_ran_again_replaces_nothing(tmp_path):
    run, again = (
        write_run(tmp_path / name, [make_row(k, 1, founds) for k in range(3)])
        for name, founds in (("run", 1), ("again", 0))
    )
    title = "How long episodes are, and how they end"
    save_analysis(run, run_analysis("lengths", read_labelled([f"before={run}"])))

    def shown():
        sections = find_sections(read_labelled([str(run)]))
        return [one.title for one in sections if one.title.startswith(title)]

    assert shown() == [title]
    (run / "journal-0.jsonl").write_bytes((again / "journal-0.jsonl").read_bytes())
    assert shown() == [title, f"{title}: before"]


def test_labels_are_told_apart(runs):
    assert [one.label for one in label_apart([runs[0], runs[1], runs[0]])] == [
        "Walker",
        "Crasher",
        "Walker (2)",
    ]


def test_episodes_as_columns(runs):
    columns = {column.title: column for column in episode_columns(runs[:2], [None, CLASSES])}
    rows = [row for one in runs[:2] for row in one.rows[0]]
    assert columns["run"].names == ["Crasher", "Walker"] and columns["run"].values == [1] * 40 + [0] * 40
    assert columns["episode"].values == [row.episode_id for row in rows]
    assert columns["Success"].kind == "flag"
    assert columns["Success"].values == [int(row.metrics["success"]) for row in rows]
    assert columns["SPL"].values == [round(row.metrics["spl"], 4) for row in rows]
    reasons = columns["why it failed"]
    said = [None if k < 0 else reasons.names[k] for k in reasons.values]
    stuck, broke = (
        "went to and fro, or against obstacles",
        "the agent crashed, took too long or acted illegally",
    )
    assert said == [None] * 40 + [broke, stuck, stuck] + [None] * 37


def test_grids_are_plain_json_without_markup():
    columns = [code_column("a", ["</script>", None, "b"]), number_column("x", [math.inf, 0.12345, 2.0], 1)]
    text = str(encode_grid(columns))
    assert "<" not in text
    first, second = json.loads(text)
    assert first["names"] == ["</script>", "b"] and first["values"] == [0, -1, 1]
    assert second["values"] == [None, 0.1234, 2.0] or second["values"] == [None, 0.1235, 2.0]


def test_groups_as_columns(runs):
    groups = {one.label: scene_groups(one.rows, ["success", "spl"]) for one in runs[:2]}
    columns = group_columns("scene", groups)
    assert [column.title for column in columns] == [
        "run",
        "scene",
        "episodes",
        "Success",
        "95 % interval",
        "SPL",
        "95 % interval",
    ]
    assert columns[1].values == [f"corridor/{k:02}" for k in range(10)] * 2
    assert columns[2].values == [4.0] * 20


def test_summaries_side_by_side(comparison):
    table = summary_table(comparison)
    assert table.labels == ("Walker", "Crasher", "Blind")
    name, cells = table.rows[0]
    assert name == "Success" and all(cell.n == "40" and cell.method == "Wilson" for cell in cells)


def test_the_best_run_is_marked_where_it_is_significantly_better(runs):
    """By success the walker beats the blind one; nobody beats himself, and no path length is better."""
    walker, _, blind = runs
    result = compare([blind, walker])
    assert result.differences[0].metric == "success" and result.differences[0].result.p_value < 0.05
    assert (find_best(result, "success"), find_best(result, "path_length")) == (1, None)
    (_, cells), *_ = summary_table(result).rows
    assert [cell.is_best for cell in cells] == [False, True]
    page = render_runs(result, (None, None))
    assert 'class="number best"' in page
    again = dataclasses.replace(walker, label="again")
    assert find_best(compare([walker, again]), "success") is None
    assert 'class="number best"' not in render_runs(compare([walker, again]), (None, None))
    assert find_best(compare([walker]), "success") is None


def test_failures_are_found_when_episodes_are_replayed_anyway(runs, tmp_path, monkeypatch, capsys):
    asked = []

    def classify(folder, benchmark, on_episode):
        asked.append((folder, benchmark))
        return Failures(runs[1].records[0], 40, CLASSES)

    monkeypatch.setattr("navarena.cli.runs.report.classify_run", classify)
    monkeypatch.setattr("navarena.cli.runs.report.make_opener", lambda: lambda one: one.agent)
    monkeypatch.setattr("navarena.cli.runs.report.draw_galleries", lambda *_: {})
    folder = runs[1].folders[0]
    assert main(["report", str(folder), "--no-drawings", "--out", str(tmp_path / "bare.html")]) == 0
    assert not asked and "navarena failures" in (tmp_path / "bare.html").read_text()
    assert main(["report", str(folder), "--out", str(tmp_path / "page.html")]) == 0
    assert asked == [(folder, "Crasher")]
    page = (tmp_path / "page.html").read_text()
    assert "navarena failures" not in page and "went to and fro, or against obstacles" in page


def test_reasons_are_asked_for_only_where_an_episode_failed(runs):
    walker, crasher = runs[:2]
    found = [msgspec.structs.replace(row, metrics=row.metrics | {"success": 1.0}) for row in walker.rows[0]]
    walker = dataclasses.replace(walker, rows=(tuple(found),))
    assert "Why episodes failed" not in render_runs(compare([walker]), (None,))
    alone = render_runs(compare([crasher]), (None,))
    assert f"Not computed yet; run <code>navarena failures {crasher.folders[0]}<" in alone
    both = render_runs(compare([walker, crasher]), (None, None))
    assert "Not computed yet for Crasher; run" in both and "Not computed yet for Walker" not in both


def test_a_group_that_one_run_lacks_is_a_dash(runs):
    groups = {
        "A": scene_groups([runs[0].rows[0][:4]], ["spl"]),
        "B": scene_groups([runs[0].rows[0][4:8]], ["spl"]),
    }
    table = breakdown_table("scene", "spl", groups)
    assert [(name, cells[0].mean == "–", cells[1].mean == "–") for name, cells in table.rows] == [
        ("corridor/00", False, True),
        ("corridor/01", True, False),
    ]


def test_classes_side_by_side():
    table = class_table({"A": CLASSES, "B": {}}, {"A": 40, "B": 10})
    assert table.columns == ("reason", "A", "of 3 failures", "B", "of 0 failures")
    assert table.rows[0][1:] == ("2 of 40", "67 %", "0 of 10", "–")


def test_failures_are_drawn_by_class_easiest_first(runs):
    rows = runs[1].rows[0]
    classes = {row.episode_id: FailureClass.STUCK for row in rows[:10]} | CLASSES
    sections = choose_by_class(rows, classes)
    assert list(sections) == [
        "Failed: went to and fro, or against obstacles (9)",
        "Failed: the agent crashed, took too long or acted illegally (1)",
    ]
    stuck, broke = sections.values()
    assert len(stuck) == PER_CLASS and [row.episode_id for row in broke] == ["e000"]
    distances = [row.start_distance for row in rows if classes.get(row.episode_id) == "stuck"]
    assert [row.start_distance for row in stuck] == sorted(distances)[:PER_CLASS]


def test_plots_escape_their_titles_and_take_the_colours_of_the_page():
    line = Line("A & <b>", (0.0, 1.0), (0.5, 0.6), (0.4, None), (0.6, None))
    estimate = Estimate(0.5, 0.4, 0.6, 10)
    for svg in (
        draw_lines("a < b", [line, line], "x", "y", True),
        draw_ranges("a < b", ["<u>", "v"], {"A": [estimate, None], "B": [None, estimate]}, "y"),
        draw_shares("a < b", ["<u>", "v"], {"A": [0.5, 0.0]}),
    ):
        assert svg.startswith('<svg class="chart"') and 'aria-label="a &lt; b"' in svg
        assert "var(--soft)" in svg and "#040506" not in svg
        assert "<b>" not in svg and "<u>" not in svg and "http" not in svg
        check(svg)


@pytest.mark.filterwarnings("error")
def test_bars_of_one_episode_of_many_leave_room_for_their_names():
    """Bars of 2 and of 40 % begin at the same place, and the first stay short."""
    names = ["called STOP too early, the goal in view or almost reached", "did not reach the point"]
    few, many = (
        re.findall(r'<path d="M ([\d.]+) [\d.]+ *\n?L ([\d.]+)', draw_shares("t", names, {"A": shares}))
        for shares in ([1 / 60, 1 / 60], [0.4, 0.1])
    )
    assert few and many and float(few[0][0]) == pytest.approx(float(many[0][0]), abs=1)
    assert float(few[0][1]) - float(few[0][0]) < 0.3 * (float(many[0][1]) - float(many[0][0]))


def test_plots_of_the_same_data_are_the_same():
    lines = [Line("A", (0.0, 1.0), (0.5, 0.6))]
    assert draw_lines("t", lines, "x", "y") == draw_lines("t", lines, "x", "y")


def test_names_with_dollar_signs_are_letters():
    """Names of categories come from files; matplotlib would take them for formulas."""
    line = Line("a $\\frac{", (0.0, 1.0), (0.5, 0.6))
    drawn = str(draw_lines("of $x^", [line, line], "$\\alpha$", "share"))
    assert "a $\\frac{" in drawn and "$\\alpha$" in drawn
