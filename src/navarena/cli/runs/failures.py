"""`navarena failures`: why the failed episodes of a run failed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.evaluation.analyses.failures import classify_run, load_evaluation
from navarena.evaluation.records.journal import read_rows
from navarena.reports import open_plans, write_report
from navarena.reports.tables import failure_table


@dataclass(frozen=True)
class Failures:
    """Re-execute the failed episodes of a run and name one reason for each.

    The reason follows from the trajectory and from whether the camera's images showed the goal. The
    classes are also written into the folder, as failures.json, and into its report. With --json, one document
    is printed with the keys identity, agent, episodes, failed, counts (class: number) and classes (for each:
    episode_id, class).
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
    """Folder of the run, as `navarena evaluate` printed it."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Classify and print; the exit code is 0."""
        failed = sum(row.metrics.get("success", 1.0) != 1.0 for row in read_rows(self.folder))
        with console.progress(failed, "replaying failures") as progress:
            found = classify_run(self.folder, on_episode=progress.advance)
        record = found.record
        title = (
            f"{record.agent} on {record.identity}: {len(found.classes)} of {found.episodes} episodes failed"
        )
        table = failure_table(found.classes)
        console.table(title, table.columns, table.rows)
        evaluation = load_evaluation(self.folder)
        report = write_report(evaluation, open_plans(evaluation.benchmark))
        console.text(f"report: {report}")
        console.result(
            {
                "identity": record.identity,
                "agent": record.agent,
                "episodes": found.episodes,
                "failed": len(found.classes),
                "counts": {str(kind): count for kind, count in found.count().items()},
                "classes": [{"episode_id": name, "class": str(kind)} for name, kind in found.classes.items()],
            }
        )
        return 0
