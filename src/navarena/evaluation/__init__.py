"""Run agents over episodes, keep every step, and derive numbers that can be checked again."""

from navarena.evaluation.benchmark import Batch, BatchAgent, Benchmark, Setup, open_benchmark
from navarena.evaluation.breakdowns import BREAKDOWNS, Group, break_down
from navarena.evaluation.compare import Comparison, Contestant, compare, read_contestant
from navarena.evaluation.episode_table import read_table
from navarena.evaluation.graph_results import Answers, load_results, save_results
from navarena.evaluation.graph_runner import GraphTours
from navarena.evaluation.graph_scores import mean_scores, score_episodes
from navarena.evaluation.house_runner import HouseTours
from navarena.evaluation.house_scores import ContinuousScores, refer_records, score_records
from navarena.evaluation.identity import Identity
from navarena.evaluation.journal import GoalsRecord, Row, read_rows
from navarena.evaluation.record import RunRecord, read_record
from navarena.evaluation.repeats import repeat_settings, split_runs
from navarena.evaluation.replay import Difference, Replay, execute_actions, replay_run
from navarena.evaluation.results import (
    MetricSummary,
    Summary,
    estimate_metric,
    metric_values,
    read_summary,
)
from navarena.evaluation.robustness import Robustness, RobustnessRow, find_runs, read_robustness
from navarena.evaluation.runner import Evaluation, Run, evaluate, open_run
from navarena.evaluation.settings import EvaluationSettings
from navarena.evaluation.tour_journal import TourJournal, TourRun, open_tour_journal
from navarena.evaluation.tour_runner import TourSource, run_tours
from navarena.evaluation.tour_scores import TourScore, TourScores, score_tours

__all__ = [
    "BREAKDOWNS",
    "Answers",
    "Batch",
    "BatchAgent",
    "Benchmark",
    "Comparison",
    "Contestant",
    "ContinuousScores",
    "Difference",
    "Evaluation",
    "EvaluationSettings",
    "GoalsRecord",
    "GraphTours",
    "Group",
    "HouseTours",
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
    "TourJournal",
    "TourRun",
    "TourScore",
    "TourScores",
    "TourSource",
    "break_down",
    "compare",
    "estimate_metric",
    "evaluate",
    "execute_actions",
    "find_runs",
    "load_results",
    "mean_scores",
    "metric_values",
    "open_benchmark",
    "open_run",
    "open_tour_journal",
    "read_contestant",
    "read_record",
    "read_robustness",
    "read_rows",
    "read_summary",
    "read_table",
    "refer_records",
    "repeat_settings",
    "replay_run",
    "run_tours",
    "save_results",
    "score_episodes",
    "score_records",
    "score_tours",
    "split_runs",
]
