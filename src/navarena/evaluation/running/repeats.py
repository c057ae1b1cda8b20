"""The same episodes several times with other agent seeds: the part of the variance that is the agent's."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from navarena.core.errors import InputError
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.results import metric_values
from navarena.evaluation.settings import EvaluationSettings
from navarena.metrics.repetitions import VarianceSplit, split_variance


def repeat_settings(settings: EvaluationSettings, repeats: int) -> Iterator[EvaluationSettings]:
    """The settings of each of `repeats` runs: agent seeds from `settings.seed` on, a folder for each.

    With `out` given the folders are seed-0, seed-1, ... in it; else each has its own default.
    """
    if repeats < 1:
        raise InputError(f"expected repeat of at least 1, got {repeats}")
    for seed in range(settings.seed, settings.seed + repeats):
        out = settings.out if settings.out is None or repeats == 1 else settings.out / f"seed-{seed}"
        yield replace(settings, seed=seed, out=out)


def split_runs(runs: Sequence[Sequence[Row]], metrics: Sequence[str]) -> dict[str, VarianceSplit]:
    """Metric -> its variance, split, over runs of the same episodes (rows in the same order).

    Episodes with an infinite value in any run are left out of that metric; a metric of which fewer
    than two episodes are left is left out.
    """
    splits = {}
    for name in metrics:
        values = np.array([metric_values(rows, name) for rows in runs])
        finite = np.isfinite(values).all(0)
        if finite.sum() >= 2:
            splits[name] = split_variance(values[:, finite])
    return splits
