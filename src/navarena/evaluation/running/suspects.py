"""Episodes in which an agent ended its process: each runs again, alone, and fails when it does so again."""

from collections import Counter, deque
from collections.abc import Collection, Iterable
from dataclasses import replace

from navarena.evaluation.memory_groups import MemoryGroup

PROCESS_ENDED = "the process of the agent ended"
"""How the problem begins of an episode that ended its process twice."""


class Suspects:
    """Groups that wait for a worker of their own, since a process ended while they ran."""

    def __init__(self) -> None:
        self._waiting: deque[MemoryGroup] = deque()
        self._ended: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def take(self) -> list[MemoryGroup]:
        """The next group, alone in its share; raises IndexError when none waits."""
        return [self._waiting.popleft()]

    def take_all(self) -> list[MemoryGroup]:
        """Everything that still waits."""
        groups = list(self._waiting)
        self._waiting.clear()
        return groups

    def accuse(self, left: Iterable[MemoryGroup], running: Collection[str], end: str) -> list[MemoryGroup]:
        """Count an end of a process; returns those of its groups that had no part in it.

        Args:
            left: groups that the process had not finished.
            running: ids of the episodes that ran. One that ran alone, and had been running at an end before,
                becomes fatal (see MemoryGroup).
            end: how the process ended.
        """
        self._ended.update(running)
        problem = f"{PROCESS_ENDED} twice in this episode: {end}; its actions are not known"
        fatal = {name: problem for name in running if len(running) == 1 and self._ended[name] > 1}
        harmless: list[MemoryGroup] = []
        for group in left:
            is_suspect = any(one.episode_id in running for one in group.left)
            (self._waiting if is_suspect else harmless).append(
                replace(group, fatal={**group.fatal, **fatal}) if is_suspect else group
            )
        return harmless
