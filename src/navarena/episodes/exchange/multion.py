"""MultiON: several objects in order (saimwani/multiON; the challenges that followed add fields).

`{"episodes": [...], "category_to_task_category_id": {...}, "category_to_mp3d_category_id": {...}}`, in one
file or as a stub beside `content/`. `start_rotation` is not of unit length in published files.
"""

from collections.abc import Mapping

from msgspec import UNSET

from navarena.episodes.episode import Episode
from navarena.episodes.exchange.format import EpisodeFormat, Row
from navarena.episodes.exchange.habitat import (
    HabitatEpisode,
    ViewLocation,
    id_by_row,
    make_episode,
    make_instance,
)
from navarena.episodes.exchange.records import Item, Maybe, Radius, Vector, present
from navarena.episodes.goals import MultiGoal


class MultiGoalRecord(Item, frozen=True, kw_only=True):
    """An inserted object: its foot on the floor, metres, world frame.

    The other fields are null in the files of the first challenge; later ones fill them.
    """

    position: Vector
    object_category: str
    object_id: Maybe[int | str] = UNSET
    object_name: Maybe[str] = UNSET
    object_name_id: Maybe[int | str] = UNSET
    radius: Maybe[Radius] = UNSET
    room_id: Maybe[int | str] = UNSET
    room_name: Maybe[str] = UNSET
    view_points: Maybe[list[ViewLocation]] = UNSET


class MultiONRecord(HabitatEpisode, frozen=True, kw_only=True):
    """An episode of MultiON.

    Attributes:
        goals: in the order in which they are to be found, of distinct classes.
        distractors: further objects, in files that have some.
        object_category: absent, or the classes of the goals.
        object_index, currGoalIndex: 0 where a loader has written them back.
    """

    goals: list[MultiGoalRecord]
    distractors: Maybe[list[MultiGoalRecord]] = UNSET
    object_category: Maybe[str | list[str]] = UNSET
    object_index: Maybe[int] = UNSET
    currGoalIndex: Maybe[int] = UNSET


def convert(record: MultiONRecord, row: Row) -> Episode:
    """Our episode; object ids are the numbers of the classes, where the file maps them."""
    if not record.goals:
        raise row.error("goals", "expected at least one goal, got none; drop the episode")
    numbers = row.header_numbers("category_to_task_category_id")
    objects = [make_instance(one, _object_id(one, numbers)) for one in record.goals]
    distractors = [make_instance(one, _object_id(one, numbers)) for one in present(record.distractors, ())]
    return make_episode(record, row, MultiGoal(tuple(objects), tuple(distractors)), has_difficulty=False)


def _object_id(goal: MultiGoalRecord, numbers: Mapping[str, int]) -> str:
    return str(numbers.get(goal.object_category, goal.object_category))


MULTION = EpisodeFormat(
    "multion",
    "MultiON",
    "multion",
    MultiONRecord,
    convert,
    header=("category_to_task_category_id", "category_to_mp3d_category_id"),
    make_id=id_by_row,
)
