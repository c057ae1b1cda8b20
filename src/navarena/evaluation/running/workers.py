"""Worker processes: each takes shares of the episodes from the driver until none is left.

    worker -> driver    MORE   a slot is free: another share, if there is one now
                        IDLE   nothing is running: a share, or None for the end
                        (STARTED, ids)      these episodes run
                        (ROW, episode id)   that episode is in the journal
                        (PRIVILEGED, inputs)    what the agent uses beside the protocol's observations
                        (FAILED, error)     the worker cannot go on
    driver -> worker    a list of groups of episodes, or None

The driver remembers which episodes each worker holds. When a worker dies, its journal says
what it finished, and the rest goes to the workers that are left. A worker whose driver dies
ends before its next step.

A worker that ends by itself (not killed from outside) while episodes run has an agent that ends processes.
Another takes its place, and those episodes run again, each alone; one that ends its worker then, too, is a
failure of the agent: it gets a row and is not run again.
"""

import contextlib
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from navarena.core.errors import NavarenaError
from navarena.core.packages import naming_packages
from navarena.core.processes import hold_interrupts, ignore_interrupts
from navarena.core.threads import thread_count
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.memory_groups import MemoryGroup
from navarena.evaluation.records.journal import journal_path, open_journal, repair_journal
from navarena.evaluation.records.times import open_times, times_path
from navarena.evaluation.running.episode_loop import EpisodeLoop
from navarena.evaluation.running.shares import ShareQueue
from navarena.evaluation.settings import EpisodeRules

MORE, IDLE, ROW, FAILED = "more", "idle", "row", "failed"
STARTED, PRIVILEGED = "started", "privileged"

_FROM_OUTSIDE = (-9, -15, -2)  # SIGKILL, SIGTERM, SIGINT
"""Exit codes of workers that were killed from outside, as far as can be told."""

STOP_SECONDS = 5.0


@dataclass(frozen=True)
class WorkOrder:
    """Order that a worker process receives at its start.

    Attributes:
        benchmark: without its episodes; those come in shares.
        journal: the file it appends to.
        times: the file that it appends times to.
        slots: episodes side by side.
        rules: seed of the agent, its memory, and limits.
        threads: of its batch.
    """

    benchmark: Benchmark
    journal: Path
    times: Path
    slots: int
    rules: EpisodeRules
    threads: int


class _DriverGone(BaseException):
    """The process that gives out the work has died."""


def _work(connection: Connection, order: WorkOrder) -> None:
    """The life of a worker process."""
    ignore_interrupts()
    driver = multiprocessing.parent_process()
    parent = driver.pid if driver is not None else None

    def require_driver() -> None:
        if os.getppid() != parent:
            raise _DriverGone

    def ask(kind: str) -> list[MemoryGroup] | None:
        connection.send((kind, None))
        share: list[MemoryGroup] | None = connection.recv()
        return share

    def more() -> Iterator[MemoryGroup]:
        while share := ask(MORE):
            yield from share

    try:
        with naming_packages(), open_journal(order.journal) as journal, open_times(order.times) as times:
            loop = EpisodeLoop(
                order.benchmark,
                order.slots,
                order.rules,
                journal,
                lambda row: connection.send((ROW, row.episode_id)),
                require_driver,
                order.threads,
                times.append,
                lambda inputs: connection.send((PRIVILEGED, inputs)),
                lambda ids: connection.send((STARTED, ids)),
            )
            while (share := ask(IDLE)) is not None:
                loop.run(chain(share, more()))
    except (_DriverGone, EOFError, BrokenPipeError, ConnectionResetError):
        return
    except Exception as error:
        is_ours = isinstance(error, NavarenaError)
        failure = error if is_ours else RuntimeError(f"a worker failed:\n{traceback.format_exc()}")
        with contextlib.suppress(OSError):  # an agent may have closed the connection
            connection.send((FAILED, failure))


class _Worker:
    """The driver's record of one worker process."""

    def __init__(self, process: BaseProcess, order: WorkOrder) -> None:
        self.process, self.order = process, order
        self.held: dict[str, MemoryGroup] = {}
        self.running: set[str] = set()
        self.parked = self.is_alone = False

    def take(self, share: Sequence[MemoryGroup]) -> None:
        """Record the episodes that were assigned."""
        self.held.update({one.episode_id: group for group in share for one in group.left})

    def left(self) -> list[MemoryGroup]:
        """Assigned episodes that are not finished."""
        groups = {id(group): group for group in self.held.values()}.values()
        return [
            group.after(one.episode_id for one in group.episodes if one.episode_id not in self.held)
            for group in groups
        ]


