"""A task of seconds for tests of learning: the way to the goal is shown once, and must be remembered.

The body stands in a corridor; the goal is one step ahead, or two. The cue says which, in the first step
only. STOP succeeds at the goal alone, so a policy without memory succeeds in at most half of the episodes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from navarena.episodes.episode import Episode
from navarena.episodes.goals import PointGoal
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import PolicySettings
from navarena.learning.trainings.setup import make_training_task
from navarena.learning.trainings.training import Training
from navarena.simulation.sensors.sensor import ObservationSpec, Sensor
from navarena.simulation.world import World, WorldCache
from navarena.tasks.catalog import TASKS
from navarena.tasks.protocols.point_nav import PointNav
from navarena.tasks.sensors.goal_sensor import GoalSensor
from worlds import draw_navmesh, draw_scene

CORRIDOR = ["....", "....", "....", "...."]
PROTOCOL = "cuenav-v1"
STEPS_TO_GOAL = (1, 2)


class Cue(GoalSensor):
    """(1,) int64: 1 at the start for the near goal, 2 for the far one; 0 in all later steps."""

    name = "cue"

    def spec(self) -> ObservationSpec:
        return ObservationSpec((1,), np.int64, 0, 2)

    def observe(self, simulator, state, out) -> None:
        out[:, 0] = np.where(state.steps > 0, 0, np.where(state.start_distance < 0.4, 1, 2))


class CueNav(PointNav):
    """PointNav in which the goal is told by the cue alone, and 8 actions are all there are."""

    protocol_id = PROTOCOL
    sensors = ("rgb", "depth", "cue")

    def __init__(self) -> None:
        super().__init__()
        self.max_steps = 8

    def make_sensor(self, name: str) -> Sensor | None:
        return Cue() if name == "cue" else super().make_sensor(name)


@contextmanager
def known_task() -> Iterator[None]:
    """Let the task be found by its id within the block."""
    TASKS.register(PROTOCOL, CueNav)
    try:
        yield
    finally:
        del TASKS._objects[PROTOCOL]


def make_recipe(method, **more) -> Recipe:
    sizes = {"slots": 32, "steps": 16, "scenes": 1, "log_updates": 1, "save_updates": 1_000_000} | more
    policy = PolicySettings(hidden=32, number_features=16, action_features=8)
    masked = ("turn_left", "turn_right")
    return Recipe("a corridor", PROTOCOL, ("cue",), method, (36, 48), policy, masked=masked, **sizes)


def make_training(folder: Path, recipe: Recipe) -> Training:
    """A training of `recipe` in the corridor, whose worlds and episodes are made here."""
    worlds = WorldCache(make_training_task(recipe).embodiment)
    worlds.add(World.of(draw_scene(CORRIDOR, scene_id="corridor"), draw_navmesh(CORRIDOR)))
    episodes = []
    for number in range(32):
        goal = PointGoal((2.0, 0.0, 3.0 - 0.25 * STEPS_TO_GOAL[number % 2]))
        episodes.append(Episode(str(number), "corridor", (2.0, 0.0, 3.0), 0.0, goal, None))
    return Training(recipe, folder, episodes=episodes, worlds=worlds)


def success_after(training: Training, updates: int, last: int = 5) -> float:
    """Success of the learner's own episodes in the `last` of so many updates."""
    for number in range(updates):
        if number == updates - last:
            training._collector.ended = []
        training.advance()
    return float(np.mean([one["success"] for one in training._collector.ended if not one["led"]] or [0.0]))
