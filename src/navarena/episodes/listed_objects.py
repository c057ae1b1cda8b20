"""Adds the objects of the scene to goals that name only a category, as files of the community list them.

Our own lists leave the objects out, since they follow from the scene; files for others, and the audit,
need them.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from navarena.episodes.episode import Episode
from navarena.episodes.goal_objects import find_goal_object
from navarena.episodes.goals import LifelongGoal, ObjectGoal, ObjectInstance, Position, ViewPoint
from navarena.episodes.view_points import SceneViewPoints, ViewPointSettings, find_view_points
from navarena.scenes.scene import Scene
from navarena.simulation.world import World


def list_objects(world: World, settings: ViewPointSettings) -> dict[str, tuple[ObjectInstance, ...]]:
    """Category -> its objects that have a view point, by object id, view points best first.

    Raises SceneError for a scene whose triangles are not labelled with objects.
    """
    views = find_view_points(world, settings)
    centers = {obj.object_id: obj.center for obj in world.scene.objects}
    found: dict[str, tuple[ObjectInstance, ...]] = {}
    for index, (number, category) in enumerate(zip(views.objects.tolist(), views.categories)):
        instance = ObjectInstance(
            str(number), category, centers[number], _view_points(views, index), f"{category}_{number}"
        )
        found[category] = (*found.get(category, ()), instance)
    return found


def count_objects(
    scene_ids: Iterable[str], open_scene: Callable[[str], World], settings: ViewPointSettings
) -> dict[tuple[str, str], set[str]]:
    """(scene, category) -> ids of the objects that count as goals, as statistics want them.

    Those of all categories of `settings`, asked for or not. `open_scene` maps a scene id to its world.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for scene_id in scene_ids:
        views = find_view_points(open_scene(scene_id), settings)
        for number, category in zip(views.objects.tolist(), views.categories):
            found.setdefault((scene_id, category), set()).add(str(number))
    return found


def _view_points(views: SceneViewPoints, index: int) -> tuple[ViewPoint, ...]:
    rows = slice(int(views.first[index]), int(views.first[index + 1]))
    poses = zip(views.positions[rows].tolist(), views.yaws[rows].tolist(), views.coverage[rows].tolist())
    return tuple(ViewPoint(_position(place), yaw, coverage) for place, yaw, coverage in poses)


def _position(place: list[float]) -> Position:
    x, y, z = place
    return x, y, z


def with_objects(
    episodes: Iterable[Episode], open_scene: Callable[[str], World], settings: ViewPointSettings
) -> list[Episode]:
    """The episodes, with the objects of the scene in goals that name none, or none of their view points.

    Episodes of one scene and category share their objects. `open_scene` maps a scene id to its world.
    """
    known: dict[str, dict[str, tuple[ObjectInstance, ...]]] = {}
    filled = []
    for episode in episodes:
        goal = episode.goal
        is_bare = isinstance(goal, ObjectGoal) and not goal.instances
        if (is_bare or isinstance(goal, LifelongGoal)) and episode.scene_id not in known:
            known[episode.scene_id] = list_objects(open_scene(episode.scene_id), settings)
        if isinstance(goal, LifelongGoal):
            scene = open_scene(episode.scene_id).scene
            episode = replace(episode, goal=_with_view_points(goal, scene, known[episode.scene_id]))
        if isinstance(goal, ObjectGoal) and not goal.instances:
            listed = known[episode.scene_id].get(goal.category, ())
            episode = replace(episode, goal=replace(goal, instances=listed))
        filled.append(episode)
    return filled


def _with_view_points(
    goal: LifelongGoal, scene: Scene, listed: dict[str, tuple[ObjectInstance, ...]]
) -> LifelongGoal:
    """The goal, with the view points of the scene at those objects that have none."""
    found = {one.object_id: one.view_points for instances in listed.values() for one in instances}

    def fill(instance: ObjectInstance) -> ObjectInstance:
        obj = None if instance.view_points else find_goal_object(scene, instance)
        return instance if obj is None else replace(instance, view_points=found.get(str(obj.object_id), ()))

    subtasks = [replace(one, instances=tuple(map(fill, one.instances))) for one in goal.subtasks]
    return replace(goal, subtasks=tuple(subtasks))
