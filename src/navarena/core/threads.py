"""The one thread pool on which nogil kernels run side by side."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache

import numpy as np
from jaxtyping import Int

THREADS_VARIABLE = "NAVARENA_THREADS"


def thread_count() -> int:
    """Threads to use: $NAVARENA_THREADS, else the processors this process may run on."""
    chosen = os.environ.get(THREADS_VARIABLE)
    if chosen:
        return max(1, int(chosen))
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
    shares = min(threads or thread_count(), count)
    if shares <= 1:
        if count:
            work(0, 0, count)
        return
    borders = [count * k // shares for k in range(shares + 1)]
    futures = [_pool(shares).submit(work, k, borders[k], borders[k + 1]) for k in range(1, shares)]
    try:
        work(0, borders[0], borders[1])
    finally:
        wait(futures)  # an interrupted caller must not free arrays that other shares still write
    for future in futures:
        future.result()


def run_over_rows(
    work: Callable[[int, int, int], object], rows: Int[np.ndarray, "k"], threads: int | None = None
) -> None:
    """As run_in_shares for some of the items: ascending `rows` (K,), shared out evenly.

    `work(share, first, last)` is called for each run of neighbours among the rows of a share.
    """

    def work_on_runs(share: int, first: int, last: int) -> None:
        mine = rows[first:last]
        for run in np.split(mine, np.flatnonzero(np.diff(mine) > 1) + 1):
            work(share, int(run[0]), int(run[-1]) + 1)

    run_in_shares(work_on_runs, len(rows), threads)
