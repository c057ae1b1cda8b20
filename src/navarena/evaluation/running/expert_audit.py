"""The part of the audit of episodes that needs a run: the expert must succeed on every one."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy

from navarena.agents.agent import Start
from navarena.agents.loading import load_agent
from navarena.episodes.audit import Finding
from navarena.episodes.episode import Episode
from navarena.metrics.catalog import get_metric
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.task import Task

SLOTS = 64
"""Episodes that run side by side."""


def find_expert_failures(
    task: Task,
    episodes: Sequence[Episode],
    worlds: WorldCache,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Finding]:
    """Run the expert on all episodes, whose starts must be navigable.

    Without the noise of the protocol: what is judged is the episodes, not chance.
    Yields a finding for each on which it fails, or whose SPL is not in [0, 1].
    """
    task = copy(task)
    task.corruptions = ()
    agent = load_agent("expert", task)
    batch = NavigationBatch(task, min(SLOTS, max(len(episodes), 1)), sensors=agent.sensors, worlds=worlds)
    agent.attach(batch)
    success, spl = get_metric("success"), get_metric("spl")
    for first in range(0, len(episodes), batch.slots):
        members = episodes[first : first + batch.slots]
        batch.start(range(len(members)), members)
        agent.reset([Start(k, one.episode_id, one.scene_id) for k, one in enumerate(members)])
        while (active := batch.running).any():
            batch.step(agent.act(batch.observations, active), active)
        for slot, episode in enumerate(members):
            track = batch.trajectory(slot)
            reached, score = success(track), spl(track)
            if reached != 1:
                left = float(track.distance_to_goal[-1])
                message = f"the expert ends {left:.3f} m from the goal after {len(track.actions)} actions"
                yield Finding(episode.episode_id, episode.scene_id, "expert", message)
            if not 0 <= score <= 1:
                yield Finding(episode.episode_id, episode.scene_id, "spl", f"the expert's SPL is {score}")
        if progress is not None:
            progress(len(members))
