"""The remaining episodes, divided into shares for workers, and what becomes of those of workers that died.

A worker that an agent ended leaves suspects: the episodes that ran then. Each runs again, alone, and fails
when it ends its worker again.
"""

import math
from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from navarena.agents.declaration import Declaration
from navarena.core.errors import CheckFailedError
from navarena.evaluation.memory_groups import MemoryGroup

SHARES_PER_WORKER = 4
"""Into which what is left is divided: large shares first, which keep a worker in one scene, and single
episodes at the end, so that all workers finish together."""

ROUNDS = 2
"""With several workers, each starts this part of its episodes at most; the others go to who is free first."""


PROCESS_ENDED = "the process of the agent ended"
"""How the problem begins of an episode that ended its process twice."""


class ShareQueue:
    """Queue of memory groups that no worker has taken; true while it is not empty.

    Args:
        groups: in evaluation order.
        workers: who take shares.
        least: episodes of a share, where its scene has as many.

    Attributes:
        deaths: a notice for each worker that died.
    """

    def __init__(self, groups: Sequence[MemoryGroup], workers: int, min_episodes: int = 1) -> None:
        self._scenes = deque(deque(group) for _, group in groupby(groups, key=lambda one: one.scene_id))
        self._workers, self._min_episodes = workers, min_episodes
        self._left = sum(len(group.left) for group in groups)
        self._suspects: deque[MemoryGroup] = deque()
        self._ended: Counter[str] = Counter()
        self.deaths: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._scenes or self._suspects)

    @property
    def has_suspects(self) -> bool:
        """Whether the next share of an idle worker is a suspect."""
        return bool(self._suspects)

    def take(self, is_idle: bool = True) -> list[MemoryGroup]:
        """The next share: a suspect alone, which only idle workers get, or neighbours in one scene.

        It is empty when there is none.
        """
        if is_idle and self._suspects:
            return [self._suspects.popleft()]
        if not self._scenes:
            return []
        scene, share = self._scenes[0], [self._scenes[0].popleft()]
        room = max(self._min_episodes, math.ceil(self._left / (self._workers * SHARES_PER_WORKER)))
        room -= len(share[0].left)
        while scene and len(scene[0].left) <= room:
            share.append(scene.popleft())
            room -= len(share[-1].left)
        if not scene:
            self._scenes.popleft()
        self._left -= sum(len(group.left) for group in share)
        return share

    def note_death(
        self, worker: str, left: Sequence[MemoryGroup], running: Collection[str], end: str
    ) -> None:
        """Requeue the episodes of a worker that was killed, by a signal or with its machine.

        Args:
            worker: its name.
            left: groups that it had not finished.
            running: ids of the episodes that ran.
            end: how it ended.
        """
        self.deaths.append(f"{worker}: {end} ({', '.join(sorted(running))})")
        self._give_back(left)

    def note_suspects(
        self, worker: str, left: Sequence[MemoryGroup], running: Collection[str], end: str
    ) -> None:
        """Requeue the episodes of a worker that its agent ended; running ones are suspect. See note_death.

        An episode that ran alone, and had run at such an end before, becomes fatal (see MemoryGroup).
        """
        self._ended.update(running)
        problem = f"{PROCESS_ENDED} twice in this episode: {end}; its actions are not known"
        fatal = {name: problem for name in running if len(running) == 1 and self._ended[name] > 1}
        harmless = []
        for group in left:
            if any(one.episode_id in running for one in group.left):
                self._suspects.append(replace(group, fatal={**group.fatal, **fatal}))
            else:
                harmless.append(group)
        self.note_death(worker, harmless, running, end)

    def _give_back(self, groups: Iterable[MemoryGroup]) -> None:
        returned = deque(group for group in groups if group.left)
        if returned:
            self._scenes.append(returned)
            self._left += sum(len(group.left) for group in returned)

    def require_empty(self) -> None:
        """Raise CheckFailedError when there is work left, since all workers died."""
        self._give_back(self._suspects)
        if self:
            raise CheckFailedError(
                f"every worker died ({'; '.join(self.deaths)}) with {self._left} episodes left; "
                "run the same command again to go on"
            )


def count_slots(groups: int, workers: int, max_slots: int) -> int:
    """Episodes that each of `workers` runs side by side: `max_slots`, or fewer of a small run."""
    rounds = ROUNDS if workers > 1 else 1
    return max(1, min(max_slots, math.ceil(groups / (workers * rounds))))


def choose_workers(declaration: Declaration, episodes: int, processors: int) -> int:
    """How many processes run `episodes` fastest, as far as the agent's `declaration` shows; at least 1."""
    if declaration.worker_episodes is None:
        return 1
    return max(1, min(processors, episodes // declaration.worker_episodes))
