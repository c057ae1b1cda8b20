"""Base of the ObjectNav protocols: objects of a goal, places that see them, rewards."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Int64
from typing_extensions import TypeVar

from navarena.core.errors import InputError, require_name
from navarena.episodes.episode import Episode
from navarena.episodes.goal_objects import find_goal_object
from navarena.episodes.goal_words import word_for
from navarena.episodes.goals import ObjectGoal, ObjectInstance
from navarena.episodes.object_nav import require_object_goal
from navarena.episodes.view_points import ViewPointSettings, find_view_points
from navarena.scenes.scene import SceneObject
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World
from navarena.tasks.protocols.goal_task import GoalTask
from navarena.tasks.sensors.class_goal import ClassGoalState
from navarena.tasks.sensors.goal_mask import VisibleGoalState


class ObjectGoalState(ClassGoalState, VisibleGoalState):
    """State of ObjectNav: goals are the objects of a category.

    Attributes:
        goal_objects: for each slot the objects of the scene that fulfil the goal; None without labels.
        goal_categories: for each slot the name of the goal's category.
    """

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.goal_objects: list[tuple[SceneObject, ...] | None] = [None] * slots
        self.goal_categories = [""] * slots

    def current_ids(self, slot: int) -> frozenset[int]:
        return frozenset(one.object_id for one in self.goal_objects[slot] or ())

    def current_category(self, slot: int) -> str:
        return self.goal_categories[slot]


ObjectState = TypeVar("ObjectState", bound=ObjectGoalState, default=Any)
"""What a protocol remembers whose goals are objects of the scene."""


class ObjectGoalTask(GoalTask[ObjectState]):
    """Go to an object of a category. A protocol says body, actions, sensors, limits and success.

    Attributes:
        categories: by category id.
        takes_filed_start: whether SPL divides by the distance of the episode file, not the measured one.
    """

    categories: ClassVar[tuple[str, ...]]
    takes_filed_start: bool = False

    def goal_ids(self, state: ObjectState, slot: int) -> list[frozenset[int]]:
        """The objects that fulfil the goal; none in scenes without labels."""
        return [state.current_ids(slot)]

    @property
    @abstractmethod
    def view_points(self) -> ViewPointSettings:
        """Settings of the view points of episodes without a list of objects."""

    def begin(
        self,
        simulator: Simulator,
        state: ObjectState,
        slots: Int64[np.ndarray, "k"],
        episodes: Sequence[Episode],
    ) -> None:
        """Find the view points of the episodes' goals and measure the path to the nearest."""
        for slot, episode in zip(slots.tolist(), episodes):
            goal, world = require_object_goal(episode), require_world(simulator, slot)
            require_name("object category", goal.category, self.categories)
            state.goal_objects[slot] = self.find_goal_objects(world, goal)
            state.goal_class[slot] = self.categories.index(goal.category)
            state.goal_categories[slot] = goal.category
            state.set_goal(slot, world.navmesh, self._find_places(world, episode, goal))
        state.measure(slots, simulator)
        state.start_distance[slots] = state.distance[slots]
        if self.takes_filed_start:
            state.start_distance[slots] = [_filed_distance(episode) for episode in episodes]

    def find_goal_objects(self, world: World, goal: ObjectGoal) -> tuple[SceneObject, ...] | None:
        """The objects of the scene that fulfil `goal`; None where it is not labelled."""
        return find_objects(world, goal, self.categories)

    def find_places(self, world: World, goal: ObjectGoal) -> Float[np.ndarray, "g 3"]:
        """(G, 3) metres: the view points of the scene from which `goal` counts as found."""
        views = find_view_points(world, self.view_points)
        return views.positions[views.rows_of(goal.category)]

    def _find_places(self, world: World, episode: Episode, goal: ObjectGoal) -> Float[np.ndarray, "g 3"]:
        """(G, 3) metres: the view points of all objects that count, of the file or else of the scene."""
        places = view_point_positions(goal.instances)
        if not len(places):
            places = self.find_places(world, goal)
        if not len(places):
            raise InputError(
                f"expected a view point of {goal.category!r} for episode {episode.episode_id!r} in "
                f"{world.scene_id!r}, got none; leave the episode out, or make episodes for this scene"
            )
        return places


def require_world(simulator: Simulator, slot: int) -> World:
    """World of the body `slot`; raises InputError before the first placement."""
    world = simulator.slot_worlds.world(slot)
    if world is None:
        raise InputError(f"expected a placed body in slot {slot}, got none; call place first")
    return world


def find_objects(world: World, goal: ObjectGoal, categories: Sequence[str]) -> tuple[SceneObject, ...] | None:
    """The objects of the scene that fulfil `goal`: those its file lists, else all of the category.

    None where the scene is not labelled, or has none of the listed objects. `categories` are the words of the
    protocol.
    """
    if goal.instances:
        known = [find_goal_object(world.scene, one) for one in goal.instances]
        listed = {one.object_id for one in known if one is not None}
        found = tuple(one for one in world.scene.objects if one.object_id in listed)
    else:
        found = _sort_objects(world, tuple(categories)).get(goal.category, ())
    return found or None


_SORTED: WeakKeyDictionary[World, dict[tuple[str, ...], dict[str, tuple[SceneObject, ...]]]] = (
    WeakKeyDictionary()
)


def _sort_objects(world: World, categories: tuple[str, ...]) -> dict[str, tuple[SceneObject, ...]]:
    """Category -> its objects in the scene, sorted once for each world."""
    kept = _SORTED.setdefault(world, {})
    if categories not in kept:
        named: dict[str, list[SceneObject]] = {}
        for one in world.scene.objects:
            named.setdefault(word_for(one, categories) or "", []).append(one)
        named.pop("", None)
        kept[categories] = {name: tuple(found) for name, found in named.items()}
    return kept[categories]


def view_point_positions(instances: Sequence[ObjectInstance]) -> Float[np.ndarray, "g 3"]:
    """(G, 3) metres, world frame: the view points of all `instances`, in their order."""
    positions = [point.position for one in instances for point in one.view_points]
    return np.array(positions, float).reshape(-1, 3)


def _filed_distance(episode: Episode) -> float:
    if episode.geodesic_distance is None:
        raise InputError(
            f"expected a geodesic distance of episode {episode.episode_id!r}, got none: its file hides it; "
            "take start_distance=measured"
        )
    return episode.geodesic_distance
