"""Ray workers: processes on many machines, and one driver that journals what they finish.

Each worker is an actor with a batch and an agent of its own. It is given shares of the episodes, one after
the other, and streams its rows back; the driver alone writes, so that the machines need no common file system
and each episode is journaled once. When a machine dies, what its workers had not finished goes to the others.
When a worker alone dies, another takes its place, and what it ran is run again as in `workers`; Ray does not
say who ended a process, so that it counts as the agent's doing. When the driver or Ray's head dies, every
finished episode is on the driver's disk, and the same command goes on.
"""

import contextlib
import os
import queue
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from navarena.core.errors import InputError, NavarenaError, require_extra
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.memory_groups import MemoryGroup
from navarena.evaluation.records.journal import JournalWriter, Row, journal_path, open_journal
from navarena.evaluation.records.record import describe_versions
from navarena.evaluation.records.times import EpisodeTimes, TimesWriter, open_times, times_path
from navarena.evaluation.running.cluster_head import (
    LOCAL,
    LOOK_SECONDS,
    HeadWatch,
    make_unreachable,
    require_answer,
)
from navarena.evaluation.running.episode_loop import EpisodeLoop
from navarena.evaluation.running.shares import ShareQueue
from navarena.evaluation.settings import EpisodeRules

START_SECONDS = 120.0
"""That workers may take to start; then the cluster has no room for them."""

DIED = "its Ray actor died"
"""How a worker ended that an agent ended, as rows say it: Ray's own words differ from run to run."""


@dataclass(frozen=True)
class ClusterOrder:
    """Order that a worker receives at its start.

    Attributes:
        benchmark: without its episodes; those come in shares.
        slots: episodes side by side.
        rules: seed of the agent, its memory, and limits.
        folder: where the driver was started; agents named "module:Class" are looked for there, too.
    """

    benchmark: Benchmark
    slots: int
    rules: EpisodeRules
    folder: str


_Finished = tuple[Row, EpisodeTimes]


class ClusterWorker:
    """A worker process: what Ray makes an actor of. It needs two threads: of `run`, and of `confirm`."""

    def __init__(self) -> None:
        self._loop: EpisodeLoop | None = None
        self._finished: queue.SimpleQueue[_Finished | Exception | None] = queue.SimpleQueue()
        self._times: dict[str, EpisodeTimes] = {}
        self._open, self._confirmed = 0, threading.Semaphore(0)

    def describe(self) -> tuple[str, dict[str, str]]:
        """The machine's name, and the versions that can move a number; says so before anything is run."""
        return socket.gethostname(), describe_versions()

    def prepare(self, order: ClusterOrder) -> None:
        """Make the batch and the agent; errors of either end the actor's start."""
        sys.path.insert(0, order.folder)
        self._loop = EpisodeLoop(
            order.benchmark,
            order.slots,
            order.rules,
            self,
            self._hand_over,
            threads=1,
            on_times=self._note,
            on_start=self._await_driver,
        )

    def append(self, row: Row) -> None:
        """Send a row to the driver, which writes the journal."""

    def _note(self, times: EpisodeTimes) -> None:
        self._times[times.episode_id] = times

    def _hand_over(self, row: Row) -> None:
        self._open += 1
        self._finished.put((row, self._times.pop(row.episode_id)))

    def confirm(self) -> None:
        """A row is in the driver's journal."""
        self._confirmed.release()

    def _await_driver(self, ids: list[str]) -> None:
        """Wait until the driver has journaled all rows, from which it derives the running episodes."""
        for _ in range(self._open):
            self._confirmed.acquire()
        self._open = 0

    def run(self, share: list[MemoryGroup]) -> Iterator[_Finished]:
        """Run the groups of a share and give each row when its episode ends; raises an error of the loop."""
        thread = threading.Thread(target=self._run, args=(share,), daemon=True)
        thread.start()
        while (item := self._finished.get()) is not None:
            if isinstance(item, Exception):
                raise item
            yield item
        thread.join()

    def _run(self, share: list[MemoryGroup]) -> None:
        try:
            if self._loop is None:
                raise RuntimeError("a share came before the order")
            self._loop.run(iter(share))
        except Exception as error:
            self._finished.put(error)
        else:
            self._finished.put(None)


