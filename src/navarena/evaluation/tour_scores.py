"""Scores of tours, from the rows of their episodes: t-nDTW, t-SR and t-SPL with intervals over scenes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.evaluation.journal import Row, TourRecord
from navarena.metrics.instruction import SUCCESS_DISTANCE
from navarena.metrics.statistics import Estimate, estimate_weighted
from navarena.metrics.tours import Reading, TourScoring, mean_over_tours, tour_success, tour_weights

TITLES = {"t_ndtw": "t-nDTW", "t_sr": "t-SR", "t_spl": "t-SPL"}
"""Number of a run over tours -> what people read."""


@dataclass(frozen=True)
class TourScore:
    """One tour.

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
    """What the row says of its tour; raises InputError for an episode outside tours."""
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
    ndtw = _ndtw(records, reading)
    return TourScore(first.tour_id, rows[0].scene_id, len(rows), ndtw, whole.success, whole.spl)


def _ndtw(records: Sequence[TourRecord], reading: Reading) -> float | None:
    """exp(-DTW / (threshold * |R|)) of one tour (see metrics.tours)."""
    if reading == "code" and any(one.dtw_code is None and one.dtw is not None for one in records):
        return None
    costs = [_or_infinite(one.dtw_code if reading == "code" else one.dtw) for one in records]
    points = sum(one.reference_points for one in records)
    return float(np.exp(-float(sum(costs)) / (SUCCESS_DISTANCE * points)))


def estimate_tours(rows: Sequence[Row], scoring: TourScoring) -> dict[str, Estimate | None]:
    """t_ndtw, t_sr and t_spl of a run, with intervals over scenes, or tours where there are few scenes.

    t_ndtw is None where a tour has no alignment in the reading. Raises InputError for rows outside tours,
    and where the weights of all tours are 0.
    """
    scores = score_tours(rows, scoring.reading)
    sizes = [one.episodes for one in scores]
    scenes = [one.scene_id for one in scores]
    known = [one.ndtw for one in scores if one.ndtw is not None]
    values = {"t_sr": [one.success for one in scores], "t_spl": [one.spl for one in scores]}
    found: dict[str, Estimate | None] = {"t_ndtw": None}
    if len(known) == len(scores):
        values = {"t_ndtw": known, **values}
    for name, column in values.items():
        weighting = scoring.weighting if name == "t_ndtw" else "episodes"
        generator = make_generator("interval", rows[0].identity, name)
        weights = tour_weights(sizes, weighting)
        estimate = estimate_weighted(np.array(column), weights, scenes, generator)
        mean = mean_over_tours(column, sizes, weighting)
        found[name] = over_tours(replace(estimate, mean=mean, n=len(scores), infinite=0))
    return found


def over_tours(estimate: Estimate) -> Estimate:
    """An estimate over tours: where the units of its interval are not scenes, they are tours."""
    return replace(estimate, method=estimate.method.replace("over episodes", "over tours"))


def _or_infinite(value: float | None) -> float:
    return math.inf if value is None else value
