"""The current goal in the observations of GOAT-Bench, and the categories and colours that it may mean."""

from collections.abc import Mapping
from functools import cache

import numpy as np

from navarena.core.errors import InputError
from navarena.episodes.encoding.encoder import GoalQuery
from navarena.episodes.goat.lexicon import ATTRIBUTES, OBJECTS, read_text
from navarena.scenes.houses.appearance.finishes import COLORS
from navarena.tasks.protocols.goat import Goat
from navarena.tasks.task import Task

GoalObservations = Mapping[str, np.ndarray | np.str_]
"""Sensor -> what one environment observes: (...) arrays, or text."""

GOAL_SENSORS = ("objectgoal", "language_goal", "image_goal")
"""Sensors of goals; a task has one of them, or all (goat-v1)."""


def read_goal(observations: GoalObservations, category: str = "") -> GoalQuery | None:
    """The goal in one environment's observations (...), sRGB bytes for images; None without one.

    Args:
        observations: sensor -> array of one environment.
        category: of the goal, if the agent knows it whatever the modality.
    """
    name = str(observations["objectgoal"]) if "objectgoal" in observations else ""
    text = str(observations["language_goal"]) if "language_goal" in observations else ""
    if name:
        return GoalQuery("object", name)
    if text:
        return GoalQuery("description", category, text)
    if "image_goal" in observations and np.any(observations["image_goal"]):
        return GoalQuery("image", category, image=np.array(observations["image_goal"]))
    return None


@cache
def possible_categories(words: str) -> frozenset[str]:
    """The categories of scenes that a name or description may mean: "white sofa in the study" -> {"sofa"}.

    The text itself (with spaces as underscores, too) is always among them: scans use the benchmark's names.
    """
    obj = read_text(words).obj
    known = () if obj is None else tuple(OBJECTS[place] for place, _ in obj.meant)
    return frozenset((*known, words, words.replace(" ", "_")))


@cache
def described_colors(words: str) -> tuple[str, ...]:
    """The colours that a description gives its object: "white sofa near the red rug" -> ("white",)."""
    named = [ATTRIBUTES[max(one.meant, key=lambda own: own[1])[0]] for one in read_text(words).attributes]
    return tuple(name for name in named if name in COLORS)


def require_goal_sensors(task: Task) -> tuple[str, ...]:
    """The goal sensors of `task`; raises InputError for a task that is none of GOAT-Bench."""
    sensors = tuple(name for name in GOAL_SENSORS if name in task.sensors)
    if not isinstance(task, Goat):
        raise InputError(
            f"expected goat-v1 or one of its skills for this agent, got {task.protocol_id!r}; use frontier"
        )
    return sensors
