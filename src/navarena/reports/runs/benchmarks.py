"""What the runs of a report were made on, and labels by which a reader tells them apart."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.compare import Contestant
from navarena.evaluation.replay import open_recorded_benchmark

OpenBenchmark = Callable[[Contestant], Benchmark]


def opener() -> OpenBenchmark:
    """Opens the benchmark of a contestant's first run; runs of the same thing share one.

    What it returns raises what open_recorded_benchmark raises.
    """
    opened: dict[str, Benchmark] = {}

    def open_once(contestant: Contestant) -> Benchmark:
        if contestant.identity not in opened:
            opened[contestant.identity] = open_recorded_benchmark(contestant.records[0])
        return opened[contestant.identity]

    return open_once


def label_apart(contestants: Sequence[Contestant]) -> list[Contestant]:
    """The contestants with labels that differ: a number behind one that came before."""
    seen: dict[str, int] = {}
    made = []
    for one in contestants:
        seen[one.label] = seen.get(one.label, 0) + 1
        count = seen[one.label]
        made.append(one if count == 1 else replace(one, label=f"{one.label} ({count})"))
    return made
