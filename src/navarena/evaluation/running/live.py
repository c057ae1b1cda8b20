"""Progress statistics of a run: score, speed, and where the time goes.

It is read off the journals, so that worker processes and clusters need no channel of their own for it.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from navarena.core.files import DAMAGE
from navarena.evaluation.records.journal import journal_paths
from navarena.evaluation.records.times import EpisodeTimes, times_paths
from navarena.metrics.statistics import wilson_interval

SUCCESS = "success"

Line = TypeVar("Line", bound=msgspec.Struct)


class _Outcome(msgspec.Struct):
    """Outcome fields of a row."""

    metrics: dict[str, float | None]


@dataclass
class Tail:
    """The complete lines that files have got since the last look; a half-written one waits."""

    _offsets: dict[Path, int] = field(default_factory=dict)

    def read(self, paths: list[Path]) -> list[bytes]:
        """New complete lines of all files; files that cannot be read yet have none."""
        lines: list[bytes] = []
        for path in paths:
            try:
                with path.open("rb") as file:
                    file.seek(self._offsets.get(path, 0))
                    fresh = file.read()
            except OSError:
                continue
            whole = fresh[: fresh.rfind(b"\n") + 1]
            self._offsets[path] = self._offsets.get(path, 0) + len(whole)
            lines += whole.splitlines()
        return lines


class RunMonitor:
    """Watches a run in its folder.

    Args:
        folder: of the run.
        clock: seconds, for the rate of episodes.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder, self._clock = folder, clock
        self._rows, self._times = Tail(), Tail()
        self._count = self._rated = self._successes = 0
        self._spent = {"simulator": 0.0, "agent": 0.0, "output": 0.0}
        self._look()
        self._before, self._began = self._count, clock()

    def describe(self) -> str:
        """Such as "success 62.5 % (40.1 to 80.2 %), 3.1 episodes/s, 80 % simulator, 20 % agent"."""
        self._look()
        parts = []
        if self._rated:
            low, high = wilson_interval(self._successes, self._rated)
            rate = self._successes / self._rated
            parts.append(f"success {100 * rate:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)")
        seconds = self._clock() - self._began
        if self._count > self._before and seconds > 0:
            parts.append(f"{(self._count - self._before) / seconds:.3g} episodes/s")
        total = sum(self._spent.values())
        if total > 0:
            parts += [f"{100 * spent / total:.0f} % {name}" for name, spent in self._spent.items()]
        return ", ".join(parts)

    def _look(self) -> None:
        """Count new rows."""
        for outcome in _decode(self._rows.read(journal_paths(self._folder)), _Outcome):
            self._count += 1
            success = outcome.metrics.get(SUCCESS)
            if success is not None and success in (0.0, 1.0):
                self._rated += 1
                self._successes += int(success)
        for times in _decode(self._times.read(times_paths(self._folder)), EpisodeTimes):
            for name in self._spent:
                self._spent[name] += getattr(times, name)


def _decode(lines: list[bytes], kind: type[Line]) -> Iterator[Line]:
    """The complete lines; damaged ones are reported when results are read."""
    for line in lines:
        with contextlib.suppress(*DAMAGE):
            yield msgspec.json.decode(line, type=kind)
