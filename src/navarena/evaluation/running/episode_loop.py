"""Runs episodes through one batch with one agent, and journals each as it ends.

Every episode is a fresh start for the agent (Boundary.SCENE ends all memory), so that its outcome
depends neither on what ran before it nor on what runs beside it; where memory lasts, the episodes of a
tour or a scene run one after the other in one slot (see memory_groups). When the agent raises while several
episodes are in flight, nobody knows whose fault it was: each of them is run again, alone and with a fresh
agent, and only those that raise again are failures.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Boundary, Start, require_actions
from navarena.agents.declaration import read_declaration
from navarena.agents.loading import guard
from navarena.core.errors import ActionError, AgentTimeoutError, AgentUnreachableError, StorageError
from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import Batch, BatchAgent, Benchmark
from navarena.evaluation.memory_groups import MemoryGroup, start_boundary, subtask_boundary
from navarena.evaluation.records.journal import Row, Status
from navarena.evaluation.records.times import EpisodeTimes, Stopwatch
from navarena.evaluation.running.rows import (
    describe_legal,
    find_legal,
    find_tour_place,
    format_traceback,
    make_row,
)
from navarena.evaluation.running.spectator import NOBODY, Spectator
from navarena.evaluation.settings import EpisodeRules
from navarena.tasks.task import Actions

ENDING = (AgentUnreachableError, StorageError, KeyboardInterrupt)
"""Exceptions during an agent's turn that end the run: no episode fails by a lost server or a full disk."""


@runtime_checkable
class RowSink(Protocol):
    """Sink of finished rows; JournalWriter is one."""

    def append(self, row: Row) -> None:
        """Keep `row`."""
        ...


@dataclass
class _Slot:
    """State of one slot: the place in its group, and which of its episodes are journaled.

    `is_fresh` says that the agent has seen nothing yet of what comes next in the group's memory.
    """

    group: MemoryGroup
    place: int = 0
    is_fresh: bool = True
    finished: set[str] = field(default_factory=set)

    @property
    def episode(self) -> Episode:
        return self.group.episodes[self.place]

    @property
    def is_within_tour(self) -> bool:
        """Whether the next episode continues the tour of the last one."""
        last = self.group.episodes[self.place - 1] if self.place else None
        return bool(self.episode.tour_id) and last is not None and last.tour_id == self.episode.tour_id

    @property
    def next_id(self) -> str:
        """The first of its episodes that is not journaled."""
        left = (one.episode_id for one in self.group.episodes if one.episode_id not in self.finished)
        return next(left, self.episode.episode_id)

    @property
    def is_new(self) -> bool:
        """Whether the running episode must be journaled; else it only rebuilds the agent's memory."""
        return self.episode.episode_id not in self.finished


UNDECLARED_ACCESS = ("state of the simulator (not declared)",)
"""The privileged input of an agent that reads its batch and does not declare it."""


