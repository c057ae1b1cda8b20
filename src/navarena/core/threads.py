"""The shared thread pool for nogil kernels."""

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Int

from navarena.core.errors import InputError

THREADS_VARIABLE = "NAVARENA_THREADS"

FIRST_TENTHS, LATER_PIECES = 8, 2
"""Tenths of the items that the threads begin with, and into how many pieces for each thread the rest is cut.
These go to whoever is done: items differ in their cost, by a third between halves of 16 views. More and
smaller pieces cost more in calls than they balance: a call of the renderer takes 1 to 10 us."""


def thread_count() -> int:
    """Threads to use: $NAVARENA_THREADS, else the processors this process may run on; raises InputError."""
    chosen = os.environ.get(THREADS_VARIABLE)
    if not chosen:
        return count_cores()
    if not chosen.strip().isdecimal() or int(chosen) < 1:
        raise InputError(
            f"expected a number of threads, 1 or more, in {THREADS_VARIABLE}, got {chosen!r}; unset it for "
            "all processors"
        )
    return int(chosen)


def count_cores() -> int:
    """The processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="navarena")


def run_in_shares(work: Callable[[int, int, int], object], count: int, threads: int | None = None) -> None:
    """Call `work(share, first, last)` for contiguous pieces of range(count); `share` numbers the thread.

    Each thread begins with a piece of its own and takes further ones as it is done. With one
    thread the call happens once, on the caller's. Results cannot depend on the number of threads
    as long as item i is computed from item i alone.
    """
    run_over_rows(work, np.arange(count), threads)


def run_over_rows(
    work: Callable[..., object],
    rows: Int[np.ndarray, "k"],
    threads: int | None = None,
    args: tuple[Any, ...] = (),
) -> None:
    """`run_in_shares` for some of the items: ascending `rows` (K,).

    `work(share, first, last, *args)` is called for each run of neighbours among the rows of a piece, without
    a frame of Python in between.
    """
    shares = max(1, min(threads or thread_count(), len(rows)))
    if shares == 1:
        for first, last in _split_runs(rows):
            work(0, first, last, *args)
        return
    begun, later = _split_pieces(rows, shares)
    take = later.popleft  # atomic: two threads never get the same piece
    futures = [_pool(shares).submit(_run_share, work, k, begun[k], take, args) for k in range(1, shares)]
    try:
        _run_share(work, 0, begun[0], take, args)
    finally:
        later.clear()  # after an error nobody begins more
        wait(futures)  # an interrupted caller must not free arrays that other shares still write
    for future in futures:
        future.result()


def _split_pieces(
    rows: Int[np.ndarray, "k"], shares: int
) -> tuple[list[Int[np.ndarray, "_"]], deque[Int[np.ndarray, "_"]]]:
    """`rows` (K,) as the piece that each share begins with, and the pieces that remain."""
    most = max(shares, len(rows) * FIRST_TENTHS // 10)
    begun = np.array_split(rows[:most], shares)
    later = np.array_split(rows[most:], max(1, min(len(rows) - most, LATER_PIECES * shares)))
    return begun, deque(piece for piece in later if len(piece))


def _run_share(
    work: Callable[..., object],
    share: int,
    rows: Int[np.ndarray, "k"],
    take: Callable[[], Int[np.ndarray, "_"]],
    args: tuple[Any, ...],
) -> None:
    """Work on `rows`, then on the pieces that `take` gives, until it raises IndexError."""
    while True:
        for first, last in _split_runs(rows):
            work(share, first, last, *args)
        try:
            rows = take()
        except IndexError:
            return


def _split_runs(rows: Int[np.ndarray, "k"]) -> list[tuple[int, int]]:
    """First row and the one after the last of each run of neighbours among ascending `rows` (K,)."""
    if not len(rows):
        return []
    if rows[-1] - rows[0] == len(rows) - 1:
        return [(int(rows[0]), int(rows[-1]) + 1)]
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    return [(int(run[0]), int(run[-1]) + 1) for run in runs]
