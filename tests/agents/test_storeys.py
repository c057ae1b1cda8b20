"""The expert walks stairs: goals on another storey of a generated house."""

import numpy as np
import pytest

from navarena.agents.agent import Start
from navarena.agents.loading import load_agent
from navarena.episodes.episode import Episode, PointGoal
from navarena.scenes.houses import HouseSettings, build_house
from navarena.simulation.world import World, WorldCache, make_navmesh
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.protocols.point_nav import PointNav
from tasks.small import SMALL_BODY, SmallPointNav


class LongPointNav(SmallPointNav):
    """With steps enough for stairs."""

    def __init__(self):
        PointNav.__init__(self)


def make_episodes(world, count):
    """Episodes from the ground floor to the storey above, and back."""
    points = world.navmesh.random_point(np.random.default_rng(3), 200)
    upper = world.scene.rooms[-1].floor_height
    low = points[np.abs(points[:, 1]) < 0.01][:count]
    high = points[np.abs(points[:, 1] - upper) < 0.01][:count]
    episodes = []
    for k, (a, b) in enumerate(zip(low, high, strict=True)):
        start, goal = (a, b) if k % 2 == 0 else (b, a)
        distance = float(world.navmesh.geodesic_distance(start[None], goal[None])[0])
        assert np.isfinite(distance)
        place, target = (tuple(map(float, point)) for point in (start, goal))
        episodes.append(Episode(f"stairs-{k}", world.scene_id, place, 0.0, PointGoal(target), distance))
    return episodes


@pytest.mark.parametrize("seed", [5, 6])
def test_the_expert_reaches_goals_on_another_storey(seed):
    scene = build_house(seed, HouseSettings(storeys=2))
    world = World.of(scene, make_navmesh(scene, SMALL_BODY))
    cache = WorldCache(SMALL_BODY)
    cache.add(world)
    task, episodes = LongPointNav(), make_episodes(world, 4)
    agent = load_agent("expert", task)
    batch = NavigationBatch(task, len(episodes), sensors=agent.sensors, worlds=cache)
    agent.attach(batch)
    batch.start(range(len(episodes)), episodes)
    agent.reset([Start(k, episode.episode_id, episode.scene_id) for k, episode in enumerate(episodes)])
    while batch.running.any():
        active = batch.running
        batch.step(agent.act(batch.observations, active), active)
    for k, episode in enumerate(episodes):
        track = batch.trajectory(k)
        assert track.stopped and track.distance_to_goal[-1] < track.success_distance
        heights = track.positions[:, 1]
        assert np.ptp(heights) > 2.5, "the way led over the stairs"
        walked = np.linalg.norm(np.diff(track.positions, axis=0), axis=1).sum()
        assert walked < 1.35 * episode.geodesic_distance + 0.5
