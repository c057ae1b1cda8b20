"""Implementation of `navarena evaluate`: one run, repeats or a suite, with tables and reports."""

import itertools
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from navarena.agents.declaration import name_of
from navarena.agents.loading import declare_agent
from navarena.cli.console import Console, count_of
from navarena.cli.runs.evaluate import Evaluate
from navarena.cli.runs.suites import run_suite
from navarena.cli.runs.viewing import make_watcher, watch_page, write_recording
from navarena.core.errors import InputError
from navarena.evaluation import Evaluation, EvaluationSettings, open_benchmark, open_run
from navarena.evaluation.records.journal import BROKEN
from navarena.evaluation.running.live import RunMonitor
from navarena.evaluation.running.order_check import check_order
from navarena.evaluation.running.repeats import repeat_settings, split_runs
from navarena.evaluation.running.runner import REPORT_NAME
from navarena.metrics.repetitions import VarianceSplit
from navarena.reports import metric_table, open_plans, tour_table, write_report
from navarena.reports.comparison import variance_table
from navarena.reports.rerun_file import require_recording
from navarena.reports.runs.page import is_current
from navarena.reports.tables import metric_notes
from navarena.tasks.catalog import get_task
from navarena.tasks.corruption_checks import require_observed

if TYPE_CHECKING:
    from navarena.web.viewer.hub import Hub


def run_evaluation(console: Console, flags: Evaluate) -> int:
    """Evaluate and report; the exit code is 1 if the agent broke every episode of a run, else 0."""
    if flags.suite is not None and (flags.repeat > 1 or flags.redraw):
        raise InputError(
            "expected --suite without --repeat and --redraw, got both; evaluate one of its rows by --corrupt"
        )
    if flags.rerun is not None:
        if flags.suite is not None or flags.repeat > 1:
            raise InputError(
                "expected one run to record with --rerun, got several; record one of them afterwards: "
                f"navarena replay RUN --rerun {flags.rerun}"
            )
        require_recording(flags.rerun)
    if not flags.watch:
        return _run_all(console, flags, None)
    with watch_page(console, flags.port, flags.no_browser) as hub:
        return _run_all(console, flags, hub)


def _run_all(console: Console, flags: Evaluate, hub: "Hub | None") -> int:
    """One run, repeated ones or a suite, which pages at `hub` show."""
    began = time.monotonic()
    settings = flags.settings
    if hub is not None and settings.workers is None:
        settings = replace(settings, workers=1)
    allow_modules_here()
    if flags.check_order:
        count = check_order(open_benchmark(settings), settings.rules)
        console.text(f"{count} episodes came out the same in two orders")
    if flags.suite is not None:
        return run_suite(
            console, settings, flags.suite, lambda one: _run_once(console, flags, one, hub)[0], flags.json
        )
    if settings.corrupt:
        _require_observed(settings)
    repeats = repeat_settings(settings, flags.repeat, flags.redraw)
    runs = [_run_once(console, flags, one, hub) for one in repeats]
    evaluation, report = runs[0]
    if flags.rerun is not None:
        write_recording(console, evaluation.folder, flags.rerun, len(evaluation.rows))
    document = describe_evaluation(evaluation, report, time.monotonic() - began)
    splits: dict[str, VarianceSplit] = {}
    if flags.repeat > 1:
        splits = split_runs([one.rows for one, _ in runs], list(evaluation.summary.metrics))
        table = variance_table(splits)
        console.table("where the variance comes from", table.columns, table.rows)
    folders = [str(one.folder) for one, _ in runs] if flags.repeat > 1 else []
    variance = {name: asdict(one) | {"agent_share": one.agent_share} for name, one in splits.items()}
    console.result(document | {"repeats": folders, "variance": variance})
    return int(any(one.is_broken for one, _ in runs))


def _require_observed(settings: EvaluationSettings) -> None:
    """Raises InputError for a corruption that the agent does not notice."""
    task = get_task(settings.protocol)
    sensors = declare_agent(settings.agent, task, settings.episode_seconds).sensors
    require_observed(task, name_of(settings.agent), settings.corrupt, sensors)


