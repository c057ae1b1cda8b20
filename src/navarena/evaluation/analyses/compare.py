"""Finished runs side by side: the same episodes, paired; several training seeds, pooled."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.errors import CheckFailedError, InputError, require_name
from navarena.core.seeding import make_generator
from navarena.evaluation.records.journal import Row, read_rows
from navarena.evaluation.records.record import RunRecord, read_record
from navarena.evaluation.records.results import metric_values, pool_partial, scene_labels
from navarena.evaluation.records.tour_scores import TourValues, estimate_tour_values, over_tours, tour_values
from navarena.metrics.catalog import TOUR_METRICS, get_metric, leading_metrics
from navarena.metrics.paired import BY_EPISODES, PairedComparison, compare_paired
from navarena.metrics.repetitions import (
    estimate_interquartile_mean,
    estimate_over_seeds,
    performance_profile,
    probability_of_improvement,
)
from navarena.metrics.statistics import Estimate
from navarena.metrics.tours import TourScoring
from navarena.scenes.twin_ids import original_of
from navarena.tasks.catalog import get_task

SAME_PATHS = 0.01
"""Relative difference of mean optimal path lengths from which on SPL is said not to compare."""

BY_TOURS = "swaps of tours"
"""How differences of tours are tested where there are too few scenes to swap."""

THRESHOLDS = tuple(round(0.05 * k, 2) for k in range(21))
"""Scores at which performance profiles are read."""


@dataclass(frozen=True)
class Contestant:
    """One method: a run, or one run for each of its training seeds, on the same episodes.

    Attributes:
        label: short name in tables: "A", "B", ...
        folders: of its runs.
        records: their run.json.
        rows: for each run its rows, all in the same order.
    """

    label: str
    folders: tuple[Path, ...]
    records: tuple[RunRecord, ...]
    rows: tuple[tuple[Row, ...], ...]

    @property
    def agent(self) -> str:
        """The agents of its runs, without repetition."""
        return ", ".join(dict.fromkeys(record.agent for record in self.records))

    @property
    def identity(self) -> str:
        """Identity of the first run; the others have the same episodes."""
        return self.records[0].identity

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names that all of its runs hold."""
        shared = [set(record.metrics) for record in self.records]
        return tuple(name for name in self.records[0].metrics if all(name in one for one in shared))

    @property
    def tour_scoring(self) -> TourScoring | None:
        """How the tours of its runs are scored; None where episodes come without, or hide their goals."""
        rows = self.rows[0]
        if "success" not in self.metrics or not rows or any(row.tour is None for row in rows):
            return None
        return get_task(str(self.records[0].settings["protocol"])).tour_scoring

    @property
    def tour_metrics(self) -> tuple[str, ...]:
        """Names of the numbers over tours that its runs have."""
        return () if self.tour_scoring is None else tuple(TOUR_METRICS)

    def leading_metrics(self, chosen: Iterable[str] = ()) -> tuple[str, ...]:
        """The leading ones of its metrics, `chosen` ones before others; see catalog.leading_metrics."""
        return leading_metrics(name for name in (*chosen, *self.metrics) if name in self.metrics)

    def tour_values(self, name: str) -> TourValues | None:
        """A number per tour, as mean over the runs; None as in tour_scores.tour_values."""
        scoring = self.tour_scoring
        return None if scoring is None else tour_values(self.rows, name, scoring)

    def values(self, name: str) -> Float[np.ndarray, "n"]:
        """(N,) float64: the metric of each episode, the mean over the runs."""
        return np.mean(self.seed_values(name), axis=0)

    def seed_values(self, name: str) -> Float[np.ndarray, "k n"]:
        """(K, N) float64: the metric of each episode, by run."""
        return np.array([metric_values(rows, name) for rows in self.rows])

    def scores(self, name: str) -> Float[np.ndarray, "k s"]:
        """(K, S) float64: mean of the metric by run and scene; infinite values are left out.

        A scene without any finite value in some run is left out.
        """
        scenes = np.array([row.scene_id for row in self.rows[0]])
        columns = []
        for scene in np.unique(scenes):
            values = np.array([metric_values(rows, name)[scenes == scene] for rows in self.rows])
            finite = np.isfinite(values)
            if finite.any(1).all():
                columns.append(np.where(finite, values, 0.0).sum(1) / finite.sum(1))
        return np.array(columns).T.reshape(len(self.rows), -1)


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
            first one, and where scenes differ.
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
    significant: p of at most SIGNIFICANCE, divided by the number of other runs (Bonferroni).

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
        if (result.difference.mean > 0) != (better == "higher"):
            return None
    return place


