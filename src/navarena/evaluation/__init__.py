"""Run agents over episodes, keep every step, and derive numbers that can be checked again."""

from typing import TYPE_CHECKING

from navarena.core.lazy import lazy_names

if TYPE_CHECKING:
    from navarena.evaluation.analyses.breakdowns import BREAKDOWNS, Group, break_down
    from navarena.evaluation.analyses.compare import Comparison, compare
    from navarena.evaluation.analyses.contestants import Contestant, read_contestant
    from navarena.evaluation.analyses.robustness import Robustness, RobustnessRow, find_runs, read_robustness
    from navarena.evaluation.benchmark import Batch, BatchAgent, Benchmark, Setup, open_benchmark
    from navarena.evaluation.exchange.r2r_results import Answers, load_results, score_answers
    from navarena.evaluation.identity import Identity
    from navarena.evaluation.records.episode_table import read_table
    from navarena.evaluation.records.journal import GoalsRecord, Row, TourRecord, read_rows
    from navarena.evaluation.records.record import RunRecord, read_record
    from navarena.evaluation.records.results import (
        MetricSummary,
        Summary,
        estimate_metric,
        metric_values,
        read_summary,
    )
    from navarena.evaluation.records.tour_scores import TourScore, estimate_tours, score_tours
    from navarena.evaluation.records.verification import Difference, describe_declared
    from navarena.evaluation.running.repeats import repeat_settings, split_runs
    from navarena.evaluation.running.replay import Replay, execute_actions, replay_run
    from navarena.evaluation.running.runner import Evaluation, Run, evaluate, open_run
    from navarena.evaluation.settings import EvaluationSettings

__all__ = [
    "BREAKDOWNS",
    "Answers",
    "Batch",
    "BatchAgent",
    "Benchmark",
    "Comparison",
    "Contestant",
    "Difference",
    "Evaluation",
    "EvaluationSettings",
    "GoalsRecord",
    "Group",
    "Identity",
    "MetricSummary",
    "Replay",
    "Robustness",
    "RobustnessRow",
    "Row",
    "Run",
    "RunRecord",
    "Setup",
    "Summary",
    "TourRecord",
    "TourScore",
    "break_down",
    "compare",
    "describe_declared",
    "estimate_metric",
    "estimate_tours",
    "evaluate",
    "execute_actions",
    "find_runs",
    "load_results",
    "metric_values",
    "open_benchmark",
    "open_run",
    "read_contestant",
    "read_record",
    "read_robustness",
    "read_rows",
    "read_summary",
    "read_table",
    "repeat_settings",
    "replay_run",
    "score_answers",
    "score_tours",
    "split_runs",
]

__getattr__, __dir__ = lazy_names(__name__)
