"""Runs an agent over tours in continuous scenes, and scores them."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from navarena.agents.agent import Agent, Boundary, Start
from navarena.core.errors import InputError
from navarena.episodes.route_tours import EpisodeTour
from navarena.evaluation.graph_scores import TourScore, TourScores
from navarena.metrics.catalog import compute_metrics
from navarena.metrics.followed_path import InstructionTrajectory
from navarena.metrics.navigation import path_length
from navarena.metrics.tours import Reading, Weighting, mean_over_tours, tour_ndtw, tour_success
from navarena.simulation.world import WorldCache
from navarena.tasks.tour_batch import TourBatch, TourRecord
from navarena.tasks.vln_ce_tours import IR2RCE

SLOTS = 8
"""Tours side by side. Results do not depend on it."""


def run_episode_tours(
    agent: Agent,
    task: IR2RCE,
    tours: Sequence[EpisodeTour],
    slots: int = SLOTS,
    seed: int = 0,
    worlds: WorldCache | None = None,
    threads: int | None = None,
    advance: Callable[[int], object] | None = None,
) -> dict[str, TourRecord]:
    """Let `agent` run every tour once; agent phases only are kept.

    Args:
        agent: one for all slots.
        task: the rules.
        tours: each is run once, memory kept within it.
        slots: tours side by side.
        seed: of the agent's streams.
        worlds: where scenes come from; None for a store of its own.
        threads: for rendering; None for all processors this process may use.
        advance: called with the number of episodes that have just ended.

    Returns:
        Episode id -> record, in the order of `tours`. Every episode is there.

    Raises InputError for an episode that occurs twice.
    """
    order = [episode.episode_id for tour in tours for episode in tour.episodes]
    if len(set(order)) != len(order):
        twice = next(name for name in order if order.count(name) > 1)
        raise InputError(f"expected each episode once in the tours, got {twice!r} twice")
    batch = TourBatch(task, min(slots, max(len(tours), 1)), threads, agent.sensors, worlds)
    agent.attach(batch.batch)
    waiting = deque(tours)
    records: dict[str, TourRecord] = {}
    last_scene: dict[int, str] = {}
    while waiting or batch.running.any():
        free = np.flatnonzero(~batch.running)[: len(waiting)].tolist()
        if free:
            chosen = [waiting.popleft() for _ in free]
            batch.start(free, chosen)
            agent.reset([_tour_start(slot, tour, last_scene, seed) for slot, tour in zip(free, chosen)])
        active = batch.running
        step = batch.step(np.asarray(agent.act(batch.observations, active)), active)
        ended = batch.take_records()
        records.update((record.episode_id, record) for record in ended)
        if advance is not None and ended:
            advance(len(ended))
        if step.began.any():
            agent.reset([_episode_start(batch, slot, seed) for slot in np.flatnonzero(step.began).tolist()])
    return {name: records[name] for name in order}


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
    tours: Sequence[EpisodeTour],
    records: Mapping[str, TourRecord],
    reading: Reading = "code",
    weighting: Weighting = "changes",
    references: Mapping[str, Float[np.ndarray, "_ 3"]] | None = None,
) -> ContinuousScores:
    """All numbers of a split of tours; distances between points are Euclidean, as in IVLN-CE.

    Args:
        task: the rules.
        tours: that were run.
        records: episode id -> record.
        reading: of t-nDTW.
        weighting: of t-nDTW over tours; "changes" is the continuous reference's.
        references: episode id -> (M, 3) metres, paths to compare with in the place of the described ones,
            such as those of `gt_ndtw.json`.

    Raises InputError for a tour without records or without alignment.
    """
    if references is not None:
        records = {name: _with_reference(record, references) for name, record in records.items()}
    values = {name: compute_metrics(task.metrics, record.trajectory) for name, record in records.items()}
    rows = [_score_tour(tour, records, values, reading) for tour in tours]
    sizes = [row.episodes for row in rows]
    scores = TourScores(
        mean_over_tours([row.ndtw for row in rows], sizes, weighting),
        mean_over_tours([row.success for row in rows], sizes),
        mean_over_tours([row.spl for row in rows], sizes),
        reading,
        weighting,
        tuple(rows),
    )
    means = {name: float(np.mean([row[name] for row in values.values()])) for name in task.metrics}
    return ContinuousScores(values, means, scores)


def _score_tour(
    tour: EpisodeTour,
    records: Mapping[str, TourRecord],
    values: Mapping[str, Mapping[str, float]],
    reading: Reading,
) -> TourScore:
    ids = [episode.episode_id for episode in tour.episodes]
    missing = [name for name in ids if name not in records]
    if missing:
        raise InputError(
            f"expected a record of every episode of tour {tour.tour_id}, got none of {missing[0]!r}"
        )
    tracks = [_require_instruction(records[name]) for name in ids]
    try:
        ndtw = tour_ndtw([track.costs for track in tracks], reading)
    except InputError as error:
        raise InputError(f"tour {tour.tour_id} of {tour.scene_id}: {error}") from error
    whole = tour_success(
        np.array([values[name]["success"] for name in ids]),
        np.array([values[name]["spl"] for name in ids]),
        np.array([path_length(track) for track in tracks]),
        np.array([track.reference_length for track in tracks]),
    )
    return TourScore(tour.tour_id, tour.scene_id, len(ids), ndtw, whole.success, whole.spl)


def _with_reference(record: TourRecord, references: Mapping[str, Float[np.ndarray, "_ 3"]]) -> TourRecord:
    """The record beside the path of `references` (M, 3), metres; raises InputError when it has none."""
    if record.episode_id not in references:
        raise InputError(f"expected a reference path of every episode, got none of {record.episode_id!r}")
    track = replace(_require_instruction(record), reference=references[record.episode_id])
    return replace(record, trajectory=track)


def _require_instruction(record: TourRecord) -> InstructionTrajectory:
    if not isinstance(record.trajectory, InstructionTrajectory):
        raise InputError(f"expected a described path in the record of {record.episode_id!r}, got none")
    return record.trajectory


def _tour_start(slot: int, tour: EpisodeTour, last_scene: dict[int, str], seed: int) -> Start:
    boundary = Boundary.TOUR if last_scene.get(slot) == tour.scene_id else Boundary.SCENE
    last_scene[slot] = tour.scene_id
    return Start(slot, tour.episodes[0].episode_id, tour.scene_id, boundary, seed)


def _episode_start(batch: TourBatch, slot: int, seed: int) -> Start:
    episode = batch.episode(slot)
    return Start(slot, episode.episode_id, episode.scene_id, Boundary.EPISODE, seed)
