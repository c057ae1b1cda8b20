"""The page of learning curves: trainings side by side, against frames and against minutes of a core."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from navarena.core.files import write_atomic
from navarena.metrics.catalog import METRICS, get_metric
from navarena.reports.html import render_template
from navarena.reports.plots import Figure, Line, draw_lines
from navarena.reports.tables import NO_VALUE, Table

MAX_POINTS = 60
"""Of a line: those of long trainings are means over neighbours."""

EVALUATED = ("success", "spl")
"""Metrics of evaluations that are drawn."""

LEARNED = {
    "success": "success of the policy's own episodes",
    "spl": "SPL of the policy's own episodes",
    "reward": "mean reward of a step",
    "imitation_loss": "imitation loss",
    "agreement": "agreement with the labels",
    "segmenter_loss": "loss of the segmenter",
    "joint_loss": "loss of the joint space",
    "anticipation_loss": "loss of the anticipation",
    "depth_loss": "loss of depth from colours",
    "policy_loss": "policy loss",
    "value_loss": "value loss",
    "explained_variance": "explained variance of the values",
    "entropy": "entropy (nats)",
    "kl": "KL of an update (nats)",
    "gradient_norm": "norm of the gradient",
    "frames_per_second": "frames per second",
}
"""What is drawn of the lines of the log, and how it is called."""

AXES = {"frames": ("million frames", 1e-6), "cpu_seconds": ("minutes of a core", 1 / 60)}
"""Column of a row -> title of the horizontal axis, and its unit."""


@dataclass(frozen=True)
class LearningRun:
    """Learning curves of one training.

    Attributes:
        group: what it shares its colour with: the other seeds of a recipe.
        seed: of the training.
        protocol: that it learns.
        rows: lines of its log, of kind "training" and "evaluation".
        best: by, frames, mean, low, high, episodes of the best evaluation; None without one.
    """

    group: str
    seed: int
    protocol: str
    rows: tuple[Mapping[str, Any], ...]
    best: Mapping[str, Any] | None

    def of_kind(self, kind: str) -> list[Mapping[str, Any]]:
        """Rows of a kind; rows without one are of the training."""
        return [row for row in self.rows if row.get("kind", "training") == kind]


def write_learning_curves(path: Path, runs: Sequence[LearningRun]) -> None:
    """Replace the page at `path` in one step; raises StorageError."""
    write_atomic(path, render_learning_curves(runs).encode())


def render_learning_curves(runs: Sequence[LearningRun]) -> str:
    """The self-contained HTML of `runs`, at least one; the same runs always give the same page."""
    evaluated = [_draw(runs, "evaluation", name, _title(name), axis) for name in EVALUATED for axis in AXES]
    learned = [_draw(runs, "training", name, title, axis) for name, title in LEARNED.items() for axis in AXES]
    return render_template(
        "learning_curves.html",
        groups=tuple(dict.fromkeys(one.group for one in runs)),
        protocols=tuple(dict.fromkeys(one.protocol for one in runs)),
        table=tabulate_runs(runs),
        evaluated=[figure for figure in evaluated if figure is not None],
        learned=[figure for figure in learned if figure is not None],
    )


def tabulate_runs(runs: Sequence[LearningRun]) -> Table:
    """A row for each run: frames, minutes of a core, the best evaluation and the last one."""
    columns = ("training", "seed", "frames", "core-minutes", "best", "interval", "n", "at frames", "last")
    rows = []
    for one in runs:
        trained, played = one.of_kind("training"), one.of_kind("evaluation")
        last = trained[-1] if trained else {}
        seconds = max((row.get("cpu_seconds", 0.0) for row in one.rows), default=0.0)
        cells = [one.group, str(one.seed), f"{last.get('frames', 0):,}"]
        cells += [f"{seconds / 60:.1f}" if seconds else NO_VALUE]
        if one.best is None:
            cells += [NO_VALUE] * 5
        else:
            best, by = one.best, str(one.best["by"])
            known = best["low"] is not None and best["high"] is not None
            cells += [f"{_title(by)} {best['mean']:.3f}"]
            cells += [f"{best['low']:.3f} to {best['high']:.3f}" if known else NO_VALUE]
            cells += [str(best["episodes"]), f"{best['frames']:,}"]
            cells += [f"{played[-1][by]:.3f}" if played and by in played[-1] else NO_VALUE]
        rows.append(tuple(cells))
    return Table(columns, tuple(rows), (False, *[True] * (len(columns) - 1)))


def _title(name: str) -> str:
    return get_metric(name).title if name in METRICS else name


def _draw(runs: Sequence[LearningRun], kind: str, name: str, title: str, axis: str) -> Figure | None:
    """`name` of the rows of a kind against a column; None where no run has both."""
    groups = list(dict.fromkeys(one.group for one in runs))
    axis_title, unit = AXES[axis]
    lines: list[Line] = []
    for one in runs:
        rows = [row for row in one.of_kind(kind) if row.get(name) is not None and axis in row]
        if not rows:
            continue
        x, y = _thin([unit * row[axis] for row in rows]), _thin([row[name] for row in rows])
        is_known = kind == "evaluation" and len(rows) <= MAX_POINTS
        low = tuple(row.get(f"{name}_low") for row in rows) if is_known else ()
        high = tuple(row.get(f"{name}_high") for row in rows) if is_known else ()
        number = groups.index(one.group)
        label = "" if any(line.group == number for line in lines) else one.group
        lines.append(Line(label, x, y, low, high, group=number))
    if not lines:
        return None
    where = " in held-out houses" if kind == "evaluation" else ""
    svg = draw_lines(f"{title}{where} by {axis_title}", lines, axis_title, title, is_share=name in EVALUATED)
    bands = ", with 95 % intervals" if any(line.low for line in lines) else ""
    return Figure(
        svg, f"{title[:1].upper()}{title[1:]}{where} against {axis_title}{bands}; a line for each seed."
    )


def _thin(values: Sequence[float]) -> tuple[float, ...]:
    """At most MAX_POINTS means of neighbouring `values`, in order."""
    if len(values) <= MAX_POINTS:
        return tuple(float(one) for one in values)
    return tuple(float(np.mean(part)) for part in np.array_split(np.asarray(values, np.float64), MAX_POINTS))
