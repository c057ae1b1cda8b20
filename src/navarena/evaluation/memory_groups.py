"""Memory groups: episodes that one slot runs in their order, and where the agent's memory ends in them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from navarena.agents.agent import Boundary
from navarena.core.seeding import make_generator
from navarena.episodes.episode import Episode
from navarena.evaluation.settings import Forget


@dataclass(frozen=True)
class MemoryGroup:
    """Episodes that one slot runs in their order.

    Attributes:
        episodes: of one scene.
        finished: ids of those that are journaled; they are run again only to rebuild the agent's memory.
        fatal: id -> what happened, of those that ended the process of the agent; they are not run again.
    """

    episodes: tuple[Episode, ...]
    finished: frozenset[str] = frozenset()
    fatal: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def left(self) -> tuple[Episode, ...]:
        """The episodes that are not finished."""
        return tuple(one for one in self.episodes if one.episode_id not in self.finished)

    @property
    def scene_id(self) -> str:
        """The scene of all episodes of the group."""
        return self.episodes[0].scene_id

    def after(self, finished: Iterable[str]) -> "MemoryGroup":
        """A copy with further episodes finished."""
        return replace(self, finished=self.finished.union(finished))


def make_groups(
    episodes: Sequence[Episode],
    finished: set[str],
    forget: Forget,
    fatal: Mapping[str, str] = MappingProxyType({}),
) -> list[MemoryGroup]:
    """Groups that are left to run: tours, single episodes outside tours, or scenes if memory lasts for them.

    Args:
        episodes: in evaluation order.
        finished: ids of those that are journaled.
        forget: when the agent must forget.
        fatal: see MemoryGroup.
    """
    by_key: dict[tuple[str, ...], list[Episode]] = {}
    for one in episodes:
        key: tuple[str, ...] = (one.scene_id,)
        if forget != "never":
            key = (one.scene_id, one.tour_id, "" if one.tour_id else one.episode_id)
        by_key.setdefault(key, []).append(one)
    groups = [
        MemoryGroup(
            tuple(members),
            frozenset(finished.intersection(one.episode_id for one in members)),
            {one.episode_id: fatal[one.episode_id] for one in members if one.episode_id in fatal},
        )
        for members in by_key.values()
    ]
    return [group for group in groups if group.left]


def shuffle_groups(groups: Sequence[MemoryGroup], seed: int) -> list[MemoryGroup]:
    """`groups` in an order drawn by `seed`."""
    order = make_generator("evaluation", "shuffle", seed).permutation(len(groups))
    return [groups[place] for place in order.tolist()]


def start_boundary(group: MemoryGroup, place: int, is_fresh: bool, forget: Forget) -> Boundary:
    """The boundary before episode `place` of a group, for an agent that has seen the ones before it, if any.

    Args:
        group: of the episode.
        place: index of the episode in it.
        is_fresh: whether the agent has no memory of the group.
        forget: when it must forget.
    """
    if is_fresh:
        return Boundary.SCENE
    if not group.episodes[place].tour_id:
        return Boundary.SUBTASK
    return Boundary.SCENE if forget in ("subtask", "episode") else Boundary.EPISODE


def subtask_boundary(forget: Forget) -> Boundary:
    """The boundary that an agent gets when a goal has been reached and the next one begins."""
    return Boundary.EPISODE if forget == "subtask" else Boundary.SUBTASK


def is_own_rule(forget: Forget, episodes: Sequence[Episode]) -> bool:
    """Whether the memory rule is that of the protocol of `episodes`."""
    return forget == "tour" or (forget == "episode" and not any(one.tour_id for one in episodes))
