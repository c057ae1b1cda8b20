"""Records that the episode files of Habitat share (habitat-lab, `NavigationEpisode` and its goals)."""

import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import UNSET

from navarena.episodes.episode import Episode
from navarena.episodes.exchange.format import Row
from navarena.episodes.exchange.records import (
    Item,
    Maybe,
    Number,
    Quaternion,
    Radius,
    Record,
    Vector,
    present,
    yaw_of,
)
from navarena.episodes.goals import Goal, ObjectInstance, Position, ViewPoint

SCENE_SUFFIXES = (".glb", ".basis", ".scene_instance.json", ".ply", ".obj")


class AgentState(Item, frozen=True, kw_only=True):
    """A pose: metres, world frame, and rotation [x, y, z, w]."""

    position: Vector
    rotation: Quaternion


class ViewLocation(Item, frozen=True, kw_only=True):
    """A view point; `iou` is a coverage (see ViewPoint), and absent or null in some files."""

    agent_state: AgentState
    iou: Maybe[Number] = UNSET


class PathPoint(Item, frozen=True, kw_only=True):
    """A pose of a recorded shortest path and the action taken there; null closes the greedy path."""

    position: Maybe[Vector] = UNSET
    rotation: Maybe[Quaternion] = UNSET
    action: Maybe[int | str] = UNSET


PathStep = PathPoint | int | str | None
"""habitat-lab also takes the bare action in the place of a pose."""


class Info(Item, frozen=True, kw_only=True):
    """Measurements of an episode.

    Attributes:
        geodesic_distance: metres from the start; along all goals for MultiON.
        euclidean_distance: metres; from the start to the last view point in 2020, to the centre of
            the object since 2022.
        closest_goal_object_id: of the nearest instance.
        navigation_bounds: as written.
        best_viewpoint_position: in 2020 files it equals the start and says nothing.
        difficulty: such as "easy".
    """

    geodesic_distance: Maybe[Number] = UNSET
    euclidean_distance: Maybe[Number] = UNSET
    closest_goal_object_id: Maybe[int | str] = UNSET
    navigation_bounds: Any = UNSET
    best_viewpoint_position: Maybe[Vector] = UNSET
    difficulty: Maybe[str] = UNSET


class HabitatEpisode(Record, frozen=True, kw_only=True):
    """Fields of every episode of Habitat.

    Attributes:
        episode_id: as written; the loaders of ObjectNav and MultiON replace it by the index.
        scene_id: path of the scene below the folder of scene datasets.
        start_position: metres, world frame.
        start_rotation: [x, y, z, w]; a yaw.
        info: measurements.
        start_room: null in published files.
        shortest_paths: one list of poses or actions for each path; null or [[]] without.
        scene_dataset_config: path of Habitat's configuration of the scenes (HM3D).
        additional_obj_config_paths: of inserted objects (HM3D).
        shortest_path_cache: null; a memory of habitat-lab's that some of its files hold.
    """

    episode_id: str | int
    scene_id: str
    start_position: Vector
    start_rotation: Quaternion
    info: Maybe[Info] = UNSET
    start_room: Maybe[int | str] = UNSET
    shortest_paths: Maybe[list[list[PathStep] | None]] = UNSET
    scene_dataset_config: Maybe[str] = UNSET
    additional_obj_config_paths: Maybe[list[str]] = UNSET
    shortest_path_cache: Any = msgspec.field(default=UNSET, name="_shortest_path_cache")


