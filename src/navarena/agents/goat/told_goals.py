"""What an agent is told of its current goal, and which kinds of things it may be."""

from collections.abc import Mapping
from functools import cache

import numpy as np

from navarena.agents.encoders.encoder import GoalQuery
from navarena.core.errors import InputError
from navarena.episodes.goat.lexicon import ATTRIBUTES, THINGS, read_text
from navarena.scenes.houses.looks import COLORS
from navarena.tasks.goat import Goat
from navarena.tasks.task import Task

Told = Mapping[str, np.ndarray | np.str_]
"""Sensor -> what one environment observes: (...) arrays, or text."""

GOAL_SENSORS = ("objectgoal", "language_goal", "image_goal")
"""How goals are told; a task has one of them, or all (goat-v1)."""


def read_goal(observations: Told, category: str = "") -> GoalQuery | None:
    """The goal that one environment's observations (...) tell, sRGB bytes for images; None without one.

    Args:
        observations: sensor -> array of one environment.
        category: of the goal, where the agent may know it although the goal is told otherwise.
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
def categories_meant(words: str) -> frozenset[str]:
    """The categories of scenes that a name or description may mean: "white sofa in the study" -> {"sofa"}.

    The text itself (with spaces as underscores, too) is always among them: scans use the benchmark's names.
    """
    thing = read_text(words).obj
    known = () if thing is None else tuple(THINGS[place] for place, _ in thing.meant)
    return frozenset((*known, words, words.replace(" ", "_")))


@cache
def colors_told(words: str) -> tuple[str, ...]:
    """The colours that a description tells of its thing: "white sofa near the red rug" -> ("white",)."""
    told = [ATTRIBUTES[max(one.meant, key=lambda own: own[1])[0]] for one in read_text(words).attributes]
    return tuple(name for name in told if name in COLORS)


def require_goal_sensors(task: Task) -> tuple[str, ...]:
    """How `task` tells its goals; raises InputError for a task that is none of GOAT-Bench."""
    told = tuple(name for name in GOAL_SENSORS if name in task.sensors)
    if not isinstance(task, Goat):
        raise InputError(
            f"expected goat-v1 or one of its skills for this agent, got {task.protocol_id!r}; use frontier"
        )
    return told
