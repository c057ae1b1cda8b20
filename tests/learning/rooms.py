"""Trainings in a few drawn rooms, of which one may be held out."""

from dataclasses import replace

import numpy as np

from navarena.episodes.episode import Episode
from navarena.episodes.goals import PointGoal
from navarena.learning.checkpoints.selection import TrainingEvaluationSettings
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import ImitationSettings, OptimiserSettings, constant
from navarena.learning.trainings.setup import make_training_task
from navarena.learning.trainings.training import Training
from navarena.simulation.world import World, WorldCache
from worlds import draw_navmesh, draw_scene

from .made import SMALL

ROOM = ["......", "......", "......", "......"]
WATCHED = Recipe(
    "rooms",
    "pointnav-v1+max_steps=20",
    ("depth", "pointgoal_with_gps_compass"),
    ImitationSettings(OptimiserSettings(constant(3e-3)), teacher_share=constant(0.5), veto=0.9),
    image_size=(36, 48),
    policy=SMALL,
    slots=8,
    steps=8,
    frames=4 * 64,
    scenes=2,
    save_updates=2,
    log_updates=1,
    evaluation=TrainingEvaluationSettings(updates=1, houses=2, episodes=3, keep=2),
)


def make_rooms(recipe, rooms):
    """(episodes, worlds): 10 episodes in each of `rooms` rooms."""
    worlds = WorldCache(make_training_task(recipe).embodiment)
    episodes, generator = [], np.random.default_rng(7)
    for room in range(rooms):
        scene_id = f"room-{room}"
        worlds.add(World.of(draw_scene(ROOM, scene_id=scene_id), draw_navmesh(ROOM)))
        for number in range(10):
            x, z, gx, gz = generator.uniform((0.5, 0.5, 0.5, 0.5), (5.5, 3.5, 5.5, 3.5)).tolist()
            yaw = float(generator.uniform(-3, 3))
            goal = PointGoal((gx, 0.0, gz))
            episodes.append(Episode(f"{room}-{number}", scene_id, (x, 0.0, z), yaw, goal, None))
    return episodes, worlds


def train_in_rooms(folder, recipe=WATCHED, rooms=8, **evaluation):
    recipe = replace(recipe, evaluation=replace(recipe.evaluation, **evaluation))
    episodes, worlds = make_rooms(recipe, rooms)
    return Training(recipe, folder, episodes=episodes, worlds=worlds)
