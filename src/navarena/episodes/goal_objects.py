"""Finds the objects of the scene that episode files list as goals."""

import math

from navarena.episodes.goals import ObjectInstance
from navarena.scenes.scene import Scene, SceneObject

PLACE_TOLERANCE = 0.1
"""Metres beyond the sphere around an object's box in which the centre that a file gives may lie."""


def find_goal_object(scene: Scene, instance: ObjectInstance) -> SceneObject | None:
    """The object of the scene that a file lists: by its name there, else by its id; None for neither.

    A bare number means an object only where the file places it: others number objects otherwise (HSSD).
    """
    # Lists of navarena name objects by category and number, whatever the scene's annotation calls them.
    is_numbered = instance.name == f"{instance.category}_{instance.object_id}"
    named = None if is_numbered or not instance.name else scene.find_object(instance.name)
    found = named or scene.find_object(instance.object_id)
    if found is None or named or is_numbered or not instance.object_id.isdecimal():
        return found
    reach = math.hypot(*found.half_size) + PLACE_TOLERANCE
    return found if math.dist(found.center, instance.position) <= reach else None
