"""Runs an agent over tours or episodes on navigation graphs."""

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from navarena.agents.agent import Agent, Boundary, Start
from navarena.agents.graph_agent import GraphAgent
from navarena.core.errors import InputError
from navarena.episodes.graph_episodes import Tour
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.features import ViewFeatures
from navarena.tasks.vln_graph import GraphTask
from navarena.tasks.vln_graph_batch import GraphBatch, Walk

SLOTS = 64
"""Tours side by side. Results do not depend on it."""


def run_tours(
    agent: Agent,
    task: GraphTask,
    atlas: GraphAtlas,
    tours: Sequence[Tour],
    slots: int = SLOTS,
    seed: int = 0,
    features: ViewFeatures | None = None,
    advance: Callable[[int], object] | None = None,
) -> dict[str, Walk]:
    """Let `agent` run every tour once; agent phases only are kept.

    Args:
        agent: one for all slots.
        task: the rules.
        atlas: graphs of the tours' scans.
        tours: each is run once, memory kept within it.
        slots: tours side by side.
        seed: of the agent's streams.
        features: of the views, for the sensors that need them.
        advance: called with the number of episodes that have just ended.

    Returns:
        Episode id -> walk, in the order of `tours`. Every episode is there.

    Raises InputError for an episode that occurs twice.
    """
    order = [episode.episode_id for tour in tours for episode in tour.episodes]
    if len(set(order)) != len(order):
        twice = next(name for name in order if order.count(name) > 1)
        raise InputError(f"expected each episode once in the tours, got {twice!r} twice")
    batch = GraphBatch(task, atlas, min(slots, max(len(tours), 1)), agent.sensors, features)
    if isinstance(agent, GraphAgent):
        agent.attach_graphs(batch)
    waiting = deque(tours)
    walks: dict[str, Walk] = {}
    last_scan: dict[int, str] = {}
    while waiting or batch.running.any():
        free = np.flatnonzero(~batch.state.running)[: len(waiting)].tolist()
        if free:
            chosen = [waiting.popleft() for _ in free]
            batch.start(free, chosen)
            agent.reset([_tour_start(slot, tour, last_scan, seed) for slot, tour in zip(free, chosen)])
        active = batch.running
        step = batch.step(np.asarray(agent.act(batch.observations, active)), active)
        ended = batch.take_walks()
        walks.update((walk.episode_id, walk) for walk in ended)
        if advance is not None and ended:
            advance(len(ended))
        if step.began.any():
            agent.reset([_episode_start(batch, slot, seed) for slot in np.flatnonzero(step.began).tolist()])
    return {name: walks[name] for name in order}


def _tour_start(slot: int, tour: Tour, last_scan: dict[int, str], seed: int) -> Start:
    boundary = Boundary.TOUR if last_scan.get(slot) == tour.scan else Boundary.SCENE
    last_scan[slot] = tour.scan
    return Start(slot, tour.episodes[0].episode_id, tour.scan, boundary, seed)


def _episode_start(batch: GraphBatch, slot: int, seed: int) -> Start:
    episode = batch.episode(slot)
    return Start(slot, episode.episode_id, episode.scan, Boundary.EPISODE, seed)
