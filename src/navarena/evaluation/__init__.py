"""Run agents over episodes, keep every step, and derive numbers that can be checked again."""

from navarena.evaluation.benchmark import Batch, BatchAgent, Benchmark, Setup, open_benchmark
from navarena.evaluation.episode_table import read_table
from navarena.evaluation.identity import Identity
from navarena.evaluation.journal import Row, read_rows
from navarena.evaluation.record import RunRecord, read_record
from navarena.evaluation.replay import Difference, Replay, execute_actions, replay_run
from navarena.evaluation.results import (
    MetricSummary,
    Summary,
    estimate_metric,
    metric_values,
    read_summary,
)
from navarena.evaluation.runner import Evaluation, Run, evaluate, open_run
from navarena.evaluation.settings import EvaluationSettings

__all__ = [
    "Batch",
    "BatchAgent",
    "Benchmark",
    "Difference",
    "Evaluation",
    "EvaluationSettings",
    "Identity",
    "MetricSummary",
    "Replay",
    "Row",
    "Run",
    "RunRecord",
    "Setup",
    "Summary",
    "estimate_metric",
    "evaluate",
    "execute_actions",
    "metric_values",
    "open_benchmark",
    "open_run",
    "read_record",
    "read_rows",
    "read_summary",
    "read_table",
    "replay_run",
]
