"""Episodes that an agent meets one after the other with its memory kept, and where that memory ends."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from navarena.agents.agent import Boundary
from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.episodes.episode import Episode

Forget = Literal["subtask", "episode", "never"]
"""When an agent is told to forget: at every goal, at every episode, or only when the scene changes."""


@dataclass(frozen=True)
class Chain:
    """Episodes that one slot runs in their order.

    Attributes:
        episodes: of one scene.
        finished: ids of those that are journaled; they are run again only to rebuild the agent's memory.
    """

    episodes: tuple[Episode, ...]
    finished: frozenset[str] = frozenset()

    @property
    def left(self) -> tuple[Episode, ...]:
        """The episodes that are not finished."""
        return tuple(one for one in self.episodes if one.episode_id not in self.finished)

    @property
    def scene_id(self) -> str:
        """Where all of them take place."""
        return self.episodes[0].scene_id

    def after(self, finished: Iterable[str]) -> "Chain":
        """The same with more of them finished."""
        return replace(self, finished=self.finished.union(finished))


def make_chains(episodes: Sequence[Episode], finished: set[str], forget: Forget) -> list[Chain]:
    """What is left to run: an episode at a time, or whole scenes when memory lasts for them."""
    if forget != "never":
        return [Chain((one,)) for one in episodes if one.episode_id not in finished]
    scenes: dict[str, list[Episode]] = {}
    for one in episodes:
        scenes.setdefault(one.scene_id, []).append(one)
    chains = [
        Chain(tuple(members), frozenset(finished.intersection(one.episode_id for one in members)))
        for members in scenes.values()
    ]
    return [chain for chain in chains if chain.left]


def shuffle_chains(chains: Sequence[Chain], seed: int) -> list[Chain]:
    """`chains` in an order drawn by `seed`."""
    order = make_generator("evaluation", "shuffle", seed).permutation(len(chains))
    return [chains[place] for place in order.tolist()]


def start_boundary(is_fresh: bool) -> Boundary:
    """What ended before an episode: all, or nothing that memory should end with."""
    return Boundary.SCENE if is_fresh else Boundary.SUBTASK


def subtask_boundary(forget: Forget) -> Boundary:
    """What an agent is told when a goal has been reached and the next one begins."""
    return Boundary.EPISODE if forget == "subtask" else Boundary.SUBTASK


def require_forget(text: str | None) -> Forget:
    """The `--forget` of a command; None is the protocols' own. Raises InputError."""
    if text in ("subtask", "never"):
        return text  # type: ignore[return-value]
    if text in (None, "episode"):
        return "episode"
    raise InputError(f"expected forget to be subtask, episode or never, got {text!r}")
