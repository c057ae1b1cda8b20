"""The report of `navarena robustness`: RobustNav's table, relative drops, behaviour, severity curves."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path

from navarena.core.files import write_atomic
from navarena.evaluation.analyses.robustness import (
    BEHAVIOUR,
    GOAL,
    MOTION,
    POSE,
    SIGHT,
    Robustness,
    RobustnessRow,
    kind_of,
    relative_drop,
)
from navarena.metrics.catalog import TOUR_METRICS, get_metric
from navarena.metrics.paired import PairedComparison
from navarena.metrics.statistics import Estimate
from navarena.reports.html import render_template
from navarena.reports.plots import Figure, Line, draw_lines
from navarena.reports.tables import (
    NO_VALUE,
    Table,
    format_count,
    format_difference,
    format_estimate,
    format_interval,
)

REPORT_NAME = "robustness.html"

MARKS = {SIGHT: "V", MOTION: "D", POSE: "L", GOAL: "G"}
"""Column of the table in which a kind of corruption is ticked: visual, dynamics, localisation, goals."""

TICK = "✓"

UNHEEDED = "not looked at"
"""Mark of a row whose corruptions the agent does not observe."""

BEHAVIOUR_TITLES = {
    "collisions": "failed actions",
    "distance_to_goal": "distance at the end",
    "min_distance": "least distance",
    "oracle_success": "success with an oracle stop",
}


def paper_table(columns: Sequence[Robustness]) -> Table:
    """Means with intervals in the layout of the benchmark's paper: a row for each combination of corruptions,
    the metrics of each agent and protocol side by side.
    """
    rows: dict[tuple[str, ...], RobustnessRow] = {}
    for column in columns:
        rows |= {row.corruptions: row for row in (column.clean, *column.rows)}
    headings = [
        f"{column.agent} on {column.protocol}: {get_metric(name).title}"
        if len(columns) > 1
        else title_of(name)
        for column in columns
        for name in column.metrics
    ]
    lines = []
    for number, (corruptions, example) in enumerate(rows.items(), 1):
        found = [_row_of(column, corruptions) for column in columns]
        means = [
            format_estimate(get_metric(name), None if row is None else row.estimates.get(name))
            for column, row in zip(columns, found, strict=True)
            for name in column.metrics
        ]
        seen = any(row is not None and row.seen for row in found)
        unheeded = any(row is not None and row.unheeded for row in found)
        ticks = [TICK if kind in example.kinds else "" for kind in MARKS]
        episodes = f"{len(example.runs.rows[0]):,}"
        lines.append((str(number), _name(example.title, seen, unheeded), *ticks, episodes, *means))
    marks = tuple(MARKS.values())
    numeric = (True, False, *[False] * len(marks), True, *[True] * len(headings))
    return Table(("#", "corruption", *marks, "episodes", *headings), tuple(lines), numeric)


def title_of(name: str) -> str:
    """The title of a metric."""
    return get_metric(name).title


def _row_of(column: Robustness, corruptions: tuple[str, ...]) -> RobustnessRow | None:
    return next((row for row in (column.clean, *column.rows) if row.corruptions == corruptions), None)


def drop_table(one: Robustness) -> Table:
    """Every row against the clean runs: differences with paired intervals, and relative drops."""
    lines = [(_name(row.title, row.seen, row.unheeded), *_drop_cells(one, row.changes)) for row in one.rows]
    if one.headline:
        lines.append(("mean of rows looked at, not seen in training", *_drop_cells(one, one.headline)))
    columns = ["corruption"]
    for name in one.metrics:
        columns += _drop_columns(name)
    return Table(tuple(columns), tuple(lines), (False, *[True] * (len(columns) - 1)))


def _name(title: str, seen: bool, unheeded: bool) -> str:
    marks = [text for text, is_so in (("seen in training", seen), (UNHEEDED, unheeded)) if is_so]
    return f"{title} ({', '.join(marks)})" if marks else title


def _drop_columns(name: str) -> list[str]:
    units = "tours" if name in TOUR_METRICS else "episodes"
    return [f"{title_of(name)}: change", "95 % interval", units, "relative drop"]


def _drop_cells(one: Robustness, changes: Mapping[str, PairedComparison]) -> list[str]:
    cells = []
    for name in one.metrics:
        metric, change = get_metric(name), changes.get(name)
        if change is None:
            cells += [NO_VALUE] * len(_drop_columns(name))
            continue
        drop = relative_drop(change)
        cells += [
            format_difference(metric, change.difference.mean),
            format_interval(metric, change.difference, format_difference),
            format_count(change.difference),
            NO_VALUE if drop is None else f"{100 * drop:.1f} %",
        ]
    return cells


def behaviour_table(one: Robustness) -> Table:
    """Behaviour under corruptions, with intervals and n: failed actions, distances, stops."""
    rows = (one.clean, *one.rows)
    names = [name for name in BEHAVIOUR if name in one.clean.estimates]
    columns = ("corruption", *(BEHAVIOUR_TITLES[name] for name in names), "premature stops", "missed stops")
    lines = [
        (
            row.title,
            *(format_estimate(get_metric(name), row.estimates[name]) for name in names),
            *(format_estimate(get_metric("success"), one) for one in (row.premature_stops, row.missed_stops)),
        )
        for row in rows
    ]
    return Table(columns, tuple(lines), (False, *[True] * (len(columns) - 1)))


def unheeded_note(one: Robustness) -> str:
    """Sentence naming the corruptions that the agent never observed; empty if there are none."""
    titles = [row.title for row in one.rows if row.unheeded]
    if not titles:
        return ""
    return (
        f"{one.agent} never looks at what is changed by {', '.join(titles)}: it chose the same actions as in "
        "the clean run in every episode, so that these rows say nothing of its robustness"
    )


def draw_curves(one: Robustness) -> list[Figure]:
    """A figure for each metric in [0, 1] and each corruption that was run at several severities."""
    return [
        _draw_severities(title_of(metric), name, points)
        for metric in one.metrics
        if get_metric(metric).is_score
        for name, points in one.curves(metric).items()
    ]


def _draw_severities(title: str, corruption: str, points: Sequence[tuple[int, Estimate]]) -> Figure:
    severities, estimates = zip(*points, strict=True)
    line = Line(
        title,
        tuple(float(severity) for severity in severities),
        tuple(one.mean for one in estimates),
        tuple(one.low for one in estimates),
        tuple(one.high for one in estimates),
    )
    name = f"{title} by severity of {corruption}"
    svg = draw_lines(name, [line], f"severity of {corruption}, 0 is clean", title, is_share=True)
    counts = sorted({one.n - one.infinite for one in estimates})
    return Figure(
        svg, f"{title} under {corruption}, with 95 % intervals, n = {' or '.join(map(str, counts))}."
    )


def visual_corruptions_of(columns: Sequence[Robustness]) -> tuple[str, ...]:
    """Names of the visual corruptions that occur in the rows, each once."""
    texts = [text for column in columns for row in column.rows for text in row.corruptions]
    return tuple(dict.fromkeys(text.partition(":")[0] for text in texts if kind_of(text) == SIGHT))


def render_robustness(columns: Sequence[Robustness], sheet: bytes | None = None) -> str:
    """The HTML of finished runs under corruptions; the same runs always give the same page.

    Args:
        columns: agents and protocols, at least one.
        sheet: a PNG of examples; None leaves them out.
    """
    return render_template(
        "robustness.html",
        columns=columns,
        table=paper_table(columns),
        marks={mark: kind for kind, mark in MARKS.items()},
        parts=[
            {
                "title": f"{one.agent} on {one.protocol}",
                "identity": one.identity,
                "episodes": one.clean.runs.records[0].episodes,
                "seeds": len(one.clean.runs.records),
                "drops": drop_table(one),
                "behaviour": behaviour_table(one),
                "curves": draw_curves(one),
                "unheeded": unheeded_note(one),
            }
            for one in columns
        ],
        sheet=None if sheet is None else base64.b64encode(sheet).decode(),
    )


def write_robustness(path: Path, columns: Sequence[Robustness], sheet: bytes | None = None) -> None:
    """Replace the page at `path` in one step; raises StorageError."""
    write_atomic(path, render_robustness(columns, sheet).encode())
