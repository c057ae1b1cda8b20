"""RoboTHOR's ObjectNav (2020, 2021) and RobustNav's PointNav and ObjectNav, in Unity's coordinates.

All are bare lists of episodes: one flat list in 2020, one file for each scene since. Positions are those
of the agent's centre, 0.9 m above the floor; paths run on the floor. Left-handed, y up; headings
in degrees clockwise from +z. What comes out is in our frame; the records keep the numbers of the file.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import UNSET

from navarena.core.geometry import world_from_unity, yaw_from_unity
from navarena.episodes.episode import Episode
from navarena.episodes.exchange.format import EpisodeFormat, Row
from navarena.episodes.exchange.records import Item, Maybe, Number, Record, present
from navarena.episodes.goals import Goal, ObjectGoal, ObjectInstance, PointGoal, Position

AGENT_CENTRE = 0.9
"""Metres from the floor to the position that AI2-THOR states of its agents (capsule of 1.8 m)."""


class UnityPoint(Item, frozen=True, kw_only=True):
    """Metres: x right, y up, z forward, left-handed."""

    x: Number
    y: Number
    z: Number


class UnityEpisode(Record, frozen=True, kw_only=True):
    """Fields of all four layouts.

    Attributes:
        id: a number in 2020, else such as "FloorPlan_Train1_1_AlarmClock_0".
        scene: such as "FloorPlan_Train1_1".
        initial_position: of the agent's centre.
        initial_orientation: degrees clockwise from +z.
        initial_horizon: degrees, of the camera, downwards.
        shortest_path: corners, on the floor; hidden in test splits.
        shortest_path_length: metres; hidden in test splits.
        difficulty: "easy", "medium" or "hard".
    """

    id: str | int
    scene: str
    initial_position: UnityPoint
    initial_orientation: Number
    initial_horizon: Maybe[Number] = UNSET
    shortest_path: Maybe[list[UnityPoint]] = UNSET
    shortest_path_length: Maybe[Number] = UNSET
    difficulty: Maybe[str] = UNSET


class Robothor2020Record(UnityEpisode, frozen=True, kw_only=True):
    """RoboTHOR 2020: that very object must be visible.

    Attributes:
        object_id: of the simulator, such as "Mug|+01.00|+00.90|-02.00".
        object_type: one of the 12 classes.
        target_position: of the object; absent in test splits.
    """

    object_id: str
    object_type: str
    target_position: Maybe[UnityPoint] = UNSET


class Robothor2021Record(UnityEpisode, frozen=True, kw_only=True):
    """RoboTHOR 2021 and RobustNav's ObjectNav: any object of the type counts."""

    object_type: str


class RobustPointRecord(UnityEpisode, frozen=True, kw_only=True):
    """RobustNav's PointNav; `target_position` is as far above the floor as the agent's centre."""

    target_position: UnityPoint


def convert_2020(record: Robothor2020Record, row: Row) -> Episode:
    """Our episode: one instance, whose id is the simulator's."""
    target = present(record.target_position)
    found = (
        ()
        if target is None
        else (ObjectInstance(record.object_id, record.object_type, _position(target), name=record.object_id),)
    )
    goal = ObjectGoal(record.object_type, found, record.object_id, _arrival(record))
    return _episode(record, goal)


def convert_2021(record: Robothor2021Record, row: Row) -> Episode:
    """Our episode: the file lists no instances."""
    return _episode(record, ObjectGoal(record.object_type, arrival=_arrival(record)))


def convert_point(record: RobustPointRecord, row: Row) -> Episode:
    """Our episode, its goal on the floor."""
    arrival = _arrival(record)
    x, y, z = _position(record.target_position)
    return _episode(record, PointGoal((x, y - AGENT_CENTRE if arrival is None else arrival[1], z)))


def _episode(record: UnityEpisode, goal: Goal) -> Episode:
    x, y, z = _position(record.initial_position)
    path = present(record.shortest_path, ())
    length = present(record.shortest_path_length)
    return Episode(
        episode_id=str(record.id),
        scene_id=record.scene,
        start_position=(x, float(path[0].y) if path else y - AGENT_CENTRE, z),
        start_yaw=float(yaw_from_unity(float(record.initial_orientation))),
        goal=goal,
        geodesic_distance=None if length is None else float(length),
        start_tilt=0.0 - math.radians(present(record.initial_horizon, 0.0)),
        difficulty=present(record.difficulty, ""),
    )


def _arrival(record: UnityEpisode) -> Position | None:
    """End of the file's path."""
    path = present(record.shortest_path, ())
    return _position(path[-1]) if path else None


def _position(point: UnityPoint) -> Position:
    x, y, z = (world_from_unity(np.array([point.x, point.y, point.z], float)) + 0.0).tolist()  # no -0
    return x, y, z


def _list_format(
    name: str, title: str, task: str, record: type[Record], convert: Callable[[Any, Row], Episode]
) -> EpisodeFormat:
    return EpisodeFormat(name, title, task, record, convert, is_list=True, scene_field="scene", id_field="id")


ROBOTHOR_2020 = _list_format(
    "robothor-2020", "ObjectNav of RoboTHOR 2020", "objectnav", Robothor2020Record, convert_2020
)
ROBOTHOR_2021 = _list_format(
    "robothor-2021", "ObjectNav of RoboTHOR 2021", "objectnav", Robothor2021Record, convert_2021
)
ROBUSTNAV_OBJECTNAV = _list_format(
    "robustnav-objectnav", "ObjectNav of RobustNav", "objectnav", Robothor2021Record, convert_2021
)
ROBUSTNAV_POINTNAV = _list_format(
    "robustnav-pointnav", "PointNav of RobustNav", "pointnav", RobustPointRecord, convert_point
)
