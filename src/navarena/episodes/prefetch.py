"""Processes of low priority that prepare houses and their episodes beside a run."""

import contextlib
import os
import pickle
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import IO, Any

from navarena.core.threads import THREADS_VARIABLE
from navarena.episodes.house_blocks import Groups, HouseBlocks
from navarena.simulation.body import Embodiment
from navarena.simulation.world import World

_HOST = "navarena.episodes.prefetch_host"
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class HouseJob:
    """Opens a house, so that its compiled files are in the cache folder, and makes a block of its episodes.

    Attributes:
        open: makes a world from a scene id and a body.
        embodiment: the body.
        house: scene id.
        blocks: makes the episodes; None where these are at hand already.
        number: of the block.
    """

    open: Callable[[str, Embodiment], World]
    embodiment: Embodiment
    house: str
    blocks: HouseBlocks | None
    number: int

    def run(self) -> Groups | None:
        """The episodes of the block; None without `blocks`. Raises NavarenaError."""
        world = self.open(self.house, self.embodiment)
        _ = world.render_mesh
        return None if self.blocks is None else self.blocks.make(world, self.house, self.number)


class PrefetchError(Exception):
    """A worker process failed at a job; the caller repeats the job itself to raise the cause."""


class Prefetchers:
    """Worker processes that execute jobs in the order of submission.

    They start with the first jobs and end with this object, or with the process that made it.

    Args:
        count: of them.
    """

    def __init__(self, count: int) -> None:
        self._jobs: SimpleQueue[tuple[HouseJob, Future[Groups | None]] | None] = SimpleQueue()
        processes: list[subprocess.Popen[bytes]] = []
        threads = [
            threading.Thread(target=_serve, args=(self._jobs, processes), daemon=True) for _ in range(count)
        ]
        self.close = weakref.finalize(self, _close, self._jobs, threads, processes)
        for thread in threads:
            thread.start()

    def submit(self, job: HouseJob) -> "Future[Groups | None]":
        """The result of `job.run()` in another process; PrefetchError when it raises there."""
        future: Future[Groups | None] = Future()
        self._jobs.put((job, future))
        return future


def _serve(jobs: "SimpleQueue[Any]", processes: "list[subprocess.Popen[bytes]]") -> None:
    """Let one process, started with the first job, do one after the other; end it after the last."""
    process = None
    while (waiting := jobs.get()) is not None:
        job, future = waiting
        if not future.set_running_or_notify_cancel():
            continue
        try:
            request = pickle.dumps(job)  # what cannot travel is done where it is
            if process is None:
                process = _start()
                processes.append(process)
            future.set_result(_ask(process, request))
        except PrefetchError as error:
            future.set_exception(error)
        except (OSError, ValueError, pickle.PicklingError, AttributeError, TypeError) as error:
            future.set_exception(PrefetchError(str(error)))
    if process is not None:
        _end(process)


def _start() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", _HOST],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {THREADS_VARIABLE: "1"},
        start_new_session=True,  # an interrupt from the keyboard is for the run alone
    )


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _ask(process: "subprocess.Popen[bytes]", request: bytes) -> Groups | None:
    write_message(process.stdin, request)
    answer = read_message(process.stdout)
    if answer is None:
        raise PrefetchError("the process ended")
    is_done, value = pickle.loads(answer)
    if not is_done:
        raise PrefetchError(value)
    return value  # type: ignore[no-any-return]


def _close(
    jobs: "SimpleQueue[Any]", threads: list[threading.Thread], processes: "list[subprocess.Popen[bytes]]"
) -> None:
    """End the processes and the threads that wait for them; pending jobs are dropped.

    Any thread may be the one that collects a forgotten pool as garbage, also one of the pool's own:
    that one ends when it asks for its next job.
    """
    with contextlib.suppress(Empty):
        while True:
            jobs.get_nowait()
    for _ in threads:
        jobs.put(None)
    for process in processes:
        process.kill()  # who waits for its answer waits no longer
    for thread in threads:
        if thread is not threading.current_thread():
            thread.join()


def write_message(pipe: IO[bytes] | None, data: bytes) -> None:
    """Write `data` with its length in front."""
    if pipe is not None:
        pipe.write(_LENGTH.pack(len(data)) + data)
        pipe.flush()


def read_message(pipe: IO[bytes] | None) -> bytes | None:
    """Read a message of `write_message`; None at the end of the pipe."""
    head = b"" if pipe is None else pipe.read(_LENGTH.size)
    if pipe is None or len(head) < _LENGTH.size:
        return None
    data = pipe.read(_LENGTH.unpack(head)[0])
    return data if len(data) == _LENGTH.unpack(head)[0] else None


def describe_failure(error: BaseException) -> Any:
    """Description of a job's failure."""
    return False, f"{type(error).__name__}: {error}"
