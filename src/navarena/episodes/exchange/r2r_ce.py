"""R2R in continuous scenes: `{split}.json.gz` of VLN-CE, and the reference paths beside it.

An episode has one goal, the waypoints of the described path, and the instruction as text and as numbers
of words; the vocabulary stands at the top level. Test splits hide goal and path. `{split}_gt.json.gz` holds
the expert's places, actions and forward steps by episode id; where it lies beside the episodes, nDTW, sDTW
and CLS compare with these places, as in the reference evaluation. `gt_ndtw.json` of IVLN-CE has those of
whole tours.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from jaxtyping import Float64
from msgspec import UNSET

from navarena.core.errors import FileError
from navarena.core.files import read_json
from navarena.episodes.episode import Episode, require_instruction
from navarena.episodes.exchange.format import EpisodeFormat, Row
from navarena.episodes.exchange.habitat import HabitatEpisode, Info, as_position, geodesic_distance
from navarena.episodes.exchange.records import Item, Maybe, Radius, Vector, present
from navarena.episodes.goals import InstructionGoal, Position
from navarena.episodes.sequence import MappedEpisodes

KIND = "file of reference paths of VLN-CE"

AGENT_PHASE = "agent"
"""Phase of the places of a tour where the agent acts; an oracle leads it through the others."""


class GoalRecord(Item, frozen=True, kw_only=True):
    """The end of a path, and the metres within which it is reached (3)."""

    position: Vector
    radius: Maybe[Radius] = UNSET


class InstructionRecord(Item, frozen=True, kw_only=True):
    """A text, and its words as numbers."""

    instruction_text: str
    instruction_tokens: Maybe[list[int]] = UNSET


class R2RCERecord(HabitatEpisode, frozen=True, kw_only=True):
    """An episode of VLN-CE.

    Attributes:
        trajectory_id: of the path, which several instructions describe.
        instruction: what to do.
        goals: one; null in test splits.
        reference_path: waypoints, metres, world frame; null in test splits, which hide the goal, too.
    """

    trajectory_id: int | str
    instruction: InstructionRecord
    goals: Maybe[list[GoalRecord]] = UNSET
    reference_path: Maybe[list[Vector]] = UNSET


def convert(record: R2RCERecord, row: Row) -> Episode:
    """Our episode, with the id of the file, which tours refer to."""
    goals = present(record.goals, [])
    if len(goals) > 1:
        raise row.error("goals", f"expected one goal, got {len(goals)}; drop the episode")
    info = record.info
    start = as_position(record.start_position)
    path = [as_position(point) for point in present(record.reference_path, [])]
    if goals and not path:
        raise row.error(
            "reference_path",
            "expected the waypoints of the described path, got none: nDTW, sDTW and CLS compare with them; "
            "drop the episode or download the file again",
        )
    path = path or [start]
    if goals and as_position(goals[0].position) != path[-1]:
        path.append(as_position(goals[0].position))
    return Episode(
        episode_id=str(record.episode_id),
        scene_id=record.scene_id,
        start_position=start,
        start_yaw=row.yaw(record.start_rotation),
        goal=InstructionGoal(
            record.instruction.instruction_text,
            tuple(path),
            str(record.trajectory_id),
            tuple(present(record.instruction.instruction_tokens, ())),
        ),
        geodesic_distance=geodesic_distance(info) if isinstance(info, Info) else None,
    )


R2R_CE = EpisodeFormat(
    "r2r-ce", "R2R in continuous scenes (VLN-CE)", "r2r", R2RCERecord, convert, header=("instruction_vocab",)
)


@dataclass(frozen=True)
class FollowedGoal(InstructionGoal):
    """The goal of a described path that an expert has followed.

    Attributes:
        followed: where the expert was, step by step, metres, world frame: what metrics compare with.
    """

    followed: tuple[Position, ...] = field(default=(), repr=False)


def follow_expert(episodes: Sequence[Episode], expert: Path) -> MappedEpisodes:
    """Episodes of VLN-CE with the places of an expert.

    Args:
        episodes: without.
        expert: `{split}_gt.json.gz`; raises FileError for another kind of file, and, when an episode is
            read, for one without places.
    """
    follow = partial(follow_places, places=load_expert_places(expert), file=expert)
    return MappedEpisodes(episodes, follow, find_scene=str)


def follow_places(episode: Episode, places: "Places", file: str | Path) -> Episode:
    """`episode` with the places of an expert as the path that metrics compare with.

    Raises FileError, naming `file`, for an episode without places.
    """
    own = places.get(episode.episode_id)
    if own is None or not len(own):
        raise FileError(
            f"expected the places of an expert for every episode in {file}, got none for "
            f"{episode.episode_id!r}; give the file of the same split, or take it away"
        )
    goal = require_instruction(episode)
    followed = tuple((x, y, z) for x, y, z in own.tolist())
    known = {field.name: getattr(goal, field.name) for field in fields(InstructionGoal)}
    return replace(episode, goal=FollowedGoal(**known, followed=followed))


def expert_file(path: Path) -> Path | None:
    """The file of the expert's places beside an episode file: val_seen_gt.json.gz of val_seen.json.gz."""
    name = path.name.removesuffix(".gz").removesuffix(".json")
    found = [path.with_name(f"{name}_gt{ending}") for ending in (".json.gz", ".json")]
    return next((one for one in found if one.is_file()), None)


class _Expert(msgspec.Struct):
    locations: list[Vector]


class _Place(msgspec.Struct):
    position: Vector
    episode_id: int | str
    phase: str = AGENT_PHASE


Places = dict[str, Float64[np.ndarray, "_ 3"]]
"""Episode id -> (M, 3) metres, world frame: where the expert was."""


def load_expert_places(path: Path) -> Places:
    """The places of `{split}_gt.json.gz`, by episode id; raises FileError for another kind of file."""
    raw: dict[str, _Expert] = read_json(path, KIND, dict[str, _Expert])
    return {name: np.array(expert.locations, float).reshape(-1, 3) for name, expert in raw.items()}


def load_tour_places(path: Path, split: str) -> Places:
    """The places of one split of `gt_ndtw.json`, by episode id; raises FileError.

    Every step of the expert counts, turns in place included, but none on which an oracle leads the agent
    between the episodes, as in the reference evaluation.
    """
    raw: dict[str, dict[str, list[_Place]]] = read_json(path, KIND, dict[str, dict[str, list[_Place]]])
    if split not in raw:
        raise FileError(f"expected the split {split!r} in {path}, got {', '.join(sorted(raw))}")
    places: dict[str, list[Vector]] = {}
    for steps in raw[split].values():
        for step in (one for one in steps if one.phase == AGENT_PHASE):
            places.setdefault(str(step.episode_id), []).append(step.position)
    return {name: np.array(points, float) for name, points in places.items()}
