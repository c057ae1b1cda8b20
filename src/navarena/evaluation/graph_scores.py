"""Scores of agents on navigation graphs: by episode, in the mean, and over tours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Int

from navarena.core.errors import InputError
from navarena.episodes.graph_episodes import GraphEpisode, Tour
from navarena.metrics.instruction import PathScores, SplReference
from navarena.metrics.tours import Reading, Weighting, mean_over_tours, tour_ndtw, tour_success
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.tasks.vln_graph_scoring import ScoredWalk, score_walk

OFFICIAL_INSTRUCTIONS = 3
"""R2R's stock evaluation looks at the first three instructions of each path and ignores a fourth."""

TITLES = {
    "length": "TL, m",
    "steps": "steps",
    "navigation_error": "NE, m",
    "oracle_error": "OE, m",
    "success": "SR",
    "oracle_success": "OSR",
    "spl": "SPL",
    "ndtw": "nDTW",
    "sdtw": "sDTW",
    "cls": "CLS",
}
"""Field of PathScores -> column of a table."""


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
        reading, weighting: of t_ndtw; t_sr and t_spl always weigh by episodes.
        tours: each one.
    """

    t_ndtw: float
    t_sr: float
    t_spl: float
    reading: Reading
    weighting: Weighting
    tours: tuple[TourScore, ...]


def score_episodes(
    walks: Mapping[str, Int[np.ndarray, "_"]],
    episodes: Mapping[str, GraphEpisode],
    atlas: GraphAtlas,
    spl_reference: SplReference = "shortest",
) -> dict[str, ScoredWalk]:
    """Episode id -> numbers of each walk.

    Args:
        walks: episode id -> (K,) node indices.
        episodes: by id.
        atlas: graphs of their scans.
        spl_reference: reading of SPL.
    """
    return {name: score_walk(atlas, nodes, episodes[name], spl_reference) for name, nodes in walks.items()}


def mean_scores(scored: Mapping[str, ScoredWalk]) -> dict[str, float]:
    """Name of each number of PathScores -> mean over episodes; raises InputError for none."""
    if not scored:
        raise InputError("expected at least one scored episode, got none")
    rows = [one.scores for one in scored.values()]
    return {
        field.name: float(np.mean([getattr(row, field.name) for row in rows])) for field in fields(PathScores)
    }


def score_tours(
    tours: Sequence[Tour],
    scored: Mapping[str, ScoredWalk],
    reading: Reading = "code",
    weighting: Weighting = "episodes",
) -> TourScores:
    """t-nDTW, t-SR and t-SPL; raises InputError for an episode without score or without alignment."""
    rows = []
    for tour in tours:
        missing = [e.episode_id for e in tour.episodes if e.episode_id not in scored]
        if missing:
            raise InputError(
                f"expected a score of every episode of tour {tour.tour_id}, got none of {missing[0]!r}"
            )
        own = [scored[episode.episode_id] for episode in tour.episodes]
        try:
            ndtw = tour_ndtw([one.costs for one in own], reading)
        except InputError as error:
            raise InputError(f"tour {tour.tour_id} of scan {tour.scan}: {error}") from error
        whole = tour_success(
            np.array([one.scores.success for one in own]),
            np.array([one.scores.spl for one in own]),
            np.array([one.scores.length for one in own]),
            np.array([one.reference_length for one in own]),
        )
        rows.append(TourScore(tour.tour_id, tour.scan, len(own), ndtw, whole.success, whole.spl))
    sizes = [row.episodes for row in rows]
    return TourScores(
        mean_over_tours([row.ndtw for row in rows], sizes, weighting),
        mean_over_tours([row.success for row in rows], sizes),
        mean_over_tours([row.spl for row in rows], sizes),
        reading,
        weighting,
        tuple(rows),
    )
