"""The remaining episodes, divided into shares for workers."""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import groupby

from navarena.agents.declaration import Declaration
from navarena.core.errors import CheckFailedError
from navarena.evaluation.memory_groups import MemoryGroup

SHARES_PER_WORKER = 4
"""Into which what is left is divided: large shares first, which keep a worker in one scene, and single
episodes at the end, so that all workers finish together."""

ROUNDS = 2
"""With several workers, each starts this part of its episodes at most; the others go to who is free first."""


class ShareQueue:
    """Memory groups that no worker has taken.

    Args:
        groups: in evaluation order.
        workers: who take shares.
        least: episodes of a share, where its scene has as many.
    """

    def __init__(self, groups: Sequence[MemoryGroup], workers: int, least: int = 1) -> None:
        self._scenes = deque(deque(group) for _, group in groupby(groups, key=lambda one: one.scene_id))
        self._workers, self._least = workers, least
        self._left = sum(len(group.left) for group in groups)

    def __bool__(self) -> bool:
        return bool(self._scenes)

    def take(self) -> list[MemoryGroup]:
        """The next share: neighbours in one scene. Raises IndexError when none is left."""
        scene, share = self._scenes[0], [self._scenes[0].popleft()]
        room = max(self._least, math.ceil(self._left / (self._workers * SHARES_PER_WORKER)))
        room -= len(share[0].left)
        while scene and len(scene[0].left) <= room:
            share.append(scene.popleft())
            room -= len(share[-1].left)
        if not scene:
            self._scenes.popleft()
        self._left -= sum(len(group.left) for group in share)
        return share

    def give_back(self, groups: Iterable[MemoryGroup]) -> None:
        """Take what is left of a share whose worker has died."""
        returned = deque(group for group in groups if group.left)
        if returned:
            self._scenes.append(returned)
            self._left += sum(len(group.left) for group in returned)

    def require_empty(self, deaths: Sequence[str]) -> None:
        """Raise CheckFailedError when there is work left, because of the `deaths` of all workers."""
        if self:
            raise CheckFailedError(
                f"every worker died ({'; '.join(deaths)}) with {self._left} episodes left; "
                "run the same command again to go on"
            )


def count_slots(groups: int, workers: int, most: int) -> int:
    """Episodes that each of `workers` runs side by side: `most`, or fewer of a small run."""
    rounds = ROUNDS if workers > 1 else 1
    return max(1, min(most, math.ceil(groups / (workers * rounds))))


def choose_workers(declaration: Declaration, episodes: int, processors: int) -> int:
    """How many processes run `episodes` fastest, as far as the agent's `declaration` shows; at least 1."""
    if declaration.worker_episodes is None:
        return 1
    return max(1, min(processors, episodes // declaration.worker_episodes))
