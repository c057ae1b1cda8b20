"""Instance-ImageNav of Habitat (2023): go to the object that an image shows.

`{"episodes": [...], "goals": {"<scene>_<object id>": goal}}`, as a stub beside `content/`. A goal is an
object with view points and the cameras of its images (habitat-lab, InstanceImageNav-v1).
"""

import math
from typing import Annotated

from msgspec import UNSET, Meta

from navarena.episodes.episode import Episode
from navarena.episodes.exchange.format import EpisodeFormat, Row
from navarena.episodes.exchange.habitat import (
    HabitatEpisode,
    ObjectGoalRecord,
    as_position,
    id_by_row,
    make_episode,
    make_instance,
    scene_stem,
)
from navarena.episodes.exchange.records import Item, Maybe, Number, Quaternion, Vector, present
from navarena.episodes.goals import GoalImage, ImageGoal

Degrees = Annotated[int, Meta(ge=10, le=170)] | Annotated[float, Meta(ge=10, le=170)]
"""A field of view, kept as it was written; published cameras have 60 to 120, and radians are below."""

Pixels = Annotated[int, Meta(ge=1)]


class ImageParameters(Item, frozen=True, kw_only=True):
    """The camera of a goal's image.

    Attributes:
        position, rotation: metres, world frame, [x, y, z, w].
        hfov: degrees.
        image_dimensions: (height, width) in pixels.
        frame_coverage, object_coverage: shares, see GoalImage.
    """

    position: Vector
    rotation: Quaternion
    hfov: Degrees
    image_dimensions: tuple[Pixels, Pixels]
    frame_coverage: Maybe[Number] = UNSET
    object_coverage: Maybe[Number] = UNSET


class ImageGoalRecord(ObjectGoalRecord, frozen=True, kw_only=True):
    """An object and its images; `object_surface_area` in square metres."""

    image_goals: list[ImageParameters]
    object_surface_area: Maybe[Number] = UNSET


class ImageNavRecord(HabitatEpisode, frozen=True, kw_only=True):
    """An episode of Instance-ImageNav.

    Attributes:
        goal_object_id: which object of the scene.
        goal_image_id: index into its images.
        object_category: such as "chair".
        goals: empty; they stand in the map.
    """

    goal_object_id: str | int
    goal_image_id: int
    object_category: Maybe[str] = UNSET
    goals: Maybe[list[ImageGoalRecord]] = UNSET


def convert(record: ImageNavRecord, row: Row) -> Episode:
    """Our episode; its id is the scene and the index in the file."""
    key = f"{scene_stem(record.scene_id)}_{record.goal_object_id}"
    goal = row.goals(key)[0]
    if not isinstance(goal, ImageGoalRecord):
        raise row.error("goals", f"expected a goal with images, got {type(goal).__name__}")
    if not 0 <= record.goal_image_id < len(goal.image_goals):
        raise row.error(
            "goal_image_id",
            f"expected an image below {len(goal.image_goals)}, got {record.goal_image_id}; drop the episode",
        )
    instance = row.instances(key, lambda: (make_instance(goal),))[0]
    return make_episode(record, row, ImageGoal(instance, make_image(goal.image_goals[record.goal_image_id])))


def make_image(camera: ImageParameters) -> GoalImage:
    """Our camera, its rotation normalised; raises ValueError for one of length zero."""
    length = math.sqrt(sum(value * value for value in camera.rotation))
    if not length:
        raise ValueError("expected a rotation of the camera of an image, got one of length zero")
    x, y, z, w = (value / length for value in camera.rotation)
    height, width = camera.image_dimensions
    return GoalImage(
        position=as_position(camera.position),
        rotation=(x, y, z, w),
        hfov=math.radians(camera.hfov),
        width_px=width,
        height_px=height,
        frame_coverage=present(camera.frame_coverage),
        object_coverage=present(camera.object_coverage),
    )


INSTANCE_IMAGENAV = EpisodeFormat(
    "instance-imagenav",
    "Instance-ImageNav of Habitat",
    "imagenav",
    ImageNavRecord,
    convert,
    goals_key="goals",
    goal=ImageGoalRecord,
    goal_lists=False,
    make_id=id_by_row,
)
