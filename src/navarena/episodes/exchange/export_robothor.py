"""Our episodes in the layouts of RoboTHOR and RobustNav: bare lists, in Unity's frame."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import UNSET

from navarena.core.errors import InputError
from navarena.core.geometry import unity_from_world, unity_from_yaw
from navarena.episodes.episode import Episode, require_point_goal
from navarena.episodes.exchange.format import Document, EpisodeFormat
from navarena.episodes.exchange.records import Record
from navarena.episodes.exchange.robothor import (
    AGENT_CENTRE,
    ROBOTHOR_2020,
    ROBOTHOR_2021,
    ROBUSTNAV_OBJECTNAV,
    ROBUSTNAV_POINTNAV,
    Robothor2020Record,
    Robothor2021Record,
    RobustPointRecord,
    UnityPoint,
)
from navarena.episodes.goals import ObjectGoal, Position

FindPath = Callable[[str, Position, Position], Sequence[Position]]
"""(scene id, start, end) -> corners of the shortest path with its ends: metres, world frame, on the floor."""


def write_robothor_2020(episodes: Sequence[Episode], find_path: FindPath | None) -> Document:
    """Write RoboTHOR's 2020 layout: one goal object, with its position if the episode has it."""
    records: list[Record] = []
    for episode in episodes:
        goal = _object_goal(episode)
        if not goal.closest:
            raise InputError(
                f"expected one object as the goal of episode {episode.episode_id!r}, got any "
                f"{goal.category}; choose robothor-2021"
            )
        spots = [one.position for one in goal.instances if one.object_id == goal.closest]
        records.append(
            Robothor2020Record(
                **_common(episode, goal.arrival, find_path),
                **_looking(episode),
                object_id=goal.closest,
                object_type=goal.category,
                target_position=_unity(spots[0]) if spots else UNSET,
            )
        )
    return _document(ROBOTHOR_2020, records)


def write_robothor_2021(episodes: Sequence[Episode], find_path: FindPath | None) -> Document:
    """Any object of the type counts; difficulties have no field."""
    return _document(ROBOTHOR_2021, [_any_object(episode, find_path) for episode in episodes])


def write_robustnav_objectnav(episodes: Sequence[Episode], find_path: FindPath | None) -> Document:
    """Write RobustNav's ObjectNav layout: that of 2021 with difficulties."""
    records = [_any_object(episode, find_path, difficulty=episode.difficulty) for episode in episodes]
    return _document(ROBUSTNAV_OBJECTNAV, records)


def write_robustnav_pointnav(episodes: Sequence[Episode], find_path: FindPath | None) -> Document:
    """The target is as far above the floor as the agent's centre."""
    records: list[Record] = []
    for episode in episodes:
        target = require_point_goal(episode).position
        fields = _common(episode, target, find_path) | {"difficulty": episode.difficulty or UNSET}
        records.append(RobustPointRecord(**fields, target_position=_unity(target, AGENT_CENTRE)))
    return _document(ROBUSTNAV_POINTNAV, records)


def _any_object(episode: Episode, find_path: FindPath | None, **more: Any) -> Record:
    goal = _object_goal(episode)
    fields = _common(episode, goal.arrival, find_path) | _looking(episode) | more
    return Robothor2021Record(**fields, object_type=goal.category)


def _document(layout: EpisodeFormat, records: Sequence[Record]) -> Document:
    return Document(layout, records)


def _object_goal(episode: Episode) -> ObjectGoal:
    if not isinstance(episode.goal, ObjectGoal):
        raise InputError(
            f"expected an object as the goal of episode {episode.episode_id!r}, got "
            f"{type(episode.goal).__name__}; choose the layout of its task"
        )
    return episode.goal


def _common(episode: Episode, end: Position | None, find_path: FindPath | None) -> dict[str, Any]:
    """The fields of all four layouts."""
    path: Any = UNSET
    if end is not None and find_path is not None:
        path = [_unity(corner) for corner in find_path(episode.scene_id, episode.start_position, end)]
    length = episode.geodesic_distance
    return {
        "id": episode.episode_id,
        "scene": episode.scene_id,
        "initial_position": _unity(episode.start_position, AGENT_CENTRE),
        "initial_orientation": float(unity_from_yaw(episode.start_yaw)),
        "shortest_path": path,
        "shortest_path_length": UNSET if length is None else length,
    }


def _looking(episode: Episode) -> dict[str, Any]:
    """Degrees downwards; radians of a tilt are no round degrees."""
    return {"initial_horizon": round(-math.degrees(episode.start_tilt), 9) + 0.0}


def _unity(position: Position, above: float = 0.0) -> UnityPoint:
    x, y, z = (unity_from_world(np.array(position)) + 0.0).tolist()  # no -0
    return UnityPoint(x=x, y=y + above, z=z)
