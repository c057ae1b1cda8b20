"""Traits of episodes, for breakdowns of results."""

import math

from navarena.episodes.episode import Episode
from navarena.episodes.goals import ImageGoal, LifelongGoal, MultiGoal, ObjectGoal
from navarena.evaluation.records.journal import GoalsRecord
from navarena.metrics.multi_goal import MultiGoalTrajectory, walked_until_found
from navarena.metrics.trajectory import Trajectory

CATEGORY, DIFFICULTY, FLOORS, MODALITY, GOALS = "category", "difficulty", "floors", "modality", "goals"

POINT = "point"
"""The modality of goals that no image shows."""

MIXED = "mixed"
"""The modality of episodes whose sub-tasks have several modalities."""

SAME_FLOOR, OTHER_FLOOR = "same floor", "other floor"

FLOOR_CHANGE = 0.5
"""Metres of climb from which on a shortest path changes the floor (the rule of HM3D's episodes of 2023)."""


def find_traits(episode: Episode, trajectory: Trajectory) -> dict[str, str]:
    """Name -> value of what is known of an episode:

    category of the object to be found; difficulty as its file labels it; floors: whether the shortest
    path changes them; modality of the goal ("point", "object", "description", "image", "objects", "mixed");
    goals: their number.
    """
    goal = episode.goal
    traits = {MODALITY: POINT}
    if isinstance(goal, ObjectGoal):
        traits = {MODALITY: "object", CATEGORY: goal.category}
    elif isinstance(goal, ImageGoal):
        traits = {MODALITY: "image", CATEGORY: goal.instance.category}
    elif isinstance(goal, MultiGoal):
        traits = {MODALITY: "objects", GOALS: str(len(goal.objects))}
    elif isinstance(goal, LifelongGoal):
        modalities = {subtask.modality for subtask in goal.subtasks}
        traits = {
            MODALITY: modalities.pop() if len(modalities) == 1 else MIXED,
            GOALS: str(len(goal.subtasks)),
        }
    if episode.difficulty:
        traits[DIFFICULTY] = episode.difficulty
    if trajectory.shortest is not None:
        traits[FLOORS] = OTHER_FLOOR if trajectory.shortest.climb > FLOOR_CHANGE else SAME_FLOOR
    return traits


def record_goals(trajectory: Trajectory) -> GoalsRecord | None:
    """Further numbers that MultiON's reference code records; None with a single goal."""
    if not isinstance(trajectory, MultiGoalTrajectory):
        return None
    return GoalsRecord(
        legs=[float(leg) if math.isfinite(leg) else None for leg in trajectory.legs.tolist()],
        found_after=trajectory.found_after.tolist(),
        walked=walked_until_found(trajectory),
    )
