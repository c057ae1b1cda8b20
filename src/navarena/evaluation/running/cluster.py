"""Ray workers: processes on many machines, and one driver that journals what they finish.

Each worker is an actor with a batch and an agent of its own. It is given shares of the episodes, one after
the other, and streams its rows back; the driver alone writes, so that the machines need no common file system
and each episode is journaled once. When a worker or its machine dies, what it had not finished goes to the
others. When the driver or Ray's head dies, every finished episode is on the driver's disk, and the same
command goes on.
"""

import contextlib
import os
import queue
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from navarena.core.errors import CheckFailedError, InputError, NavarenaError, require_extra
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.memory_groups import MemoryGroup
from navarena.evaluation.records.journal import JournalWriter, Row, journal_path, open_journal
from navarena.evaluation.records.record import describe_versions
from navarena.evaluation.records.times import EpisodeTimes, TimesWriter, open_times, times_path
from navarena.evaluation.running.episode_loop import EpisodeLoop
from navarena.evaluation.running.shares import ShareQueue
from navarena.evaluation.settings import EpisodeRules

AUTO = "auto"
"""The address of the cluster that this machine belongs to."""

LOCAL = "local"
"""The address of a cluster of this machine alone, started and ended with the run."""

START_SECONDS = 120.0
"""That workers may take to start; then the cluster has no room for them."""

ANSWER_SECONDS = 10.0

HEAD_SECONDS = 10.0
"""After which a driver whose cluster has lost its head gives up. Ray would end the process after 60."""

LOOK_SECONDS = 1.0
"""Between two looks at the head."""


@dataclass(frozen=True)
class ClusterOrder:
    """What a worker receives once, at its start.

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


_Finished = tuple[Row, EpisodeTimes, tuple[str, ...]]
"""A row, its times, and what the agent has been seen to use beside the protocol's observations."""


class ClusterWorker:
    """A worker process: what Ray makes an actor of."""

    def __init__(self) -> None:
        self._loop: EpisodeLoop | None = None
        self._finished: queue.SimpleQueue[_Finished | Exception | None] = queue.SimpleQueue()
        self._times: dict[str, EpisodeTimes] = {}
        self._privileged: list[str] = []

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
            on_privileged=self._privileged.extend,
        )

    def append(self, row: Row) -> None:
        """Take a row in the place of a journal, which the driver writes."""

    def _note(self, times: EpisodeTimes) -> None:
        self._times[times.episode_id] = times

    def _hand_over(self, row: Row) -> None:
        self._finished.put((row, self._times.pop(row.episode_id), tuple(self._privileged)))

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


class HeadWatch:
    """Ray's head, looked at from time to time.

    Args:
        address: HOST:PORT.
        clock: seconds.
    """

    def __init__(self, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._address, self._clock = address, clock
        self._seen = self._looked = clock()

    def require_alive(self) -> None:
        """Raise CheckFailedError when nobody has listened at the address for HEAD_SECONDS."""
        now = self._clock()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        host, _, port = self._address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), LOOK_SECONDS).close()
            self._seen = now
        except OSError as error:
            if now - self._seen > HEAD_SECONDS:
                raise CheckFailedError(
                    f"Ray's head at {self._address} does not answer any more; finished episodes are kept: "
                    "run the same command again to go on, with --ray of another cluster or without"
                ) from error


@dataclass
class _Running:
    """A worker and the share it runs."""

    actor: Any
    place: str
    share: list[MemoryGroup] = field(default_factory=list)
    finished: set[str] = field(default_factory=set)

    def left(self) -> list[MemoryGroup]:
        """What of the share is not journaled."""
        return [group.after(self.finished) for group in self.share]


