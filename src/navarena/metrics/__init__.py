"""Pure functions from a finished trajectory to numbers, and from many numbers to means with intervals."""

from navarena.metrics.catalog import METRICS, Metric, compute_metrics, get_metric
from navarena.metrics.navigation import (
    collisions,
    distance_to_goal,
    is_within,
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
from navarena.metrics.trajectory import Trajectory

__all__ = [
    "METRICS",
    "Estimate",
    "Metric",
    "Trajectory",
    "bootstrap_interval",
    "collisions",
    "compute_metrics",
    "distance_to_goal",
    "estimate_mean",
    "estimate_rate",
    "get_metric",
    "is_within",
    "num_actions",
    "path_length",
    "soft_spl",
    "spl",
    "success",
    "wilson_interval",
]
