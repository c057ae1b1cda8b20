"""Analyses of the papers as sections of a report."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from navarena.evaluation.analyses import Analysis, fitting_analyses, read_analyses
from navarena.evaluation.compare import Contestant
from navarena.reports.plots import Line, draw_lines
from navarena.reports.tables import Table


@dataclass(frozen=True)
class Section:
    """A titled table with what there is to say about it.

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
    """An analysis for people."""
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
    """What the runs support without a replay, and what `navarena analyse` has kept below them.

    What is kept of a name takes the place of what would be computed. Raises what the analyses raise, and
    FileError for a damaged file.
    """
    found = {analysis.name: [analysis] for analysis in fitting_analyses(contestants)}
    kept: dict[str, list[Analysis]] = {}
    for folder in (folder for one in contestants for folder in one.folders):
        for analysis in read_analyses(folder):
            kept.setdefault(analysis.name, []).append(analysis)
    return [make_section(analysis) for group in (found | kept).values() for analysis in group]
