"""Assignment of episodes to files of demonstrations, from the rows of the run alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from navarena.episodes.episode import Episode
from navarena.episodes.goals import (
    Goal,
    ImageGoal,
    InstructionGoal,
    LifelongGoal,
    MultiGoal,
    ObjectGoal,
    PointGoal,
    Subtask,
)
from navarena.evaluation.records.journal import Row


def describe_goal(goal: Goal) -> str:
    """One line of text for `goal`: its instruction if it has one, else a sentence with its names."""
    if isinstance(goal, InstructionGoal):
        return " ".join(goal.instruction.split())
    if isinstance(goal, PointGoal):
        return "Go to the point."
    if isinstance(goal, ObjectGoal):
        return f"Find: {goal.category}."
    if isinstance(goal, ImageGoal):
        return "Find what the image shows."
    if isinstance(goal, MultiGoal):
        return f"Find in this order: {', '.join(one.category for one in goal.objects)}."
    if isinstance(goal, LifelongGoal):
        return f"Find in this order: {'; '.join(_describe_subtask(one) for one in goal.subtasks)}."
    return "Reach the goal."


def _describe_subtask(subtask: Subtask) -> str:
    if subtask.modality == "image":
        return "what the image shows"
    return subtask.description.strip().rstrip(".") or subtask.category


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
