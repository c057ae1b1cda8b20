"""Variable collection: groups of slots step side by side, and none waits for the slowest.

After VER (Wijmans et al. 2022, "VER: Scaling On-Policy RL Leads to the Emergence of Navigation in Embodied
Rearrangement"): a rollout has a fixed number of frames, of which fast slots bring more. Every group has a
thread, in which it observes, acts, steps and resets; kernels and PyTorch release the GIL. What was seen last
gets its value from the policy of the rollout, and is decided about anew by the policy that was updated.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from navarena.learning.rollouts.collection import Clock, Collector
from navarena.learning.storage import EpisodeEnd, Rollout
from navarena.learning.tensors import Tree, torch


class Claims:
    """The frames of a rollout that are left, of which groups claim a step each time.

    Args:
        frames: of the whole rollout.
    """

    def __init__(self, frames: int) -> None:
        self._left, self._lock = frames, threading.Lock()

    def take(self, frames: int) -> bool:
        """Claim `frames` if so many are left; returns whether they were."""
        with self._lock:
            if self._left < frames:
                return False
            self._left -= frames
            return True

    def stop(self) -> None:
        """Nothing is left."""
        with self._lock:
            self._left = 0


class VariableCollector:
    """Collects with several groups of as many slots, as a Collector does with one.

    Args:
        groups: each with a batch, episodes and generators of its own, and the same policy.
        frames: of a rollout, a multiple of a group's slots.

    Attributes:
        ended, dropped: as of Collector, of all groups.
        clock: where the time went, added up over the threads.
    """

    def __init__(self, groups: Sequence[Collector], frames: int) -> None:
        self._groups, self._frames = groups, frames
        self._pool = ThreadPoolExecutor(len(groups), thread_name_prefix="navarena-collection")
        self.clock = Clock()
        for one in groups:
            one.clock = self.clock

    @property
    def ended(self) -> list[dict[str, float]]:
        """See Collector."""
        return [row for one in self._groups for row in one.ended]

    @ended.setter
    def ended(self, rows: list[dict[str, float]]) -> None:
        for place, one in enumerate(self._groups):
            one.ended = list(rows) if place == 0 else []

    @property
    def dropped(self) -> int:
        """See Collector."""
        return sum(one.dropped for one in self._groups)

    def collect(self, rollout: Rollout, done: float) -> Rollout:
        """Fill `rollout`, which has memory for more steps than the mean; see Collector for `done`.

        Returns the steps of it that some group took. Its `lengths` say how many each slot has.

        Raises CheckFailedError as a Collector, when all groups have ended their steps.
        """
        claims = Claims(self._frames)
        size = rollout.slots // len(self._groups)
        firsts = range(0, rollout.slots, size)

        def fill(group: Collector, first: int) -> Rollout:
            part = rollout.columns(first, first + size)
            try:
                return group.collect(part, done, lambda step: step < part.steps and claims.take(size))
            except BaseException:
                claims.stop()
                raise

        futures = [self._pool.submit(fill, *one) for one in zip(self._groups, firsts)]
        errors = [error for one in futures if (error := one.exception()) is not None]
        if errors:
            raise errors[0]
        parts = [one.result() for one in futures]
        rollout.state = {name: torch.cat([part.state[name] for part in parts]) for name in parts[0].state}
        rollout.ends = [
            EpisodeEnd(end.step, end.slot + first, end.episode)
            for part, first in zip(parts, firsts)
            for end in part.ends
        ]
        rollout.next_values = torch.cat([part.next_values for part in parts])
        steps = torch.tensor([part.steps for part in parts], device=rollout.next_values.device)
        whole = rollout.first(int(steps.max()))
        whole.lengths = steps.repeat_interleave(size)
        return whole

    def save_state(self) -> tuple[dict[str, Any], Tree]:
        """See Collector."""
        saved = [one.save_state() for one in self._groups]
        states = {name: torch.cat([state[name] for _, state in saved]) for name in saved[0][1]}
        return {"groups": [plain for plain, _ in saved]}, states

    def restore_state(self, plain: dict[str, Any], state: Tree) -> None:
        """See Collector."""
        count = len(self._groups)
        for place, one in enumerate(self._groups):
            own = {name: value.chunk(count)[place] for name, value in state.items()}
            one.restore_state(plain["groups"][place], own)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()
