"""Training seeds: means with their standard error (as the tables of IVLN print them), and what is robust to
outliers (interquartile mean, performance profiles, the probability of improvement over the first method).
"""

import math
from collections.abc import Sequence

import numpy as np

from navarena.core.errors import InputError
from navarena.evaluation.analyses.analysis import Analysis, Cell, Column, Curve
from navarena.evaluation.analyses.compare import THRESHOLDS, score_seeds
from navarena.evaluation.analyses.contestants import Contestant
from navarena.evaluation.records.results import metric_values
from navarena.metrics.catalog import get_metric
from navarena.metrics.statistics import Estimate

OVER_SEEDS = "standard error over seeds"


def analyse_seeds(contestants: Sequence[Contestant], metrics: Sequence[str] = ()) -> Analysis:
    """Each metric as mean and standard error over training seeds, with the interquartile mean of scores.

    The standard error is the sample standard deviation of the means of the runs, divided by the root of
    their number. Profiles are drawn for the first metric that is a score.

    Args:
        contestants: each of two training seeds or more (InputError).
        metrics: names; all that the first contestant has when empty.
    """
    rows: list[tuple[Cell, ...]] = []
    curves = []
    first = contestants[0]
    names = list(metrics) or list(first.metrics)
    scores = [name for name in names if get_metric(name).better == "higher"]
    for one in contestants:
        if len(one.rows) < 2:
            raise InputError(
                f"expected several training seeds of {one.label!r}, got one; write them with commas: "
                f"{one.folders[0]},FOLDER"
            )
        for name in (name for name in names if name in one.metrics):
            means = [_finite_mean(metric_values(rows, name)) for rows in one.rows]
            known = None if None in means else np.array(means, np.float64)
            error = None if known is None else float(known.std(ddof=1)) / math.sqrt(len(known))
            robust = score_seeds(first, one, name) if name in scores else None
            rows.append(
                (
                    one.label,
                    get_metric(name).title,
                    len(one.rows),
                    len(one.rows[0]),
                    None if known is None else float(known.mean()),
                    error,
                    robust.interquartile_mean if robust else None,
                    robust.improvement if robust else None,
                )
            )
        for name in [name for name in scores if name in one.metrics][:1]:
            robust = score_seeds(first, one, name)
            n = robust.interquartile_mean.n
            shares = tuple(Estimate(share, None, None, n) for share in robust.profile)
            curves.append(Curve(f"{one.label}: {get_metric(name).title}", THRESHOLDS, shares))
    return Analysis(
        "seeds",
        "Training seeds",
        (
            Column("run"),
            Column("metric"),
            Column("seeds", "count"),
            Column("episodes", "count"),
            Column("mean", "score"),
            Column("± standard error", "score"),
            Column("interquartile mean", "score"),
            Column("improves on the first run", "rate"),
        ),
        tuple(rows),
        (
            "Standard errors are those of the mean over seeds.",
            "n of an interquartile mean counts scores: one for each seed in each scene.",
        ),
        tuple(curves),
        "score",
        "share of scores above it",
    )


def _finite_mean(values: np.ndarray) -> float | None:
    """The mean of the finite values; None where there is none."""
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if finite.size else None
