"""Instruction following in continuous scenes: scores of a record beside the path that was described.

The formulas are those of `instruction`; distances between points are Euclidean, as in VLN-CE, and
points at which the body did not move are left out of the walked path, as there. Its reference
evaluation aligns approximately (fastdtw, radius 1), which makes its nDTW lower by up to 0.045; the alignment
here is exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError
from navarena.metrics.alignment import Costs, euclidean_costs
from navarena.metrics.instruction import PathScores, coverage_length_score, ndtw
from navarena.metrics.navigation import path_length
from navarena.metrics.trajectory import Trajectory


@dataclass(frozen=True, repr=False)
class InstructionTrajectory(Trajectory):
    """The record of an episode that follows an instruction.

    Attributes:
        reference: (M, 3) float64 metres, world frame: the path that was described, M at least 1.
        floor_costs: (N, M) metres along the floor from walked to reference points, by which its tour is
            aligned; None for straight distances.
    """

    reference: Float[np.ndarray, "m 3"]
    floor_costs: Float[np.ndarray, "n m"] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reference.ndim != 2 or self.reference.shape[1:] != (3,) or not len(self.reference):
            raise InputError(
                f"expected a reference path of shape (M, 3), M at least 1, got {self.reference.shape}"
            )
        if not np.isfinite(self.reference).all():
            raise InputError("expected a finite reference path")

    @property
    def walked(self) -> Float[np.ndarray, "n 3"]:
        """(N, 3) metres: positions, each stay counted once."""
        moved = np.any(np.diff(self.positions, axis=0) != 0, axis=1)
        return self.positions[np.concatenate([[True], moved])]

    @property
    def costs(self) -> Costs:
        """(N, M) metres, straight, from walked to reference points."""
        return euclidean_costs(self.walked, self.reference)

    @property
    def tour_costs(self) -> Costs:
        """(N, M) metres from walked to reference points, by which its tour is aligned."""
        return self.costs if self.floor_costs is None else self.floor_costs

    @property
    def walked_length(self) -> float:
        """Metres walked."""
        return path_length(self)

    @property
    def reference_length(self) -> float:
        """Metres along the reference path."""
        return float(np.linalg.norm(np.diff(self.reference, axis=0), axis=1).sum())


@dataclass(frozen=True, repr=False)
class UnscoredGraphTrajectory(Trajectory):
    """The record of an episode on a navigation graph whose goal a file hides (test splits).

    Attributes:
        nodes: (K + 1,) int64 node numbers.
        views: (K + 1,) int64, 0 to 35, along which the body looked.
    """

    nodes: Int[np.ndarray, "k1"]
    views: Int[np.ndarray, "k1"]


@dataclass(frozen=True, repr=False)
class GraphTrajectory(InstructionTrajectory):
    """The record of an episode that follows an instruction on a navigation graph.

    Its distances are those along the edges, and its scores are defined as in R2R's official evaluation:
    where the path ended counts, STOP or not.

    Attributes:
        nodes: (K + 1,) int64 node numbers.
        views: (K + 1,) int64, 0 to 35, along which the body looked.
        scores: of the episode.
        described_length: metres along the described path.
    """

    nodes: Int[np.ndarray, "k1"]
    views: Int[np.ndarray, "k1"]
    scores: PathScores
    described_length: float

    @property
    def own_metrics(self) -> Mapping[str, float]:
        """The official numbers of R2R."""
        return vars(self.scores)

    @property
    def costs(self) -> Costs:
        """(N, M) metres along the graph from walked to described nodes."""
        return self.tour_costs

    @property
    def walked_length(self) -> float:
        """Metres walked along the graph."""
        return self.scores.length

    @property
    def reference_length(self) -> float:
        """Metres along the described path."""
        return self.described_length


def episode_ndtw(trajectory: Trajectory) -> float:
    """nDTW, in [0, 1]; see `instruction.ndtw`."""
    record = require_described_path(trajectory, "the metric 'ndtw'")
    return ndtw(record.costs, record.success_distance)


def episode_sdtw(trajectory: Trajectory) -> float:
    """sDTW: nDTW of an episode that succeeded, else 0."""
    return episode_ndtw(trajectory) if trajectory.succeeded else 0.0


def episode_cls(trajectory: Trajectory) -> float:
    """CLS, in [0, 1]; see `instruction.coverage_length_score`."""
    record = require_described_path(trajectory, "the metric 'cls'")
    return coverage_length_score(
        record.costs, path_length(record), record.reference_length, record.success_distance
    )


def require_described_path(trajectory: Trajectory, purpose: str) -> InstructionTrajectory:
    """`trajectory` if it has a described path; else raises InputError naming `purpose`."""
    if not isinstance(trajectory, InstructionTrajectory):
        raise InputError(
            f"expected the record of an episode with a described path for {purpose}, got "
            f"{type(trajectory).__name__}"
        )
    return trajectory
