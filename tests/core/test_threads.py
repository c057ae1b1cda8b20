"""Shares cover every item once, on as many threads as asked for."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.core.threads import run_in_shares, run_over_rows, thread_count


@settings(max_examples=40, deadline=None)
@given(count=st.integers(0, 40), threads=st.integers(1, 6))
def test_every_item_once(count: int, threads: int) -> None:
    seen = [0] * count

    def work(share: int, first: int, last: int) -> None:
        assert 0 <= share < threads and first < last
        for item in range(first, last):
            seen[item] += 1

    run_in_shares(work, count, threads)
    assert seen == [1] * count


@settings(max_examples=40, deadline=None)
@given(rows=st.sets(st.integers(0, 20)), threads=st.integers(1, 4))
def test_every_row_once_in_runs(rows: set[int], threads: int) -> None:
    seen = [0] * 21

    def work(share: int, first: int, last: int) -> None:
        assert 0 <= share < threads and first < last
        for row in range(first, last):
            seen[row] += 1

    run_over_rows(work, np.array(sorted(rows), np.int64), threads)
    assert seen == [int(row in rows) for row in range(21)]


def test_shares_run_side_by_side() -> None:
    """Both shares wait for each other: only two threads at once can pass."""
    barrier = threading.Barrier(2, timeout=20)
    names: set[str] = set()

    def work(share: int, first: int, last: int) -> None:
        barrier.wait()
        names.add(threading.current_thread().name)

    run_in_shares(work, 2, 2)
    assert len(names) == 2


def test_who_is_done_takes_what_is_left() -> None:
    """One thread is held at its first piece until the other has done all the rest."""
    others_done, done = threading.Event(), [0, 0]

    def work(share: int, first: int, last: int) -> None:
        if share == 0 and not others_done.is_set():
            assert others_done.wait(20)
        done[share] += last - first
        if done[1] == 60:
            others_done.set()

    run_in_shares(work, 100, 2)
    assert done == [40, 60]


def test_one_share_stays_on_the_callers_thread() -> None:
    used: list[threading.Thread] = []
    run_in_shares(lambda *_: used.append(threading.current_thread()), 5, 1)
    assert used == [threading.current_thread()]


def test_errors_of_a_share_reach_the_caller() -> None:
    def work(share: int, first: int, last: int) -> None:
        if share == 1:
            raise ValueError("share 1")

    with pytest.raises(ValueError, match="share 1"):
        run_in_shares(work, 4, 2)


def test_thread_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAVARENA_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.delenv("NAVARENA_THREADS")
    assert thread_count() >= 1


@pytest.mark.parametrize("text", ["many", "-3", "0", "2.5"])
def test_bad_thread_counts(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("NAVARENA_THREADS", text)
    with pytest.raises(InputError, match=f"1 or more, in NAVARENA_THREADS, got '{text}'; unset it"):
        thread_count()


def test_interrupted_callers_wait_for_the_other_shares() -> None:
    """Who is interrupted frees the arrays that they write."""
    began, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def work(share: int, first: int, last: int) -> None:
        if share == 0:
            began.wait(10)
            threading.Timer(0.05, may_end.set).start()
            raise KeyboardInterrupt
        began.set()
        may_end.wait(10)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        run_in_shares(work, 2, 2)
    assert ended.is_set()
