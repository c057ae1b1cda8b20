"""Finds the objects of the scene that episode files list as goals."""

from navarena.episodes.goals import ObjectInstance
from navarena.scenes.scene import Scene, SceneObject


def find_goal_object(scene: Scene, instance: ObjectInstance) -> SceneObject | None:
    """The object of the scene that a file lists: by its name there, else by its id; None for neither."""
    # Lists of navarena name objects by category and number, whatever the scene's annotation calls them.
    is_numbered = instance.name == f"{instance.category}_{instance.object_id}"
    named = None if is_numbered or not instance.name else scene.find_object(instance.name)
    return named or scene.find_object(instance.object_id)
