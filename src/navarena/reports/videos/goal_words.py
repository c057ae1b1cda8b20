"""The goal of each moment of an episode, in words, and the image that tells it."""

from dataclasses import dataclass

import numpy as np

from navarena.episodes.episode import Episode
from navarena.episodes.goals import (
    GoalImage,
    ImageGoal,
    InstructionGoal,
    LifelongGoal,
    MultiGoal,
    ObjectGoal,
    Subtask,
)
from navarena.metrics.trajectory import Trajectory


@dataclass(frozen=True)
class ToldGoal:
    """A goal for people.

    Attributes:
        text: what is to be found.
        image: the camera of the image that tells it; None where none does.
        place: such as "goal 2 of 3"; empty with a single goal.
    """

    text: str
    image: GoalImage | None = None
    place: str = ""


def tell_goals(episode: Episode) -> tuple[ToldGoal, ...]:
    """The goals of an episode in order, at least one."""
    goal = episode.goal
    if isinstance(goal, ObjectGoal):
        return (ToldGoal(f"any {goal.category}"),)
    if isinstance(goal, ImageGoal):
        return (ToldGoal(f"this {goal.instance.category}", goal.image),)
    if isinstance(goal, InstructionGoal):
        return (ToldGoal(goal.instruction),)
    if isinstance(goal, MultiGoal):
        count = len(goal.objects)
        return tuple(ToldGoal(one.category, None, _place(k, count)) for k, one in enumerate(goal.objects))
    if isinstance(goal, LifelongGoal):
        count = len(goal.subtasks)
        return tuple(_tell_subtask(one, _place(k, count)) for k, one in enumerate(goal.subtasks))
    return (ToldGoal("the marked point"),)


def _place(number: int, count: int) -> str:
    return f"goal {number + 1} of {count}" if count > 1 else ""


def _tell_subtask(subtask: Subtask, place: str) -> ToldGoal:
    if subtask.modality == "description":
        return ToldGoal(subtask.description, None, place)
    if subtask.modality == "image":
        return ToldGoal(f"this {subtask.category}", subtask.image, place)
    return ToldGoal(f"any {subtask.category}", None, place)


def current_goal(trajectory: Trajectory, pose: int, count: int) -> int:
    """The place, from 0, of the goal that is current after `pose` actions; the last at the end."""
    return min(int((np.asarray(trajectory.passed_after) <= pose).sum()), count - 1)
