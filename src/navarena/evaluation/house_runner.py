"""Tours in continuous scenes, as the tour runner takes them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from navarena.agents.agent import Agent
from navarena.episodes.route_tours import EpisodeTour
from navarena.evaluation.tour_runner import TourSource
from navarena.metrics.followed_path import InstructionTrajectory, require_described_path
from navarena.metrics.trajectory import BodyRates, ShortestPath
from navarena.simulation.world import WorldCache
from navarena.tasks.tour_batch import TourBatch, TourRecord
from navarena.tasks.vln_ce_tours import IR2RCE

SLOTS = 8
"""Tours side by side. Results do not depend on it."""

Place = tuple[float, float, float]


class SavedRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A TourRecord as JSON holds it: fields as of InstructionTrajectory, None is infinite."""

    slot: int
    tour_id: str
    episode_id: str
    positions: list[Place]
    yaws: list[float]
    actions: list[int]
    collided: list[bool]
    distance_to_goal: list[float | None]
    start_distance: float | None
    stopped: bool
    success_distance: float
    reference: list[Place]
    rates: BodyRates | None
    shortest: ShortestPath | None


@dataclass(frozen=True)
class HouseTours(TourSource[EpisodeTour, TourRecord]):
    """Tours in continuous scenes.

    Attributes:
        task: the rules.
        tours: each is run once, memory kept within it.
        worlds: where scenes come from; None for a store of its own.
        threads: for rendering; None for all processors this process may use.
        slots: see TourSource.
    """

    task: IR2RCE
    tours: Sequence[EpisodeTour]
    worlds: WorldCache | None = None
    threads: int | None = None
    slots: int = SLOTS

    def open(self, agent: Agent, slots: int) -> TourBatch:
        """A batch in the scenes."""
        batch = TourBatch(self.task, slots, self.threads, agent.sensors, self.worlds)
        agent.attach(batch.batch)
        return batch

    def save(self, record: TourRecord) -> SavedRecord:
        """Every number of the record."""
        track = require_described_path(record.trajectory, f"episode {record.episode_id}")
        return SavedRecord(
            record.slot,
            record.tour_id,
            record.episode_id,
            track.positions.tolist(),
            track.yaws.tolist(),
            track.actions.tolist(),
            track.collided.tolist(),
            track.distance_to_goal.tolist(),
            track.start_distance,
            track.stopped,
            track.success_distance,
            track.reference.tolist(),
            track.rates,
            track.shortest,
        )

    def restore(self, saved: bytes) -> TourRecord:
        """An equal record; raises msgspec.MsgspecError."""
        one = msgspec.json.decode(saved, type=SavedRecord)
        track = InstructionTrajectory(
            positions=np.array(one.positions, np.float64),
            yaws=np.array(one.yaws, np.float64),
            actions=np.array(one.actions, np.int64),
            collided=np.array(one.collided, bool),
            distance_to_goal=np.array([_or_infinity(value) for value in one.distance_to_goal]),
            start_distance=_or_infinity(one.start_distance),
            stopped=one.stopped,
            success_distance=one.success_distance,
            rates=one.rates,
            shortest=one.shortest,
            reference=np.array(one.reference, np.float64),
        )
        return TourRecord(one.slot, one.tour_id, one.episode_id, track)


def _or_infinity(value: float | None) -> float:
    return math.inf if value is None else value
