"""`navarena report`: finished runs on one page, and as tables for papers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.core.errors import InputError
from navarena.evaluation.analyses import read_labelled
from navarena.evaluation.compare import Contestant, compare
from navarena.evaluation.failures import read_failures
from navarena.reports.runs import REPORT_NAME, Drawn, draw_galleries, label_apart, write_runs

MOST_RUNS = 26


@dataclass(frozen=True)
class Report:
    """Write finished runs into one HTML file that opens anywhere without a network.

    Summary with intervals, paired comparison, breakdowns, the analyses of the papers that the runs support
    or that `navarena analyse` has kept, why episodes failed, drawings from above, every episode in a table
    that sorts and filters. With --json, one document is printed; its keys stand in docs/cli.md.
    """

    runs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[LABEL=]RUN")]
    """Folders of runs, several training seeds of one method with commas. A label names a run on the page;
    without one it is called by its agent. The first is what the others are compared with."""
    out: Path | None = None
    """The page to write; full-report.html in the first folder by default."""
    metric: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Only this metric, the first of them leading; may be given several times."""
    two_levels: bool = False
    """Resample episodes within scenes, too, for the intervals."""
    no_drawings: bool = False
    """Leave out the drawings from above, for which episodes are replayed in their scenes."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Read, draw and write; the exit code is 0."""
        if not 1 <= len(self.runs) <= MOST_RUNS:
            raise InputError(f"expected 1 to {MOST_RUNS} runs to report on, got {len(self.runs)}")
        contestants = label_apart(read_labelled(self.runs))
        comparison = compare(contestants, self.metric, self.two_levels)
        classes = tuple(read_failures(one.folders[0]) for one in contestants)
        for notice in comparison.notices:
            console.note(f"note: {notice}")
        drawn = Drawn({})
        if not self.no_drawings:
            with console.progress(len(contestants), "drawing") as progress:
                drawn = Drawn(draw_galleries(comparison, classes, progress.advance))
        page = self.out or contestants[0].folders[0] / REPORT_NAME
        write_runs(page, comparison, classes, drawn)
        console.text(f"report: {page}")
        console.result(
            {
                "report": str(page),
                "runs": describe_runs(contestants),
                "notices": list(comparison.notices),
            }
        )
        return 0


def describe_runs(contestants: Sequence[Contestant]) -> list[dict[str, object]]:
    """What --json prints of each run."""
    return [
        {
            "label": one.label,
            "agent": one.agent,
            "identity": one.identity,
            "folders": [str(folder) for folder in one.folders],
            "episodes": len(one.rows[0]),
        }
        for one in contestants
    ]
