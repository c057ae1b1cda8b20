"""Pools of processes: interrupts, errors and deaths."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from navarena.core.errors import CheckFailedError
from navarena.core.processes import open_pool

PATIENCE_SECONDS = 60.0

SCRIPT = """
import os, signal, sys, time
from navarena.core.processes import open_pool

if __name__ != "__main__":  # a worker that imports what it is to do, while Ctrl-C comes
    os.kill(os.getpid(), signal.SIGINT)

def wait(seconds):
    time.sleep(seconds)
    return os.getpid()

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
    with open_pool(2) as pool:
        print(pool.submit(wait, 0.0).result(), flush=True)
        waiting = [pool.submit(wait, 3600.0) for _ in range(8)]
        [one.result() for one in waiting]
"""

needs_signals = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs POSIX signals")


def start(folder: Path) -> tuple["subprocess.Popen[str]", int]:
    """A process whose pool has begun to wait for an hour, and the id of one of its workers."""
    script = folder / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    return process, int(process.stdout.readline() or 0)


def is_running(process: int) -> bool:
    """Whether the process `process` exists and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@needs_signals
def test_an_interrupt_ends_the_work_at_once_and_prints_nothing_of_workers(tmp_path: Path) -> None:
    process, worker = start(tmp_path)
    assert worker, "a worker that is interrupted while it imports goes on"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert errors.count("Traceback") == 1, "that of the process itself, which does not catch it"
    assert "SpawnProcess" not in errors


@needs_signals
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_workers_end_with_the_process_that_made_them(tmp_path: Path) -> None:
    process, worker = start(tmp_path)
    process.kill()
    process.communicate(timeout=PATIENCE_SECONDS)  # workers hold the pipes, too
    deadline = time.monotonic() + PATIENCE_SECONDS
    while is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(worker)


def test_an_error_does_not_wait_for_the_rest() -> None:
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError), open_pool(1) as pool:
        pool.submit(time.sleep, 2 * PATIENCE_SECONDS)
        raise ZeroDivisionError
    assert time.monotonic() - began < PATIENCE_SECONDS


def test_a_worker_that_dies_is_one_clear_error() -> None:
    expected = pytest.raises(CheckFailedError, match="got one that ended; give the same command again")
    with expected, open_pool(1) as pool:
        pool.submit(os._exit, 3).result()
