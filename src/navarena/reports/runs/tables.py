"""Tables with the runs side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from navarena.evaluation.analyses.breakdowns import Group
from navarena.evaluation.analyses.compare import Comparison, find_best
from navarena.evaluation.analyses.contestants import Contestant
from navarena.metrics.catalog import Metric, get_metric
from navarena.metrics.failures import MEANINGS, FailureClass
from navarena.metrics.statistics import Estimate
from navarena.reports.comparison import headline_first
from navarena.reports.tables import NO_VALUE, Table, format_count, format_interval, format_value


@dataclass(frozen=True)
class Cell:
    """A mean with its interval and n, as text.

    Attributes:
        mean, interval: as text; the interval is empty where it is unknown.
        n: over how many episodes, such as "1,000" or "990 of 1,000".
        method: how the interval was made.
        is_best: whether the run is significantly better than every other one.
    """

    mean: str
    interval: str
    n: str
    method: str
    is_best: bool = False


NOTHING = Cell(NO_VALUE, "", "", "")


@dataclass(frozen=True)
class SideBySide:
    """Rows with a cell for each run.

    Attributes:
        corner: heading of the names of rows.
        labels: of the runs.
        rows: name and cells.
    """

    corner: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def make_cell(metric: Metric, estimate: Estimate | None) -> Cell:
    """The estimate of a metric in words; NOTHING for None."""
    if estimate is None:
        return NOTHING
    interval = format_interval(metric, estimate)
    return Cell(
        format_value(metric, estimate.mean),
        "" if interval == NO_VALUE else interval,
        format_count(estimate),
        estimate.method,
    )


def summary_table(comparison: Comparison) -> SideBySide:
    """Every metric of every run with interval and n; dashes where a run has not got it, the best marked."""
    best = {name: find_best(comparison, name) for name in comparison.estimates[0]}
    return SideBySide(
        "metric",
        tuple(one.label for one in comparison.contestants),
        tuple(
            (
                title,
                tuple(
                    replace(make_cell(get_metric(name), estimate), is_best=k == best.get(name))
                    for k, estimate in enumerate(found)
                ),
            )
            for title, name, found in headline_first(comparison)
        ),
    )


def breakdown_table(by: str, metric: str, groups: Mapping[str, Sequence[Group]]) -> SideBySide:
    """One metric of every run in the groups of a breakdown.

    Args:
        by: what the groups are, heads their names.
        metric: name.
        groups: label of a run -> its groups.
    """
    names = list(dict.fromkeys(group.name for found in groups.values() for group in found))
    by_name = [{group.name: group.estimates.get(metric) for group in found} for found in groups.values()]
    return SideBySide(
        by,
        tuple(groups),
        tuple(
            (name, tuple(make_cell(get_metric(metric), found.get(name)) for found in by_name))
            for name in names
        ),
    )


def class_table(classes: Mapping[str, Mapping[str, FailureClass]], episodes: Mapping[str, int]) -> Table:
    """Table of failure classes, the runs side by side.

    Args:
        classes: label -> episode id -> class.
        episodes: label -> how many the run has.
    """
    counts = {
        label: {kind: list(found.values()).count(kind) for kind in FailureClass}
        for label, found in classes.items()
    }
    kinds = [kind for kind in FailureClass if any(count[kind] for count in counts.values())]
    kinds.sort(key=lambda kind: -sum(count[kind] for count in counts.values()))
    columns = ["reason"]
    for label, found in classes.items():
        columns += [label, f"of {len(found):,} failures"]
    rows = []
    for kind in kinds:
        cells = [MEANINGS[kind]]
        for label, found in classes.items():
            number = counts[label][kind]
            cells += [
                f"{number:,} of {episodes[label]:,}",
                f"{100 * number / len(found):.0f} %" if found else NO_VALUE,
            ]
        rows.append(tuple(cells))
    return Table(tuple(columns), tuple(rows), (False, *[True] * (len(columns) - 1)))


def run_table(contestants: Sequence[Contestant]) -> Table:
    """Identity and size of each run."""
    rows = [
        (
            one.label,
            one.identity,
            f"{len(one.rows[0]):,}",
            f"{len({row.scene_id for row in one.rows[0]}):,}",
            str(len(one.rows)),
            ", ".join(one.records[0].privileged_inputs) or ("yes" if one.records[0].privileged else "no"),
            ", ".join(one.records[0].trained_with) or NO_VALUE,
        )
        for one in contestants
    ]
    columns = ("run", "of", "episodes", "scenes", "seeds", "privileged", "trained with")
    return Table(columns, tuple(rows), (False, False, True, True, True, False, False))


def label_apart(contestants: Sequence[Contestant]) -> list[Contestant]:
    """The contestants with labels that differ: their corruptions, then a number behind equal ones."""
    labels = [one.label for one in contestants]
    corruptions = [", ".join(one.records[0].corruptions) for one in contestants]
    named = [
        f"{label}, {corrupt}" if corrupt and labels.count(label) > 1 else label
        for label, corrupt in zip(labels, corruptions, strict=True)
    ]
    return [
        replace(one, label=f"{label} ({count})" if (count := named[: place + 1].count(label)) > 1 else label)
        for place, (one, label) in enumerate(zip(contestants, named, strict=True))
    ]
