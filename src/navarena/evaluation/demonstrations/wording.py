"""Text of an episode's goals: the task of a demonstration."""

from navarena.episodes.goals import (
    Goal,
    ImageGoal,
    InstructionGoal,
    LifelongGoal,
    MultiGoal,
    ObjectGoal,
    PointGoal,
    Subtask,
)


def describe_goal(goal: Goal) -> str:
    """One line of text for `goal`: its instruction if it has one, else a sentence with its names."""
    if isinstance(goal, InstructionGoal):
        return " ".join(goal.instruction.split())
    if isinstance(goal, PointGoal):
        return "Go to the point."
    if isinstance(goal, ObjectGoal):
        return f"Find: {goal.category}."
    if isinstance(goal, ImageGoal):
        return "Find what the image shows."
    if isinstance(goal, MultiGoal):
        return f"Find in this order: {', '.join(one.category for one in goal.objects)}."
    if isinstance(goal, LifelongGoal):
        return f"Find in this order: {'; '.join(_describe_subtask(one) for one in goal.subtasks)}."
    return "Reach the goal."


def _describe_subtask(subtask: Subtask) -> str:
    if subtask.modality == "image":
        return "what the image shows"
    return subtask.description.strip().rstrip(".") or subtask.category
