"""Episodes of an agent in a drawn world, for tests."""

from navarena.agents.agent import Agent, Boundary, Start
from navarena.agents.loading import load_agent
from navarena.episodes.episode import Episode
from navarena.episodes.goals import Goal
from navarena.simulation.world import World, WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task


def begin(
    name: str, protocol_id: str, goal: Goal, world: World, start: tuple[float, float, float]
) -> tuple[NavigationBatch, Agent]:
    """A batch of one slot and the agent `name`, both at the start of an episode that looks along -z."""
    task = get_task(protocol_id)
    worlds = WorldCache(task.embodiment)
    worlds.add(world)
    agent = load_agent(name, task, 0)
    batch = NavigationBatch(task, 1, 1, agent.sensors, worlds)
    agent.attach(batch)
    batch.start([0], [Episode("one", world.scene_id, start, 0.0, goal, None)])
    agent.reset([Start(0, "one", world.scene_id, Boundary.SCENE, 0)])
    return batch, agent
