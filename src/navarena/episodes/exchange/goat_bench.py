"""GOAT-Bench: goals one after another, each given by a category, in words or by an image.

`{"episodes": [...], "goals": {"<scene file>_<category>": [goal, ...]}}`, as a stub beside `content/`. An
episode lists its `tasks` as [category, modality, object id or null, ..., number of the image or null]; the
rest stands in the goals (spec ivln_goat 4.1).

The authors' loader takes descriptions of more than 55 words out of the goals, but not out of the tasks, so
that the goals after them are held against the wrong ones. Here they stay in both. It also adds the goals of
child categories again with each reference; here each counts once.
"""

from typing import Any, Literal

from msgspec import UNSET

from navarena.episodes.episode import Episode
from navarena.episodes.exchange.format import EpisodeFormat, Row
from navarena.episodes.exchange.habitat import (
    HabitatEpisode,
    ObjectGoalRecord,
    id_by_row,
    make_episode,
    make_instance,
)
from navarena.episodes.exchange.habitat_objectnav import category_goals, category_records, goals_key
from navarena.episodes.exchange.instance_imagenav import ImageParameters, make_image
from navarena.episodes.exchange.records import Maybe, present
from navarena.episodes.goals import LifelongGoal, Subtask

MODALITIES = ("object", "description", "image")

GoatTask = list[str | int | None]
"""[category, modality, object id or null, ..., number of the image or null]."""


class GoatGoalRecord(ObjectGoalRecord, frozen=True, kw_only=True):
    """An object with everything that can specify it as a goal.

    Attributes:
        lang_desc: its description; null where there is none.
        image_goals: the cameras of its images.
    """

    lang_desc: Maybe[str] = UNSET
    image_goals: Maybe[list[ImageParameters]] = UNSET


class GoatRecord(HabitatEpisode, frozen=True, kw_only=True):
    """An episode of GOAT-Bench.

    Attributes:
        tasks: its goals, in order.
        object_category, goals: of the class it inherits from; without meaning.
    """

    tasks: list[GoatTask]
    object_category: Any = UNSET
    goals: Any = UNSET
    children_object_categories: Any = UNSET
    is_thda: Any = UNSET
    scene_state: Any = UNSET


def convert(record: GoatRecord, row: Row) -> Episode:
    """Our episode; its id is the scene and the index in the file, as the reference loader has it."""
    subtasks = tuple(_subtask(record, task, number, row) for number, task in enumerate(record.tasks))
    return make_episode(record, row, LifelongGoal(subtasks))


def _subtask(record: GoatRecord, task: GoatTask, number: int, row: Row) -> Subtask:
    place = f"tasks[{number}]"
    if len(task) < 3 or not isinstance(task[0], str) or task[1] not in MODALITIES:
        raise row.error(
            place,
            f"expected [category, one of {', '.join(MODALITIES)}, object id, ..., image], got {task}; "
            "drop it",
        )
    category, modality = task[0], _modality(task[1])
    key = goals_key(record.scene_id, category)
    if modality == "object":
        return Subtask(modality, category, category_goals(row, key, record.scene_id))
    goal = _find_goal(row, key, record.scene_id, task[2], place)
    instance = row.instances(f"{key} {goal.object_id}", lambda: (make_instance(goal),))
    if modality == "description":
        words = present(goal.lang_desc, "")
        if not words:
            raise row.error(
                place, f"expected a description of {goal.object_id!r}, got none under {key!r}; drop it"
            )
        return Subtask(modality, category, instance, words)
    images, index = present(goal.image_goals, []), task[-1]
    if not isinstance(index, int) or not 0 <= index < len(images):
        raise row.error(
            place, f"expected an image of {goal.object_id!r} below {len(images)}, got {index}; drop it"
        )
    return Subtask(modality, category, instance, image=make_image(images[index]))


def _modality(text: Any) -> Literal["object", "description", "image"]:
    """One of MODALITIES, as its type."""
    found: Literal["object", "description", "image"] = text
    return found


def _find_goal(row: Row, key: str, scene_id: str, object_id: str | int | None, place: str) -> GoatGoalRecord:
    """The goal of that id under `key` or the keys of its child categories, as in the authors' loader."""
    goals = category_records(row, key, scene_id)
    for goal in goals:
        if isinstance(goal, GoatGoalRecord) and goal.object_id == object_id:
            return goal
    raise row.error(
        place,
        f"expected one of the {len(goals)} objects under {key!r}, got {object_id!r}; download the file again",
    )


GOAT_BENCH = EpisodeFormat(
    "goat-bench",
    "GOAT-Bench",
    "goat",
    GoatRecord,
    convert,
    goals_key="goals",
    goal=GoatGoalRecord,
    make_id=id_by_row,
)