def _run_once(
    console: Console, flags: Evaluate, settings: EvaluationSettings, hub: "Hub | None"
) -> tuple[Evaluation, Path]:
    """Run what `settings` say, print its tables, and write its report."""
    with open_run(settings) as run:
        if run.resumed:
            console.note(f"resuming {run.folder}: {run.resumed} episodes are finished")
        try:
            label, monitor = f"{flags.agent} on {flags.protocol}", RunMonitor(run.folder)
            count = len(run.remaining)
            watcher = None if hub is None else make_watcher(hub, run.benchmark, label, count)
            with console.progress(count, label, monitor.describe, flags.quiet) as progress:
                evaluation = run.finish(progress.advance, watcher)
            if watcher is not None:
                watcher.finish()
        except KeyboardInterrupt:
            console.note(f"finished episodes are kept in {run.folder}; the same command goes on")
            raise
    report = evaluation.folder / REPORT_NAME
    if evaluation.resumed < len(evaluation.rows) or not is_current(evaluation.folder):
        write_report(evaluation, open_plans(evaluation.benchmark))
    _print_tables(console, evaluation)
    console.text(f"report: {report}")
    return evaluation, report


def allow_modules_here() -> None:
    """Let `--agent module:Class` name a module of the working directory, as `python -m` does."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def _print_tables(console: Console, evaluation: Evaluation) -> None:
    for notice in evaluation.notices:
        console.note(f"note: {notice}")
    summary = evaluation.summary
    table = metric_table(summary)
    console.table(f"{summary.agent} on {summary.identity}", table.columns, table.rows)
    for note in metric_notes(summary.metrics):
        console.text(note)
    if summary.tours is not None:
        tours = summary.tours
        over = tour_table(tours)
        count = count_of(tours.tours, "tour")
        console.table(f"{count} ({tours.reading}, by {tours.weighting})", over.columns, over.rows)
    counts = f"{count_of(summary.episodes, 'episode')} in {count_of(summary.scenes, 'scene')}"
    console.text(f"{counts}, one row each in {evaluation.folder}")
    if first := describe_first_error(evaluation):
        broken = {status: count for status, count in summary.statuses.items() if status in BROKEN}
        listed = ", ".join(f"{count} {status}" for status, count in broken.items())
        console.note(
            f"{sum(broken.values())} of {summary.episodes} episodes were broken by the agent and count as "
            f"failures ({listed}); the first is {first['episode_id']}, {first['status']}: {first['error']}"
        )
    total = sum(evaluation.times.values())
    if total > 0:
        shares = ", ".join(f"{100 * spent / total:.0f} % {name}" for name, spent in evaluation.times.items())
        console.text(f"{total:.1f} s of work: {shares}")
    if evaluation.costs:
        spent = ", ".join(f"{value:,.6g} {name}" for name, value in evaluation.costs.items())
        console.text(f"the agent spent {spent.replace('_', ' ')}")


def describe_first_error(evaluation: Evaluation) -> dict[str, str] | None:
    """Episode, status and problem, in one line, of the first row that the agent broke, if any."""
    row = next((row for row in evaluation.rows if row.failed), None)
    if row is None:
        return None
    return {
        "episode_id": row.episode_id,
        "status": row.status,
        "error": summarise_traceback(row.traceback or ""),
    }


def summarise_traceback(text: str) -> str:
    """The error of a traceback in one line: kind and message, whose own lines are joined.

    The last line of a text without frames.
    """
    lines = text.strip().splitlines() or [""]
    frames = [k for k, line in enumerate(lines) if line.startswith('  File "')]
    if not frames:
        return lines[-1]
    said = itertools.dropwhile(lambda line: line.startswith(" "), lines[frames[-1] :])
    return " ".join(line.strip() for line in said) or lines[-1]


def describe_evaluation(evaluation: Evaluation, report: Path, seconds: float) -> dict[str, Any]:
    """JSON output; `seconds` is the wall-clock time of the command."""
    import msgspec

    summary: dict[str, Any] = msgspec.to_builtins(evaluation.summary)
    summary.pop("format")
    return summary | {
        "first_error": describe_first_error(evaluation),
        "resumed": evaluation.resumed,
        "seconds": round(seconds, 3),
        "notices": list(evaluation.notices),
        "out": str(evaluation.folder),
        "report": str(report),
        "times": evaluation.times,
        "costs": evaluation.costs,
    }
