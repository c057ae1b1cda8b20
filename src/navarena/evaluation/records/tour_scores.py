"""Scores of tours, from the rows of their episodes: t-nDTW, t-SR and t-SPL with intervals over scenes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.evaluation.records.journal import Row, TourRecord
from navarena.metrics.catalog import TOUR_METRICS
from navarena.metrics.instruction import SUCCESS_DISTANCE
from navarena.metrics.repetitions import estimate_weighted_seeds
from navarena.metrics.statistics import Estimate
from navarena.metrics.tours import Reading, TourScoring, tour_success, tour_weights


@dataclass(frozen=True)
class TourScore:
    """Scores of one tour.

    Attributes:
        tour_id: unique within the split.
        scene_id: of its episodes.
        episodes: how many.
        ndtw: of the whole tour, in [0, 1]; None where no alignment obeys the reading.
        success, spl: weighted means over its episodes, in [0, 1].
    """

    tour_id: str
    scene_id: str
    episodes: int
    ndtw: float | None
    success: float
    spl: float


def group_tours(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each tour in the order of its episodes; tours by scene and first appearance.

    Raises InputError for rows outside tours.
    """
    tours: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        tours.setdefault((row.scene_id, require_tour(row).tour_id), []).append(row)
    return [sorted(own, key=lambda row: require_tour(row).position) for own in tours.values()]


def require_tour(row: Row) -> TourRecord:
    """The tour record of a row; raises InputError for an episode outside tours."""
    if row.tour is None:
        raise InputError(
            f"expected episodes of tours, got {row.episode_id!r} of {row.identity} without one; choose an "
            "iterative protocol, such as ir2r-ce-v1"
        )
    return row.tour


def place_in_tour(row: Row) -> tuple[str, str, int]:
    """Scene id, tour id and position of an episode; raises InputError for one outside tours."""
    tour = require_tour(row)
    return row.scene_id, tour.tour_id, tour.position


def follows_in_tour(row: Row, last: Row) -> bool:
    """Whether an episode comes next to `last` in a tour."""
    scene, tour, position = place_in_tour(last)
    return (scene, tour, position + 1) == place_in_tour(row)


def score_tours(rows: Sequence[Row], reading: Reading = "code") -> list[TourScore]:
    """The numbers of each tour; raises InputError for rows outside tours."""
    return [_score_tour(own, reading) for own in group_tours(rows)]


def _score_tour(rows: Sequence[Row], reading: Reading) -> TourScore:
    records = [require_tour(row) for row in rows]
    whole = tour_success(
        np.array([row.metric("success") for row in rows]),
        np.array([row.metric("spl") for row in rows]),
        np.array([_or_infinite(one.length) for one in records]),
        np.array([_or_infinite(one.reference_length) for one in records]),
    )
    first = records[0]
    ndtw = _ndtw(rows, reading)
    return TourScore(first.tour_id, rows[0].scene_id, len(rows), ndtw, whole.success, whole.spl)


def _ndtw(rows: Sequence[Row], reading: Reading) -> float | None:
    """exp(-DTW / (threshold * |R|)) of one tour (see metrics.tours).

    Episodes that the agent broke count as failures: the tour has the score of its other episodes, times
    their share of its reference points.
    """
    every = [require_tour(row) for row in rows]
    records = [one for one, row in zip(every, rows, strict=True) if not row.failed]
    if not records:
        return 0.0
    if reading == "code" and any(one.dtw_code is None and one.dtw is not None for one in records):
        return None
    costs = [_or_infinite(one.dtw_code if reading == "code" else one.dtw) for one in records]
    points = sum(one.reference_points for one in records)
    share = points / sum(one.reference_points for one in every)
    return share * math.exp(-float(sum(costs)) / (SUCCESS_DISTANCE * points))


@dataclass(frozen=True)
class TourValues:
    """One number of each of T tours.

    Attributes:
        names: scene id and tour id.
        episodes: ids of the episodes of each, in order.
        runs: (K, T) float64, of each run of a method.
        weights: (T,) float64, not normalised.
    """

    names: tuple[tuple[str, str], ...]
    episodes: tuple[tuple[str, ...], ...]
    runs: Float[np.ndarray, "k t"]
    weights: Float[np.ndarray, "t"]

    @property
    def values(self) -> Float[np.ndarray, "t"]:
        """(T,) float64, the mean over the runs."""
        return np.mean(self.runs, axis=0)


def tour_values(runs: Sequence[Sequence[Row]], name: str, scoring: TourScoring) -> TourValues | None:
    """The number `name` ("t_ndtw", "t_sr", "t_spl") of each tour of runs on the same episodes.

    None where a tour has no alignment in the reading. Raises InputError for rows outside tours, and where
    the weights of all tours are 0.
    """
    scores = [score_tours(rows, scoring.reading) for rows in runs]
    field = {"t_ndtw": "ndtw", "t_sr": "success", "t_spl": "spl"}[name]
    columns = [[getattr(one, field) for one in run] for run in scores]
    if any(None in column for column in columns):
        return None
    sizes = [one.episodes for one in scores[0]]
    # t-SR and t-SPL weigh by episodes, and tours of one episode have no changes to weigh
    weighting = scoring.weighting if name == "t_ndtw" and max(sizes) > 1 else "episodes"
    return TourValues(
        tuple((one.scene_id, one.tour_id) for one in scores[0]),
        tuple(tuple(row.episode_id for row in own) for own in group_tours(runs[0])),
        np.array(columns, np.float64),
        tour_weights(sizes, weighting),
    )


def estimate_tour_values(found: TourValues, identity: str, name: str) -> Estimate:
    """Weighted mean with an interval over scenes, or tours where there are few scenes; n counts tours.

    Of training seeds the interval is over them, too (see estimate_weighted_seeds).
    """
    scenes = [scene for scene, _ in found.names]
    generator = make_generator("interval", identity, name)
    estimate = estimate_weighted_seeds(found.runs, found.weights, scenes, generator)
    mean = float(found.weights @ found.values / found.weights.sum())
    return over_tours(replace(estimate, mean=mean, n=len(scenes)))


def estimate_tours(rows: Sequence[Row], scoring: TourScoring) -> dict[str, Estimate | None]:
    """t_ndtw, t_sr and t_spl of a run, with intervals; None and errors as of tour_values."""
    values = {name: tour_values([rows], name, scoring) for name in TOUR_METRICS}
    return {
        name: None if found is None else estimate_tour_values(found, rows[0].identity, name)
        for name, found in values.items()
    }


def over_tours(estimate: Estimate) -> Estimate:
    """An estimate over tours: where the units of its interval are not scenes, they are tours."""
    return replace(estimate, method=estimate.method.replace("over episodes", "over tours"))


def _or_infinite(value: float | None) -> float:
    return math.inf if value is None else value
