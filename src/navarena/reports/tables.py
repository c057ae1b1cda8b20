"""The tables of a report as text in rows and columns, for console and HTML."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from navarena.evaluation.breakdowns import Group
from navarena.evaluation.episode_table import last_line
from navarena.evaluation.journal import Row
from navarena.evaluation.results import MetricSummary, Summary, TourSummary
from navarena.metrics.catalog import Metric, get_metric
from navarena.metrics.failures import MEANINGS, FailureClass

NO_VALUE = "–"

EXAMPLES = 3
"""Episodes that are named for each reason of failure."""


@dataclass(frozen=True)
class Table:
    """Text in rows and columns.

    Attributes:
        columns: headings.
        rows: cells, one per column.
        numeric: for each column, whether it is aligned as a number.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]


def format_value(metric: Metric, value: float | None) -> str:
    """One value as text: rates in per cent, lengths in metres, scores with three digits; never -0."""
    if value is None:
        return NO_VALUE
    if math.isinf(value):
        return "∞"
    if metric.is_binary:
        return f"{100 * value:z.1f} %"
    if metric.unit:
        return f"{value:z.2f} {metric.unit}"
    return f"{value:z.3f}" if metric.better == "higher" else f"{value:z.1f}"


def format_interval(metric: Metric, low: float | None, high: float | None) -> str:
    """An interval as text, such as "83.9 % to 99.4 %"."""
    if low is None or high is None:
        return NO_VALUE
    return f"{format_value(metric, low)} to {format_value(metric, high)}"


def is_score(name: str) -> bool:
    """Whether a metric lives in [0, 1], the higher the better."""
    metric = get_metric(name)
    return metric.better == "higher" and not metric.unit


def metric_table(summary: Summary) -> Table:
    """Every metric of a run with its mean, interval and number of episodes."""
    percent = f"{100 * summary.confidence:g} % interval"
    rows = tuple(_metric_row(name, entry) for name, entry in summary.metrics.items())
    columns = ("metric", "mean", percent, "better", "episodes", "interval by")
    return Table(columns, rows, (False, True, True, False, True, False))


def tour_table(summary: TourSummary) -> Table:
    """t-nDTW, t-SR and t-SPL of a run with their intervals and the number of tours."""
    score = get_metric("ndtw")
    rows = tuple(_row(score, entry) for entry in summary.metrics.values())
    columns = ("over tours", "mean", "interval", "better", "tours", "interval by")
    return Table(columns, rows, (False, True, True, False, True, False))


def _metric_row(name: str, entry: MetricSummary) -> tuple[str, ...]:
    return _row(get_metric(name), entry)


def _row(metric: Metric, entry: MetricSummary) -> tuple[str, ...]:
    counted = f"{entry.n - entry.infinite} of {entry.n}" if entry.infinite else str(entry.n)
    mean = entry.mean if entry.infinite < entry.n or entry.mean is None else math.inf
    return (
        entry.title,
        format_value(metric, mean),
        format_interval(metric, entry.low, entry.high),
        entry.better or NO_VALUE,
        counted,
        entry.method,
    )


def group_table(title: str, groups: Sequence[Group]) -> Table:
    """Groups as text; `title` heads the column of names."""
    metrics = tuple(groups[0].estimates) if groups else ()
    columns = [title, "episodes"]
    for name in metrics:
        columns += [get_metric(name).title, "95 % interval"]
    rows = []
    for group in groups:
        cells = [group.name, str(group.n)]
        for name, estimate in group.estimates.items():
            metric = get_metric(name)
            cells += [
                format_value(metric, estimate.mean),
                format_interval(metric, estimate.low, estimate.high),
            ]
        rows.append(tuple(cells))
    return Table(tuple(columns), tuple(rows), (False, *[True] * (len(columns) - 1)))


def format_single(metric: Metric, value: float) -> str:
    """The value of one episode as text: yes or no, or a number without the digits of a mean."""
    if metric.is_binary:
        return "yes" if value else "no"
    if math.isfinite(value) and not metric.unit and metric.better != "higher":
        return f"{value:g}"
    return format_value(metric, value)


def failure_table(classes: Mapping[str, FailureClass]) -> Table:
    """How many episodes failed for each reason, most frequent first."""
    found = list(classes.values())
    kinds = sorted(set(found), key=lambda kind: (-found.count(kind), kind))
    lines = tuple(
        (
            MEANINGS[kind],
            f"{found.count(kind)} of {len(found)}",
            f"{100 * found.count(kind) / len(found):.0f} %",
            ", ".join([name for name, one in classes.items() if one is kind][:EXAMPLES]),
        )
        for kind in kinds
    )
    return Table(("reason", "episodes", "of failures", "such as"), lines, (False, True, True, False))


def broken_table(rows: Sequence[Row]) -> Table:
    """The episodes that ended by an error of the agent, with the error."""
    lines = tuple(
        (row.episode_id, row.scene_id, row.status, str(row.steps), last_line(row.traceback) or "")
        for row in rows
        if row.failed
    )
    return Table(
        ("episode", "scene", "status", "steps before", "error"), lines, (False, False, False, True, False)
    )
