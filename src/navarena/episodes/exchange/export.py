"""Our episodes in the community's layouts, so that other tools can read what is generated here."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from navarena.core.errors import InputError, unknown_name
from navarena.episodes.episode import Episode
from navarena.episodes.exchange.export_robothor import (
    FindPath,
    write_robothor_2020,
    write_robothor_2021,
    write_robustnav_objectnav,
    write_robustnav_pointnav,
)
from navarena.episodes.exchange.format import Document
from navarena.episodes.exchange.habitat import Info, ObjectGoalRecord, as_number, make_goal_record
from navarena.episodes.exchange.habitat_objectnav import (
    GOALS_KEY,
    HABITAT_OBJECTNAV_HM3D,
    ObjectNavRecord,
    goals_key,
)
from navarena.episodes.exchange.habitat_pointnav import HABITAT_POINTNAV, PointGoalRecord, PointNavRecord
from navarena.episodes.exchange.multion import MULTION, MultiGoalRecord, MultiONRecord
from navarena.episodes.exchange.r2r_ce import R2R_CE, InstructionRecord, R2RCERecord
from navarena.episodes.exchange.r2r_ce import GoalRecord as R2RGoalRecord
from navarena.episodes.exchange.records import Quaternion
from navarena.episodes.exchange.robothor import (
    ROBOTHOR_2020,
    ROBOTHOR_2021,
    ROBUSTNAV_OBJECTNAV,
    ROBUSTNAV_POINTNAV,
)
from navarena.episodes.goal_points import GoalPoints, euclidean_distance
from navarena.episodes.goals import InstructionGoal, MultiGoal, ObjectGoal, ObjectInstance, PointGoal
from navarena.episodes.language.vocabulary import PAD, UNKNOWN, route_vocabulary
from navarena.metrics.instruction import SUCCESS_DISTANCE


def make_document(
    layout: str,
    episodes: Iterable[Episode],
    categories: Sequence[str] = (),
    find_path: FindPath | None = None,
) -> Document:
    """A file of our episodes in one of the layouts that `EXPORTS` names.

    Args:
        layout: such as "habitat-pointnav", "multion" or "robothor-2021".
        episodes: of that task; ids are written, although readers of ObjectNav and MultiON count anew.
        categories: in the order of the numbers that agents observe; by default sorted by name.
        find_path: for layouts of RoboTHOR, whose evaluation measures the path in the file; without it no
            path is written.

    Raises UnknownNameError for another layout, InputError for an episode of another task, or with a tilted
    camera where the layout has no field for it.
    """
    if layout in _UNITY:
        return _UNITY[layout](list(episodes), find_path)
    if layout in _HABITAT:
        return _HABITAT[layout](list(episodes), categories)
    raise unknown_name("layout to write", layout, EXPORTS)


def _pointnav(episodes: Sequence[Episode], categories: Sequence[str]) -> Document:
    records = []
    for episode in episodes:
        if not isinstance(episode.goal, PointGoal):
            raise _wrong_goal(episode, "a point")
        records.append(
            PointNavRecord(
                **_common(episode),
                goals=[PointGoalRecord(position=episode.goal.position, radius=None)],
                info=Info(
                    geodesic_distance=episode.geodesic_distance, difficulty=episode.difficulty or UNSET
                ),
            )
        )
    return Document(HABITAT_POINTNAV, records, {}, {"episodes": None})


def _objectnav(episodes: Sequence[Episode], categories: Sequence[str]) -> Document:
    points = GoalPoints()
    records = []
    named: set[str] = set()
    listed: dict[str, tuple[ObjectInstance, ...]] = {}
    for episode in episodes:
        goal = episode.goal
        if not isinstance(goal, ObjectGoal) or not goal.instances:
            raise _wrong_goal(episode, "a category with its objects")
        named.add(goal.category)
        key = goals_key(episode.scene_id, goal.category)
        if listed.setdefault(key, goal.instances) != goal.instances:
            raise InputError(
                f"expected one list of objects for {key}, got another in episode {episode.episode_id!r}; "
                "scenes whose files have equal names need files of their own"
            )
        records.append(
            ObjectNavRecord(
                **_common(episode),
                goals=[],
                object_category=goal.category,
                info=Info(
                    geodesic_distance=episode.geodesic_distance,
                    euclidean_distance=euclidean_distance(episode, points),
                    closest_goal_object_id=as_number(goal.closest) if goal.closest else UNSET,
                    difficulty=episode.difficulty or UNSET,
                ),
            )
        )
    goals: Mapping[str, list[ObjectGoalRecord]] = {
        key: [make_goal_record(one) for one in instances] for key, instances in listed.items()
    }
    numbers = _number(categories or sorted(named))
    header = {
        GOALS_KEY: None,
        "episodes": None,
        "category_to_task_category_id": numbers,
        "category_to_scene_annotation_category_id": numbers,
    }
    return Document(HABITAT_OBJECTNAV_HM3D, records, goals, header)


def _multion(episodes: Sequence[Episode], categories: Sequence[str]) -> Document:
    records = []
    for episode in episodes:
        goal = episode.goal
        if not isinstance(goal, MultiGoal):
            raise _wrong_goal(episode, "several objects in order")
        records.append(
            MultiONRecord(
                **{**_common(episode), "shortest_paths": [[]]},
                goals=[_make_goal(one) for one in goal.objects],
                info=Info(geodesic_distance=episode.geodesic_distance),
                distractors=[_make_goal(one) for one in goal.distractors] or UNSET,
            )
        )
    named = {goal.object_category for record in records for goal in record.goals}
    numbers = _number(categories or sorted(named))
    header = {
        "category_to_task_category_id": numbers,
        "category_to_mp3d_category_id": numbers,
        "episodes": None,
    }
    return Document(MULTION, records, {}, header)


def _r2r_ce(episodes: Sequence[Episode], categories: Sequence[str]) -> Document:
    vocabulary = route_vocabulary()
    records = []
    for episode in episodes:
        goal = episode.goal
        if not isinstance(goal, InstructionGoal):
            raise _wrong_goal(episode, "an instruction")
        tokens = list(goal.tokens) or vocabulary.encode(goal.instruction).tolist()
        records.append(
            R2RCERecord(
                **{**_common(episode), "start_room": UNSET, "shortest_paths": UNSET},
                trajectory_id=goal.path_id,
                instruction=InstructionRecord(instruction_text=goal.instruction, instruction_tokens=tokens),
                goals=[R2RGoalRecord(position=goal.path[-1], radius=SUCCESS_DISTANCE)],
                reference_path=list(goal.path),
                info=Info(geodesic_distance=episode.geodesic_distance),
            )
        )
    words = list(vocabulary.words)
    header = {
        "episodes": None,
        "instruction_vocab": {
            "word_list": words,
            "word2idx_dict": _number(words),
            "num_vocab": len(words),
            "PAD_INDEX": PAD,
            "UNK_INDEX": UNKNOWN,
        },
    }
    return Document(R2R_CE, records, {}, header)


_HABITAT: Mapping[str, Callable[[Sequence[Episode], Sequence[str]], Document]] = {
    HABITAT_POINTNAV.name: _pointnav,
    HABITAT_OBJECTNAV_HM3D.name: _objectnav,
    MULTION.name: _multion,
    R2R_CE.name: _r2r_ce,
}
_UNITY: Mapping[str, Callable[[Sequence[Episode], FindPath | None], Document]] = {
    ROBOTHOR_2020.name: write_robothor_2020,
    ROBOTHOR_2021.name: write_robothor_2021,
    ROBUSTNAV_OBJECTNAV.name: write_robustnav_objectnav,
    ROBUSTNAV_POINTNAV.name: write_robustnav_pointnav,
}
EXPORTS = (*_HABITAT, *_UNITY)
"""Layouts that our episodes can be written in."""


def _common(episode: Episode) -> dict[str, Any]:
    """The fields of every layout of Habitat; raises InputError for a start that none of them can state."""
    if episode.start_tilt:
        raise InputError(
            f"expected a level camera at the start of episode {episode.episode_id!r}, got a tilt of "
            f"{math.degrees(episode.start_tilt):.0f} degrees; choose a layout of RoboTHOR or RobustNav"
        )
    return {
        "episode_id": episode.episode_id,
        "scene_id": episode.scene_id,
        "start_position": episode.start_position,
        "start_rotation": _rotation(episode.start_yaw),
        "start_room": None,
        "shortest_paths": None,
    }


def _rotation(yaw: float) -> Quaternion:
    return (0.0, math.sin(yaw / 2), 0.0, math.cos(yaw / 2))


def _make_goal(one: ObjectInstance) -> MultiGoalRecord:
    return MultiGoalRecord(
        position=one.position, object_category=one.category, radius=None, room_id=None, room_name=None
    )


def _number(categories: Sequence[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(categories)}


def _wrong_goal(episode: Episode, wanted: str) -> InputError:
    return InputError(
        f"expected {wanted} as the goal of episode {episode.episode_id!r}, got "
        f"{type(episode.goal).__name__}; choose the layout of its task"
    )