@dataclass
class _Running:
    """A worker and the share it runs."""

    actor: Any
    place: str
    share: list[MemoryGroup] = field(default_factory=list)
    finished: set[str] = field(default_factory=set)

    def left(self) -> list[MemoryGroup]:
        """Episodes of the share that are not journaled."""
        return [group.after(self.finished) for group in self.share]

    def running(self, slots: int) -> set[str]:
        """Running episodes: the next of the first unfinished groups, one per slot."""
        begun = [group.left for group in self.left() if group.left][:slots]
        return {left[0].episode_id for left in begun}


@contextlib.contextmanager
def connect_cluster(ray: Any, address: str, cores: int) -> Iterator[HeadWatch]:
    """Context that connects to a cluster; yields a monitor of its head.

    Args:
        ray: the module.
        address: as ray.init reads it, or LOCAL.
        cores: that it must have.

    Raises InputError for a cluster that cannot be reached, or has fewer cores.
    """
    require_answer(address)
    own = {"num_cpus": cores, "include_dashboard": False} if address == LOCAL else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **own)
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        first = str(error).strip().partition("\n")[0]
        raise make_unreachable(address, first) from error
    try:
        found = int(ray.cluster_resources().get("CPU", 0))
        if found < cores:
            raise InputError(
                f"expected at most as many --workers as the cluster has cores, {found}, got {cores}"
            )
        yield HeadWatch(ray.get_runtime_context().gcs_address)
    finally:
        ray.shutdown()


