"""A phase before the evaluation in which an agent may adapt to corruptions of its sight and motion.

After RobustNav (Chattopadhyay et al. 2021, section 3.3): a fixed number of steps in the scenes of the
evaluation, under its corruptions, in other episodes, without rewards and without any sign of success.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from navarena.agents.agent import Agent
from navarena.core.errors import InputError
from navarena.episodes.catalog import make_episodes
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode
from navarena.episodes.goals import Goal, Position
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.task import Task

SLOTS = 16
"""Environments side by side; fixed, so that what is learned depends on neither batches nor workers."""

PER_SCENE = 47
"""Episodes in each scene: 705 in RobustNav's 15."""

NAME = "calibration"
"""Of the generated episodes, and so of their random streams: no others have it."""


@dataclass(frozen=True)
class Calibration:
    """Calibration of an agent: episodes and steps in which it adapts.

    Attributes:
        steps: that it may take, over all environments together.
        episodes: in which, all scenes in turn; none of them is evaluated.
    """

    steps: int
    episodes: tuple[Episode, ...]

    def adapt(self, agent: Agent, make_batch: Callable[[int, tuple[str, ...]], NavigationBatch]) -> None:
        """Let `agent` adapt; raises InputError for one that cannot.

        make_batch: called with the number of environments and the names of what they observe, makes them
        for the evaluated task with its corruptions.
        """
        wanted = agent.calibration_sensors
        batch = make_batch(SLOTS, agent.sensors if wanted is None else wanted)
        agent.adapt(CalibrationEnv(batch, self.episodes, self.steps))


def plan_calibration(
    task: Task, evaluated: Sequence[Episode], steps: int, given: EpisodeDataset | None = None
) -> Calibration:
    """The calibration that precedes the episodes `evaluated`.

    Args:
        task: of both.
        evaluated: the episodes of the evaluation.
        steps: that the agent may take.
        given: episodes to adapt in, such as RobustNav's own; those in scenes of the evaluation are used. None
            for generated ones, which share no random stream with those evaluated.

    Raises InputError for fewer steps than may be needed to reach each scene, and for given episodes that lack
    a scene of the evaluation, or one of which is evaluated.
    """
    scenes = {episode.scene_id for episode in evaluated}
    later = -(-len(scenes) // SLOTS) - 1  # whole episodes of each environment before the last scenes begin
    needed = later * SLOTS * task.max_steps
    if steps <= needed:
        raise InputError(
            f"expected more than {needed} calibration steps, so that the agent comes to each of "
            f"{len(scenes)} scenes ({SLOTS} environments, {task.max_steps} actions an episode), got {steps}; "
            "or evaluate in fewer scenes"
        )
    if given is None:
        dataset = make_episodes(task.protocol_id, sorted(scenes), PER_SCENE, name=NAME, split=NAME)
        return Calibration(steps, _in_turn(dataset.episodes))
    own = tuple(episode for episode in given.episodes if episode.scene_id in scenes)
    if lacking := scenes.difference(episode.scene_id for episode in own):
        elsewhere = next((episode.scene_id for episode in given.episodes), "none at all")
        raise InputError(
            f"expected calibration episodes in each of the {len(scenes)} scenes of the evaluation, got in "
            f"{given.name} none in {len(lacking)} of them, such as {min(lacking)} (some in {elsewhere}); "
            "choose another file for --calibration-episodes, or leave it out to generate them"
        )
    known = {_what(episode) for episode in evaluated}
    twice = next((episode for episode in own if _what(episode) in known), None)
    if twice is not None:
        raise InputError(
            f"expected calibration episodes that are not evaluated, got {twice.episode_id!r} of "
            f"{given.name}; choose another file for --calibration-episodes"
        )
    return Calibration(steps, _in_turn(own))


def _in_turn(episodes: Sequence[Episode]) -> tuple[Episode, ...]:
    """The first episode of each scene, then the second of each, and so on: few steps reach every scene."""
    seen: Counter[str] = Counter()
    turns = []
    for episode in episodes:
        turns.append(seen[episode.scene_id])
        seen[episode.scene_id] += 1
    return tuple(episodes[place] for place in sorted(range(len(episodes)), key=turns.__getitem__))


def _what(episode: Episode) -> tuple[str, Position, float, Goal]:
    """Key by which two episodes are the same, whatever their ids: start and goal."""
    return episode.scene_id, episode.start_position, episode.start_yaw, episode.goal
