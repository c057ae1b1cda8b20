"""Sub-tasks of one GOAT-Bench episode: their goals, the places that fulfil them, and how each ended."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.episodes.goal_objects import find_goal_object
from navarena.episodes.goals import ObjectInstance, Subtask, as_subtasks
from navarena.episodes.goat.settings import find_goal_view_points
from navarena.scenes.scene import SceneObject
from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.world import World
from navarena.tasks.protocols.object_goal_task import view_point_positions
from navarena.tasks.protocols.success_zone import axis_distances


@dataclass(frozen=True)
class Ending:
    """End of a sub-task.

    Attributes:
        after: actions taken since the start of the episode.
        begun_at, ended_at: metres, geodesic to the nearest view point, where it began and ended.
        is_declared: whether a declaration ended it, not a budget.
        near_view_point, near_object: whether it ended by a declaration that either rule accepts.
    """

    after: int
    begun_at: float
    ended_at: float
    is_declared: bool
    near_view_point: bool
    near_object: bool


@dataclass
class SubtaskProgress:
    """The sub-tasks of one episode, and how far they are done.

    Attributes:
        subtasks: at least one.
        places: for each of them (G, 3) float64 metres, world frame: its view points.
        objects: for each of them the boxes of what counts.
        numbers: for each of them the ids of the scene's objects that count; none where it is not labelled.
        begun_at: metres, geodesic to the nearest view point, where the current sub-task began.
        endings: of the sub-tasks that ended, in order.
    """

    subtasks: tuple[Subtask, ...]
    places: tuple[Float[np.ndarray, "_ 3"], ...]
    objects: tuple[tuple[SceneObject, ...], ...]
    numbers: tuple[frozenset[int], ...]
    begun_at: float = np.inf
    endings: list[Ending] = field(default_factory=list)

    @property
    def current(self) -> int:
        """Index of the goal that is to be found now; the last one when all have ended."""
        return min(len(self.endings), len(self.subtasks) - 1)

    @property
    def is_over(self) -> bool:
        """Whether no sub-task is left."""
        return len(self.endings) == len(self.subtasks)

    @property
    def began_after(self) -> int:
        """Actions taken when the current sub-task began."""
        return self.endings[-1].after if self.endings else 0

    def object_distances(self, positions: Float[np.ndarray, "k 3"], height: float) -> Float[np.ndarray, "k"]:
        """(K,) metres, straight, from the axes of bodies at foot points (K, 3) metres to the current goal."""
        return np.min([axis_distances(positions, height, one) for one in self.objects[self.current]], axis=0)

    def shortest_path(self, world: World, start: Float[np.ndarray, "3"]) -> Float[np.ndarray, "k 3"]:
        """(K, 3) metres from `start` to the nearest view point of the first goal, from there on to the next.

        (0, 3) without a path.
        """
        pieces: list[np.ndarray] = []
        fields = GoalFields(1)
        for places in self.places:
            fields.set_goals(0, world.navmesh, places)
            piece = fields.shortest_path(0, pieces[-1][-1] if pieces else start)
            if not len(piece):
                return piece
            pieces.append(piece)
        return np.concatenate(pieces)


def plan_subtasks(world: World, episode: Episode) -> SubtaskProgress:
    """The goals of an episode and where they are in its world.

    Raises InputError for an episode of another kind, a goal without objects and one without view points;
    SceneError where view points must be found in a scene without labels.
    """
    subtasks = as_subtasks(episode.goal)
    if not subtasks:
        raise InputError(
            f"expected goals of GOAT-Bench in episode {episode.episode_id!r}, got "
            f"{type(episode.goal).__name__}; use episodes made for this protocol"
        )
    places, objects, numbers = [], [], []
    for number, subtask in enumerate(subtasks, 1):
        where = f"sub-task {number} ({subtask.category!r}) of episode {episode.episode_id!r}"
        if not subtask.instances:
            raise InputError(f"expected an object of {where} in {world.scene_id!r}, got none; leave it out")
        found = [find_goal_object(world.scene, one) for one in subtask.instances]
        places.append(_find_places(world, subtask, found, where))
        objects.append(tuple(obj or _as_point(one) for obj, one in zip(found, subtask.instances)))
        numbers.append(frozenset(obj.object_id for obj in found if obj is not None))
    return SubtaskProgress(subtasks, tuple(places), tuple(objects), tuple(numbers))


def _find_places(
    world: World, subtask: Subtask, objects: Sequence[SceneObject | None], where: str
) -> Float[np.ndarray, "g 3"]:
    """(G, 3) metres: the view points that the file lists, or else those of `objects` in the scene."""
    places = view_point_positions(subtask.instances)
    if len(places):
        return places
    unknown = [one.object_id for one, obj in zip(subtask.instances, objects) if obj is None]
    if unknown:
        raise InputError(
            f"expected objects of {world.scene_id!r} as goals of {where}, got the unknown {unknown}; "
            "leave the episode out, or make episodes for this scene"
        )
    numbers = [obj.object_id for obj in objects if obj is not None]
    found = find_goal_view_points(world)
    places = found.positions[found.rows_of_objects(numbers)]
    if not len(places):
        listed = [one.object_id for one in subtask.instances]
        raise InputError(
            f"expected a view point of {where} in {world.scene_id!r}, got none of the objects {listed}; "
            "leave the episode out, or make episodes for this scene"
        )
    return places


def _as_point(instance: ObjectInstance) -> SceneObject:
    """An object that the scene does not label: a box without size at its place."""
    return SceneObject(1, instance.category, instance.position, (0.0, 0.0, 0.0))