def translate_failure(error: Any, place: str) -> Exception:
    """The exception of a worker on machine `place`, from Ray's `error`, as an error of this process."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, NavarenaError):
        return type(cause)(f"on {place}: {cause}")
    if isinstance(cause, ModuleNotFoundError | AttributeError) or "No module named" in str(error):
        return InputError(
            "expected this version of navarena and everything that the agent needs on every worker, got "
            f"{str(cause or error).strip().splitlines()[-1]} on {place}; install the same there"
        )
    return RuntimeError(f"a worker on {place} failed:\n{error}")


class ClusterPool:
    """Runs episodes in the processes of a Ray cluster.

    Args:
        address: as ray.init reads it ("auto", "10.0.0.1:6379"), or LOCAL.
        benchmark: what is evaluated; pickled once per worker.
        folder: of the run, on the driver's disk.
        workers: processes, of one core each.
        slots: episodes side by side in each.
        rules: seed of the agent, its memory, and limits.

    Attributes:
        running_at_end: ids of the episodes that ran when a worker could not go on.

    Raises MissingExtraError without Ray.
    """

    def __init__(
        self,
        address: str,
        benchmark: Benchmark,
        folder: Path,
        workers: int,
        slots: int,
        rules: EpisodeRules,
    ) -> None:
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns of it
        self._ray: Any = require_extra("ray", "cluster")
        self._address, self._folder, self._count = address, folder, workers
        self._order = ClusterOrder(replace(benchmark, episodes=()), slots, rules, str(Path.cwd()))
        self._queue = ShareQueue((), workers)
        self._running: dict[Any, _Running] = {}
        self._idle: list[_Running] = []
        self._starting: dict[Any, tuple[Any, Any]] = {}
        self.running_at_end: set[str] = set()

    def run(
        self,
        groups: Sequence[MemoryGroup],
        on_row: Callable[[], object],
        on_privileged: Callable[[tuple[str, ...]], object] = lambda inputs: None,
    ) -> list[str]:
        """Run all of `groups`; `on_row` is called for each row that is in the journal.

        Returns a notice for each worker that died while others finished its work. Raises InputError for a
        cluster that cannot be reached, has no room, or has another version of navarena on some machine;
        what a worker raised on purpose, with the machine's name; RuntimeError for its defects; and
        CheckFailedError when no worker is left.
        """
        self._queue = ShareQueue(groups, self._count, self._order.slots)  # a share fills the slots
        with (
            connect_cluster(self._ray, self._address, self._count) as self._head,
            open_journal(journal_path(self._folder, 0)) as journal,
            open_times(times_path(self._folder, 0)) as times,
        ):
            self._start_workers()
            self._give_shares()
            while self._running or (self._starting and self._queue):
                waited_for = [*self._running, *self._starting]
                ready, _ = self._ray.wait(waited_for, num_returns=1, timeout=LOOK_SECONDS)
                self._head.require_alive()
                for one in ready:
                    if one in self._starting:
                        self._admit(one)
                    else:
                        self._listen(one, journal, times, on_row, on_privileged)
                self._give_shares()
        self._queue.require_empty()
        return self._queue.deaths

    def _start_workers(self) -> None:
        """Make the workers, of this version of navarena and ready to run shares."""
        actors = [self._make_actor() for _ in range(self._count)]
        described = self._gather([actor.describe.remote() for actor in actors])
        places = [self._require_versions(*one) for one in described]
        self._shipped = self._ray.put(self._order)
        self._gather([actor.prepare.remote(self._shipped) for actor in actors], places)
        self._idle = [_Running(actor, place) for actor, place in zip(actors, places)]

    def _make_actor(self) -> Any:
        options = {"num_cpus": 1, "scheduling_strategy": "SPREAD", "max_concurrency": 2}
        return self._ray.remote(ClusterWorker).options(**options).remote()

    def _require_versions(self, place: str, versions: dict[str, str]) -> str:
        """The machine `place`, whose versions must be those of this one: InputError."""
        ours = describe_versions()
        others = [
            f"{name} {versions.get(name)} instead of {ours[name]}"
            for name in ours
            if versions.get(name) != ours[name]
        ]
        if others:
            raise InputError(
                f"expected the versions of this machine on every worker, got {', '.join(others)} on "
                f"{place}; install the same there"
            )
        return place

    def _replace_worker(self) -> None:
        """Start a replacement worker in the background."""
        actor = self._make_actor()
        described = actor.describe.remote()
        self._starting[actor.prepare.remote(self._shipped)] = actor, described

    def _admit(self, prepared: Any) -> None:
        """Admit a worker that has started, or record that it failed to start."""
        actor, described = self._starting.pop(prepared)
        try:
            place = self._require_versions(*self._ray.get(described))
            self._ray.get(prepared)
        except self._ray.exceptions.RayActorError as error:
            self._queue.deaths.append(f"a worker in its place: {describe_death(str(error))}")
        except self._ray.exceptions.RayError as error:
            raise translate_failure(error, "a worker") from error
        else:
            self._idle.append(_Running(actor, place))

    def _gather(self, references: list[Any], places: Sequence[str] = ()) -> list[Any]:
        """The results of all `references`, errors with the name of the machine they come from."""
        found = []
        for k, reference in enumerate(references):
            try:
                found.append(self._ray.get(reference, timeout=START_SECONDS))
            except self._ray.exceptions.GetTimeoutError as error:
                raise InputError(
                    f"expected room for {self._count} workers in the cluster within {START_SECONDS:g} s, got "
                    f"it for {k}; ask for fewer --workers, or wait for its other work"
                ) from error
            except self._ray.exceptions.RayError as error:
                raise translate_failure(error, places[k] if places else "a worker") from error
        return found

    def _give_shares(self) -> None:
        """Give remaining shares to idle workers."""
        while self._idle and self._queue:
            worker = self._idle.pop()
            worker.share = self._queue.take()
            worker.finished = set()
            stream = worker.actor.run.options(num_returns="streaming").remote(worker.share)
            self._running[stream] = worker

    def _listen(
        self,
        stream: Any,
        journal: JournalWriter,
        times: TimesWriter,
        on_row: Callable[[], object],
        on_privileged: Callable[[tuple[str, ...]], object],
    ) -> None:
        """Journal the next row of a worker, or notice that its share or its life has ended."""
        worker = self._running[stream]
        try:
            row, spent = self._ray.get(next(stream))
        except StopIteration:
            del self._running[stream]
            self._idle.append(worker)
            return
        except self._ray.exceptions.RayActorError as error:
            del self._running[stream]
            self._replace_lost(worker, str(error))
            return
        except self._ray.exceptions.RayError as error:
            slots = self._order.slots
            self.running_at_end = {name for one in self._running.values() for name in one.running(slots)}
            raise translate_failure(error, worker.place) from error
        on_privileged(row.noticed)
        journal.append(row)
        times.append(spent)
        worker.finished.add(row.episode_id)
        worker.actor.confirm.remote()
        on_row()

    def _replace_lost(self, worker: _Running, text: str) -> None:
        """Requeue the unfinished episodes of a dead worker, and replace it unless its machine is gone."""
        running = worker.running(self._order.slots)
        end = describe_death(text)
        death = f"worker on {worker.place}", worker.left(), running, end
        if end != DIED:
            self._queue.note_death(*death)
            return
        self._queue.note_suspects(*death)
        self._replace_worker()


def describe_death(text: str) -> str:
    """Ray's reason for an actor's death, in short; DIED if its process died and its machine did not."""
    known = {
        "unavailable": "it is out of reach",
        "its node has died": "its machine died",
        "worker process has died": DIED,
    }
    first = text.strip().splitlines()[0]
    return next((short for words, short in known.items() if words in text), first)
