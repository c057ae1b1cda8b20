"""Runs episodes through one batch with one agent, and journals each as it ends.

Every episode is a fresh start for the agent (Boundary.SCENE ends all memory), so that its outcome
depends neither on what ran before it nor on what runs beside it; memory that shall last runs the episodes
of a scene one after the other in one slot (see chains). When the agent raises while several episodes are
in flight, nobody knows whose fault it was: each of them is run again, alone and with a fresh agent, and
only those that raise again are failures.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol, runtime_checkable

import numpy as np

from navarena.agents.agent import Boundary, Start
from navarena.core.errors import ActionError, AgentTimeoutError, AgentUnreachableError
from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.chains import Chain, start_boundary, subtask_boundary
from navarena.evaluation.journal import Row, Status
from navarena.evaluation.rows import (
    describe_legal,
    find_legal,
    format_traceback,
    make_row,
    require_actions,
)
from navarena.evaluation.settings import EpisodeRules
from navarena.evaluation.times import EpisodeTimes, Stopwatch
from navarena.tasks.task import Actions


@runtime_checkable
class RowSink(Protocol):
    """Where finished rows go; JournalWriter is one."""

    def append(self, row: Row) -> None:
        """Keep `row`."""
        ...


@dataclass
class _Slot:
    """What runs in one slot: the place in its chain, and which of its episodes are journaled.

    `is_fresh` says that the agent has seen nothing yet of what comes next in the chain's memory.
    """

    chain: Chain
    place: int = 0
    is_fresh: bool = True
    finished: set[str] = field(default_factory=set)

    @property
    def episode(self) -> Episode:
        return self.chain.episodes[self.place]

    @property
    def is_new(self) -> bool:
        """Whether the running episode must be journaled; else it only rebuilds the agent's memory."""
        return self.episode.episode_id not in self.finished


