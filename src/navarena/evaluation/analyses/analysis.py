"""The result of an analysis: a table, and curves if the paper has some; estimates that analyses share.

Numbers stay numbers here: a cell is a text, a count, a value, or an Estimate with its interval and n. `texts`
is how people read them.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from navarena.core.errors import InputError
from navarena.core.files import raise_storage_error, read_json, write_atomic
from navarena.evaluation.analyses.contestants import Contestant, describe_rules
from navarena.evaluation.records.journal import GoalsRecord, Row, hash_rows
from navarena.evaluation.records.results import ANALYSES_FOLDER
from navarena.metrics.statistics import Estimate, estimate_rate, estimate_weighted, why_missing

Kind = Literal["text", "count", "number", "rate", "score", "metres", "points"]
"""How the cells of a column read: words; whole numbers; numbers with one digit; shares in per cent; scores
with three digits; metres; differences of shares in points of per cent."""

Cell = str | int | float | Estimate | None
"""None for no value, such as the change of a row against itself."""

NO_VALUE = "–"


@dataclass(frozen=True)
class Column:
    """A heading, and how its cells read."""

    title: str
    kind: Kind = "text"


@dataclass(frozen=True)
class Curve:
    """Points of one line.

    Attributes:
        label: of the line.
        x: rising; in the unit of Analysis.x_title.
        y: as many values, each with its interval and n.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[Estimate, ...]


@dataclass(frozen=True)
class AnalysedRun:
    """A run that an analysis is of, or the training seeds of a method.

    Attributes:
        label: in the table.
        hashes: of run.json and rows of each run; they stay as they are when folders are moved.
    """

    label: str
    hashes: tuple[str, ...]


@dataclass(frozen=True)
class Analysis:
    """A table of a paper, computed from runs.

    Attributes:
        name: of the command that makes it, such as "backtracking".
        title: for people.
        columns: headings.
        rows: cells, one for each column.
        notes: how it was computed, and what it rests on, a sentence each.
        curves: where the paper draws some.
        x_title, y_title: of the axes of the curves.
        y_kind: how the values of the curves read.
        runs: that it is of; empty where it does not say.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    curves: tuple[Curve, ...] = ()
    x_title: str = ""
    y_title: str = ""
    y_kind: Kind = "rate"
    runs: tuple[AnalysedRun, ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        """The titles of the columns."""
        return tuple(column.title for column in self.columns)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """For each column, whether its cells are aligned as numbers."""
        return tuple(column.kind != "text" for column in self.columns)

    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The cells as text, row by row."""
        return tuple(
            tuple(format_cell(cell, column.kind) for cell, column in zip(row, self.columns, strict=True))
            for row in self.rows
        )


def format_cell(cell: Cell, kind: Kind) -> str:
    """A cell as text: an Estimate as "52.0 % (48.1 % to 55.9 %, n = 40)"."""
    if isinstance(cell, Estimate):
        parts = [f"n = {cell.n}"]
        if cell.infinite:
            parts = [f"n = {cell.n - cell.infinite} of {cell.n}"]
        if cell.low is not None and cell.high is not None:
            parts.insert(0, f"{format_number(cell.low, kind)} to {format_number(cell.high, kind)}")
        elif reason := why_missing(cell.method):
            parts.insert(0, reason)
        return f"{format_number(cell.mean, kind)} ({', '.join(parts)})"
    if cell is None:
        return NO_VALUE
    return cell if isinstance(cell, str) else format_number(cell, kind)


def format_number(value: float, kind: Kind) -> str:
    """A number as the cells of `kind` show it."""
    if math.isinf(value):
        return "∞"
    match kind:
        case "rate":
            return f"{100 * value:.1f} %"
        case "points":
            return f"{100 * value:+.1f}"
        case "metres":
            return f"{value:.2f} m"
        case "number":
            return f"{value:,.1f}"
        case "count":
            return f"{value:,.0f}"
        case _:
            return f"{value:.3f}"


def save_analysis(folder: Path, analysis: Analysis) -> Path:
    """Write `analysis` below the run in `folder` in one step; returns the file. Raises StorageError."""
    path = folder / ANALYSES_FOLDER / f"{analysis.name}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise_storage_error(path.parent, error)
    write_atomic(path, msgspec.json.format(msgspec.json.encode(analysis), indent=1) + b"\n")
    return path


def read_analyses(folder: Path) -> tuple[Analysis, ...]:
    """Saved analyses of the run in `folder`, by name; raises FileError for a damaged file."""
    return tuple(_read_analysis(path) for path in sorted((folder / ANALYSES_FOLDER).glob("*.json")))


def _read_analysis(path: Path) -> Analysis:
    analysis: Analysis = read_json(path, "analysis", Analysis, "make it again with: navarena analyse")
    return analysis


def estimate_shares(
    rows: Sequence[Row], shares: Sequence[float], generator: np.random.Generator
) -> Estimate | None:
    """Mean of the shares, in [0, 1], of `rows`; None of nothing. All rows of one episode are one unit."""
    if not rows:
        return None
    own: dict[tuple[str, str], list[float]] = {}
    for row, share in zip(rows, shares, strict=True):
        own.setdefault((row.scene_id, row.episode_id), []).append(share)
    means = np.array([np.mean(found) for found in own.values()])
    if len(own) == len(rows) and np.isin(means, (0.0, 1.0)).all():
        return estimate_rate(means)
    weights, scenes = np.array([len(found) for found in own.values()], float), [scene for scene, _ in own]
    return estimate_weighted(means, weights, scenes, generator)


def require_goals(row: Row) -> GoalsRecord:
    """The goals of an episode that has several in order; raises InputError for one without."""
    if row.goals is None:
        raise InputError(
            f"expected runs of MultiON, got {row.episode_id!r} of {row.identity}, without goals in order"
        )
    return row.goals


def goal_count(one: Contestant) -> int:
    """The m of a run of m-ON.

    Raises InputError for episodes without several goals, and for runs that mix numbers of goals.
    """
    counts = sorted({len(require_goals(row).legs) for row in one.rows[0]})
    if len(counts) != 1:
        raise InputError(f"expected episodes with one number of goals in {one.folders[0]}, got {counts}")
    return counts[0]


def describe_runs(contestants: Sequence[Contestant]) -> tuple[AnalysedRun, ...]:
    """What an analysis of the contestants says of them."""
    return tuple(AnalysedRun(one.label, tuple(map(hash_rows, one.records, one.rows))) for one in contestants)


def require_same_rules(
    whose: str, group: Sequence[Contestant], read_rules: Callable[[Contestant], str], but_for: str
) -> None:
    """Raise InputError for runs that belong together and are under several rules.

    Args:
        whose: they are, in words.
        group: the runs.
        read_rules: the rules of a run without what may differ.
        but_for: what may differ, in words.
    """
    found = dict.fromkeys(read_rules(one) for one in group)
    if len(found) > 1:
        raise InputError(
            f"expected runs of {whose} under the same rules but for {but_for}, got {', '.join(found)}; "
            "give runs under other rules another label"
        )


def goal_rules(one: Contestant) -> str:
    """The rules of a run of m-ON but for m."""
    return re.sub(r"-\d+on-", "-", describe_rules(one.identity, ("objects",)))


def by_label(contestants: Sequence[Contestant]) -> Mapping[str, list[Contestant]]:
    """Label -> its contestants, in the order in which labels first appear."""
    found: dict[str, list[Contestant]] = {}
    for one in contestants:
        found.setdefault(one.label, []).append(one)
    return found
