"""Finished runs side by side: the same episodes, paired; several training seeds, pooled."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from navarena.core.errors import require_name
from navarena.core.seeding import make_generator
from navarena.evaluation.analyses.contestants import Contestant, estimate_metric
from navarena.evaluation.records.results import pool_partial
from navarena.evaluation.records.tour_scores import TourValues, over_tours
from navarena.metrics.catalog import TOUR_METRICS, get_metric
from navarena.metrics.paired import BY_EPISODES, PairedComparison, compare_paired
from navarena.metrics.repetitions import (
    estimate_interquartile_mean,
    estimate_over_seeds,
    performance_profile,
    probability_of_improvement,
)
from navarena.metrics.statistics import Estimate
from navarena.scenes.twin_ids import original_of

SAME_PATHS = 0.01
"""Relative difference of mean optimal path lengths from which on SPL is said not to compare."""

BY_TOURS = "swaps of tours"
"""How differences of tours are tested where there are too few scenes to swap."""

THRESHOLDS = tuple(round(0.05 * k, 2) for k in range(21))
"""Scores at which performance profiles are read."""


@dataclass(frozen=True)
class Difference:
    """A contestant against the first one, by one metric, on the episodes that both ran."""

    label: str
    metric: str
    result: PairedComparison


SIGNIFICANCE = 0.05
"""Greatest p of a paired difference that is called significant."""


@dataclass(frozen=True)
class SeedScores:
    """A contestant's training seeds, by one metric.

    Attributes:
        label, metric: of whom, by what.
        seeds: how many.
        interquartile_mean: with its interval over seeds.
        profile: share of the scores above each of THRESHOLDS.
        improvement: probability that a seed beats one of the first contestant in a scene; None for the
            first one, and where episodes differ.
    """

    label: str
    metric: str
    seeds: int
    interquartile_mean: Estimate
    profile: tuple[float, ...]
    improvement: float | None


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`.

    Attributes:
        contestants: in the given order; the first is what the others are compared with.
        estimates: for each contestant metric -> mean with interval, over its own episodes.
        pooled: for each contestant metric -> mean over its sub-tasks (see Summary.pooled).
        differences: of the others, for each metric that both have.
        seeds: for scores, if any contestant has several runs.
        notices: why numbers may not compare.
    """

    contestants: tuple[Contestant, ...]
    estimates: tuple[dict[str, Estimate], ...]
    pooled: tuple[dict[str, Estimate], ...]
    differences: tuple[Difference, ...]
    seeds: tuple[SeedScores, ...]
    notices: tuple[str, ...]


def find_best(comparison: Comparison, name: str) -> int | None:
    """The place of the run that is better by a metric than every other one, by paired differences that are
    significant: p of at most SIGNIFICANCE, divided by the number of other runs (Bonferroni), and an interval
    without 0. Of training seeds the interval is over them, too, while p is of these checkpoints.

    None where there is no such run, and where neither side is better.
    """
    contestants, better = comparison.contestants, get_metric(name).better
    known = {k: found[name].mean for k, found in enumerate(comparison.estimates) if name in found}
    if better is None or len(known) < 2 or len(known) < len(contestants):
        return None
    place = (max if better == "higher" else min)(known, key=lambda k: known[k])
    for k in known:
        if k == place:
            continue
        result = pair_contestants(contestants[k], contestants[place], name)
        if result is None or result.p_value is None or result.p_value > SIGNIFICANCE / (len(known) - 1):
            return None
        low, high = result.difference.low, result.difference.high
        ahead = result.difference.mean > 0
        if ahead != (better == "higher") or (low is not None and high is not None and low <= 0.0 <= high):
            return None
    return place


def compare(
    contestants: Sequence[Contestant], metrics: Iterable[str] = (), two_levels: bool = False
) -> Comparison:
    """Means with intervals, paired differences to the first contestant, and training seeds.

    Args:
        contestants: at least one.
        metrics: names; all that the first contestant has when empty, those over tours first. UnknownNameError
            for another.
        two_levels: whether intervals resample episodes within scenes, too; those over training seeds do not.
    """
    first = contestants[0]
    known = (*first.tour_metrics, *first.metrics)
    names = [require_name("metric of these runs", name, known) for name in metrics] or list(known)
    found = [{name: estimate_metric(one, name, two_levels) for name in names} for one in contestants]
    estimates = tuple({name: one for name, one in each.items() if one is not None} for each in found)
    pooled = tuple(
        pool_partial(one.rows, [name for name in names if name in one.metrics]) for one in contestants
    )
    differences = [
        Difference(one.label, name, result)
        for one in contestants[1:]
        for name in names
        if (result := pair_contestants(first, one, name, two_levels)) is not None
    ]
    seeds: list[SeedScores] = []
    if any(len(one.rows) > 1 for one in contestants):
        scores = [name for name in names if get_metric(name).better == "higher"]
        seeds = [
            score_seeds(first, one, name) for one in contestants for name in scores if name in one.metrics
        ]
    notices = [notice for one in contestants for notice in find_mixtures(one)]
    notices += [notice for one in contestants[1:] for notice in find_obstacles(first, one)]
    return Comparison(tuple(contestants), estimates, pooled, tuple(differences), tuple(seeds), tuple(notices))


def find_mixtures(one: Contestant) -> list[str]:
    """Reasons why the runs of a contestant may not be training seeds of one method."""
    notices = []
    if len({record.agent.partition(":")[0] for record in one.records}) > 1:  # checkpoints differ by folder
        notices.append(f"{one.label} pools runs of different agents: {one.agent}")
    if len({record.privileged for record in one.records}) > 1:
        notices.append(f"{one.label} pools privileged runs and others")
    return notices


