"""Detection of a file's format from its content, not from its name."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from msgspec import Raw

from navarena.core.errors import FileError, InputError, NavarenaError, describe_error
from navarena.core.registry import Registry
from navarena.episodes.exchange.format import Content, EpisodeFormat
from navarena.episodes.exchange.goat_bench import GOAT_BENCH
from navarena.episodes.exchange.habitat_objectnav import HABITAT_OBJECTNAV_HM3D, HABITAT_OBJECTNAV_MP3D, OVON
from navarena.episodes.exchange.habitat_pointnav import HABITAT_POINTNAV
from navarena.episodes.exchange.instance_imagenav import INSTANCE_IMAGENAV
from navarena.episodes.exchange.multion import MULTION
from navarena.episodes.exchange.r2r_ce import R2R_CE
from navarena.episodes.exchange.robothor import (
    ROBOTHOR_2020,
    ROBOTHOR_2021,
    ROBUSTNAV_OBJECTNAV,
    ROBUSTNAV_POINTNAV,
)

_OWN = {
    "habitat-pointnav": "navarena.episodes.exchange.habitat_pointnav:HABITAT_POINTNAV",
    "habitat-objectnav-mp3d": "navarena.episodes.exchange.habitat_objectnav:HABITAT_OBJECTNAV_MP3D",
    "habitat-objectnav-hm3d": "navarena.episodes.exchange.habitat_objectnav:HABITAT_OBJECTNAV_HM3D",
    "instance-imagenav": "navarena.episodes.exchange.instance_imagenav:INSTANCE_IMAGENAV",
    "ovon": "navarena.episodes.exchange.habitat_objectnav:OVON",
    "goat-bench": "navarena.episodes.exchange.goat_bench:GOAT_BENCH",
    "multion": "navarena.episodes.exchange.multion:MULTION",
    "robothor-2020": "navarena.episodes.exchange.robothor:ROBOTHOR_2020",
    "robothor-2021": "navarena.episodes.exchange.robothor:ROBOTHOR_2021",
    "robustnav-pointnav": "navarena.episodes.exchange.robothor:ROBUSTNAV_POINTNAV",
    "robustnav-objectnav": "navarena.episodes.exchange.robothor:ROBUSTNAV_OBJECTNAV",
    "r2r-ce": "navarena.episodes.exchange.r2r_ce:R2R_CE",
}

_OBJECTNAV = (HABITAT_OBJECTNAV_MP3D, HABITAT_OBJECTNAV_HM3D, OVON)
"""Formats that differ in optional fields alone, so that the parts of one data set may show several."""

_OBJECTNAV_MAPS = {
    "category_to_mp3d_category_id": HABITAT_OBJECTNAV_MP3D,
    "category_to_scene_annotation_category_id": HABITAT_OBJECTNAV_HM3D,
}
"""A field at the top level -> the format that has it; OVON, which shows in its episodes, may have either."""

EPISODE_FORMATS = Registry("episode format", _OWN, "navarena.episode_formats")
"""Name -> EpisodeFormat; those of installed packages are asked first."""

_OTHERS = {
    "instructions": ("Room-to-Room", "navarena evaluate r2r-v1 --agent expert --dataset {} --scenes GRAPHS"),
    "tour_id": ("Iterative VLN", "navarena evaluate ir2r-v1 --agent expert --dataset R2R_FILE --tours {}"),
}
"""A field of an episode that only a format has which is read elsewhere: its title, and the command for it."""


def detect_format(content: Content) -> EpisodeFormat | None:
    """The format of a file; None for a file without episodes whose top level does not show it.

    Raises FileError for another kind of file, with the formats that are read.
    """
    if "format" in content.top and "protocol_id" in content.top:
        raise FileError(f"{content.path} is a list of navarena's own; read it with load_episode_file")
    episode = content.first_episode()
    for layout in _added_formats():
        if layout.is_list == content.is_list and _recognises(layout, episode):
            return layout
    for field, (title, command) in _OTHERS.items():
        if field in episode:
            raise FileError(
                f"{content.path} holds episodes of {title}, which this command does not read; evaluate on "
                f"them: {command.format(content.path)}"
            )
    found = _format_of_list(episode) if content.is_list else _format_of_object(content, episode)
    is_empty = not content.episodes and (content.is_list or "episodes" in content.top)
    if found is None and not is_empty:
        shown = ", ".join(sorted(episode or content.top)[:8]) or "none"
        raise FileError(
            f"expected an episode file of one of the formats {', '.join(EPISODE_FORMATS.names())}, got "
            f"fields {shown} in {content.path}; check the path, or `navarena list episode-formats`"
        )
    return found


def detect_common_format(contents: Iterable[Content]) -> EpisodeFormat | None:
    """The format of a data set in parts, as the first one with episodes shows it, else as one without.

    Parts of ObjectNav that only hint at their format leave it to a stub before them, or to later parts.
    No more parts are read than are needed.
    """
    stub = hint = None
    for content in contents:
        found = detect_format(content)
        if not content.episodes:
            stub = stub or found
        elif found is OVON or found not in _OBJECTNAV or any(key in content.top for key in _OBJECTNAV_MAPS):
            return found
        elif stub in _OBJECTNAV:
            return stub
        else:
            hint = hint or found
    return hint or stub


def may_stand_together(one: EpisodeFormat | None, other: EpisodeFormat | None) -> bool:
    """Whether files that look like these two formats may be parts of one data set."""
    return one == other or (one in _OBJECTNAV and other in _OBJECTNAV)


@cache
def _added_formats() -> tuple[EpisodeFormat, ...]:
    """The formats of installed packages; reading entry points takes tens of milliseconds."""
    return tuple(EPISODE_FORMATS.get(name) for name in EPISODE_FORMATS.names() if name not in _OWN)


def _recognises(layout: EpisodeFormat, episode: Mapping[str, Any]) -> bool:
    """Whether the format of a package is that of an `episode`; raises InputError where its code fails."""
    try:
        return layout.recognises is not None and layout.recognises(episode)
    except NavarenaError:
        raise
    except Exception as error:
        raise InputError(
            f"the episode format {layout.name!r} failed to look at an episode; it raised "
            f"{describe_error(error)}; mend its package, or uninstall it"
        ) from error


def _format_of_list(episode: Mapping[str, Any]) -> EpisodeFormat | None:
    if "scene" not in episode or "initial_position" not in episode:
        return None
    if "object_type" not in episode:
        return ROBUSTNAV_POINTNAV if "target_position" in episode else None
    if "object_id" in episode:
        return ROBOTHOR_2020
    return ROBUSTNAV_OBJECTNAV if "difficulty" in episode else ROBOTHOR_2021


def _format_of_object(content: Content, episode: Mapping[str, Any]) -> EpisodeFormat | None:
    top = content.top
    if "episodes" not in top:
        return None
    if "goal_object_id" in episode or "goal_image_id" in episode:
        return INSTANCE_IMAGENAV
    if isinstance(episode.get("tasks"), list):
        return GOAT_BENCH
    if isinstance(episode.get("instruction"), dict):
        return R2R_CE
    goals = episode.get("goals")
    if isinstance(episode.get("object_category"), str) or "goals_by_category" in top:
        return _objectnav(content, episode)
    if _any_is_cylinder(top):
        return MULTION
    if _are_of_one_category(goals):
        return _objectnav(content, episode)
    if _any_has_category(goals):
        return MULTION
    if not episode:
        return _objectnav(content, episode)
    return HABITAT_POINTNAV if "start_position" in episode else None


def _objectnav(content: Content, episode: Mapping[str, Any]) -> EpisodeFormat | None:
    """OVON shows in any episode, the others by a map; where neither map stands, the scene hints at it."""
    if any(b'"children_object_categories"' in bytes(text) for text in content.episodes):
        return OVON
    for key, layout in _OBJECTNAV_MAPS.items():
        if key in content.top:
            return layout
    if not episode:
        return None
    return HABITAT_OBJECTNAV_HM3D if "hm3d" in str(episode.get("scene_id", "")) else HABITAT_OBJECTNAV_MP3D


def _any_is_cylinder(top: Mapping[str, Raw]) -> bool:
    text = top.get("category_to_task_category_id")
    return text is not None and b'"cylinder_' in bytes(text)


def _are_of_one_category(goals: Any) -> bool:
    """Whether goals are objects of one category, as in old files of ObjectNav; in MultiON all differ."""
    if not _any_has_category(goals) or not all(isinstance(goal, dict) for goal in goals):
        return False
    categories = {str(goal.get("object_category")) for goal in goals}
    return len(categories) == 1 and (len(goals) > 1 or bool(goals[0].get("view_points")))


def _any_has_category(goals: Any) -> bool:
    return isinstance(goals, list) and any(
        isinstance(goal, dict) and "object_category" in goal for goal in goals
    )
