"""`navarena compare`: finished runs side by side."""

import string
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.core.errors import InputError, require_name
from navarena.evaluation.analyses.breakdowns import BREAKDOWNS, break_down
from navarena.evaluation.analyses.compare import THRESHOLDS, Comparison, compare
from navarena.evaluation.analyses.contestants import read_contestant
from navarena.reports.comparison import (
    contestant_table,
    difference_table,
    estimate_table,
    seed_table,
)
from navarena.reports.tables import Table, group_table, metric_notes


@dataclass(frozen=True)
class Compare:
    """Compare finished runs on the same episodes: differences, intervals, tests, wins and losses.

    The other runs are compared with the first one. Several training seeds of one method are written
    as one run, with commas: runs/a-1,runs/a-2,runs/a-3. A single run is summarised. Exit code 0, whatever
    the result. The keys of --json stand in docs/json-keys.md.
    """

    runs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folders of runs, as `navarena evaluate` printed them."""
    metric: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Only this metric; may be given several times."""
    by: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Break the runs down: band, category, difficulty, floors, modality, goals, subtask, radius or scene;
    may be given several times."""
    two_levels: bool = False
    """Compute intervals by resampling scenes and then episodes within them."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self, console: Console) -> int:
        """Compare and print; the exit code is 0."""
        if not self.runs or len(self.runs) > len(string.ascii_uppercase):
            raise InputError(f"expected 1 to 26 runs to compare, got {len(self.runs)}")
        for name in self.by:
            require_name("breakdown", name, BREAKDOWNS)
        contestants = [
            read_contestant(label, [Path(folder) for folder in text.split(",")])
            for label, text in zip(string.ascii_uppercase, self.runs)
        ]
        result = compare(contestants, self.metric, self.two_levels)
        _print_table(console, "runs", contestant_table(result))
        _print_table(console, "means", estimate_table(result))
        for note in metric_notes(result.estimates[0]):
            console.text(note)
        _print_table(console, "paired differences", difference_table(result))
        _print_table(console, "training seeds", seed_table(result))
        for notice in result.notices:
            console.note(f"note: {notice}")
        console.result(describe_comparison(result) | {"breakdowns": self._break_down(console, result)})
        return 0

    def _break_down(self, console: Console, result: Comparison) -> list[dict[str, Any]]:
        """Print the requested breakdowns; returns what --json prints of them."""
        document: list[dict[str, Any]] = []
        for by in self.by:
            for one in result.contestants:
                chosen = [name for name in self.metric if name in one.metrics] or one.leading_metrics()
                groups = break_down(one.rows[0], by, chosen, one.rows[1:])
                if not groups:
                    console.note(f"note: {one.label} holds nothing to break down by {by}")
                    continue
                _print_table(console, f"{one.label} by {by}", group_table(by, groups))
                document += [
                    {
                        "by": by,
                        "label": one.label,
                        "name": group.name,
                        "n": group.n,
                        "metrics": _describe_estimates(group.estimates),
                    }
                    for group in groups
                ]
        return document


def _print_table(console: Console, title: str, table: Table) -> None:
    if table.rows:
        console.table(title, table.columns, table.rows)


def _describe_estimates(estimates: Any) -> dict[str, Any]:
    return {name: asdict(estimate) for name, estimate in estimates.items()}


def describe_comparison(result: Comparison) -> dict[str, Any]:
    """JSON output of a comparison, without breakdowns."""
    return {
        "runs": [
            {
                "label": one.label,
                "agent": one.agent,
                "identity": one.identity,
                "folders": [str(folder) for folder in one.folders],
                "episodes": len(one.rows[0]),
                "privileged": one.records[0].privileged,
                "model_sha256": [record.model_sha256 for record in one.records],
                "metrics": _describe_estimates(estimates),
                "pooled": _describe_estimates(pooled),
            }
            for one, estimates, pooled in zip(
                result.contestants, result.estimates, result.pooled, strict=True
            )
        ],
        "differences": [
            {"label": one.label, "metric": one.metric, **asdict(one.result)} for one in result.differences
        ],
        "seeds": [asdict(one) for one in result.seeds],
        "thresholds": list(THRESHOLDS),
        "notices": list(result.notices),
    }
