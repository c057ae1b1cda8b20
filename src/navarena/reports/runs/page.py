"""The page of `navarena report`: one or several runs in one HTML file that needs no network."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from navarena.core.files import write_atomic
from navarena.evaluation.analyses import Analysis, fitting_analyses, read_analyses
from navarena.evaluation.analyses.analysis import describe_runs
from navarena.evaluation.analyses.breakdowns import BAND, RADIUS, SCENE, SUBTASK, TRAITS, Group, break_down
from navarena.evaluation.analyses.compare import Comparison, compare
from navarena.evaluation.analyses.contestants import Contestant
from navarena.evaluation.analyses.failures import read_failures
from navarena.evaluation.identity import Identity
from navarena.evaluation.records.journal import journal_paths
from navarena.evaluation.records.results import ANALYSES_FOLDER
from navarena.evaluation.running.runner import FAILURES_NAME, REPORT_NAME, Evaluation
from navarena.metrics.catalog import get_metric
from navarena.metrics.failures import MEANINGS, FailureClass
from navarena.reports.comparison import difference_table, headline_first, seed_table
from navarena.reports.gallery import Card, draw_galleries
from navarena.reports.html import render_template
from navarena.reports.plots import Figure, Line, draw_lines
from navarena.reports.runs.figures import draw_breakdown, draw_classes, draw_summary
from navarena.reports.runs.grid import encode_grid, episode_columns, group_columns
from navarena.reports.runs.tables import SideBySide, breakdown_table, class_table, run_table, summary_table
from navarena.reports.runs.videos import VideoCard
from navarena.reports.tables import Table, broken_table, metric_notes
from navarena.reports.topdown import PATH_COLORS, PlanSource


@dataclass(frozen=True)
class Section:
    """An analysis as a section of the page: a titled table with notes and a plot.

    Attributes:
        title: heading.
        table: as text.
        notes: sentences below it.
        plot: of its curves; None without curves.
    """

    title: str
    table: Table
    notes: tuple[str, ...]
    plot: Markup | None


def make_section(analysis: Analysis) -> Section:
    """The section of an analysis."""
    lines = [
        Line(
            curve.label,
            curve.x,
            tuple(point.mean for point in curve.y),
            tuple(point.low for point in curve.y),
            tuple(point.high for point in curve.y),
        )
        for curve in analysis.curves
    ]
    plot = None
    if lines:
        is_share = analysis.y_kind in ("rate", "score")
        plot = draw_lines(analysis.title, lines, analysis.x_title, analysis.y_title, is_share)
    return Section(
        analysis.title, Table(analysis.headings, analysis.texts(), analysis.numeric), analysis.notes, plot
    )


def find_sections(contestants: Sequence[Contestant]) -> list[Section]:
    """Analyses that apply to the runs and need no replay, and those that `navarena analyse` has stored.

    A stored analysis replaces a computed one of the same name where it is of the same runs; of others it
    stands beside it, headed by their labels. Raises the InputError of an analysis, and FileError for a
    damaged file.
    """
    found = {analysis.name: [analysis] for analysis in fitting_analyses(contestants)}
    kept: dict[str, list[Analysis]] = {}
    for folder in (folder for one in contestants for folder in one.folders):
        for analysis in read_analyses(folder):
            kept.setdefault(analysis.name, []).append(analysis)
    shown = {one.hashes for one in describe_runs(contestants)}
    for name, group in kept.items():
        own = [analysis for analysis in group if {one.hashes for one in analysis.runs} == shown]
        computed = [] if own else found.get(name, [])
        others = [_name_runs(analysis, bool(computed)) for analysis in group if analysis not in own]
        found[name] = [*computed, *own, *others]
    return [make_section(analysis) for group in found.values() for analysis in group]


def _name_runs(analysis: Analysis, has_twin: bool) -> Analysis:
    """An analysis of other runs than those of the page, with their labels in its title.

    One that does not say of which runs it is keeps its title unless it `has_twin`, a computed one.
    """
    if not analysis.runs and not has_twin:
        return analysis
    labels = "; ".join(one.label for one in analysis.runs) or "runs that it does not name"
    return replace(analysis, title=f"{analysis.title}: {labels}")


COMPARISON_NAME = "full-report.html"
"""File name of the page of several runs; REPORT_NAME is that of a single run."""

MAX_GROUPS = 12
"""A breakdown into more parts is a table without a plot."""

Classes = tuple[dict[str, FailureClass] | None, ...]
"""For each contestant, episode id -> why it failed in its first run; None where `navarena failures` was not
run on that."""


@dataclass(frozen=True)
class Breakdown:
    """The runs by one kind of groups, a table and a plot for each leading metric."""

    title: str
    tables: tuple[tuple[str, SideBySide], ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Drawn:
    """Drawings and videos, made by executing actions again.

    Attributes:
        galleries: label of a run -> title of a section -> drawings from above.
        videos: videos of chosen episodes.
    """

    galleries: Mapping[str, Mapping[str, Sequence[Card]]]
    videos: tuple[VideoCard, ...] = ()


NOT_DRAWN = Drawn({})


def render_runs(comparison: Comparison, classes: Classes, drawn: Drawn = NOT_DRAWN) -> str:
    """The HTML of compared runs; the same runs always give the same page.

    Args:
        comparison: of contestants with labels that differ.
        classes: why episodes failed, for each contestant.
        drawn: images and videos.
    """
    contestants = comparison.contestants
    leading = contestants[0].leading_metrics(comparison.estimates[0])
    records = [record for one in contestants for record in one.records]
    known = {one.label: found for one, found in zip(contestants, classes, strict=True) if found is not None}
    episodes = {one.label: len(one.rows[0]) for one in contestants}
    failed = any(known.values())
    return render_template(
        "report.html",
        title=_title(contestants),
        contestants=contestants,
        records=records,
        identities=[Identity.of(text) for text in dict.fromkeys(one.identity for one in contestants)],
        broken_counts=_count_broken(contestants),
        notices=comparison.notices,
        runs=run_table(contestants),
        tiles=_make_tiles(comparison),
        summary=summary_table(comparison),
        notes=metric_notes(name for estimates in comparison.estimates for name in estimates),
        summary_figures=draw_summary(comparison),
        differences=difference_table(comparison),
        seeds=seed_table(comparison),
        breakdowns=_make_breakdowns(contestants, leading),
        sections=find_sections(contestants),
        reasons=class_table(known, episodes) if failed else None,
        reasons_figure=draw_classes(known, episodes, MEANINGS) if failed else None,
        unclassified=[
            one for one, found in zip(contestants, classes) if found is None and _has_failures(one)
        ],
        broken=broken_table([row for one in contestants for rows in one.rows for row in rows]),
        galleries=drawn.galleries,
        videos=drawn.videos,
        path_colors=PATH_COLORS,
        scenes=encode_grid(group_columns("scene", _groups_by(contestants, SCENE, leading))),
        episodes=encode_grid(episode_columns(contestants, classes)),
        episode_count=sum(len(rows) for one in contestants for rows in one.rows),
    )


def _has_failures(one: Contestant) -> bool:
    """Whether episodes of the first run are failures by their scores."""
    return "success" in one.metrics and any(row.metric("success") != 1.0 for row in one.rows[0])


def write_runs(path: Path, comparison: Comparison, classes: Classes, drawn: Drawn = NOT_DRAWN) -> None:
    """Replace the page at `path` in one step; raises StorageError."""
    write_atomic(path, render_runs(comparison, classes, drawn).encode())


def _title(contestants: Sequence[Contestant]) -> dict[str, str]:
    protocols = dict.fromkeys(str(one.records[0].settings["protocol"]) for one in contestants)
    return {
        "agents": ", ".join(dict.fromkeys(one.agent for one in contestants)),
        "protocols": ", ".join(protocols),
    }


def _count_broken(contestants: Sequence[Contestant]) -> dict[str, int]:
    """Status -> number of episodes of all runs that ended by this error of the agent."""
    return dict(Counter(row.status for one in contestants for rows in one.rows for row in rows if row.failed))


def _make_tiles(comparison: Comparison) -> list[dict[str, str]]:
    """The scores of a single run, as large numbers; none with several runs."""
    if len(comparison.contestants) > 1:
        return []
    rows = summary_table(comparison).rows
    scores = [get_metric(name).better == "higher" for _, name, _ in headline_first(comparison)]
    return [
        {"title": title, "value": cells[0].mean, "interval": cells[0].interval, "n": cells[0].n}
        for (title, cells), is_high in zip(rows, scores, strict=True)
        if is_high
    ][:4]


def _groups_by(contestants: Sequence[Contestant], by: str, metrics: Sequence[str]) -> dict[str, list[Group]]:
    """Label -> groups of a breakdown, for the runs that have it."""
    found = {}
    for one in contestants:
        shared = [name for name in metrics if name in one.metrics]
        groups = break_down(one.rows[0], by, shared, one.rows[1:])
        if groups:
            found[one.label] = groups
    return found


def _make_breakdowns(contestants: Sequence[Contestant], leading: Sequence[str]) -> list[Breakdown]:
    """Every breakdown of the runs with more than one group; scenes have a long table of their own."""
    made = []
    for by in (BAND, RADIUS, *TRAITS, SUBTASK):
        groups = _groups_by(contestants, by, leading)
        parts = {group.name for found in groups.values() for group in found}
        if len(parts) < 2:
            continue
        metrics = dict.fromkeys(
            name for found in groups.values() for group in found for name in group.estimates
        )
        title = _HEADINGS.get(by, by)
        figures: list[Figure | None] = []
        if len(parts) <= MAX_GROUPS:
            figures = [draw_breakdown(title, name, groups) for name in metrics]
        made.append(
            Breakdown(
                f"By {title}",
                tuple((get_metric(name).title, breakdown_table(title, name, groups)) for name in metrics),
                tuple(figure for figure in figures if figure is not None),
            )
        )
    return made


_HEADINGS: Mapping[str, Any] = {
    BAND: "start distance",
    RADIUS: "success distance",
    SUBTASK: "sub-task",
    "floors": "change of floor",
    "goals": "number of goals",
    "modality": "modality of the goal",
}
"""What breakdowns are called on the page where their name does not say it."""


def render_report(evaluation: Evaluation, plans: PlanSource | None = None) -> str:
    """The HTML of a finished run; the same run always gives the same page.

    Args:
        evaluation: the run.
        plans: where the drawings find their scenes; None leaves the drawings out.
    """
    record = evaluation.record
    comparison = compare([Contestant(record.agent, (evaluation.folder,), (record,), (evaluation.rows,))])
    classes = (read_failures(evaluation.folder, record, evaluation.rows),)
    drawn = NOT_DRAWN
    if plans is not None:
        benchmark = evaluation.benchmark
        drawn = Drawn(draw_galleries(comparison, classes, lambda _: benchmark, open_scenes=lambda _: plans))
    return render_runs(comparison, classes, drawn)


def is_current(folder: Path) -> bool:
    """Whether the page in the folder of a run is younger than everything that it shows."""
    page = folder / REPORT_NAME
    shown = [*journal_paths(folder), folder / FAILURES_NAME, *(folder / ANALYSES_FOLDER).glob("*.json")]
    if not page.exists():
        return False
    return all(path.stat().st_mtime_ns < page.stat().st_mtime_ns for path in shown if path.exists())


def write_report(evaluation: Evaluation, plans: PlanSource | None = None) -> Path:
    """Replace report.html in the run's folder in one step; raises StorageError. Returns its path."""
    path = evaluation.folder / REPORT_NAME
    write_atomic(path, render_report(evaluation, plans).encode())
    return path
