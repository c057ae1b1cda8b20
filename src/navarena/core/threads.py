"""The shared thread pool for nogil kernels."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Int

THREADS_VARIABLE = "NAVARENA_THREADS"


def thread_count() -> int:
    """Threads to use: $NAVARENA_THREADS, else the processors this process may run on."""
    chosen = os.environ.get(THREADS_VARIABLE)
    if chosen:
        return max(1, int(chosen))
    return count_cores()


def count_cores() -> int:
    """The processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="navarena")


def run_in_shares(work: Callable[[int, int, int], object], count: int, threads: int | None = None) -> None:
    """Call `work(share, first, last)` for contiguous shares of range(count), one per thread.

    With one share the call happens on the caller's thread. Results cannot depend on the
    number of threads as long as item i is computed from item i alone.
    """
    run_over_rows(work, np.arange(count), threads)


def run_over_rows(
    work: Callable[..., object],
    rows: Int[np.ndarray, "k"],
    threads: int | None = None,
    args: tuple[Any, ...] = (),
) -> None:
    """`run_in_shares` for some of the items: ascending `rows` (K,), distributed evenly.

    `work(share, first, last, *args)` is called for each run of neighbours among the rows of a share, without
    a frame of Python in between.
    """
    shares = max(1, min(threads or thread_count(), len(rows)))
    if shares == 1:
        for first, last in _split_runs(rows):
            work(0, first, last, *args)
        return
    borders = [len(rows) * k // shares for k in range(shares + 1)]
    futures = [
        _pool(shares).submit(_run_share, work, k, rows[borders[k] : borders[k + 1]], args)
        for k in range(1, shares)
    ]
    try:
        for first, last in _split_runs(rows[: borders[1]]):
            work(0, first, last, *args)
    finally:
        wait(futures)  # an interrupted caller must not free arrays that other shares still write
    for future in futures:
        future.result()


def _run_share(
    work: Callable[..., object], share: int, rows: Int[np.ndarray, "k"], args: tuple[Any, ...]
) -> None:
    for first, last in _split_runs(rows):
        work(share, first, last, *args)


def _split_runs(rows: Int[np.ndarray, "k"]) -> list[tuple[int, int]]:
    """First row and the one after the last of each run of neighbours among ascending `rows` (K,)."""
    if not len(rows):
        return []
    if rows[-1] - rows[0] == len(rows) - 1:
        return [(int(rows[0]), int(rows[-1]) + 1)]
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    return [(int(run[0]), int(run[-1]) + 1) for run in runs]
