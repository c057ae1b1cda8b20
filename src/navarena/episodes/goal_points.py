"""Goals as points: one set of points for each goal of an episode, any of which fulfils it."""

import math
from collections import OrderedDict
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from navarena.episodes.episode import Episode
from navarena.episodes.goals import (
    Goal,
    ImageGoal,
    LifelongGoal,
    MultiGoal,
    ObjectGoal,
    ObjectInstance,
    PointGoal,
)

KEPT_SETS = 64
"""Sets of instances whose points are kept: episodes of one scene and category share theirs."""


class GoalPoints:
    """Turns goals into arrays, and keeps those that episodes share."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[object, np.ndarray]] = OrderedDict()

    def point_sets(self, goal: Goal) -> tuple[Float[np.ndarray, "k 3"], ...]:
        """One (K, 3) float64 array for each goal in order, metres, world frame; K = 0 where a file hides it.

        A point is one set of one point, a category one set of all view points of all instances; several
        objects are as many sets, and so are the sub-tasks of a lifelong goal. An object without view
        points stands for itself, unless the file says where its path ends (RoboTHOR).
        """
        if isinstance(goal, MultiGoal):
            return tuple(_points_of((one,)) for one in goal.objects)
        if isinstance(goal, LifelongGoal):
            return tuple(self._shared(one.instances, one.instances) for one in goal.subtasks)
        if isinstance(goal, ImageGoal):
            return (self._shared(goal.instance, (goal.instance,)),)
        if isinstance(goal, ObjectGoal) and goal.instances:
            if goal.arrival is not None and not any(one.view_points for one in goal.instances):
                return (np.array([goal.arrival], float),)
            return (self._shared(goal.instances, goal.instances),)
        return (np.array(goal.places, float).reshape(-1, 3),)

    def _shared(self, owner: object, instances: tuple[ObjectInstance, ...]) -> Float[np.ndarray, "k 3"]:
        """The points of `instances`, known by the identity of `owner`, which is kept as long as they are."""
        key = id(owner)
        if key not in self._kept:
            self._kept[key] = (owner, _points_of(instances))
            if len(self._kept) > KEPT_SETS:
                self._kept.popitem(last=False)
        return self._kept[key][1]


def _points_of(instances: tuple[ObjectInstance, ...]) -> Float[np.ndarray, "k 3"]:
    points = [
        place
        for one in instances
        for place in ([point.position for point in one.view_points] or [one.position])
    ]
    return np.array(points, float).reshape(-1, 3)


def euclidean_distance(episode: Episode, points: GoalPoints) -> float | None:
    """Metres from the start as the crow flies, to the nearest point of each goal in turn.

    None when the file hides the goal, or leaves the view points of sub-tasks to the scene.
    """
    goal = episode.goal
    if isinstance(goal, PointGoal):
        return math.dist(episode.start_position, goal.position)
    if isinstance(goal, MultiGoal) and not any(one.view_points for one in goal.objects):
        places = (episode.start_position, *goal.places)
        return math.fsum(math.dist(here, there) for here, there in pairwise(places))
    if isinstance(goal, LifelongGoal):
        if not all(one.view_points for subtask in goal.subtasks for one in subtask.instances):
            return None
    total, here = 0.0, np.array(episode.start_position)
    for places in points.point_sets(goal):
        if not len(places):
            return None
        distances = np.linalg.norm(places - here, axis=1)
        nearest = int(distances.argmin())
        total += float(distances[nearest])
        here = places[nearest]
    return total
