"""The tables of a report as plain data; who prints them is somebody else's business."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from navarena.evaluation.episode_table import last_line
from navarena.evaluation.journal import Row
from navarena.evaluation.results import MetricSummary, Summary, estimate_metric
from navarena.metrics.catalog import Metric, get_metric
from navarena.metrics.statistics import Estimate

BAND_EDGES = (0.0, 2.0, 5.0, 10.0, 20.0, math.inf)
"""Metres of geodesic start distance; 2 to 20 m are the limits of MultiON's episodes."""

NO_VALUE = "–"


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


@dataclass(frozen=True)
class Group:
    """The rows of one scene, distance band or other part, with two metrics over them.

    Attributes:
        name: what they have in common.
        n: how many.
        estimates: metric name -> mean with interval.
    """

    name: str
    n: int
    estimates: dict[str, Estimate]


def format_value(metric: Metric, value: float | None) -> str:
    """One value for people: rates in per cent, lengths in metres, scores with three digits."""
    if value is None:
        return NO_VALUE
    if math.isinf(value):
        return "∞"
    if metric.is_binary:
        return f"{100 * value:.1f} %"
    if metric.unit:
        return f"{value:.2f} {metric.unit}"
    return f"{value:.3f}" if metric.better == "higher" else f"{value:.1f}"


def format_interval(metric: Metric, low: float | None, high: float | None) -> str:
    """An interval for people, such as "83.9 % to 99.4 %"."""
    if low is None or high is None:
        return NO_VALUE
    return f"{format_value(metric, low)} to {format_value(metric, high)}"


def metric_table(summary: Summary) -> Table:
    """Every metric of a run with its mean, interval and number of episodes."""
    percent = f"{100 * summary.confidence:g} % interval"
    rows = tuple(_metric_row(name, entry) for name, entry in summary.metrics.items())
    columns = ("metric", "mean", percent, "better", "episodes", "interval by")
    return Table(columns, rows, (False, True, True, False, True, False))


def _metric_row(name: str, entry: MetricSummary) -> tuple[str, ...]:
    metric = get_metric(name)
    counted = f"{entry.n - entry.infinite} of {entry.n}" if entry.infinite else str(entry.n)
    mean = entry.mean if entry.infinite < entry.n else math.inf
    return (
        entry.title,
        format_value(metric, mean),
        format_interval(metric, entry.low, entry.high),
        entry.better or NO_VALUE,
        counted,
        entry.method,
    )


def headline_metrics(summary: Summary) -> tuple[str, ...]:
    """The first two metrics of the protocol: by them parts of a run are compared."""
    return tuple(summary.metrics)[:2]


def group_rows(
    rows: Sequence[Row], key: Callable[[Row], str], metrics: Iterable[str], names: Sequence[str] = ()
) -> list[Group]:
    """`rows` grouped by `key`, each group with the means of `metrics`.

    Args:
        rows: of a run.
        key: the name of a row's group.
        metrics: names.
        names: order of the groups; by name when empty. Empty groups are left out.
    """
    members: dict[str, list[Row]] = {}
    for row in rows:
        members.setdefault(key(row), []).append(row)
    metrics = tuple(metrics)
    return [
        Group(
            name,
            len(members[name]),
            {metric: estimate_metric(members[name], metric, name) for metric in metrics},
        )
        for name in (names or sorted(members))
        if name in members
    ]


def scene_groups(rows: Sequence[Row], metrics: Iterable[str]) -> list[Group]:
    """One group per scene."""
    return group_rows(rows, lambda row: row.scene_id, metrics)


def band_groups(rows: Sequence[Row], metrics: Iterable[str]) -> list[Group]:
    """One group per band of geodesic start distance, from near to far."""
    return group_rows(rows, _band_name, metrics, [*_BAND_NAMES, _UNREACHABLE])


_BAND_NAMES = [
    f"{low:g} to {high:g} m" if math.isfinite(high) else f"{low:g} m and more"
    for low, high in itertools.pairwise(BAND_EDGES)
]
_UNREACHABLE = "unreachable"


def _band_name(row: Row) -> str:
    if row.start_distance is None:
        return _UNREACHABLE
    index = sum(row.start_distance >= edge for edge in BAND_EDGES[1:])
    return _BAND_NAMES[index]


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


def episode_table(rows: Sequence[Row], metrics: Sequence[str]) -> Table:
    """One line per episode with every metric."""
    columns = ("episode", "scene", "status", "start distance", *(get_metric(name).title for name in metrics))
    lines = tuple(
        (
            row.episode_id,
            row.scene_id,
            row.status,
            "∞" if row.start_distance is None else f"{row.start_distance:.2f} m",
            *(format_single(get_metric(name), row.metric(name)) for name in metrics),
        )
        for row in rows
    )
    return Table(columns, lines, (False, False, False, True, *[True] * len(metrics)))


def format_single(metric: Metric, value: float) -> str:
    """The value of one episode for people: yes or no, or a number without the digits of a mean."""
    if metric.is_binary:
        return "yes" if value else "no"
    if math.isfinite(value) and not metric.unit and metric.better != "higher":
        return f"{value:g}"
    return format_value(metric, value)


def broken_table(rows: Sequence[Row]) -> Table:
    """The episodes that the agent broke, with what it raised."""
    lines = tuple(
        (row.episode_id, row.scene_id, row.status, str(row.steps), last_line(row.traceback) or "")
        for row in rows
        if row.failed
    )
    return Table(
        ("episode", "scene", "status", "steps before", "error"), lines, (False, False, False, True, False)
    )
