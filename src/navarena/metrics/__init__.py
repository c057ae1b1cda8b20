"""Pure functions from a finished trajectory to numbers, and from many numbers to means with intervals."""

from navarena.metrics.alignment import dtw, dtw_alignment, euclidean_costs
from navarena.metrics.catalog import COMMON_METRICS, METRICS, Metric, compute_metrics, get_metric
from navarena.metrics.effort import action_spl, measure_way, rotation, seconds, time_spl
from navarena.metrics.instruction import PathScores, coverage_length_score, ndtw, score_path
from navarena.metrics.multi_goal import (
    MultiGoalTrajectory,
    distance_left,
    ppl,
    ppl_code,
    progress,
    raw_metrics,
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
from navarena.metrics.statistics import (
    Estimate,
    bootstrap_interval,
    estimate_mean,
    estimate_rate,
    wilson_interval,
)
from navarena.metrics.stopping import min_distance, near_steps, oracle_success, stopped
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
from navarena.metrics.trajectory import BodyRates, ShortestWay, Trajectory, is_within

__all__ = [
    "COMMON_METRICS",
    "METRICS",
    "BodyRates",
    "Estimate",
    "Metric",
    "MultiGoalTrajectory",
    "ObjectGoalTrajectory",
    "PathScores",
    "ShortestWay",
    "TourSuccess",
    "Trajectory",
    "action_spl",
    "bootstrap_interval",
    "collisions",
    "compute_metrics",
    "coverage_length_score",
    "distance_left",
    "distance_to_goal",
    "dtw",
    "dtw_alignment",
    "estimate_mean",
    "estimate_rate",
    "euclidean_costs",
    "get_metric",
    "is_within",
    "mean_over_tours",
    "measure_way",
    "min_distance",
    "ndtw",
    "near_steps",
    "num_actions",
    "oracle_success",
    "path_length",
    "ppl",
    "ppl_code",
    "progress",
    "raw_metrics",
    "rotation",
    "score_path",
    "seconds",
    "soft_spl",
    "spl",
    "stopped",
    "success",
    "time_spl",
    "tour_alignment",
    "tour_dtw",
    "tour_ndtw",
    "tour_success",
    "tour_weights",
    "wilson_interval",
    "zone_success",
    "zone_success_seen",
]