class ClusterPool:
    """Runs episodes in the processes of a Ray cluster.

    Args:
        address: as ray.init reads it ("auto", "10.0.0.1:6379"), or LOCAL.
        benchmark: what is evaluated; pickled once per worker.
        folder: of the run, on the driver's disk.
        workers: processes, of one core each.
        slots: episodes side by side in each.
        rules: seed of the agent, its memory, and limits.

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
        self._deaths: list[str] = []

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
            self._connect(),
            open_journal(journal_path(self._folder, 0)) as journal,
            open_times(times_path(self._folder, 0)) as times,
        ):
            self._idle = self._start_workers()
            self._give_shares()
            while self._running:
                ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=LOOK_SECONDS)
                self._head.require_alive()
                for stream in ready:
                    self._listen(stream, journal, times, on_row, on_privileged)
                self._give_shares()
        self._queue.require_empty(self._deaths)
        return self._deaths

    @contextlib.contextmanager
    def _connect(self) -> Iterator[None]:
        """Be part of the cluster for the time of the block."""
        require_answer(self._address)
        own = {"num_cpus": self._count, "include_dashboard": False} if self._address == LOCAL else {}
        try:
            self._ray.init(address=self._address, log_to_driver=False, logging_level="ERROR", **own)
        except (OSError, ValueError, RuntimeError, self._ray.exceptions.RayError) as error:
            first = str(error).strip().partition("\n")[0]
            raise _unreachable(self._address, first) from error
        try:
            cores = int(self._ray.cluster_resources().get("CPU", 0))
            if cores < self._count:
                raise InputError(
                    f"expected at most as many --workers as the cluster has cores, {cores}, got {self._count}"
                )
            self._head = HeadWatch(self._ray.get_runtime_context().gcs_address)
            yield
        finally:
            self._ray.shutdown()

    def _start_workers(self) -> list[_Running]:
        """The workers, ready to run shares, each of this version of navarena."""
        kind = self._ray.remote(ClusterWorker)
        options = kind.options(num_cpus=1, scheduling_strategy="SPREAD")
        actors = [options.remote() for _ in range(self._count)]
        described = self._gather([actor.describe.remote() for actor in actors])
        ours = describe_versions()
        for place, versions in described:
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
        order = self._ray.put(self._order)
        self._gather([actor.prepare.remote(order) for actor in actors], [place for place, _ in described])
        return [_Running(actor, place) for actor, (place, _) in zip(actors, described)]

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
                raise self._translate(error, places[k] if places else "a worker") from error
        return found

    def _translate(self, error: Any, place: str) -> Exception:
        """What a worker raised, as an error of this process."""
        cause = getattr(error, "cause", None)
        if isinstance(cause, NavarenaError):
            return type(cause)(f"on {place}: {cause}")
        if isinstance(cause, ModuleNotFoundError | AttributeError) or "No module named" in str(error):
            return InputError(
                "expected this version of navarena and everything that the agent needs on every worker, got "
                f"{str(cause or error).strip().splitlines()[-1]} on {place}; install the same there"
            )
        return RuntimeError(f"a worker on {place} failed:\n{error}")

    def _give_shares(self) -> None:
        """Let idle workers run what is left."""
        while self._queue and self._idle:
            worker = self._idle.pop()
            worker.share, worker.finished = self._queue.take(), set()
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
            row, spent, inputs = self._ray.get(next(stream))
        except StopIteration:
            del self._running[stream]
            self._idle.append(worker)
            return
        except self._ray.exceptions.RayActorError as error:
            del self._running[stream]
            self._deaths.append(f"worker on {worker.place}: {describe_death(str(error))}")
            self._queue.give_back(worker.left())
            return
        except self._ray.exceptions.RayError as error:
            raise self._translate(error, worker.place) from error
        if inputs:
            on_privileged(inputs)
        journal.append(row)
        times.append(spent)
        worker.finished.add(row.episode_id)
        on_row()


def describe_death(text: str) -> str:
    """What Ray says of a dead actor, in short."""
    first = text.strip().splitlines()[0]
    return "it is out of reach" if "unavailable" in first else first


def require_answer(address: str) -> None:
    """Raise InputError unless somebody listens at a HOST:PORT; Ray itself would end the process.

    "auto" is what RAY_ADDRESS names, or the cluster that was last started here. Other addresses are left to
    Ray.
    """
    known = address
    if address == AUTO:
        last = Path(tempfile.gettempdir()) / "ray" / "ray_current_cluster"
        known = os.environ.get("RAY_ADDRESS") or (last.read_text().strip() if last.exists() else "")
    host, mark, port = known.rpartition(":")
    if not mark or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise _unreachable(address, str(error)) from error


def _unreachable(address: str, problem: str) -> InputError:
    return InputError(
        f"cannot reach a Ray cluster at {address!r} ({problem}); start one with `ray start --head`, or give "
        f"--ray {LOCAL}"
    )
