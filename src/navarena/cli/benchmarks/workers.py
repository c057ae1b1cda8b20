"""Benchmark of worker processes: how much faster two of them evaluate than one."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from navarena.cli.benchmarks.measurement import Measurement
from navarena.core.threads import THREADS_VARIABLE

PROTOCOL, AGENT = "objectnav-hm3d2022-v1", "frontier"
EPISODES, QUICK_EPISODES = 800, 40
"""Of val: minutes of work on one core, where the start of a process hardly counts any more."""

WORKERS = 2


@dataclass(frozen=True)
class Spent:
    """Seconds of one evaluation: by the clock, and of all its processes together on a processor."""

    wall: float
    cpu: float


def measure(quick: bool) -> list[Measurement]:
    """The whole command with one worker on one core against two workers on two; needs an idle machine.

    Args:
        quick: fewer episodes, so that the start of the processes counts.
    """
    count = QUICK_EPISODES if quick else EPISODES
    time_evaluation(WORKERS, count)  # every scene is compiled before either is measured
    one, two = (time_evaluation(workers, count) for workers in (1, WORKERS))
    name = f"evaluate {PROTOCOL} --agent {AGENT}, {count} episodes, {WORKERS} workers against one"
    note = (
        f"a core each; {one.wall:.1f} s and {two.wall:.1f} s by the clock, {one.cpu:.1f} s and "
        f"{two.cpu:.1f} s of processors"
    )
    return [Measurement(name, one.wall / two.wall, "x", 1.8, note)]


def time_evaluation(workers: int, episodes: int) -> Spent:
    """Seconds of `navarena evaluate` with `workers` of one thread each; raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "navarena", "evaluate", PROTOCOL, "--agent", AGENT]
        command += ["--split", "val", "--episodes", str(episodes), "--workers", str(workers)]
        command += ["--out", str(Path(folder) / "run"), "--quiet"]
        before, began = os.times(), time.perf_counter()
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {THREADS_VARIABLE: str(workers)}
        )
        wall, after = time.perf_counter() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Spent(wall, cpu)
