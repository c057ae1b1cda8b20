"""Scores of agents over tours in continuous scenes.

Distances between points are Euclidean, as in IVLN-CE; t-nDTW aligns by those along the floor, too (paper).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError
from navarena.evaluation.tour_runner import AnyTour
from navarena.evaluation.tour_scores import TourScores, score_tours
from navarena.metrics.catalog import compute_metrics
from navarena.metrics.followed_path import require_described_path
from navarena.metrics.navigation import path_length
from navarena.metrics.tours import Reading, Weighting
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.queries.goal_fields import geodesic_table
from navarena.tasks.tour_batch import TourRecord
from navarena.tasks.vln_ce_tours import IR2RCE

TITLES = {
    "success": "SR",
    "oracle_success": "OSR",
    "spl": "SPL",
    "distance_to_goal": "NE, m",
    "path_length": "TL, m",
    "ndtw": "nDTW",
    "sdtw": "sDTW",
    "cls": "CLS",
    "num_actions": "actions",
    "collisions": "hits",
}
"""Metric -> column of a table, as on navigation graphs."""


@dataclass(frozen=True)
class ScoredRecord:
    """The numbers of one episode, and what tours need of it.

    Attributes:
        metrics: name -> value.
        costs: (N, M) metres, straight, from walked to described points.
        length: metres walked.
        reference_length: metres, along the described path.
    """

    metrics: Mapping[str, float]
    costs: Float[np.ndarray, "n m"]
    length: float
    reference_length: float

    @property
    def success(self) -> float:
        """0 or 1."""
        return self.metrics["success"]

    @property
    def spl(self) -> float:
        """In [0, 1]."""
        return self.metrics["spl"]


@dataclass(frozen=True)
class ContinuousScores:
    """What an agent scored over tours.

    Attributes:
        episodes: episode id -> metric -> value.
        means: metric -> mean over episodes.
        tours: t-nDTW, t-SR and t-SPL.
    """

    episodes: Mapping[str, Mapping[str, float]]
    means: Mapping[str, float]
    tours: TourScores


def score_records(
    task: IR2RCE,
    tours: Sequence[AnyTour],
    records: Mapping[str, TourRecord],
    reading: Reading = "code",
    weighting: Weighting = "changes",
    geodesics: Mapping[str, Float[np.ndarray, "n m"]] | None = None,
) -> ContinuousScores:
    """All numbers of a split of tours.

    Args:
        task: the rules.
        tours: that were run.
        records: episode id -> record.
        reading: of t-nDTW.
        weighting: of t-nDTW over tours; "changes" is the continuous reference's.
        geodesics: episode id -> (N, M) metres along the floor, see `geodesic_costs`: t-nDTW aligns by them
            in the place of straight distances. Metrics of episodes do not.

    Raises InputError for a tour without records or without alignment.
    """
    scored = {name: score_record(task, record) for name, record in records.items()}
    if geodesics is not None:
        aligned = {name: replace(one, costs=geodesics[name]) for name, one in scored.items()}
        tour_scores = score_tours(tours, aligned, reading, weighting, "geodesic")
    else:
        tour_scores = score_tours(tours, scored, reading, weighting, "euclidean")
    means = {name: float(np.mean([one.metrics[name] for one in scored.values()])) for name in task.metrics}
    return ContinuousScores({name: one.metrics for name, one in scored.items()}, means, tour_scores)


def score_record(task: IR2RCE, record: TourRecord) -> ScoredRecord:
    """The numbers of one episode; raises InputError for a record without described path."""
    track = require_described_path(record.trajectory, f"episode {record.episode_id!r}")
    values = compute_metrics(task.metrics, track)
    return ScoredRecord(values, track.costs, path_length(track), track.reference_length)


def geodesic_costs(record: TourRecord, navmesh: NavMesh) -> Float[np.ndarray, "n m"]:
    """(N, M) metres along the floor from walked to described points; infinite where no way leads."""
    track = require_described_path(record.trajectory, f"episode {record.episode_id!r}")
    return geodesic_table(navmesh, navmesh.snap_point(track.walked), navmesh.snap_point(track.reference))


def refer_records(
    records: Mapping[str, TourRecord], references: Mapping[str, Float[np.ndarray, "_ 3"]]
) -> dict[str, TourRecord]:
    """The records beside other paths than the described ones, such as those of `gt_ndtw.json`.

    Args:
        records: episode id -> record.
        references: episode id -> (M, 3) metres.

    Raises InputError for a record without reference.
    """
    require_references(records, references)
    return {name: _refer(record, references[name]) for name, record in records.items()}


def require_references(
    episode_ids: Iterable[str], references: Mapping[str, Float[np.ndarray, "_ 3"]]
) -> None:
    """Raise InputError for an episode without reference path (M, 3), metres, naming the first."""
    missing = [name for name in episode_ids if name not in references]
    if missing:
        raise InputError(
            f"expected a reference path of every episode, got none of {len(missing)} of them, such as "
            f"{missing[0]!r}"
        )


def _refer(record: TourRecord, reference: Float[np.ndarray, "m 3"]) -> TourRecord:
    track = require_described_path(record.trajectory, f"episode {record.episode_id!r}")
    return replace(record, trajectory=replace(track, reference=reference))