def report_access(batch: Batch, on_access: Callable[[], object]) -> Any:
    """`batch` behind a proxy that calls `on_access` whenever an attribute but `slots` is read or set.

    The number of slots is the first side of all observations, too.
    """

    class AccessReporter:
        __class__ = property(lambda self: type(batch))  # type: ignore[assignment]

        def __getattr__(self, name: str) -> Any:
            if name != "slots":
                on_access()
            return getattr(batch, name)

        def __setattr__(self, name: str, value: Any) -> None:
            on_access()
            setattr(batch, name, value)

    return AccessReporter()


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
        on_privileged: called with what the agent uses beside the observations of the protocol, as it
            declares or as it is seen to do.
        on_start: called with the ids of the episodes that run, before the agent is told of new ones.
        spectator: looks on.
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
        on_privileged: Callable[[tuple[str, ...]], object] = lambda inputs: None,
        on_start: Callable[[list[str]], object] = lambda ids: None,
        spectator: Spectator = NOBODY,
    ) -> None:
        self._benchmark, self._rules, self._spectator = benchmark, rules, spectator
        self._journal, self._on_row, self._before_step = journal, on_row, before_step
        self._on_times, self._stopwatch = on_times, Stopwatch(slots)
        self._on_privileged, self._on_start, self._is_access_noted = on_privileged, on_start, False
        agent = benchmark.setup.make_agent()
        declared = read_declaration(agent)
        self._batch = benchmark.setup.make_batch(slots, declared.sensors, threads)
        self._noticed: tuple[str, ...] = ()
        self._declared = declared.privileged_inputs
        self._notice((*declared.privileged_inputs, *self._batch.privileged_sensors))
        self._agent = self._attach(agent)
        self._active = np.zeros(slots, bool)
        self._in_oracle_phase = np.zeros(slots, bool)
        self._steps = np.zeros(slots, np.int64)
        self._slots: dict[int, _Slot] = {}
        self._suspects: deque[MemoryGroup] = deque()

    def run(self, groups: Iterator[MemoryGroup]) -> None:
        """Run everything that `groups` yields; it is asked whenever slots are free."""
        try:
            while True:
                self._fill(groups)
                if not self._active.any():
                    return
                self._before_step()
                self._step()
        finally:
            self._notice_declared()

    def _attach(self, agent: BatchAgent) -> BatchAgent:
        """Attach `agent` to the batch; access by agents that declare nothing privileged is recorded."""
        is_declared = read_declaration(agent).privileged
        batch = self._batch if is_declared else report_access(self._batch, self._note_access)
        guard(type(agent), "attached", agent.attach, batch)
        return agent

    def _note_access(self) -> None:
        if not self._is_access_noted:
            self._is_access_noted = True
            self._notice(UNDECLARED_ACCESS)

    def _notice(self, inputs: tuple[str, ...]) -> None:
        """Record in rows which of `inputs` were not declared before the run, and call `on_privileged`."""
        known = (*self._benchmark.declaration.privileged_inputs, *self._noticed)
        self._noticed += tuple(one for one in dict.fromkeys(inputs) if one not in known)
        if inputs:
            self._on_privileged(inputs)

    def _notice_declared(self) -> None:
        """Record inputs that the agent declares during a run, as when a person asks for help."""
        inputs = read_declaration(self._agent).privileged_inputs
        if inputs != self._declared:
            self._declared = inputs
            self._notice(inputs)

    def _fill(self, groups: Iterator[MemoryGroup]) -> None:
        """Start episodes in the free slots until something runs or nothing is left."""
        while True:
            going_on = [slot for slot in self._slots if not self._active[slot]]
            if self._suspects:
                if self._slots:
                    chosen = {}
                else:
                    chosen = {0: _Slot(group := self._suspects.popleft(), finished=set(group.finished))}
            else:
                free = [slot for slot in range(len(self._active)) if slot not in self._slots]
                taken = zip(free, list(islice(groups, len(free))))
                chosen = {slot: _Slot(group, finished=set(group.finished)) for slot, group in taken}
            self._slots.update(chosen)
            if not going_on and not chosen:
                return
            follow = [slot for slot in going_on if self._slots[slot].is_within_tour]
            self._start(sorted([*chosen, *(slot for slot in going_on if slot not in follow)]), follow)
            if self._active.any():
                return

    def _start(self, fresh: list[int], going_on: list[int]) -> None:
        """Begin the next episodes of `fresh` slots; those of `going_on` slots follow along their tours."""
        slots = sorted([*fresh, *going_on])
        self._stopwatch.reset(slots)
        self._steps[slots] = 0
        self._active[slots] = True
        with self._stopwatch.measure(self._stopwatch.simulator, self._mask(slots)):
            self._batch.start(fresh, [self._slots[slot].episode for slot in fresh])
            begun = self._batch.follow(going_on, [self._slots[slot].episode for slot in going_on])
        delayed = [slot for slot, has_begun in zip(going_on, begun) if not has_begun]
        self._in_oracle_phase[delayed] = True
        self._on_start([slot.next_id for slot in self._slots.values()])
        self._announce([slot for slot in slots if slot not in delayed])

    def _announce(self, slots: list[int]) -> None:
        """Reset the agent for the current episodes of `slots`; end those in which it raises."""
        starts = []
        for slot in slots:
            state = self._slots[slot]
            if (problem := state.group.fatal.get(state.episode.episode_id)) is not None:
                self._finish(slot, "crashed", problem)
                continue
            boundary = start_boundary(state.group, state.place, state.is_fresh, self._rules.forget)
            starts.append(self._describe(slot, boundary))
            state.is_fresh = False
        self._reset_agent(starts)

    def _mask(self, slots: list[int]) -> Bool[np.ndarray, "n"]:
        mask = np.zeros_like(self._active)
        mask[slots] = True
        return mask

    def _describe(self, slot: int, boundary: Boundary) -> Start:
        episode = self._slots[slot].episode
        return Start(slot, episode.episode_id, episode.scene_id, boundary, self._rules.seed)

    def _reset_agent(self, starts: list[Start]) -> None:
        """Reset the agent for the episodes that began."""
        if not starts:
            return
        try:
            with self._stopwatch.measure(self._stopwatch.agent, self._mask([start.slot for start in starts])):
                self._agent.reset(starts)
        except ENDING:
            raise
        except BaseException as error:  # an agent that exits does not end the run
            self._handle_agent_error(error)

    def _step(self) -> None:
        """One action in every running slot."""
        with self._stopwatch.measure(self._stopwatch.simulator, self._active):
            observations = self._batch.observations  # a scene that cannot show them is not the agent's fault
        self._spectator.look(
            self._batch, observations, {number: slot.episode for number, slot in self._slots.items()}
        )
        try:
            with self._stopwatch.measure(self._stopwatch.agent, self._active):
                # an agent that was replaced in an oracle phase sees nothing before its episode begins
                fresh = [number for number, slot in self._slots.items() if slot.is_fresh]
                acting = self._active & ~(self._in_oracle_phase & self._mask(fresh))
                idle = self._benchmark.idle_actions(len(acting))
                chosen = self._agent.act(observations, acting) if acting.any() else idle
            columns = len(self._benchmark.actions) if self._benchmark.is_continuous else None
            actions = require_actions(chosen, len(self._active), columns)
        except ENDING:
            raise
        except BaseException as error:
            self._handle_agent_error(error)
            return
        self._end_illegal(actions)
        if not self._active.any():
            return
        actions[~self._active | self._in_oracle_phase] = 0
        with self._stopwatch.measure(self._stopwatch.simulator, self._active):
            result = self._batch.step(actions, self._active.copy())
        acting = self._active & ~self._in_oracle_phase
        self._steps += acting
        for slot in np.flatnonzero(self._active & (result.terminated | result.truncated)):
            self._finish(int(slot), "ok")
        if self._rules.steps is not None:
            for slot in np.flatnonzero(self._active & acting & (self._steps >= self._rules.steps)):
                self._finish(int(slot), "step_limit")
        if result.began is not None and (self._active & result.began).any():
            boundary = subtask_boundary(self._rules.forget)
            began = np.flatnonzero(self._active & result.began).tolist()
            self._reset_agent([self._describe(slot, boundary) for slot in began])
        if result.arrived is not None and (self._in_oracle_phase & result.arrived).any():
            arrived = np.flatnonzero(self._in_oracle_phase & result.arrived).tolist()
            self._in_oracle_phase[arrived] = False
            self._stopwatch.reset(arrived)
            self._announce(arrived)

    def _end_illegal(self, actions: Actions) -> None:
        """End the episodes whose agent chose what does not exist, or took too long to choose."""
        acting = self._active & ~self._in_oracle_phase
        for slot in np.flatnonzero(acting & ~find_legal(actions, self._benchmark)):
            legal = describe_legal(self._benchmark)
            self._finish(int(slot), "illegal_action", f"expected {legal}, got {actions[slot]}")
        limit = self._rules.seconds
        if limit is not None:
            for slot in np.flatnonzero(self._active & acting & (self._stopwatch.agent > limit)):
                taken = f"{self._stopwatch.agent[slot]:.3f} s for {int(self._steps[slot]) + 1} actions"
                self._finish(int(slot), "timed_out", f"expected at most {limit:g} s, the agent took {taken}")

    def _handle_agent_error(self, error: BaseException) -> None:
        """Assign an exception of the agent to its episode; the agent is replaced by a fresh one."""
        if len(self._slots) == 1:
            (number, slot), *_ = self._slots.items()
            slot.is_fresh = True
            if self._in_oracle_phase[number]:  # it broke in an oracle phase, and so fails at the start of it
                self._finish_oracle_phase(number)
            self._finish(number, _status_of(error), format_traceback(error))
        else:
            self._suspects.extend(slot.group.after(slot.finished) for slot in self._slots.values())
            self._slots.clear()
            self._active[:] = self._in_oracle_phase[:] = False
        self._agent = self._attach(self._benchmark.setup.make_agent())

    def _finish_oracle_phase(self, number: int) -> None:
        """Let the oracle lead the body in a slot to its next episode while no agent looks."""
        alone = self._mask([number])
        actions = self._benchmark.idle_actions(len(alone))
        while self._in_oracle_phase[number]:
            arrived = self._batch.step(actions, alone).arrived
            self._in_oracle_phase[number] = arrived is None or not arrived[number]

    def _finish(self, number: int, status: Status, problem: str | None = None) -> None:
        """Journal the episode in a slot, and continue with its memory group or free the slot."""
        slot = self._slots[number]
        self._active[number] = False
        if slot.is_new:
            self._notice_declared()
            place = find_tour_place(slot.group, slot.place, self._batch.oracle_steps(number))
            track = self._batch.trajectory(number)
            row = make_row(self._benchmark, slot.episode, track, status, problem, place, self._noticed)
            began = time.perf_counter()
            self._journal.append(row)
            output = time.perf_counter() - began
            slot.finished.add(row.episode_id)
            simulator, agent = float(self._stopwatch.simulator[number]), float(self._stopwatch.agent[number])
            times = EpisodeTimes(
                episode_id=row.episode_id,
                simulator=simulator,
                agent=agent,
                output=output,
                costs=guard(type(self._agent), "asked for its costs", _read_costs, self._agent, number),
            )
            self._on_times(times)
            self._on_row(row)
            self._spectator.note(row)
        slot.place += 1
        if slot.place == len(slot.group.episodes):
            del self._slots[number]


def _read_costs(agent: BatchAgent, slot: int) -> dict[str, float]:
    """Costs of the episode in `slot` as plain numbers."""
    return {str(name): float(value) for name, value in agent.episode_costs(slot).items()}


def _status_of(error: BaseException) -> Status:
    """Status of an episode whose agent raised `error`."""
    if isinstance(error, AgentTimeoutError):
        return "timed_out"
    return "illegal_action" if isinstance(error, ActionError) else "crashed"