class EpisodeLoop:
    """One worker's batch and agent.

    Args:
        benchmark: what is evaluated; its setup makes the batch and the agent here.
        slots: episodes side by side.
        rules: seed of the agent, its memory, and limits.
        journal: where finished episodes go.
        on_row: called after a row is on the disk.
        before_step: called before every step; may raise to end the loop.
        threads: of the batch; None for all cores.
        on_times: called with the times of each episode after its row is on the disk.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        slots: int,
        rules: EpisodeRules,
        journal: RowSink,
        on_row: Callable[[Row], object],
        before_step: Callable[[], object] = lambda: None,
        threads: int | None = None,
        on_times: Callable[[EpisodeTimes], object] = lambda times: None,
    ) -> None:
        self._benchmark, self._rules = benchmark, rules
        self._journal, self._on_row, self._before_step = journal, on_row, before_step
        self._on_times, self._watch = on_times, Stopwatch(slots)
        self._agent = benchmark.setup.make_agent()
        self._batch = benchmark.setup.make_batch(slots, tuple(self._agent.sensors), threads)
        self._agent.attach(self._batch)
        self._active = np.zeros(slots, bool)
        self._steps = np.zeros(slots, np.int64)
        self._slots: dict[int, _Slot] = {}
        self._suspects: deque[Chain] = deque()

    def run(self, chains: Iterator[Chain]) -> None:
        """Run everything that `chains` yields; it is asked whenever slots are free."""
        while True:
            self._fill(chains)
            if not self._active.any():
                return
            self._before_step()
            self._step()

    def _fill(self, chains: Iterator[Chain]) -> None:
        """Start episodes in the free slots until something runs or nothing is left."""
        while True:
            going_on = [slot for slot in self._slots if not self._active[slot]]
            if self._suspects:
                if self._slots:
                    chosen = {}
                else:
                    chosen = {0: _Slot(chain := self._suspects.popleft(), finished=set(chain.finished))}
            else:
                free = [slot for slot in range(len(self._active)) if slot not in self._slots]
                taken = zip(free, list(islice(chains, len(free))))
                chosen = {slot: _Slot(chain, finished=set(chain.finished)) for slot, chain in taken}
            self._slots.update(chosen)
            starting = sorted([*going_on, *chosen])
            if not starting:
                return
            self._start(starting)
            if self._active.any():
                return

    def _start(self, slots: list[int]) -> None:
        """Begin the episode that is next in each of `slots`."""
        episodes = [self._slots[slot].episode for slot in slots]
        self._watch.reset(slots)
        self._steps[slots] = 0
        self._active[slots] = True
        started = np.zeros_like(self._active)
        started[slots] = True
        with self._watch.measure(self._watch.simulator, started):
            self._batch.start(slots, episodes)
        starts = []
        for slot in slots:
            starts.append(self._describe(slot, start_boundary(self._slots[slot].is_fresh)))
            self._slots[slot].is_fresh = False
        self._tell(starts)

    def _describe(self, slot: int, boundary: Boundary) -> Start:
        episode = self._slots[slot].episode
        return Start(slot, episode.episode_id, episode.scene_id, boundary, self._rules.seed)

    def _tell(self, starts: list[Start]) -> None:
        """Let the agent know what began."""
        told = np.zeros_like(self._active)
        told[[start.slot for start in starts]] = True
        try:
            with self._watch.measure(self._watch.agent, told):
                self._agent.reset(starts)
        except AgentUnreachableError:
            raise
        except Exception as error:
            self._blame(error)

    def _step(self) -> None:
        """One action in every running slot."""
        with self._watch.measure(self._watch.simulator, self._active):
            observations = self._batch.observations  # a scene that cannot show them is not the agent's fault
        try:
            with self._watch.measure(self._watch.agent, self._active):
                chosen = self._agent.act(observations, self._active.copy())
        except AgentUnreachableError:
            raise
        except Exception as error:
            self._blame(error)
            return
        actions = require_actions(chosen, len(self._active), self._benchmark)
        self._dismiss(actions)
        if not self._active.any():
            return
        actions[~self._active] = 0
        with self._watch.measure(self._watch.simulator, self._active):
            result = self._batch.step(actions, self._active.copy())
        self._steps += self._active
        for slot in np.flatnonzero(self._active & (result.terminated | result.truncated)):
            self._finish(int(slot), "ok")
        if self._rules.steps is not None:
            for slot in np.flatnonzero(self._active & (self._steps >= self._rules.steps)):
                self._finish(int(slot), "step_limit")
        if result.began is not None and (self._active & result.began).any():
            boundary = subtask_boundary(self._rules.forget)
            began = np.flatnonzero(self._active & result.began).tolist()
            self._tell([self._describe(slot, boundary) for slot in began])

    def _dismiss(self, actions: Actions) -> None:
        """End the episodes whose agent chose what does not exist, or took too long to choose."""
        for slot in np.flatnonzero(self._active & ~find_legal(actions, self._benchmark)):
            legal = describe_legal(self._benchmark)
            self._finish(int(slot), "illegal_action", f"expected {legal}, got {actions[slot]}")
        limit = self._rules.seconds
        if limit is not None:
            for slot in np.flatnonzero(self._active & (self._watch.agent > limit)):
                taken = f"{self._watch.agent[slot]:.3f} s for {int(self._steps[slot]) + 1} actions"
                self._finish(int(slot), "timed_out", f"expected at most {limit:g} s, the agent took {taken}")

    def _blame(self, error: Exception) -> None:
        """Find out whose fault an exception of the agent is; the agent is replaced by a fresh one."""
        if len(self._slots) == 1:
            (number, slot), *_ = self._slots.items()
            slot.is_fresh = True
            self._finish(number, _status_of(error), format_traceback(error))
        else:
            self._suspects.extend(slot.chain.after(slot.finished) for slot in self._slots.values())
            self._slots.clear()
            self._active[:] = False
        self._agent = self._benchmark.setup.make_agent()
        self._agent.attach(self._batch)

    def _finish(self, number: int, status: Status, problem: str | None = None) -> None:
        """Journal the episode in a slot, and let the slot go on with its chain, or free it."""
        slot = self._slots[number]
        self._active[number] = False
        if slot.is_new:
            row = make_row(self._benchmark, slot.episode, self._batch.trajectory(number), status, problem)
            began = time.perf_counter()
            self._journal.append(row)
            output = time.perf_counter() - began
            slot.finished.add(row.episode_id)
            simulator, agent = float(self._watch.simulator[number]), float(self._watch.agent[number])
            self._on_times(
                EpisodeTimes(episode_id=row.episode_id, simulator=simulator, agent=agent, output=output)
            )
            self._on_row(row)
        slot.place += 1
        if slot.place == len(slot.chain.episodes):
            del self._slots[number]


def _status_of(error: Exception) -> Status:
    """How an episode ended whose agent raised `error`."""
    if isinstance(error, AgentTimeoutError):
        return "timed_out"
    return "illegal_action" if isinstance(error, ActionError) else "crashed"
