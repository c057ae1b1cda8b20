"""Repeated runs of the same episodes with other agent seeds and noise."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from navarena.core.errors import InputError
from navarena.corruptions.catalog import join_corruptions, redraw_corruption
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.results import metric_values
from navarena.evaluation.settings import EvaluationSettings
from navarena.metrics.repetitions import VarianceSplit, split_variance
from navarena.tasks.catalog import get_task
from navarena.tasks.task import Task


def repeat_settings(
    settings: EvaluationSettings, repeats: int, redraw: bool = False
) -> Iterator[EvaluationSettings]:
    """The settings of each of `repeats` runs: agent seeds from `settings.seed` on, a folder for each.

    With `out` given the folders are seed-0, seed-1, ... in it; else each has its own default.

    Args:
        settings: of the first run.
        repeats: how many runs.
        redraw: whether the run of seed N draws the corruptions anew, those of the protocol, too: by the word
            "draw-N", and as they are for the seed 0. InputError where there are none.
    """
    if repeats < 1:
        raise InputError(f"expected repeat of at least 1, got {repeats}")
    if redraw and repeats < 2:
        raise InputError(
            "expected --repeat 2 or more beside --redraw, got 1; the word draw-N redraws one run"
        )
    drawn = find_noise(settings.protocol, settings.corrupt) if redraw else ()
    if redraw and not drawn:
        raise InputError(
            f"expected corruptions to draw anew, got {settings.protocol} without any; add --corrupt NAME, or "
            "leave --redraw out"
        )
    for seed in range(settings.seed, settings.seed + repeats):
        out = settings.out if settings.out is None or repeats == 1 else settings.out / f"seed-{seed}"
        corrupt = (
            tuple(redraw_corruption(text, seed) for text in drawn) if redraw and seed else settings.corrupt
        )
        yield replace(settings, seed=seed, out=out, corrupt=corrupt)


def find_noise(protocol: str, corrupt: Sequence[str]) -> tuple[str, ...]:
    """The corruptions of a protocol and those that were chosen, in their order.

    Raises UnknownNameError and InputError for what is no protocol or corruption.
    """
    task = get_task(protocol)
    return tuple(join_corruptions(task.corruptions if isinstance(task, Task) else (), corrupt))


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
