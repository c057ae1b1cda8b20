"""The page of `navarena report`: one or several runs in one file that opens anywhere without a network."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navarena.core.files import write_atomic
from navarena.evaluation.breakdowns import BAND, RADIUS, SCENE, SUBTASK, TRAITS, Group, break_down
from navarena.evaluation.compare import Comparison, Contestant
from navarena.evaluation.identity import Identity
from navarena.metrics.catalog import get_metric
from navarena.metrics.failures import MEANINGS, FailureClass
from navarena.reports.comparison import difference_table, seed_table
from navarena.reports.gallery import Card
from navarena.reports.html import render_template
from navarena.reports.plots import Figure
from navarena.reports.runs.figures import draw_breakdown, draw_classes, draw_summary
from navarena.reports.runs.grid import encode_grid, episode_columns, group_columns
from navarena.reports.runs.sections import find_sections
from navarena.reports.runs.tables import SideBySide, breakdown_table, class_table, run_table, summary_table
from navarena.reports.runs.videos import VideoCard
from navarena.reports.tables import broken_table
from navarena.reports.topdown import PATH_COLORS

REPORT_NAME = "full-report.html"
"""Of several runs; the page of a single one is its report.html."""

MOST_GROUPS = 12
"""A breakdown into more parts is a table without a plot."""

Classes = tuple[dict[str, FailureClass] | None, ...]
"""For each contestant, episode id -> why it failed; None where `navarena failures` was not run."""


@dataclass(frozen=True)
class Breakdown:
    """The runs by one kind of groups, a table and a plot for each leading metric."""

    title: str
    tables: tuple[tuple[str, SideBySide], ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Drawn:
    """What was drawn by executing actions again.

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
    leading = list(comparison.estimates[0])[:2]
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
        summary_figures=draw_summary(comparison),
        differences=difference_table(comparison),
        seeds=seed_table(comparison),
        breakdowns=_make_breakdowns(contestants, leading),
        sections=find_sections(contestants),
        reasons=class_table(known, episodes) if failed else None,
        reasons_figure=draw_classes(known, episodes, MEANINGS) if failed else None,
        unclassified=[one.folders[0] for one, found in zip(contestants, classes) if found is None],
        broken=broken_table([row for one in contestants for rows in one.rows for row in rows]),
        galleries=drawn.galleries,
        videos=drawn.videos,
        path_colors=PATH_COLORS,
        scenes=encode_grid(group_columns("scene", _groups_by(contestants, SCENE, leading))),
        episodes=encode_grid(episode_columns(contestants, classes)),
        episode_count=sum(len(rows) for one in contestants for rows in one.rows),
    )


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
    """Status -> episodes of all runs that the agent broke in this way."""
    return dict(Counter(row.status for one in contestants for rows in one.rows for row in rows if row.failed))


def _make_tiles(comparison: Comparison) -> list[dict[str, str]]:
    """The scores of a single run, large; with several runs the table says it all."""
    if len(comparison.contestants) > 1:
        return []
    rows = summary_table(comparison).rows
    scores = [get_metric(name).better == "higher" for name in comparison.estimates[0]]
    return [
        {"title": title, "value": cells[0].mean, "interval": cells[0].interval, "n": cells[0].n}
        for (title, cells), is_high in zip(rows, scores, strict=True)
        if is_high
    ][:4]


def _groups_by(contestants: Sequence[Contestant], by: str, metrics: Sequence[str]) -> dict[str, list[Group]]:
    """Label -> groups of a breakdown, for the runs that know it."""
    found = {}
    for one in contestants:
        shared = [name for name in metrics if name in one.metrics]
        groups = break_down([row for rows in one.rows for row in rows], by, shared)
        if groups:
            found[one.label] = groups
    return found


def _make_breakdowns(contestants: Sequence[Contestant], leading: Sequence[str]) -> list[Breakdown]:
    """Every way to break the runs down that tells parts apart; scenes have a long table of their own."""
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
        if len(parts) <= MOST_GROUPS:
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
