"""How fast an agent that maps sees the floor around it: curves of coverage."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.mapping_agent import MappingAgent
from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.mapping.coverage import Coverage, ReachableFloor, find_reachable_floor
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch


def trace_coverage(
    agent: MappingAgent, episodes: Sequence[Episode], steps: int, worlds: WorldCache | None = None
) -> Float[np.ndarray, "e t"]:
    """(E, steps + 1) share of the reachable floor of the start's storey that was seen, after every step.

    Args:
        agent: that explores, such as `explore-only`; its task says what a step is.
        episodes: whose starts are taken, all at once; where one ends early, its curve stays level.
        steps: actions of each.
        worlds: to take the scenes from; None opens them.

    Raises InputError for no episode.
    """
    if not episodes:
        raise InputError("expected at least one episode to start from, got none")
    count = len(episodes)
    batch = NavigationBatch(agent.task, count, 1, agent.sensors, worlds)
    agent.attach(batch)
    batch.start(range(count), episodes)
    agent.reset([Start(k, one.episode_id, one.scene_id, Boundary.SCENE) for k, one in enumerate(episodes)])
    floors = [_floor_of(batch, k, one) for k, one in enumerate(episodes)]
    own = [int(np.argmin(np.abs(floor.heights))) for floor in floors]
    coverage = Coverage(floors)
    curves = np.zeros((count, steps + 1))
    for step in range(steps + 1):
        running = batch.running.copy()
        actions = agent.act(batch.observations, running)
        coverage.note(agent.maps)
        curves[:, step] = [coverage.shares(k)[own[k]] for k in range(count)]
        if step < steps and running.any():
            batch.step(np.where(running, actions, 0), running)
    return curves


def _floor_of(batch: NavigationBatch, slot: int, episode: Episode) -> ReachableFloor:
    """What the body in a slot can reach, in the frame of its start."""
    start = np.array(episode.start_position)
    return find_reachable_floor(batch.simulator.navmesh(slot), start).seen_from(start, episode.start_yaw)