def read_contestant(label: str, folders: Sequence[Path]) -> Contestant:
    """The finished runs in `folders`.

    Raises FileError for missing or damaged files, CheckFailedError for a run that is not finished, and
    InputError for runs on different episodes.
    """
    if not folders:
        raise InputError(f"expected at least one run for {label}, got none")
    records = tuple(read_record(folder) for folder in folders)
    rows = tuple(tuple(read_rows(folder)) for folder in folders)
    first = [(row.scene_id, row.episode_id) for row in rows[0]]
    for folder, record, own in zip(folders, records, rows):
        if len(own) != record.episodes:
            raise CheckFailedError(
                f"expected {record.episodes} finished episodes in {folder}, got {len(own)}; "
                "finish it with the command in its run.json"
            )
        if [(row.scene_id, row.episode_id) for row in own] != first:
            raise InputError(
                f"expected the runs of one method on the same episodes, got others in {folder} than in "
                f"{folders[0]}; compare them as methods of their own"
            )
    return Contestant(label, tuple(folders), records, rows)


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
        pool_partial(one.rows[0], [name for name in names if name in one.metrics], one.values)
        for one in contestants
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
    notices = [notice for one in contestants[1:] for notice in find_obstacles(first, one)]
    return Comparison(tuple(contestants), estimates, pooled, tuple(differences), tuple(seeds), tuple(notices))


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


def estimate_metric(one: Contestant, name: str, two_levels: bool = False) -> Estimate | None:
    """The mean of a metric, of episodes or of tours, with its interval; None where runs lack it."""
    if name in TOUR_METRICS:
        tours = one.tour_values(name)
        return None if tours is None else estimate_tour_values(tours, one.identity, name)
    return estimate_part(one, name, two_levels=two_levels)


def estimate_part(
    one: Contestant, name: str, chosen: Bool[np.ndarray, "n"] | None = None, two_levels: bool = False
) -> Estimate | None:
    """The mean of a metric over the episodes that are `chosen` (N,), all by default, with its interval.

    Over several training seeds an episode counts as the mean of its runs, and the interval is resampled over
    seeds, too, as estimate_over_seeds says. Without a choice that of one run is the one of its summary.
    None where no episode is chosen, and where the runs do not have the metric.
    """
    if name not in one.metrics:
        return None
    chosen = np.ones(len(one.rows[0]), bool) if chosen is None else chosen
    if not chosen.any():
        return None
    values, metric = one.seed_values(name)[:, chosen], get_metric(name)
    scenes = scene_labels([row for row, keep in zip(one.rows[0], chosen) if keep])
    draws = make_generator("interval", "seeds", name)
    over_seeds = estimate_over_seeds([(1.0, values)], scenes, draws, metric.bounds)
    return over_seeds or metric.estimate(
        values.mean(0), scenes, make_generator("interval", one.identity, name), two_levels
    )


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
    places = {names: place for place, names in enumerate(two.names)}
    shared = [(place, places[names]) for place, names in enumerate(one.names) if names in places]
    if not shared:
        return None
    mine, other = (list(column) for column in zip(*shared))
    result = compare_paired(
        one.values[mine],
        two.values[other],
        [one.names[place][0] for place in mine],
        "higher",
        make_generator("compare", "difference", name),
        bounds=get_metric(name).bounds,
        weights=one.weights[mine],
    )
    swapped = BY_TOURS if result.p_method == BY_EPISODES else result.p_method
    difference = over_tours(replace(result.difference, n=len(mine)))
    return replace(result, difference=difference, p_method=swapped)


def score_seeds(first: Contestant, one: Contestant, name: str) -> SeedScores:
    """The training seeds of a contestant by one metric; `first` is the contestant they are compared with."""
    scores = one.scores(name)
    improvement = None
    if one is not first and first.scores(name).shape[1] == scores.shape[1]:
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