class ObjectGoalRecord(Record, frozen=True, kw_only=True):
    """An object that counts as a goal.

    Attributes:
        position: centre of its axis-aligned box, metres, world frame.
        radius, room_id, room_name, object_name_id: null in published files.
        object_id: number in the scene.
        object_name: "level_region_object" in MP3D, such as "bed_16" in HM3D.
        object_category: such as "bed".
        view_points: coverage descending.
        children_object_categories: categories of the scene that count as this one, too (OVON, GOAT-Bench).
    """

    position: Vector
    object_id: int | str
    object_category: str
    view_points: Maybe[list[ViewLocation]] = UNSET
    radius: Maybe[Radius] = UNSET
    object_name: Maybe[str] = UNSET
    object_name_id: Maybe[int | str] = UNSET
    room_id: Maybe[int | str] = UNSET
    room_name: Maybe[str] = UNSET
    children_object_categories: Maybe[list[str]] = UNSET


def as_position(vector: Vector) -> Position:
    """Metres as floats."""
    x, y, z = vector
    return float(x), float(y), float(z)


def geodesic_distance(info: Maybe[Info]) -> float | None:
    """Metres, or None where the file does not say."""
    if not isinstance(info, Info):
        return None
    value = present(info.geodesic_distance)
    return None if value is None else float(value)


@lru_cache(4096)
def scene_stem(scene_id: str) -> str:
    """The name of a scene without folders and suffixes: "TEEsavR23oF"."""
    name = PurePosixPath(scene_id).name
    for suffix in SCENE_SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def make_instance(goal: Any, object_id: str | None = None) -> ObjectInstance:
    """Our object from an ObjectGoalRecord or a record with the same fields; `object_id` replaces its own."""
    points = tuple(map(_make_view_point, goal.view_points)) if present(goal.view_points) else ()
    name = present(goal.object_name, "")
    number = str(goal.object_id) if object_id is None else object_id
    return ObjectInstance(number, goal.object_category, as_position(goal.position), points, name)


def _make_view_point(location: ViewLocation) -> ViewPoint:
    state = location.agent_state
    coverage = float(present(location.iou, 0.0))
    return ViewPoint(as_position(state.position), yaw_of(state.rotation), coverage)


def id_by_row(scene_id: str, name: str | int, row: int) -> str:
    """Our id: the scene and the index in the file, as the loaders of most tasks number episodes."""
    return f"{scene_stem(scene_id)}-{row}"


def id_by_name(scene_id: str, name: str | int, row: int) -> str:
    """Our id: the scene and the id in the file, which is unique in the scene."""
    return f"{scene_stem(scene_id)}-{name}"


def make_episode(
    record: HabitatEpisode,
    row: Row,
    goal: Goal,
    make_id: Callable[[str, str | int, int], str] = id_by_row,
    *,
    has_difficulty: bool = True,
) -> Episode:
    """Our episode with `goal`.

    Without `has_difficulty`, the file's difficulty is left out: it speaks of another task.
    """
    info = record.info
    difficulty = present(info.difficulty, "") if has_difficulty and isinstance(info, Info) else ""
    return Episode(
        episode_id=make_id(record.scene_id, record.episode_id, row.index),
        scene_id=record.scene_id,
        start_position=as_position(record.start_position),
        start_yaw=row.yaw(record.start_rotation),
        goal=goal,
        geodesic_distance=geodesic_distance(info),
        difficulty=difficulty,
    )


def make_view_location(point: ViewPoint) -> ViewLocation:
    """Habitat's view point from ours."""
    half = point.yaw / 2
    state = AgentState(position=point.position, rotation=(0.0, math.sin(half), 0.0, math.cos(half)))
    return ViewLocation(agent_state=state, iou=point.coverage)


def as_number(object_id: str) -> int | str:
    """An object id as files write it: a number where it is one."""
    return int(object_id) if object_id.isdecimal() else object_id


def make_goal_record(instance: ObjectInstance) -> ObjectGoalRecord:
    """Habitat's goal from our object."""
    return ObjectGoalRecord(
        position=instance.position,
        radius=None,
        object_id=as_number(instance.object_id),
        object_name=instance.name or None,
        object_name_id=None,
        object_category=instance.category,
        room_id=None,
        room_name=None,
        view_points=[make_view_location(point) for point in instance.view_points],
    )
