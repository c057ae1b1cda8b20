"""Episodes: a start and a goal each."""

from dataclasses import dataclass

from navarena.core.display import NotebookDisplay
from navarena.core.errors import InputError
from navarena.episodes.goals import (
    Goal,
    GoalImage,
    ImageGoal,
    InstructionGoal,
    LifelongGoal,
    MultiGoal,
    ObjectGoal,
    ObjectInstance,
    PointGoal,
    Position,
    Subtask,
    ViewPoint,
)

__all__ = [
    "Episode",
    "Goal",
    "GoalImage",
    "ImageGoal",
    "InstructionGoal",
    "LifelongGoal",
    "MultiGoal",
    "ObjectGoal",
    "ObjectInstance",
    "PointGoal",
    "Subtask",
    "ViewPoint",
    "require_instruction",
    "require_point_goal",
]


@dataclass(frozen=True)
class Episode(NotebookDisplay):
    """One episode of any task.

    Attributes:
        episode_id: unique within its dataset and split.
        scene_id: such as "houses-v1/val/00017".
        start_position: (x, y, z) metres, world frame, on the floor.
        start_yaw: radians.
        goal: what to find.
        geodesic_distance: metres from start to goal for the declared body: to the nearest view point
            for objects, along all of them for several; None where a file hides it (test splits).
        start_tilt: radians, of the camera, upwards.
        difficulty: the label that its file gives it, such as "easy"; empty where there is none.
        tour_id: of the tour that it belongs to; the episodes of a tour are of one scene, follow each other
            in a data set, and share the agent's memory. Empty outside tours.
    """

    episode_id: str
    scene_id: str
    start_position: Position
    start_yaw: float
    goal: Goal
    geodesic_distance: float | None
    start_tilt: float = 0.0
    difficulty: str = ""
    tour_id: str = ""

    display_kind = "episode"


LATER_FIELDS = {"start_tilt": 0.0, "difficulty": "", "tour_id": ""}
"""Fields of Episode that lists of the first version did not have, and what they then were."""


def require_point_goal(episode: Episode) -> PointGoal:
    """The goal of a PointNav episode; raises InputError for another kind of goal."""
    if not isinstance(episode.goal, PointGoal):
        raise InputError(
            f"expected a point as the goal of episode {episode.episode_id!r}, got "
            f"{type(episode.goal).__name__}; choose episodes of the protocol's own task"
        )
    return episode.goal


def require_instruction(episode: Episode) -> InstructionGoal:
    """The goal of an episode that follows an instruction; raises InputError for another kind."""
    if not isinstance(episode.goal, InstructionGoal):
        raise InputError(
            f"expected an instruction as the goal of episode {episode.episode_id!r}, got "
            f"{type(episode.goal).__name__}; choose episodes of the protocol's own task"
        )
    return episode.goal