def find_obstacles(first: Contestant, second: Contestant) -> list[str]:
    """Reasons why the numbers of two contestants may not be comparable."""
    pair, notices = f"{first.label} and {second.label}", []
    if first.identity != second.identity:
        notices.append(
            f"{pair} are results of different protocols or episodes: {first.identity} and {second.identity}"
        )
    mine, other = _keyed(first), _keyed(second)
    shared = len(mine.keys() & other.keys())
    if shared < max(len(mine), len(other)):
        notices.append(
            f"{pair} share {shared} episodes of {len(mine)} and {len(other)}; differences are of those"
            if shared
            else f"{pair} share no episode: nothing was paired"
        )
    tours = [one.tour_values("t_sr") for one in (first, second)]
    if tours[0] is not None and tours[1] is not None:
        alike = len(set(_keyed_tours(tours[0])) & set(_keyed_tours(tours[1])))
        if alike < max(len(tours[0].names), len(tours[1].names)):
            notices.append(
                f"{pair} share {alike} whole tours of {len(tours[0].names)} and {len(tours[1].names)}; "
                "differences of numbers over tours are of those"
            )
    lengths = [_mean_path(first), _mean_path(second)]
    if abs(lengths[0] - lengths[1]) > SAME_PATHS * max(lengths):
        notices.append(
            f"{pair} differ in optimal path length ({lengths[0]:.2f} m and {lengths[1]:.2f} m in the mean of "
            "all their episodes): SPL and its kin do not compare across such sets"
        )
    if (first.records[0].privileged, second.records[0].privileged) in ((True, False), (False, True)):
        looking = first if first.records[0].privileged else second
        notices.append(f"{looking.label} is privileged, the other of {pair} is not")
    return notices


def pair_contestants(
    first: Contestant, second: Contestant, name: str, two_levels: bool = False
) -> PairedComparison | None:
    """The second against the first by one metric, on the episodes (or tours) that both ran.

    None when there are none, or the second has not got the metric.
    """
    if name in TOUR_METRICS:
        return _pair_tours(first, second, name)
    if name not in second.metrics:
        return None
    mine, other = _keyed(first), _keyed(second)
    shared = sorted(mine.keys() & other.keys())
    if not shared:
        return None
    before = first.seed_values(name)[:, [mine[key] for key in shared]]
    after = second.seed_values(name)[:, [other[key] for key in shared]]
    scenes, (least, most) = [scene for scene, _ in shared], get_metric(name).bounds
    result = compare_paired(
        before.mean(0),
        after.mean(0),
        scenes,
        get_metric(name).better,
        make_generator("compare", "difference", name),
        two_levels,
        (least, most),
    )
    over_seeds = estimate_over_seeds(
        [(-1.0, before), (1.0, after)],
        scenes,
        make_generator("compare", "seeds", "difference", name),
        (least - most, most - least),
    )
    return result if over_seeds is None else replace(result, difference=over_seeds)


def _pair_tours(first: Contestant, second: Contestant, name: str) -> PairedComparison | None:
    one, two = first.tour_values(name), second.tour_values(name)
    if one is None or two is None:
        return None
    places = {key: place for place, key in enumerate(_keyed_tours(two))}
    shared = [(place, places[key]) for place, key in enumerate(_keyed_tours(one)) if key in places]
    if not shared:
        return None
    mine, other = (list(column) for column in zip(*shared))
    scenes, weights = [one.names[place][0] for place in mine], one.weights[mine]
    least, most = get_metric(name).bounds
    result = compare_paired(
        one.values[mine],
        two.values[other],
        scenes,
        "higher",
        make_generator("compare", "difference", name),
        bounds=(least, most),
        weights=weights,
    )
    over_seeds = estimate_over_seeds(
        [(-1.0, one.runs[:, mine]), (1.0, two.runs[:, other])],
        scenes,
        make_generator("compare", "seeds", "difference", name),
        (least - most, most - least),
        weights=weights,
    )
    swapped = BY_TOURS if result.p_method == BY_EPISODES else result.p_method
    difference = over_seeds or over_tours(replace(result.difference, n=len(mine)))
    return replace(result, difference=difference, p_method=swapped)


def _keyed_tours(found: TourValues) -> list[tuple[tuple[str, str], tuple[str, ...]]]:
    """What tours are paired by: scene, name and episodes, for a part of a tour is another tour."""
    return list(zip(found.names, found.episodes, strict=True))


def score_seeds(first: Contestant, one: Contestant, name: str) -> SeedScores:
    """The training seeds of a contestant by one metric; `first` is the contestant they are compared with."""
    scores = one.scores(name)
    improvement = None
    same = _keyed(first).keys() == _keyed(one).keys()
    if one is not first and same and first.scores(name).shape[1] == scores.shape[1]:
        improvement = probability_of_improvement(first.scores(name), scores)
    estimate = estimate_interquartile_mean(scores, make_generator("compare", "seeds", name))
    profile = performance_profile(scores, np.array(THRESHOLDS))
    return SeedScores(one.label, name, len(one.rows), estimate, tuple(profile.tolist()), improvement)


def _keyed(one: Contestant) -> dict[tuple[str, str], int]:
    """(scene, episode) -> place in its rows; an episode in a twin counts as that in the apartment."""
    return {(original_of(row.scene_id), row.episode_id): place for place, row in enumerate(one.rows[0])}


def _mean_path(one: Contestant) -> float:
    """Mean optimal path length of all episodes with a path, metres; 0 when none has one."""
    lengths = [row.start_distance for row in one.rows[0] if row.start_distance is not None]
    return math.fsum(lengths) / len(lengths) if lengths else 0.0
