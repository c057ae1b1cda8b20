"""Worker processes that leave Ctrl-C to the process that made them, and end with it."""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from navarena.core.errors import CheckFailedError


@contextlib.contextmanager
def hold_interrupts() -> Iterator[None]:
    """Within the block, processes that this thread starts hold Ctrl-C back until `ignore_interrupts`.

    They would print a traceback where it comes while they import.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its start, by the first process, would end the holding
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C in this worker, from its start on: whoever made it decides what that means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


class _Pool(ProcessPoolExecutor):
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with hold_interrupts():
            return super().submit(fn, *args, **kwargs)


@contextlib.contextmanager
def open_pool(workers: int, prepare: Callable[[], object] | None = None) -> Iterator[ProcessPoolExecutor]:
    """A pool of `workers` spawned processes; each calls `prepare` first, which can be pickled.

    When the block ends by an error or by Ctrl-C, the workers are killed at what they do. They are, too, when
    this process dies without a word: else they would wait for work forever. Raises CheckFailedError where a
    worker dies.
    """
    spawn = multiprocessing.get_context("spawn")  # a fork would copy threads that hold locks
    theirs, ours = spawn.Pipe(duplex=False)
    pool = _Pool(workers, spawn, _begin, (theirs, prepare))
    try:
        with pool:
            try:
                yield pool
            except BaseException:
                ours.close()
                pool.shutdown(cancel_futures=True)
                raise
    except BrokenProcessPool as error:
        raise CheckFailedError(
            "expected worker processes to live until their work is done, got one that ended; give the same "
            "command again, which goes on, maybe with fewer --workers"
        ) from error
    finally:
        ours.close()
        theirs.close()


def _begin(parent: Connection, prepare: Callable[[], object] | None) -> None:
    """The first call in each worker."""
    ignore_interrupts()

    def end_with_parent() -> None:
        with contextlib.suppress(EOFError, OSError):
            parent.recv_bytes()  # nothing is ever sent
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=end_with_parent, daemon=True).start()
    if prepare is not None:
        prepare()
