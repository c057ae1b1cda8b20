"""Assignment of episodes to files of demonstrations, from the rows of the run alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from navarena.episodes.episode import Episode
from navarena.evaluation.demonstrations.wording import describe_goal
from navarena.evaluation.records.journal import Row

SHARD_FRAMES = 1000
"""A file is full with so many frames; it ends with an episode, or a tour."""


@dataclass(frozen=True)
class Planned:
    """Place of one episode.

    Attributes:
        index: of the episode, from 0.
        row: of the journal.
        episode: what it was.
        first: number of its first frame among all.
        task: what it asks for, in words.
        task_index: of these words.
    """

    index: int
    row: Row
    episode: Episode
    first: int
    task: str
    task_index: int


@dataclass(frozen=True)
class Shard:
    """Episodes whose frames share files.

    Attributes:
        number: from 0.
        episodes: those that are kept, in order; at least one.
        pairs: what is executed, in order: these, and what is not kept of their tours.
    """

    number: int
    episodes: tuple[Planned, ...]
    pairs: tuple[tuple[Row, Episode], ...]


def plan_shards(
    rows: Sequence[Row], episodes: Sequence[Episode], full: int, keeps: Callable[[Row], bool]
) -> list[Shard]:
    """Shards of the episodes that are kept and have at least one frame, in the order of the run's episodes.

    Args:
        rows: of a finished run, in any order.
        episodes: of the run; those of a tour follow each other.
        full: frames with which a shard is full.
        keeps: whether the episode of a row is kept.
    """
    by_id = {row.episode_id: row for row in rows}
    shards: list[Shard] = []
    kept: list[Planned] = []
    pairs: list[tuple[Row, Episode]] = []
    tasks: dict[str, int] = {}
    first = index = 0

    def close() -> None:
        if kept:
            shards.append(Shard(len(shards), tuple(kept), tuple(pairs)))
        kept.clear()
        pairs.clear()

    for _, members in groupby(episodes, key=lambda one: (one.scene_id, one.tour_id or one.episode_id)):
        own = [(by_id[one.episode_id], one) for one in members]
        if kept and first - kept[0].first >= full:
            close()
        chosen = [(row, one) for row, one in own if row.actions and keeps(row)]
        if not chosen:
            continue
        pairs.extend(own)
        for row, episode in chosen:
            task = describe_goal(episode.goal)
            number = tasks.setdefault(task, len(tasks))
            kept.append(Planned(index, row, episode, first, task, number))
            first, index = first + len(row.actions), index + 1
    close()
    return shards
