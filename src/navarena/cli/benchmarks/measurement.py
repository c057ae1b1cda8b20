"""A measured figure and its target; functions that measure time and memory."""

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """A figure of `navarena bench`.

    Attributes:
        name: what was measured, such as "rgb + depth + instance, 256x256, flat".
        value: the figure, in `unit`.
        unit: such as "frames/s", "steps/s", "us", "ms", "s", "MB" or "x" for ratios.
        target: the figure to reach, or None. Rates and ratios should be at least the target,
            times and sizes at most.
        note: how it was measured, or what it is compared with.
    """

    name: str
    value: float
    unit: str
    target: float | None = None
    note: str = ""

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is better: true for rates (per second or minute) and ratios."""
        return self.unit == "x" or self.unit.endswith(("/s", "/min"))

    @property
    def ratio(self) -> float | None:
        """The figure relative to its target: 1 or more if it is reached; None without a target."""
        if self.target is None or not self.value:
            return None
        return self.value / self.target if self.higher_is_better else self.target / self.value


def median_seconds(
    work: Callable[[], object], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Median duration of `repeats` calls of `work` in seconds, after one call that warms up.

    Pass `time.thread_time` as clock for one-core figures on a busy machine.
    """
    work()
    durations = []
    for _ in range(repeats):
        begin = clock()
        work()
        durations.append(clock() - begin)
    return statistics.median(durations)


def resident_bytes() -> int:
    """Resident memory of this process in bytes; 0 if the system does not report it."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
