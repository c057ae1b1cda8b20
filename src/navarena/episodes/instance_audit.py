"""Whether the objects that a file lists for a category are those that the scene has."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from navarena.core.geometry import episode_frame
from navarena.episodes.goal_words import word_for
from navarena.episodes.goals import ObjectInstance
from navarena.episodes.view_points import ViewPointSettings, find_view_points
from navarena.scenes.scene import SceneObject
from navarena.simulation.world import World

NEAR = 0.5
"""Metres: a listed object within this of an object's box is that object, whatever it is called."""

REACH = 1.0
"""Metres from an object's box within which view points lie (ObjectNav 2020; Habitat's generators)."""


def find_wrong_instances(
    world: World,
    category: str,
    instances: Sequence[ObjectInstance],
    view_points: ViewPointSettings | None = None,
) -> Iterator[str]:
    """What is wrong with the list of the objects of a category; nothing where the scene has no objects.

    Generators drop objects that are seen from nowhere: one that is not listed is an error where it has view
    points by the rule `view_points`, or without a rule, where a floor is near it.
    """
    unseen = [one for one in instances if one.view_points and not _fits_somewhere(world, one)]
    for one in unseen:
        yield f"{category} {one.object_id}: the body can stand at none of its view points"
    there = [one for one in world.scene.objects if word_for(one, (category,)) is not None]
    if not world.scene.objects:
        return
    for one in instances:
        if not any(_is_same(one, other) for other in there):
            yield f"{category} {one.object_id} at {_text(one.position)} is none of the scene's {len(there)}"
    for other in there:
        if not any(_is_same(one, other) for one in instances) and _counts(world, other, view_points):
            yield f"{category} {other.object_id} of the scene at {_text(other.center)} is not listed"


def find_unknown_objects(world: World, instances: Iterable[ObjectInstance]) -> Iterator[str]:
    """Listed objects that the scene does not have; those with view points of their own need not be there."""
    known = {str(obj.object_id) for obj in world.scene.objects}
    unknown = {one.object_id: one for one in instances if not one.view_points and one.object_id not in known}
    for one in unknown.values():
        yield f"{one.category} {one.object_id} is none of the scene's objects; leave its episodes out"


def _fits_somewhere(world: World, instance: ObjectInstance) -> bool:
    points = np.array([point.position for point in instance.view_points], float)
    return bool(world.navmesh.is_navigable(points).any())


def _is_same(instance: ObjectInstance, other: SceneObject) -> bool:
    return box_distance(other, np.array(instance.position, float)) <= NEAR


def _counts(world: World, other: SceneObject, view_points: ViewPointSettings | None) -> bool:
    """Whether an object would have to be listed."""
    if view_points is None:
        return _is_near_floor(world, other)
    return other.object_id in find_view_points(world, view_points).objects


def _is_near_floor(world: World, other: SceneObject) -> bool:
    """Whether the navmesh comes within reach of the object's box, seen from above."""
    foot = np.array(other.center, float) - (0.0, other.half_size[1], 0.0)
    snapped = world.navmesh.snap_point(foot[None])[0]
    if not np.isfinite(snapped).all():
        return False
    level = np.array([snapped[0], other.center[1], snapped[2]])
    return box_distance(other, level) <= REACH


def box_distance(other: SceneObject, point: np.ndarray) -> float:
    """Metres from `point` (3,), world frame, to the oriented box of an object; 0 inside."""
    local = episode_frame(point, np.array(other.center, float), other.yaw)
    return float(np.linalg.norm(np.maximum(np.abs(local) - np.array(other.half_size), 0.0)))


def _text(place: Sequence[float]) -> str:
    return f"({', '.join(f'{value:.2f}' for value in place)})"
