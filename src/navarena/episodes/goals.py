"""Goals of episodes: a point, a category, an object in an image, several objects in order, an instruction."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

Position = tuple[float, float, float]
"""(x, y, z) metres, world frame."""

Rotation = tuple[float, float, float, float]
"""Unit quaternion [x, y, z, w], world from camera."""


class Goal(ABC):
    """Goal of an episode. The kinds below are frozen dataclasses."""

    @property
    @abstractmethod
    def places(self) -> tuple[Position, ...]:
        """Places of the goal: all that fulfil it, or those to be visited, in order.

        Metres, world frame; empty where the file does not say.
        """


@dataclass(frozen=True)
class PointGoal(Goal):
    """A goal position (x, y, z) in metres, world frame, on the floor."""

    position: Position

    @property
    def places(self) -> tuple[Position, ...]:
        """The position."""
        return (self.position,)


@dataclass(frozen=True)
class ViewPoint:
    """A pose from which an object is seen.

    Attributes:
        position: metres, world frame, on the floor.
        yaw: radians; looking at the object.
        coverage: how much of the object's image it fills, as its file measures it. The
            community's files call it `iou`; it is the sum over three renders of the share of
            pixels that show the object, so it may exceed 1.
    """

    position: Position
    yaw: float
    coverage: float = 0.0


@dataclass(frozen=True)
class ObjectInstance:
    """An object instance.

    Attributes:
        object_id: the scene's number or name of it, as text.
        category: such as "chair".
        position: metres, world frame: the centre of its box, or its foot for inserted objects.
        view_points: where STOP counts, best coverage first; empty where a file has none.
        name: in the scene's annotation, such as "bed_16".
    """

    object_id: str
    category: str
    position: Position
    view_points: tuple[ViewPoint, ...] = field(default=(), repr=False)
    name: str = ""


@dataclass(frozen=True)
class ObjectGoal(Goal):
    """Any object of a category.

    Attributes:
        category: such as "chair".
        instances: all objects that count. Empty: the file does not list them, whatever the scene
            has of the category counts. Episodes of one scene and category share the tuple.
        closest: object_id of the instance nearest to the start; empty where a file does not say.
        arrival: where the shortest path of the file ends, on the floor, metres, world frame; None
            where a file has no path.
    """

    category: str
    instances: tuple[ObjectInstance, ...] = ()
    closest: str = ""
    arrival: Position | None = None

    @property
    def places(self) -> tuple[Position, ...]:
        """Centres of all instances; without any, where the file's path ends."""
        if not self.instances and self.arrival is not None:
            return (self.arrival,)
        return tuple(instance.position for instance in self.instances)


@dataclass(frozen=True)
class GoalImage:
    """The camera that takes the image of a goal.

    Attributes:
        position: metres, world frame.
        rotation: world from camera.
        hfov: radians.
        width_px, height_px: pixels.
        frame_coverage: share of the image that shows the object.
        object_coverage: share of the object that the image shows.
    """

    position: Position
    rotation: Rotation
    hfov: float
    width_px: int
    height_px: int
    frame_coverage: float | None = None
    object_coverage: float | None = None


@dataclass(frozen=True)
class ImageGoal(Goal):
    """A goal given by an image of one object.

    Attributes:
        instance: the object.
        image: which image of it.
    """

    instance: ObjectInstance
    image: GoalImage

    @property
    def places(self) -> tuple[Position, ...]:
        """The centre of the object."""
        return (self.instance.position,)


@dataclass(frozen=True)
class MultiGoal(Goal):
    """Several objects, to be found in this order.

    Attributes:
        objects: at least one; `category` is the class that the agent observes.
        distractors: objects that are inserted, too, and are no goals.
    """

    objects: tuple[ObjectInstance, ...]
    distractors: tuple[ObjectInstance, ...] = ()

    @property
    def places(self) -> tuple[Position, ...]:
        """Places of the objects, in order."""
        return tuple(one.position for one in self.objects)


@dataclass(frozen=True)
class InstructionGoal(Goal):
    """The end of a path that an instruction describes.

    Attributes:
        instruction: the text.
        path: the described waypoints, metres, world frame, on the floor; the last is the goal. Only
            the start where a file hides the rest (test splits).
        path_id: of the path; several instructions describe each.
        tokens: the text as its file encodes it; empty where it does not.
    """

    instruction: str
    path: tuple[Position, ...]
    path_id: str = ""
    tokens: tuple[int, ...] = field(default=(), repr=False)

    @property
    def places(self) -> tuple[Position, ...]:
        """The end of the path."""
        return self.path[-1:]


@dataclass(frozen=True)
class GraphGoal(InstructionGoal):
    """The end of a path on a navigation graph that is described in words.

    Attributes:
        viewpoints: ids of the described path; of test splits only the start.
    """

    viewpoints: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether the path is known beyond its start."""
        return len(self.viewpoints) > 1


Modality = Literal["object", "description", "image"]
"""How a goal of GOAT-Bench is specified: by a category, a description or an image."""


@dataclass(frozen=True)
class Subtask:
    """One goal of a lifelong episode.

    Attributes:
        modality: how it is given.
        category: such as "chair"; of descriptions and images known to the task alone.
        instances: what counts: all objects of the category and its children, or the one that is meant.
            Lists of navarena leave their view points out, since they follow from the scene
            (episodes.goat.find_goal_view_points).
        description: the words; empty for the other modalities.
        image: the camera of the image; None for the other modalities.
    """

    modality: Modality
    category: str
    instances: tuple[ObjectInstance, ...]
    description: str = ""
    image: GoalImage | None = None


@dataclass(frozen=True)
class LifelongGoal(Goal):
    """Goals to be found one after another, each given when its turn comes (GOAT-Bench).

    Attributes:
        subtasks: at least one, in order.
    """

    subtasks: tuple[Subtask, ...]

    @property
    def places(self) -> tuple[Position, ...]:
        """The centre of the first object that counts, of each sub-task in order."""
        return tuple(subtask.instances[0].position for subtask in self.subtasks if subtask.instances)


def as_subtasks(goal: Goal) -> tuple[Subtask, ...]:
    """The sub-tasks of a goal: a category or an image is one of its own, none for another kind."""
    if isinstance(goal, LifelongGoal):
        return goal.subtasks
    if isinstance(goal, ObjectGoal):
        return (Subtask("object", goal.category, goal.instances),)
    if isinstance(goal, ImageGoal):
        return (Subtask("image", goal.instance.category, (goal.instance,), image=goal.image),)
    return ()


_MARKS: dict[str, type[Goal]] = {
    "subtasks": LifelongGoal,
    "viewpoints": GraphGoal,
    "instruction": InstructionGoal,
    "position": PointGoal,
    "objects": MultiGoal,
    "image": ImageGoal,
    "category": ObjectGoal,
}
"""A field that only this kind of goal has, and must have."""


def decode_goal(kind: type, content: Any) -> Any:
    """A goal from plain JSON content: msgspec's `dec_hook` for fields of type Goal.

    Raises ValueError for content that is no goal.
    """
    if kind is not Goal:
        raise TypeError(f"expected a field of type Goal, got {kind}")
    if isinstance(content, dict):
        for mark, goal in _MARKS.items():
            if mark in content:
                return msgspec.convert(content, goal)
    raise ValueError(f"expected a goal with one of the fields {', '.join(_MARKS)}, got {content!r}")
