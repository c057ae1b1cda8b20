"""ObjectNav of Habitat: MP3D (2020, 2021) and HM3D (2022 v1, 2023 v2).

`{"episodes": [...], "goals_by_category": {"<scene file>_<category>": [goal, ...]}, ...}`, either in one
file, or as a stub without episodes beside a folder `content/` with one file for each scene. Files
older than `goals_by_category` hold the goals in each episode; as in habitat-lab, the first episode of
a scene and category then speaks for all of them.

MP3D files also have `category_to_mp3d_category_id`, HM3D files
`category_to_scene_annotation_category_id`; both `category_to_task_category_id`, the numbers that
agents observe.
"""

from collections.abc import Sequence
from itertools import chain
from pathlib import PurePosixPath

from msgspec import UNSET

from navarena.episodes.episode import Episode
from navarena.episodes.exchange.format import EpisodeFormat, Row
from navarena.episodes.exchange.habitat import (
    HabitatEpisode,
    Info,
    ObjectGoalRecord,
    id_by_row,
    make_episode,
    make_instance,
)
from navarena.episodes.exchange.records import Maybe, Record, present
from navarena.episodes.goals import ObjectGoal, ObjectInstance

GOALS_KEY = "goals_by_category"


class InlineGoal(ObjectGoalRecord, frozen=True, kw_only=True):
    """A goal inside an episode (files older than `goals_by_category`)."""


class ObjectNavRecord(HabitatEpisode, frozen=True, kw_only=True):
    """An episode of ObjectNav.

    Attributes:
        object_category: such as "chair"; absent in the oldest files, whose goals say it.
        goals: empty, since goals stand in `goals_by_category`; filled in old files.
        children_object_categories: categories of the scene that count as this one, too (OVON).
    """

    object_category: Maybe[str] = UNSET
    goals: Maybe[list[InlineGoal]] = UNSET
    children_object_categories: Maybe[list[str]] = UNSET


def goals_key(scene_id: str, category: str) -> str:
    """Key of the goals of an episode: "x8F5xyUWy9e.glb_towel"."""
    return f"{PurePosixPath(scene_id).name}_{category}"


def category_records(row: Row, key: str, scene_id: str, children: Sequence[str] = ()) -> list[Record]:
    """All goals under `key`, and under the keys of the child categories that the scene has.

    Children are those given, and those that the goals name. Raises FileError without goals under `key`.
    """
    own = row.goals(key)
    named = [
        child
        for goal in own
        if isinstance(goal, ObjectGoalRecord)
        for child in present(goal.children_object_categories, ())
    ]
    keys = [goals_key(scene_id, child) for child in dict.fromkeys((*children, *named))]
    others = (row.goals(other) for other in keys if other != key and row.has_goals(other))
    return [*own, *chain.from_iterable(others)]


def category_goals(
    row: Row, key: str, scene_id: str, children: Sequence[str] = ()
) -> tuple[ObjectInstance, ...]:
    """The objects of `category_records`, each once."""

    def make() -> tuple[ObjectInstance, ...]:
        found = map(make_instance, category_records(row, key, scene_id, children))
        return tuple({instance.object_id: instance for instance in found}.values())

    return row.instances(f"{key} and children {', '.join(children)}", make)


def convert(record: ObjectNavRecord, row: Row) -> Episode:
    """Our episode; its id is the scene and the index in the file, as the reference loader has it."""
    inline = present(record.goals, ())
    category = present(record.object_category, inline[0].object_category if inline else "")
    if not category:
        raise row.error(
            "object_category", "expected a category, got none; name it, or list its objects as goals"
        )
    key = goals_key(record.scene_id, category)
    children = present(record.children_object_categories, ())

    def make_instances() -> tuple[ObjectInstance, ...]:
        if inline:
            return tuple(make_instance(goal) for goal in inline)
        return category_goals(row, key, record.scene_id, children)

    closest = record.info.closest_goal_object_id if isinstance(record.info, Info) else ""
    instances = row.instances(", ".join((key, *children)), make_instances)
    return make_episode(record, row, ObjectGoal(category, instances, str(present(closest, ""))))


HABITAT_OBJECTNAV_MP3D = EpisodeFormat(
    "habitat-objectnav-mp3d",
    "ObjectNav of Habitat on MP3D (2020, 2021)",
    "objectnav",
    ObjectNavRecord,
    convert,
    goals_key=GOALS_KEY,
    goal=ObjectGoalRecord,
    make_id=id_by_row,
    header=("category_to_task_category_id", "category_to_mp3d_category_id"),
)

HABITAT_OBJECTNAV_HM3D = EpisodeFormat(
    "habitat-objectnav-hm3d",
    "ObjectNav of Habitat on HM3D (2022 v1, 2023 v2)",
    "objectnav",
    ObjectNavRecord,
    convert,
    goals_key=GOALS_KEY,
    goal=ObjectGoalRecord,
    make_id=id_by_row,
    header=("category_to_task_category_id", "category_to_scene_annotation_category_id"),
)

OVON = EpisodeFormat(
    "ovon",
    "ObjectNav with an open vocabulary (HM3D-OVON)",
    "ovon",
    ObjectNavRecord,
    convert,
    goals_key=GOALS_KEY,
    goal=ObjectGoalRecord,
    make_id=id_by_row,
    header=("category_to_task_category_id", "category_to_scene_annotation_category_id"),
)
