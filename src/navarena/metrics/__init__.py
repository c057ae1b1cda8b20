"""Pure functions from a finished trajectory to numbers, and from many numbers to means with intervals."""

from navarena.metrics.alignment import dtw, dtw_alignment, euclidean_costs
from navarena.metrics.catalog import METRICS, Metric, compute_metrics, get_metric
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
from navarena.metrics.trajectory import Trajectory, is_within

__all__ = [
    "METRICS",
    "Estimate",
    "Metric",
    "MultiGoalTrajectory",
    "ObjectGoalTrajectory",
    "PathScores",
    "TourSuccess",
    "Trajectory",
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
    "ndtw",
    "num_actions",
    "path_length",
    "ppl",
    "ppl_code",
    "progress",
    "raw_metrics",
    "score_path",
    "soft_spl",
    "spl",
    "success",
    "tour_alignment",
    "tour_dtw",
    "tour_ndtw",
    "tour_success",
    "tour_weights",
    "wilson_interval",
    "zone_success",
    "zone_success_seen",
]
