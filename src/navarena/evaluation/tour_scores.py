"""Scores over tours, on navigation graphs and in continuous scenes: t-nDTW, t-SR and t-SPL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError
from navarena.evaluation.tour_runner import AnyTour
from navarena.metrics.tours import Reading, Weighting, mean_over_tours, tour_ndtw, tour_success

Distance = Literal["geodesic", "euclidean"]
"""Between points of t-nDTW: along edges or floor (paper), or straight (continuous reference code)."""


@runtime_checkable
class ScoredEpisode(Protocol):
    """What a tour needs of each of its episodes, as `ScoredWalk` and `ScoredRecord` have it."""

    @property
    def costs(self) -> Float[np.ndarray, "n m"]:
        """(N, M) metres from walked to described points."""

    @property
    def success(self) -> float:
        """0 or 1."""

    @property
    def spl(self) -> float:
        """In [0, 1]."""

    @property
    def length(self) -> float:
        """Metres walked."""

    @property
    def reference_length(self) -> float:
        """Metres along the described path."""


@dataclass(frozen=True)
class TourScore:
    """One tour.

    Attributes:
        tour_id: unique within the split.
        scan: id of the scan.
        episodes: how many.
        ndtw: of the whole tour, in [0, 1].
        success, spl: weighted means over its episodes, in [0, 1].
    """

    tour_id: str
    scan: str
    episodes: int
    ndtw: float
    success: float
    spl: float


@dataclass(frozen=True)
class TourScores:
    """A split of tours.

    Attributes:
        t_ndtw, t_sr, t_spl: weighted means over tours, in [0, 1].
        reading, weighting, distance: of t_ndtw; t_sr and t_spl always weigh by episodes.
        tours: each one.
    """

    t_ndtw: float
    t_sr: float
    t_spl: float
    reading: Reading
    weighting: Weighting
    distance: Distance
    tours: tuple[TourScore, ...]


def score_tours(
    tours: Sequence[AnyTour],
    scored: Mapping[str, ScoredEpisode],
    reading: Reading = "code",
    weighting: Weighting = "episodes",
    distance: Distance = "geodesic",
) -> TourScores:
    """t-nDTW, t-SR and t-SPL.

    Args:
        tours: of the split.
        scored: episode id -> numbers of the episode.
        reading: of t-nDTW.
        weighting: of t-nDTW over tours.
        distance: that the costs in `scored` are of.

    Raises InputError for an episode without score or without alignment.
    """
    rows = [_score_tour(tour, scored, reading) for tour in tours]
    sizes = [row.episodes for row in rows]
    return TourScores(
        mean_over_tours([row.ndtw for row in rows], sizes, weighting),
        mean_over_tours([row.success for row in rows], sizes),
        mean_over_tours([row.spl for row in rows], sizes),
        reading,
        weighting,
        distance,
        tuple(rows),
    )


def _score_tour(tour: AnyTour, scored: Mapping[str, ScoredEpisode], reading: Reading) -> TourScore:
    ids = [episode.episode_id for episode in tour.episodes]
    missing = [name for name in ids if name not in scored]
    if missing:
        raise InputError(
            f"expected a score of every episode of tour {tour.tour_id}, got none of {missing[0]!r}"
        )
    own = [scored[name] for name in ids]
    try:
        ndtw = tour_ndtw([one.costs for one in own], reading)
    except InputError as error:
        raise InputError(f"tour {tour.tour_id} of {tour.scene_id}: {error}") from error
    whole = tour_success(
        np.array([one.success for one in own]),
        np.array([one.spl for one in own]),
        np.array([one.length for one in own]),
        np.array([one.reference_length for one in own]),
    )
    return TourScore(tour.tour_id, tour.scene_id, len(own), ndtw, whole.success, whole.spl)
