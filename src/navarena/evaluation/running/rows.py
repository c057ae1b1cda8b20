"""Rows of the journal, made from trajectories, and checks of the actions that agents return."""

import math
import traceback
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from navarena.core.errors import readable
from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.memory_groups import MemoryGroup
from navarena.evaluation.records.journal import Row, Status, TourRecord, is_broken
from navarena.evaluation.records.traits import find_traits, record_goals
from navarena.metrics.alignment import dtw, require_costs
from navarena.metrics.catalog import compute_metrics
from navarena.metrics.followed_path import require_described_path
from navarena.metrics.tours import constrain_costs
from navarena.metrics.trajectory import Trajectory
from navarena.tasks.task import Actions


def pair_rows(benchmark: Benchmark, rows: Iterable[Row]) -> list[tuple[Row, Episode]]:
    """Each of `rows` with its episode of `benchmark`."""
    episodes = {episode.episode_id: episode for episode in benchmark.episodes}
    return [(row, episodes[row.episode_id]) for row in rows]


@dataclass(frozen=True)
class TourPlace:
    """Place of an episode in its tour.

    Attributes:
        tour_id: of the tour.
        position: of the episode, from 0.
        is_last: whether it ends the tour.
        oracle_goal, oracle_start: see TourRecord.
    """

    tour_id: str
    position: int
    is_last: bool
    oracle_goal: int = 0
    oracle_start: int = 0


def make_row(
    benchmark: Benchmark,
    episode: Episode,
    trajectory: Trajectory,
    status: Status,
    problem: str | None = None,
    place: TourPlace | None = None,
    noticed: tuple[str, ...] = (),
) -> Row:
    """The journal's row of a finished episode.

    Args:
        benchmark: what is evaluated.
        episode: that has ended.
        trajectory: of it, as far as it went.
        status: how it ended.
        problem: what the agent did wrong; None when all went well.
        place: of the episode in its tour; None outside tours.
        noticed: see Row.
    """
    metrics = compute_metrics(benchmark.metrics, trajectory, failed=is_broken(status))
    return Row(
        identity=str(benchmark.identity),
        episode_id=episode.episode_id,
        scene_id=episode.scene_id,
        status=status,
        steps=len(trajectory.actions),
        start_distance=finite_or_none(trajectory.start_distance),
        actions=trajectory.actions.tolist(),
        metrics={name: finite_or_none(value) for name, value in metrics.items()},
        traceback=problem,
        traits=find_traits(episode, trajectory),
        goals=record_goals(trajectory),
        tour=None if place is None else record_tour(place, trajectory),
        noticed=noticed,
    )


def find_tour_place(group: MemoryGroup, place: int, oracle_steps: tuple[int, int]) -> TourPlace | None:
    """Tour position of episode `place` of a group, with its oracle steps; None outside tours."""
    tour_id = group.episodes[place].tour_id
    if not tour_id:
        return None
    members = [index for index, one in enumerate(group.episodes) if one.tour_id == tour_id]
    position = members.index(place)
    return TourPlace(tour_id, position, position + 1 == len(members), *oracle_steps)


def record_tour(place: TourPlace, trajectory: Trajectory) -> TourRecord:
    """Tour record of an episode; raises InputError for a record without a described path."""
    track = require_described_path(trajectory, f"tour {place.tour_id}")
    costs = require_costs(track.tour_costs)
    free = dtw(costs)
    bound = dtw(constrain_costs(costs, place.position == 0, place.is_last))
    x, y, z = track.positions[0].tolist()
    return TourRecord(
        tour_id=place.tour_id,
        position=place.position,
        oracle_goal=place.oracle_goal,
        oracle_start=place.oracle_start,
        start=[x, y, z, float(track.yaws[0])],
        length=finite_or_none(track.walked_length),
        reference_length=finite_or_none(track.reference_length),
        reference_points=len(track.reference),
        dtw=finite_or_none(free),
        dtw_code=finite_or_none(bound),
    )


def finite_or_none(value: float) -> float | None:
    """`value` as a journal holds it: None where it is infinite."""
    return float(value) if math.isfinite(value) else None


def find_legal(actions: Actions, benchmark: Benchmark) -> Bool[np.ndarray, "n"]:
    """(N,) bool: whether each of `actions` (N,) or (N, K) is legal."""
    if benchmark.is_continuous:
        return np.asarray((np.abs(actions) <= 1).all(1))
    return np.asarray((actions >= 0) & (actions < len(benchmark.actions)))


def describe_legal(benchmark: Benchmark) -> str:
    """Description of the legal actions."""
    last = len(benchmark.actions) - 1
    return "numbers within [-1, 1]" if benchmark.is_continuous else f"an action from 0 to {last}"


def format_traceback(error: BaseException) -> str:
    """The traceback of an agent's exception, without the runner's own frame."""
    inner = error.__traceback__.tb_next if error.__traceback__ else None
    return readable("".join(traceback.format_exception(type(error), error, inner)))
