"""Long tables as compact JSON; a script of the page sorts, filters and shows a hundred rows at a time."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from markupsafe import Markup

from navarena.evaluation.analyses.breakdowns import Group
from navarena.evaluation.analyses.contestants import Contestant
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.results import metric_values
from navarena.metrics.catalog import Metric, get_metric
from navarena.metrics.failures import MEANINGS, FailureClass
from navarena.reports.tables import format_interval

DECIMALS = 4
"""Digits behind the point that are embedded; episodes.parquet has all."""


class GridColumn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A column of a long table.

    Attributes:
        title: its heading.
        kind: "text"; "coded" for indices into `names`, -1 for none; "number", null for infinite; "flag" for
            0 and 1.
        values: one for each row.
        names: of a coded column, in the order in which they sort.
        digits: of a number, behind the point.
        unit: of a number, such as "m"; "%" for shares in [0, 1], shown in per cent.
    """

    title: str
    kind: Literal["text", "coded", "number", "flag"]
    values: list[Any]
    names: list[str] = []
    digits: int = 0
    unit: str = ""


def encode_grid(columns: Sequence[GridColumn]) -> Markup:
    """JSON of `columns` that may stand inside a script element. Infinite numbers become null."""
    return Markup(msgspec.json.encode(list(columns)).decode().replace("<", "\\u003c"))


def code_column(title: str, texts: Sequence[str | None]) -> GridColumn:
    """A coded column of `texts`, None where there is none."""
    names = sorted({text for text in texts if text is not None})
    places: dict[str | None, int] = {name: place for place, name in enumerate(names)}
    return GridColumn(title=title, kind="coded", names=names, values=[places.get(text, -1) for text in texts])


def number_column(title: str, values: Sequence[float], digits: int = 0, unit: str = "") -> GridColumn:
    """A column of numbers, rounded to DECIMALS digits."""
    rounded = np.round(np.asarray(values, np.float64), DECIMALS).tolist()
    return GridColumn(title=title, kind="number", values=rounded, digits=digits, unit=unit)


def metric_column(metric: Metric, rows: Sequence[Row]) -> GridColumn:
    """The values of a metric, episode by episode."""
    values = metric_values(rows, metric.name)
    if metric.is_binary:
        return GridColumn(title=metric.title, kind="flag", values=values.astype(np.int64).tolist())
    digits = 2 if metric.unit else 3 if metric.better == "higher" else 0
    return number_column(metric.title, values.tolist(), digits, metric.unit)


def episode_columns(
    contestants: Sequence[Contestant], classes: Sequence[Mapping[str, FailureClass] | None]
) -> list[GridColumn]:
    """Every episode of every run with every metric that all runs have.

    Args:
        contestants: whose runs they are.
        classes: for each contestant, episode id -> why it failed in its first run; None where this is not
            known.
    """
    labelled = [
        (
            one.label if len(one.rows) == 1 else f"{one.label}, seed {number}",
            row,
            found if found and number == 1 else {},
        )
        for one, found in zip(contestants, classes, strict=True)
        for number, rows in enumerate(one.rows, 1)
        for row in rows
    ]
    rows = [row for _, row, _ in labelled]
    shared = [name for name in contestants[0].metrics if all(name in one.metrics for one in contestants)]
    distances = [float("inf") if row.start_distance is None else row.start_distance for row in rows]
    columns = [
        GridColumn(title="episode", kind="text", values=[row.episode_id for row in rows]),
        code_column("scene", [row.scene_id for row in rows]),
        code_column("status", [row.status for row in rows]),
        number_column("start distance", distances, 2, "m"),
        *(metric_column(get_metric(name), rows) for name in shared),
        *(
            code_column(trait, [row.traits.get(trait) for row in rows])
            for trait in sorted({trait for row in rows for trait in row.traits})
        ),
    ]
    if sum(len(one.rows) for one in contestants) > 1:
        columns.insert(0, code_column("run", [label for label, _, _ in labelled]))
    if any(classes):
        columns.append(
            code_column("why it failed", [_reason(found.get(row.episode_id)) for _, row, found in labelled])
        )
    return columns


def _reason(kind: FailureClass | None) -> str | None:
    return None if kind is None else MEANINGS[kind]


def group_columns(title: str, groups: Mapping[str, Sequence[Group]]) -> list[GridColumn]:
    """Groups of runs, a row for each group of each run, with means and intervals.

    Args:
        title: heads the names of the groups.
        groups: label of a run -> its groups, all with the same metrics.
    """
    pairs = [(label, group) for label, found in groups.items() for group in found]
    columns = [
        GridColumn(title=title, kind="text", values=[group.name for _, group in pairs]),
        number_column("episodes", [group.n for _, group in pairs]),
    ]
    if len(groups) > 1:
        columns.insert(0, code_column("run", [label for label, _ in pairs]))
    names = [name for name in pairs[0][1].estimates if all(name in group.estimates for _, group in pairs)]
    for name in names:
        metric = get_metric(name)
        estimates = [group.estimates[name] for _, group in pairs]
        digits, unit = (1, "%") if metric.is_binary else (2, metric.unit) if metric.unit else (3, "")
        columns.append(number_column(metric.title, [one.mean for one in estimates], digits, unit))
        columns.append(
            GridColumn(
                title="95 % interval",
                kind="text",
                values=[format_interval(metric, one) for one in estimates],
            )
        )
    return columns
