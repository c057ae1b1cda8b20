"""Notices on stderr of long work (compiling, building, generating) and its progress.

Nothing is said of what is done within FIRST_SECONDS, and so nothing where the cache holds everything. The
variable NAVARENA_QUIET, which child processes inherit, silences all of it.
"""

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

QUIET_VARIABLE = "NAVARENA_QUIET"

FIRST_SECONDS = 1.0
"""Of work before the first notice."""

NEXT_SECONDS = 5.0
"""Between two notices; after a pause of this length the seconds count from 0 again."""

LOOK_SECONDS = 0.25


def silence_notices() -> None:
    """Say nothing from now on, in this process and in those that it starts."""
    os.environ[QUIET_VARIABLE] = "1"


@dataclass(eq=False)
class _Block:
    """A block of work that is going on."""

    work: str
    item: str
    began: float


class _Notices:
    """Current and recently finished work of this process."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset in a forked process, which has neither the threads nor the work of its parent."""
        self._lock = threading.Lock()
        self._blocks: list[_Block] = []
        self._done: dict[str, int] = {}
        self._spent = 0.0
        self._began = self._paused = self._told = -NEXT_SECONDS
        self._is_idle = threading.Event()

    def begin(self, block: _Block) -> None:
        """Start `block` as the newest one, and watch the clock while any block runs."""
        with self._lock:
            self._blocks.append(block)
            if len(self._blocks) > 1:
                return
            if block.began - self._paused > NEXT_SECONDS:
                self._spent, self._done = 0.0, {}
            self._began, self._is_idle = block.began, threading.Event()
            watch = threading.Thread(target=self._watch, args=(self._is_idle,), daemon=True)
        watch.start()

    def end(self, block: _Block) -> None:
        """Count `block` as done."""
        with self._lock:
            self._tell(time.monotonic())
            self._blocks.remove(block)
            self._done[block.work] = self._done.get(block.work, 0) + 1
            if not self._blocks:
                self._paused = time.monotonic()
                self._spent += self._paused - self._began
                self._is_idle.set()

    def _watch(self, is_idle: threading.Event) -> None:
        while not is_idle.wait(LOOK_SECONDS):
            with self._lock:
                if not is_idle.is_set():
                    self._tell(time.monotonic())

    def _tell(self, now: float) -> None:
        """Write a line about the newest block, if it is time for one."""
        spent = self._spent + now - self._began
        if spent < FIRST_SECONDS or now - self._told < NEXT_SECONDS:
            return
        self._told, block = now, self._blocks[-1]
        item = f" {block.item}" if block.item else ""
        done = self._done.get(block.work, 0)
        count = f"{done} done, " if done else ""
        _write(f"{block.work}{item} ({count}{spent:.0f} s)")


_notices = _Notices()

if sys.platform != "win32":
    os.register_at_fork(after_in_child=_notices.forget)


def _write(text: str) -> None:
    process = multiprocessing.current_process().name
    name = "navarena" if process == "MainProcess" else f"navarena ({process})"
    with suppress(OSError, ValueError, AttributeError):  # stderr is closed, or None
        sys.stderr.write(f"{name}: {text}\n")
        sys.stderr.flush()


@contextmanager
def announce(work: str, item: str = "") -> Iterator[None]:
    """Say on stderr that the block does `work`, once that has taken FIRST_SECONDS, and then now and again.

    Args:
        work: what is done, such as "building scenes"; finished blocks are counted by it.
        item: to what, such as the id of a scene.
    """
    if os.environ.get(QUIET_VARIABLE, "0") not in ("", "0"):
        yield
        return
    notices, block = _notices, _Block(work, item, time.monotonic())
    notices.begin(block)
    try:
        yield
    finally:
        notices.end(block)
