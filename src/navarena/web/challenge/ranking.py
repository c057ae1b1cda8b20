"""The number by which a submission is ranked, with its value in every episode."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.results import metric_values
from navarena.evaluation.records.tour_scores import TourValues, estimate_tour_values, tour_values
from navarena.metrics.catalog import TOUR_METRICS, get_metric
from navarena.metrics.statistics import Estimate
from navarena.web.challenge.settings import UNSEEN_MEAN, Phase


@dataclass(frozen=True, eq=False)
class RankScores:
    """The rank metric of N episodes, or tours.

    Attributes:
        values: (N,) float64 of the metric; infinite where a goal cannot be reached.
        scenes: (N,) int64 index of the scene among the sorted ones.
        weights: (N,) float64 weights of the mean; all 1 for episodes.
        estimate: mean and interval; None for none.
    """

    values: Float[np.ndarray, "n"]
    scenes: Int[np.ndarray, "n"]
    weights: Float[np.ndarray, "n"]
    estimate: Estimate | None


def rank_parts(
    phase: Phase, benchmarks: Sequence[Benchmark], parts: Sequence[Sequence[Row]], trained_with: Sequence[str]
) -> RankScores:
    """The number in `rank_by` of a submission.

    An episode, or tour, that is run under several corruptions counts once, with its mean over them.

    Args:
        phase: that says what decides.
        benchmarks: of its parts.
        parts: the rows of each part, sorted.
        trained_with: corruptions that the agent knows, with or without severity; only "unseen_mean" asks.
    """
    counted = _counted_parts(phase, trained_with)
    if not counted:
        return RankScores(np.zeros(0), np.zeros(0, np.int64), np.zeros(0), None)
    same: dict[str | None, list[Sequence[Row]]] = {}
    for part in counted:
        same.setdefault(phase.parts[part].dataset, []).append(parts[part])
    first = benchmarks[counted[0]]
    if phase.rank_metric in TOUR_METRICS:
        return _rank_tours(phase.rank_metric, first, list(same.values()))
    metric = get_metric(phase.rank_metric)
    together = np.concatenate(
        [np.mean([metric_values(rows, metric.name) for rows in runs], axis=0) for runs in same.values()]
    )
    scenes = _label([row.scene_id for runs in same.values() for row in runs[0]])
    generator = make_generator("interval", str(first.identity), metric.name)
    return RankScores(together, scenes, np.ones(len(together)), metric.estimate(together, scenes, generator))


def _label(scenes: Sequence[str]) -> Int[np.ndarray, "n"]:
    """(N,) the place of each scene among the sorted ones."""
    return np.unique(scenes, return_inverse=True)[1].astype(np.int64)


def _counted_parts(phase: Phase, trained_with: Sequence[str]) -> list[int]:
    """Indices of the parts that `rank_by` is about."""
    if not phase.rank_by.startswith(UNSEEN_MEAN):
        return list(range(len(phase.parts)))
    known = {name.partition(":")[0] for name in trained_with}
    return [
        index
        for index, part in enumerate(phase.parts)
        if part.corruptions and not known & {name.partition(":")[0] for name in part.corruptions}
    ]


def _rank_tours(name: str, benchmark: Benchmark, datasets: Sequence[Sequence[Sequence[Row]]]) -> RankScores:
    """The number in `name` of tours, from the runs on each data set."""
    if benchmark.tour_scoring is None:
        raise InputError(f"expected episodes of tours to rank by {name!r}, got {benchmark.identity}")
    found = []
    for runs in datasets:
        values = tour_values(runs, name, benchmark.tour_scoring)
        if values is None:
            return RankScores(np.zeros(0), np.zeros(0, np.int64), np.zeros(0), None)
        found.append(values)
    together = TourValues(
        tuple(tour for one in found for tour in one.names),
        tuple(episodes for one in found for episodes in one.episodes),
        np.concatenate([one.values for one in found])[np.newaxis],
        np.concatenate([one.weights for one in found]),
    )
    estimate = estimate_tour_values(together, str(benchmark.identity), name)
    return RankScores(
        together.values, _label([scene for scene, _ in together.names]), together.weights, estimate
    )


def pack_scores(scores: RankScores) -> bytes:
    """The bytes of Submission.rank_values: (3, N) float64 of values, scenes and weights."""
    return np.stack([scores.values, scores.scenes.astype(np.float64), scores.weights]).tobytes()


def unpack_scores(data: bytes) -> tuple[Float[np.ndarray, "n"], Int[np.ndarray, "n"], Float[np.ndarray, "n"]]:
    """(values, scenes, weights), each (N,), as of RankScores."""
    values, scenes, weights = np.frombuffer(data, np.float64).reshape(3, -1)
    return values, scenes.astype(np.int64), weights
