"""The tables of a report as text in rows and columns, for console and HTML."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from navarena.evaluation.analyses.breakdowns import Group
from navarena.evaluation.records.episode_table import last_line
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.results import MetricSummary, Summary, TourSummary
from navarena.metrics.catalog import Metric, get_metric
from navarena.metrics.failures import MEANINGS, FailureClass
from navarena.metrics.statistics import Estimate, why_missing

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


def format_difference(metric: Metric, value: float | None) -> str:
    """The difference of two values as text: of rates in points, such as "-4.7 points", never in per cent."""
    if value is None or not metric.is_binary or math.isinf(value):
        return format_value(metric, value)
    return f"{100 * value:z.1f} points"


def format_interval(
    metric: Metric,
    estimate: Estimate | MetricSummary,
    form: Callable[[Metric, float | None], str] = format_value,
) -> str:
    """An interval as text, such as "83.9 % to 99.4 %", or why there is none, such as "n too small".

    Args:
        metric: that was estimated.
        estimate: with or without an interval.
        form: what writes its ends: format_value, or format_difference where it is of a difference.
    """
    if estimate.low is None or estimate.high is None:
        return why_missing(estimate.method) or NO_VALUE
    return f"{form(metric, estimate.low)} to {form(metric, estimate.high)}"


def format_count(estimate: Estimate | MetricSummary) -> str:
    """Over how many values a mean is, such as "1,000", or "990 of 1,000" where others are infinite."""
    finite = f"{estimate.n - estimate.infinite:,}"
    return f"{finite} of {estimate.n:,}" if estimate.infinite else finite


def format_estimate(metric: Metric, estimate: Estimate | None) -> str:
    """A mean with its interval and n, such as "52.0 % (48.1 % to 55.9 %, n = 640)"."""
    if estimate is None:
        return NO_VALUE
    parts = (format_interval(metric, estimate), f"n = {format_count(estimate)}")
    return f"{format_value(metric, estimate.mean)} ({', '.join(part for part in parts if part != NO_VALUE)})"


def metric_table(summary: Summary) -> Table:
    """Every metric of a run with its mean, interval and n: episodes, or sub-tasks where these are pooled."""
    percent = f"{100 * summary.confidence:g} % interval"
    rows = []
    for name, entry in summary.metrics.items():
        if name in summary.pooled:
            rows.append(_row(get_metric(name), summary.pooled[name]))
        rows.append(_row(get_metric(name), entry))
    columns = ("metric", "mean", percent, "better", "n" if summary.pooled else "episodes", "interval by")
    return Table(columns, tuple(rows), (False, True, True, False, True, False))


def metric_notes(names: Iterable[str]) -> list[str]:
    """Notes on the metrics `names`, each sentence once."""
    return list(dict.fromkeys(note for name in names if (note := get_metric(name).note)))


def tour_table(summary: TourSummary) -> Table:
    """t-nDTW, t-SR and t-SPL of a run with their intervals and the number of tours."""
    score = get_metric("ndtw")
    rows = tuple(_row(score, entry) for entry in summary.metrics.values())
    columns = ("over tours", "mean", "interval", "better", "tours", "interval by")
    return Table(columns, rows, (False, True, True, False, True, False))


def _row(metric: Metric, entry: MetricSummary) -> tuple[str, ...]:
    mean = entry.mean if entry.infinite < entry.n or entry.mean is None else math.inf
    return (
        entry.title,
        format_value(metric, mean),
        format_interval(metric, entry),
        entry.better or NO_VALUE,
        format_count(entry),
        entry.method,
    )


def group_table(title: str, groups: Sequence[Group]) -> Table:
    """Groups as text; `title` heads the column of names, n counts episodes, or sub-tasks where groups do."""
    metrics = tuple(groups[0].estimates) if groups else ()
    columns = [title, "n"]
    for name in metrics:
        columns += [get_metric(name).title, "95 % interval"]
    rows = []
    for group in groups:
        cells = [group.name, str(group.n)]
        for name, estimate in group.estimates.items():
            metric = get_metric(name)
            cells += [format_value(metric, estimate.mean), format_interval(metric, estimate)]
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
    """Number of failed episodes per reason, most frequent first."""
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
