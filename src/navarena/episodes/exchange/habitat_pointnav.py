"""PointNav of Habitat (PointNav-v1): `{"episodes": [...]}`, each with one goal position."""

from msgspec import UNSET

from navarena.episodes.episode import Episode
from navarena.episodes.exchange.format import EpisodeFormat, Row
from navarena.episodes.exchange.habitat import (
    HabitatEpisode,
    as_position,
    id_by_name,
    make_episode,
)
from navarena.episodes.exchange.records import Item, Maybe, Radius, Vector
from navarena.episodes.goals import PointGoal


class PointGoalRecord(Item, frozen=True, kw_only=True):
    """A goal: metres, world frame. `radius` is null or, in older files, 0.2."""

    position: Vector
    radius: Maybe[Radius] = UNSET


class PointNavRecord(HabitatEpisode, frozen=True, kw_only=True):
    """An episode of PointNav; exactly one goal.

    Attributes:
        goals: one.
        scene_state: present in some files of generated scenes, as written.
    """

    goals: list[PointGoalRecord]
    scene_state: Maybe[dict[str, object]] = UNSET


def convert(record: PointNavRecord, row: Row) -> Episode:
    """Our episode; its id is the scene and the id of the file."""
    if len(record.goals) != 1:
        raise row.error("goals", f"expected one goal, got {len(record.goals)}; drop the episode")
    return make_episode(record, row, PointGoal(as_position(record.goals[0].position)), id_by_name)


HABITAT_POINTNAV = EpisodeFormat(
    "habitat-pointnav", "PointNav of Habitat", "pointnav", PointNavRecord, convert, make_id=id_by_name
)
