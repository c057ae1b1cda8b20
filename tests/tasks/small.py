"""PointNav in drawn worlds, with a small camera so that tests are quick."""

import math
from dataclasses import dataclass, replace

from navarena.episodes.episode import (
    Episode,
    InstructionGoal,
    LifelongGoal,
    MultiGoal,
    ObjectGoal,
    ObjectInstance,
    PointGoal,
    ViewPoint,
)
from navarena.episodes.goals import GoalImage, Subtask
from navarena.episodes.multi_on import CYLINDERS
from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.world import WorldCache
from navarena.tasks.protocols.goat import Goat
from navarena.tasks.protocols.multi_on import MultiOn
from navarena.tasks.protocols.object_goal_task import ObjectGoalTask
from navarena.tasks.protocols.point_nav import PointNav, PointNavOptions
from navarena.tasks.protocols.vln_ce import R2RCE
from worlds import HALL, ROOMS, draw_world

SMALL_BODY = replace(LOCOBOT, name="small", cameras=(Camera(width_px=32, height_px=24),))


@dataclass(frozen=True)
class SmallOptions(PointNavOptions):
    """pointnav-v1 with 60 actions."""

    max_steps: int = 60


class SmallPointNav(PointNav):
    """pointnav-v1 with an image of 32 x 24 pixels."""

    embodiment = SMALL_BODY

    def __init__(self):
        super().__init__(SmallOptions())


def make_cache():
    """Holds the worlds "hall" and "rooms"."""
    cache = WorldCache(SMALL_BODY)
    cache.add(draw_world(HALL, scene_id="hall"))
    cache.add(draw_world(ROOMS, scene_id="rooms"))
    return cache


def make_episode(name, start, goal, yaw=0.0, scene="hall", distance=1.0):
    return Episode(name, scene, start, yaw, PointGoal(goal), distance)


AHEAD = make_episode("ahead", (5.0, 0.0, 5.0), (5.0, 0.0, 4.0))
"""The goal is one metre straight ahead."""

LEFT = make_episode("left", (5.0, 0.0, 5.0), (3.0, 0.0, 5.0), distance=2.0)
ROUND = make_episode("round", (3.5, 0.0, 2.5), (3.5, 0.0, 4.5), scene="rooms", distance=2.5)
FAR = make_episode("far", (2.0, 0.0, 1.0), (8.0, 0.0, 6.0), yaw=2.0, scene="rooms", distance=8.0)
CUT_OFF = make_episode("cut-off", (5.0, 0.0, 1.0), (5.0, 0.0, 9.0), scene="rooms", distance=8.0)
EPISODES = (AHEAD, LEFT, ROUND, FAR)


def as_objects(episode, *more, first=0, classes=CYLINDERS):
    """The episode with a cylinder of class `first` at its goal, and the next classes at `more` places."""
    places = enumerate((*episode.goal.places, *more), first)
    objects = tuple(ObjectInstance(str(number), classes[number], place) for number, place in places)
    return replace(episode, goal=MultiGoal(objects))


def with_objects(goals, classes):
    """Episodes with as many `goals` of `classes`, different ones in each."""
    more = ((3.0, 0.0, 1.0), (7.0, 0.0, 1.5))[: goals - 1]
    return tuple(as_objects(one, *more, first=k, classes=classes) for k, one in enumerate(EPISODES))


MULTI_GOALS = {goals: with_objects(goals, CYLINDERS) for goals in (1, 2, 3)}


def as_object(episode, category):
    """The episode with one object of `category`, which is seen from the goal's place."""
    (place,) = episode.goal.places
    return replace(
        episode,
        goal=ObjectGoal(category, (ObjectInstance("2", category, place, (ViewPoint(place, 0.0),)),), "2"),
    )


HABITAT_WORDS = ("chair", "bed", "plant", "toilet")
OBJECT_GOALS = tuple(map(as_object, EPISODES, HABITAT_WORDS))


def as_instruction(episode, number):
    """The episode with words for a way straight to its goal."""
    path = (episode.start_position, *episode.goal.places)
    return replace(episode, goal=InstructionGoal(f"Stop at {number}.", path, str(number), (2, number + 3)))


def as_subtask(number, place, modality, turn=0.0):
    """The object "object-`number`" that stands, and is seen from, at `place`."""
    category = HABITAT_WORDS[number % len(HABITAT_WORDS)]
    obj = ObjectInstance(f"object-{number}", category, place, (ViewPoint(place, 0.0),))
    eye = (place[0], 1.0, place[2])
    image = GoalImage(eye, (0.0, math.sin(turn / 2), 0.0, math.cos(turn / 2)), 1.2, 512, 512)
    return Subtask(
        modality,
        category,
        (obj,),
        f"the {category} number {number}" if modality == "description" else "",
        image if modality == "image" else None,
    )


MODALITIES = ("object", "description", "image")


def as_life(episode, number, *more, modalities=MODALITIES):
    """The episode with its goal and `more` places, given by `modalities` in turn, from `number` on."""
    places = (*episode.goal.places, *more)
    subtasks = [
        as_subtask(number + k, place, modalities[(number + k) % len(modalities)], float(number))
        for k, place in enumerate(places)
    ]
    return replace(episode, goal=LifelongGoal(tuple(subtasks)))


def make_lives(task):
    """Episodes of GOAT-Bench, or of one of its skills."""
    if "current_subtask" in task.sensors:
        return tuple(as_life(one, k, (3.0, 0.0, 1.0), (7.0, 0.0, 1.5)) for k, one in enumerate(EPISODES))
    names = {"objectgoal": "object", "language_goal": "description", "image_goal": "image"}
    modalities = tuple(names[name] for name in task.sensors if name in names)
    return tuple(as_life(one, k, modalities=modalities) for k, one in enumerate(EPISODES))


def episodes_for(task):
    """Episodes of a kind that `task` understands, in the worlds above."""
    if isinstance(task, R2RCE):
        return tuple(as_instruction(one, number) for number, one in enumerate(EPISODES))
    if isinstance(task, ObjectGoalTask):
        words = HABITAT_WORDS if HABITAT_WORDS[0] in task.categories else task.categories
        return tuple(map(as_object, EPISODES, words))
    if isinstance(task, Goat):
        return make_lives(task)
    if isinstance(task, MultiOn):
        return with_objects(task.goals, task.kind.classes)
    return EPISODES
