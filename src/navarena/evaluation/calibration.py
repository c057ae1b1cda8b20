"""A phase before the evaluation in which an agent may adapt to what spoils its sight and motion.

After RobustNav (Chattopadhyay et al. 2021, section 3.3): a fixed number of steps in the scenes of the
evaluation, under its corruptions, in other episodes, without rewards and without any sign of success.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from navarena.agents.agent import Agent
from navarena.episodes.catalog import make_episodes
from navarena.episodes.episode import Episode
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.task import Task

PAPER_STEPS = 166_000
"""Steps of RobustNav's calibration."""

SLOTS = 16
"""Environments side by side; fixed, so that what is learned depends on neither batches nor workers."""

PER_SCENE = 47
"""Episodes in each scene: 705 in RobustNav's 15."""

NAME = "calibration"
"""Of the generated episodes, and so of their random streams: no others have it."""


@dataclass(frozen=True)
class Calibration:
    """What an agent adapts in.

    Attributes:
        steps: that it may take, over all environments together.
        episodes: in which; none of them is evaluated.
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


def plan_calibration(task: Task, scenes: Sequence[str], steps: int) -> Calibration:
    """Generated episodes of `task` in `scenes`, which share no random stream with those evaluated."""
    dataset = make_episodes(task.protocol_id, sorted(set(scenes)), PER_SCENE, name=NAME, split=NAME)
    return Calibration(steps, tuple(dataset.episodes))
