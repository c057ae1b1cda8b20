"""DIR/report.html: the page of a run, as `navarena report` writes it of one."""

from pathlib import Path

from navarena.core.files import write_atomic
from navarena.evaluation.compare import Contestant, compare
from navarena.evaluation.failures import read_failures
from navarena.evaluation.journal import journal_paths
from navarena.evaluation.results import ANALYSES_FOLDER
from navarena.evaluation.runner import FAILURES_NAME, REPORT_NAME, Evaluation
from navarena.reports.runs.galleries import draw_galleries
from navarena.reports.runs.page import NOT_DRAWN, Drawn, render_runs
from navarena.reports.topdown import PlanSource


def render_report(evaluation: Evaluation, plans: PlanSource | None = None) -> str:
    """The HTML of a finished run; the same run always gives the same page.

    Args:
        evaluation: the run.
        plans: where the drawings find their scenes; None leaves the drawings out.
    """
    record = evaluation.record
    comparison = compare([Contestant(record.agent, (evaluation.folder,), (record,), (evaluation.rows,))])
    classes = (read_failures(evaluation.folder),)
    drawn = NOT_DRAWN
    if plans is not None:
        benchmark = evaluation.benchmark
        drawn = Drawn(draw_galleries(comparison, classes, lambda _: benchmark, open_scenes=lambda _: plans))
    return render_runs(comparison, classes, drawn)


def is_current(folder: Path) -> bool:
    """Whether the page in the folder of a run is younger than everything that it shows."""
    page = folder / REPORT_NAME
    shown = [*journal_paths(folder), folder / FAILURES_NAME, *(folder / ANALYSES_FOLDER).glob("*.json")]
    if not page.exists():
        return False
    return all(path.stat().st_mtime_ns < page.stat().st_mtime_ns for path in shown if path.exists())


def write_report(evaluation: Evaluation, plans: PlanSource | None = None) -> Path:
    """Replace report.html in the run's folder in one step; raises StorageError. Returns its path."""
    path = evaluation.folder / REPORT_NAME
    write_atomic(path, render_report(evaluation, plans).encode())
    return path
