"""`frontier-adaptive`: the frontier agent that learns the steps of its body before it is evaluated."""

from dataclasses import replace

from navarena.agents.explorers.explorer import ExplorerSettings
from navarena.agents.explorers.frontier import FrontierAgent
from navarena.agents.motion_learning import SENSORS, learn_motions, read_steps
from navarena.core.seeding import make_generator
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.task import Task

ARRIVAL_SHARE = 0.7
"""Of the success distance, within which a goal is reached by learned steps, whatever their length."""


class AdaptiveFrontierAgent(FrontierAgent):
    """The frontier agent, which steers in each scene by the steps and turns that it has learned there.

    While it adapts it walks and turns at random and observes depth and odometry. Where a constant bias
    makes walks and turns longer or shorter than its body's data sheet says, it then plans with what they
    are. Without calibration it is the frontier agent.
    """

    calibration_sensors = SENSORS

    def __init__(self, task: Task, seed: int = 0) -> None:
        super().__init__(task, seed)
        self._seed = seed
        self._steps: dict[str, tuple[float, float]] = {}

    def adapt(self, env: CalibrationEnv) -> None:
        """Learn the steps in each scene of `env`."""
        generator = make_generator("frontier-adaptive", "adapt", self._seed)
        for scene, motions in learn_motions(env, self.task, generator).items():
            self._steps[scene] = read_steps(self.task.embodiment, motions)

    def settings_in(self, scene_id: str) -> ExplorerSettings:
        """The settings for the steps learned in a scene."""
        usual = super().settings_in(scene_id)
        if scene_id not in self._steps:
            return usual
        step, turn = self._steps[scene_id]
        arrival = ARRIVAL_SHARE * self.task.success_distance
        return replace(usual, steering=replace(usual.steering, step=step, turn=turn, arrival=arrival))
