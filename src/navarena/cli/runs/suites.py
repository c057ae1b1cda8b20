"""`navarena evaluate --suite`: every row of a suite of corruptions, and what they cost."""

from collections.abc import Callable

from navarena.cli.console import Console
from navarena.cli.runs.robustness import RobustnessCommand
from navarena.evaluation.running.runner import Evaluation
from navarena.evaluation.running.suite import plan_suite
from navarena.evaluation.settings import EvaluationSettings
from navarena.reports.robustness import REPORT_NAME


def run_suite(
    console: Console,
    settings: EvaluationSettings,
    name: str,
    run_once: Callable[[EvaluationSettings], Evaluation],
    json: bool,
) -> int:
    """Run the rows of the suite `name` that are not finished, then report all of them.

    The exit code is 1 if the agent broke every episode of a row, else 0.

    Args:
        console: to talk to.
        settings: of every row but for its corruptions and folder.
        name: of the suite.
        run_once: carries out one run and prints its tables.
        json: whether one JSON document is printed: that of `navarena robustness`.

    Raises UnknownNameError and InputError as plan_suite, before anything is run.
    """
    runs = plan_suite(settings, name)
    broken = False
    for number, run in enumerate(runs, 1):
        console.note(f"row {number} of {len(runs)}: {run.title}")
        broken |= run_once(run.settings).is_broken
    together = runs[0].folder.parent
    folders = tuple(run.folder for run in runs)
    RobustnessCommand(folders, out=together / REPORT_NAME, json=json).run(console)
    return int(broken)
