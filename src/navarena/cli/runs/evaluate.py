"""Flags of `navarena evaluate`; the implementation is imported after they were parsed."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile
from navarena.evaluation.settings import EvaluationSettings


@dataclass(frozen=True)
class Evaluate(EvaluationSettings):
    """Run an agent over the episodes of a protocol and write numbers, tables and a report.

    A run that was interrupted goes on when the same command is given again. With --json, one
    document is printed with the keys identity, agent, episodes, scenes, statuses, confidence,
    metrics (for each: title, unit, better, mean, low, high, n, infinite, method), pooled (the same, over
    sub-tasks), tours (null, or tours, reading, weighting, metrics), first_error (null, or episode_id,
    status, error), resumed, seconds, notices,
    out, report, times (simulator, agent, output: seconds), costs (what else the agent spent, by name),
    repeats (folders) and
    variance (for each metric: mean, episode, agent, agent_share, standard_error, single_error, spread, n,
    repeats); with --repeat the first run's, and the last two of all runs.
    """

    protocol: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PROTOCOL")]
    agent: str = "random"
    """Registered name (`navarena list agents`), or module:Class of your own."""
    corrupt: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    workers: int | None = None
    suite: str | None = None
    """Run every row of a suite of corruptions (all, severity-5, severity-3, severities), each in a folder of
    its own below --out, and report what they cost as `navarena robustness` does, with its keys of --json."""
    check_order: bool = False
    """First run a sample of episodes in two orders, and fail (exit code 1) if any outcome differs."""
    repeat: int = 1
    """Number of runs, with the agent's seeds from --seed on; the variance is split into an episode and an
    agent part."""
    redraw: bool = False
    """With --repeat: every seed but 0 draws the corruptions anew (the word draw-SEED), also the protocol's
    own, so that noise counts as chance."""
    watch: bool = False
    """Show the batch in a page on this machine while it runs, in one process; the journals are the same."""
    port: int = 8710
    """Port of the page on 127.0.0.1, with --watch; 0 takes a free one."""
    no_browser: bool = False
    """With --watch: open no browser."""
    rerun: Annotated[Path | None, OutputFile()] = None
    """Write a recording (.rrd) of the finished run for the rerun viewer, as `navarena replay --rerun` does;
    needs navarena[viewer]."""
    quiet: bool = False
    """Show no progress."""
    json: bool = False
    """Print one JSON document instead of tables."""

    @property
    def settings(self) -> EvaluationSettings:
        """The evaluation that the flags describe."""
        return EvaluationSettings(**{one.name: getattr(self, one.name) for one in fields(EvaluationSettings)})

    def run(self, console: Console) -> int:
        """Evaluate and report; the exit code is 1 if the agent broke every episode of a run, else 0."""
        from navarena.core.notices import announce, silence_notices

        if self.quiet:
            silence_notices()
        with announce("loading the simulator"):
            from navarena.cli.runs.evaluating import run_evaluation
        return run_evaluation(console, self)
