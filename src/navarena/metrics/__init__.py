"""Pure functions from a finished trajectory to numbers, and from many numbers to means with intervals."""

from navarena.metrics.alignment import dtw, dtw_alignment, euclidean_costs
from navarena.metrics.catalog import COMMON_METRICS, METRICS, Metric, compute_metrics, get_metric
from navarena.metrics.effort import action_spl, measure_path, rotation, seconds, time_spl
from navarena.metrics.instruction import PathScores, coverage_length_score, ndtw, score_path
from navarena.metrics.multi_goal import (
    MultiGoalTrajectory,
    distance_left,
    ppl,
    ppl_code,
    progress,
    raw_metrics,
    walked_until_found,
)
from navarena.metrics.navigation import (
    collisions,
    distance_to_goal,
    num_actions,
    path_length,
    soft_spl,
    spl,
    success,
)
from navarena.metrics.paired import PairedComparison, compare_paired, permutation_test
from navarena.metrics.robustnav import spl_robustnav, success_robustnav
from navarena.metrics.seeds import (
    estimate_interquartile_mean,
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
)
from navarena.metrics.seen_goal import SeenGoalTrajectory
from navarena.metrics.statistics import (
    Estimate,
    bootstrap_interval,
    estimate_mean,
    estimate_rate,
    wilson_interval,
)
from navarena.metrics.stopping import min_distance, near_steps, oracle_success, stopped
from navarena.metrics.subtasks import (
    LifelongTrajectory,
    SubtaskScores,
    pool_subtasks,
    score_subtasks,
    walked_in_subtasks,
)
from navarena.metrics.success_zone import ObjectGoalTrajectory, zone_success, zone_success_seen
from navarena.metrics.tours import (
    TourSuccess,
    mean_over_tours,
    tour_alignment,
    tour_dtw,
    tour_ndtw,
    tour_success,
    tour_weights,
)
from navarena.metrics.trajectory import BodyRates, ShortestPath, Trajectory, is_within
from navarena.metrics.variance import VarianceSplit, split_variance

__all__ = [
    "COMMON_METRICS",
    "METRICS",
    "BodyRates",
    "Estimate",
    "LifelongTrajectory",
    "Metric",
    "MultiGoalTrajectory",
    "ObjectGoalTrajectory",
    "PairedComparison",
    "PathScores",
    "SeenGoalTrajectory",
    "ShortestPath",
    "SubtaskScores",
    "TourSuccess",
    "Trajectory",
    "VarianceSplit",
    "action_spl",
    "bootstrap_interval",
    "collisions",
    "compare_paired",
    "compute_metrics",
    "coverage_length_score",
    "distance_left",
    "distance_to_goal",
    "dtw",
    "dtw_alignment",
    "estimate_interquartile_mean",
    "estimate_mean",
    "estimate_rate",
    "euclidean_costs",
    "get_metric",
    "interquartile_mean",
    "is_within",
    "mean_over_tours",
    "measure_path",
    "min_distance",
    "ndtw",
    "near_steps",
    "num_actions",
    "oracle_success",
    "path_length",
    "performance_profile",
    "permutation_test",
    "pool_subtasks",
    "ppl",
    "ppl_code",
    "probability_of_improvement",
    "progress",
    "raw_metrics",
    "rotation",
    "score_path",
    "score_subtasks",
    "seconds",
    "soft_spl",
    "spl",
    "spl_robustnav",
    "split_variance",
    "stopped",
    "success",
    "success_robustnav",
    "time_spl",
    "tour_alignment",
    "tour_dtw",
    "tour_ndtw",
    "tour_success",
    "tour_weights",
    "walked_in_subtasks",
    "walked_until_found",
    "wilson_interval",
    "zone_success",
    "zone_success_seen",
]
