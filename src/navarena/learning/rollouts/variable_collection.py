"""Variable collection: groups of slots step side by side, and none waits for the slowest.

After VER (Wijmans et al. 2022, "VER: Scaling On-Policy RL Leads to the Emergence of Navigation in Embodied
Rearrangement"): a rollout has a fixed number of frames, of which fast slots bring more. Every group has a
thread, in which it observes, acts, steps and resets; kernels and PyTorch release the GIL. What was seen last
gets its value from the policy of the rollout, and is decided about anew by the policy that was updated.
A rollout that other processes end early is filled up by the newest steps of older policies: those of a slot
stand before its fresh ones, as one sequence, of which the next rollout overwrites the oldest first.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from heapq import nlargest
from itertools import chain, count
from typing import Any, NamedTuple

from navarena.learning.distributed import ALONE, Processes
from navarena.learning.rollouts.collection import Clock, Collector
from navarena.learning.storage import EpisodeEnd, Rollout
from navarena.learning.tensors import Tree, torch


class Claims:
    """The frames of a rollout that are left, of which groups claim a step each time.

    Args:
        frames: of the whole rollout.
        processes: that collect for the same policy.
        preemption: share of them that ends the rollout when theirs are complete; as of Recipe.
    """

    def __init__(self, frames: int, processes: Processes = ALONE, preemption: float = 1.0) -> None:
        self._frames, self._left, self._lock = frames, frames, threading.Lock()
        self._processes, self._preemption = processes, preemption

    def take(self, frames: int) -> bool:
        """Claim `frames`; returns whether so many are left, and the rollout goes on."""
        with self._lock:
            if self._left < frames or self._processes.must_end(
                self._frames - self._left, self._frames, self._preemption
            ):
                return False
            self._left -= frames
            return True

    def stop(self) -> None:
        """Nothing is left."""
        with self._lock:
            self._left = 0


class Taken(NamedTuple):
    """A step of a group that is stored.

    Attributes:
        number: in the order in which all groups took theirs.
        state: of the policy before it.
    """

    number: int
    state: Tree


def count_stale(stored: Sequence[Sequence[int]], fresh: Sequence[int], steps: int) -> list[int]:
    """How many steps of older policies each group learns from again, beside its fresh ones.

    They fill up the rollout: the newest of all that were not overwritten.

    Args:
        stored: the numbers of the steps that each group had, ascending: Taken.number.
        fresh: steps of each group that were taken since then, over the oldest of these.
        steps: of all groups together in a whole rollout.
    """
    left = [numbers[own:] for numbers, own in zip(stored, fresh)]
    newest = set(nlargest(steps - sum(fresh), chain.from_iterable(left)))
    return [len(newest.intersection(numbers)) for numbers in left]


class VariableCollector:
    """Collects with several groups of as many slots, as a Collector does with one.

    Args:
        groups: each with a batch, episodes and generators of its own, and the same policy.
        frames: of a rollout, a multiple of a group's slots.
        processes: that collect for the same policy.
        preemption: share of them that ends this one's rollout; as of Recipe.

    Attributes:
        ended, dropped: as of Collector, of all groups.
        clock: where the time went, added up over the threads.
    """

    def __init__(
        self,
        groups: Sequence[Collector],
        frames: int,
        processes: Processes = ALONE,
        preemption: float = 1.0,
    ) -> None:
        self._groups, self._frames = groups, frames
        self._processes, self._preemption = processes, preemption
        self._may_end = processes.can_end(preemption)
        self._numbers, self._stored = count(), [list[Taken]() for _ in groups]
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

        Returns the steps of it that are learned from. Its `lengths` say how many each slot has, and `stale`
        how many of them are of older policies, where other processes have ended the rollout.

        Raises CheckFailedError as a Collector, when all groups have ended their steps.
        """
        # nothing fills up the first rollout, which therefore waits for all
        claims = Claims(self._frames, self._processes, self._preemption if any(self._stored) else 1.0)
        size = rollout.slots // len(self._groups)
        firsts = range(0, rollout.slots, size)
        taken = [list[Taken]() for _ in self._groups]

        def fill(group: Collector, first: int) -> Rollout:
            part, own = rollout.columns(first, first + size), taken[first // size]

            def claim(step: int) -> bool:
                if step >= part.steps or not claims.take(size):
                    return False
                if self._may_end:
                    own.append(Taken(next(self._numbers), group.state))
                return True

            try:
                return group.collect(part, done, claim)
            except BaseException:
                claims.stop()
                raise

        self._processes.begin_rollout()
        futures = [self._pool.submit(fill, *one) for one in zip(self._groups, firsts)]
        errors = [error for one in futures if (error := one.exception()) is not None]
        if errors:
            raise errors[0]
        self._processes.end_rollout()
        parts = [one.result() for one in futures]
        stale = self._fill_up(rollout, parts, taken)
        rollout.state = {name: torch.cat([part.state[name] for part in parts]) for name in parts[0].state}
        rollout.ends = [
            EpisodeEnd(end.step + older, end.slot + first, end.episode)
            for part, first, older in zip(parts, firsts, stale)
            for end in part.ends
        ]
        rollout.next_values = torch.cat([part.next_values for part in parts])
        device = rollout.next_values.device
        steps = torch.tensor([part.steps + older for part, older in zip(parts, stale)], device=device)
        whole = rollout.first(int(steps.max()))
        whole.lengths = steps.repeat_interleave(size)
        whole.stale = torch.tensor(stale, device=device).repeat_interleave(size) if any(stale) else None
        return whole

    def _fill_up(self, rollout: Rollout, parts: Sequence[Rollout], taken: Sequence[list[Taken]]) -> list[int]:
        """Put steps of older policies before the fresh `parts` of each group; returns how many, of each.

        Args:
            rollout: where all of them are stored.
            parts: of each group, whose state becomes that before the first of all steps.
            taken: the fresh steps of each.
        """
        size = rollout.slots // len(parts)
        numbers = [[one.number for one in own] for own in self._stored]
        stale = count_stale(numbers, [part.steps for part in parts], self._frames // size)
        for group, (part, older, fresh) in enumerate(zip(parts, stale, taken)):
            own = self._stored[group]
            if older:
                columns = rollout.columns(group * size, (group + 1) * size)
                columns.put_before(part.steps, len(own) - older, len(own))
                part.state = own[-older].state
            self._stored[group] = own[len(own) - older :] + fresh
        return stale

    def save_state(self) -> tuple[dict[str, Any], Tree]:
        """See Collector."""
        saved = [one.save_state() for one in self._groups]
        states = {name: torch.cat([state[name] for _, state in saved]) for name in saved[0][1]}
        return {"groups": [plain for plain, _ in saved]}, states

    def restore_state(self, plain: dict[str, Any], state: Tree) -> None:
        """See Collector."""
        groups = len(self._groups)
        for place, one in enumerate(self._groups):
            own = {name: value.chunk(groups)[place] for name, value in state.items()}
            one.restore_state(plain["groups"][place], own)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()
