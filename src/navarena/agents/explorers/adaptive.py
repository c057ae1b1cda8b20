"""`frontier-adaptive`: the frontier agent that first learns from odometry what its actions do."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Int64, Real

from navarena.agents.explorers.explorer import ExplorerSettings
from navarena.agents.explorers.frontier import FrontierAgent
from navarena.agents.explorers.mapping_agent import as_floats, find_depth_scale
from navarena.core.seeding import make_generator
from navarena.simulation.body import Embodiment
from navarena.simulation.sensors.images import Depth
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.task import Task

SENSORS = ("depth", "odometry")
"""Sensors of learn_motions."""

BAND = (0.4, 0.6)
"""Shares of the image's height and width between which depth shows whether the path ahead is free."""

OUTLIERS = 0.1
"""Share of the depths in the band that may be nearer: noise and holes."""

ROOM = 0.5
"""Metres beyond a step and the body's radius that must be free ahead."""

WALK_SHARE = 0.5
"""Of the actions, where the path ahead is free."""

FEWEST = 5
"""Observed motions of an action from which on their median is believed."""

WALK, LEFT, RIGHT = "move_forward", "turn_left", "turn_right"


Motions = dict[str, dict[str, Float[np.ndarray, "_ 3"]]]
"""Scene -> action -> (K, 3) observed [metres ahead, metres to the right, radians to the left]."""


def observe_motions(
    env: CalibrationEnv, task: Task, choose: Callable[[Bool[np.ndarray, "n"]], Int64[np.ndarray, "n"]]
) -> Motions:
    """Act until the budget is used up, and return the motion that odometry shows of every action.

    Args:
        env: that observes SENSORS.
        task: whose depth it is.
        choose: (N,) bool, where the path ahead is free -> (N,) actions.
    """
    seen: dict[str, dict[str, list[Float[np.ndarray, 3]]]] = {}
    while not env.is_over:
        free, scenes = is_free_ahead(env.observations["depth"], task), env.scene_ids
        actions = choose(free)
        begun = env.step(actions)
        motions = env.observations["odometry"]
        for slot in np.flatnonzero(~begun).tolist():
            of_scene = seen.setdefault(scenes[slot], {})
            of_scene.setdefault(task.actions[actions[slot]], []).append(motions[slot].astype(float))
    return {
        scene: {action: np.array(rows) for action, rows in found.items()} for scene, found in seen.items()
    }


def learn_motions(
    env: CalibrationEnv, task: Task, generator: np.random.Generator
) -> dict[str, dict[str, Float[np.ndarray, "3"]]]:
    """Walk and turn at random until the budget is used up.

    Args:
        env: that observes SENSORS.
        task: whose depth it is.
        generator: of the actions.

    Returns:
        Scene -> action -> (3,) median [metres ahead, metres to the right, radians to the left]; walks count
        where the path ahead was free.
    """
    index = {name: task.actions.index(name) for name in (WALK, LEFT, RIGHT)}

    def choose(free: Bool[np.ndarray, "n"]) -> Int64[np.ndarray, "n"]:
        turns = generator.choice([index[LEFT], index[RIGHT]], env.slots)
        walking = free & (generator.random(env.slots) < WALK_SHARE)
        return np.where(walking, index[WALK], turns)

    learned = {
        scene: {action: np.median(rows, axis=0) for action, rows in found.items() if len(rows) >= FEWEST}
        for scene, found in observe_motions(env, task, choose).items()
    }
    return {scene: motions for scene, motions in learned.items() if motions}


def read_steps(body: Embodiment, motions: dict[str, Float[np.ndarray, "3"]]) -> tuple[float, float]:
    """(metres of a step, radians of a turn) from `motions` (3,), or of `body` if nothing was learned."""
    step = float(motions[WALK][0]) if WALK in motions else body.forward_step
    turns = [abs(float(motions[name][2])) for name in (LEFT, RIGHT) if name in motions]
    return step, float(np.mean(turns)) if turns else body.turn_angle


def is_free_ahead(depth: Real[np.ndarray, "n h w 1"], task: Task) -> Bool[np.ndarray, "n"]:
    """(N,) whether a step ahead meets nothing, by depth observations (N, H, W, 1) of `task`."""
    sensor = task.find_sensor("depth") or Depth()
    scale, offset = find_depth_scale(sensor) if isinstance(sensor, Depth) else (1.0, 0.0)
    height, width = depth.shape[1:3]
    rows = slice(int(BAND[0] * height), int(BAND[1] * height) + 1)
    columns = slice(int(BAND[0] * width), int(BAND[1] * width) + 1)
    band = as_floats(depth[:, rows, columns, 0]).reshape(len(depth), -1)
    metres = np.quantile(band, OUTLIERS, axis=1) * scale + offset
    return np.asarray(metres > task.embodiment.forward_step + task.embodiment.radius + ROOM)


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