class WorkerPool:
    """Runs episodes in spawned processes.

    Args:
        benchmark: what is evaluated; pickled once per worker.
        folder: of the run.
        workers: processes.
        slots: episodes side by side in each.
        rules: seed of the agent, its memory, and limits.

    Attributes:
        running_at_end: ids of the episodes that ran when a worker could not go on.
    """

    def __init__(
        self, benchmark: Benchmark, folder: Path, workers: int, slots: int, rules: EpisodeRules
    ) -> None:
        self._context = multiprocessing.get_context("spawn")
        without = replace(benchmark, episodes=())
        threads = max(1, thread_count() // workers)
        self._orders = [
            WorkOrder(
                without, journal_path(folder, worker), times_path(folder, worker), slots, rules, threads
            )
            for worker in range(workers)
        ]
        self._workers: dict[Connection, _Worker] = {}
        self._queue = ShareQueue((), workers)
        self.running_at_end: set[str] = set()

    def run(
        self,
        groups: Sequence[MemoryGroup],
        on_row: Callable[[], object],
        on_privileged: Callable[[tuple[str, ...]], object] = lambda inputs: None,
    ) -> list[str]:
        """Run `groups`; `on_row` is called for each finished row, `on_privileged` as in EpisodeLoop.

        Returns a notice for each worker that died while others finished its work. Raises what
        a worker raised on purpose, RuntimeError for its defects, and CheckFailedError when no
        worker is left. On any error, and on Ctrl-C, all workers are stopped first.
        """
        self._queue = ShareQueue(groups, len(self._orders))
        try:
            for order in self._orders:
                self._launch(order)
            while self._workers:
                for connection in wait(list(self._workers)):
                    self._listen(connection, on_row, on_privileged)  # type: ignore[arg-type]
                self._serve_parked()
        finally:
            self._stop()
        self._queue.require_empty()
        return self._queue.deaths

    def _launch(self, order: WorkOrder) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, order), daemon=True)
        with hold_interrupts():
            process.start()
        theirs.close()
        self._workers[ours] = _Worker(process, order)

    def _listen(
        self,
        connection: Connection,
        on_row: Callable[[], object],
        on_privileged: Callable[[tuple[str, ...]], object],
    ) -> None:
        """Handle one message of a worker, or its end."""
        worker = self._workers[connection]
        try:
            kind, content = connection.recv()
        except (EOFError, ConnectionResetError):
            self._reclaim(connection, on_row)
            return
        if kind == ROW:
            worker.held.pop(content)
            worker.running.discard(content)
            on_row()
        elif kind == STARTED:
            worker.running = set(content)
        elif kind == PRIVILEGED:
            on_privileged(content)
        elif kind == FAILED:
            self.running_at_end = {name for one in self._workers.values() for name in one.running}
            raise content
        elif kind == MORE:
            self._give(connection, [] if worker.is_alone else self._queue.take(is_idle=False))
        else:
            worker.parked = True

    def _give(self, connection: Connection, share: list[MemoryGroup] | None) -> None:
        worker = self._workers[connection]
        worker.parked = False
        worker.take(share or ())
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its death is read next
            connection.send(share)

    def _serve_parked(self) -> None:
        """Give work to idle workers; when all are idle and nothing is left, let them go."""
        idle = [connection for connection, worker in self._workers.items() if worker.parked]
        finished = not self._queue and len(idle) == len(self._workers)
        for connection in idle:
            self._workers[connection].is_alone = self._queue.has_suspects
            if self._queue:
                self._give(connection, self._queue.take())
            elif finished:
                self._give(connection, None)

    def _reclaim(self, connection: Connection, on_row: Callable[[], object]) -> None:
        """Requeue the unfinished episodes of a worker that has ended."""
        worker = self._workers.pop(connection)
        connection.close()
        worker.process.join()
        if worker.process.exitcode == 0 and not worker.held:
            return
        for row in repair_journal(worker.order.journal).rows:
            if worker.held.pop(row.episode_id, None) is not None:
                on_row()
        running = worker.running.intersection(worker.held)
        death = f"worker {worker.order.journal.stem}", worker.left(), running, _describe_exit(worker.process)
        if not running or worker.process.exitcode in _FROM_OUTSIDE:
            self._queue.note_death(*death)
            return
        self._queue.note_suspects(*death)
        self._launch(worker.order)

    def _stop(self) -> None:
        """End the remaining processes."""
        for worker in self._workers.values():
            worker.process.terminate()
        for connection, worker in self._workers.items():
            worker.process.join(STOP_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            connection.close()
        self._workers.clear()


def _describe_exit(process: Any) -> str:
    code = process.exitcode
    if code is not None and code < 0:
        return f"killed by signal {-code} ({signal.Signals(-code).name})"
    return f"ended with exit code {code}"
