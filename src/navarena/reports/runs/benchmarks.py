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
    """The contestants with labels that differ: their corruptions, then a number behind equal ones."""
    labels = [one.label for one in contestants]
    corrupted = [one.records[0].corruptions for one in contestants]
    named = [
        f"{label}, {corrupt}" if corrupt and labels.count(label) > 1 else label
        for label, corrupt in zip(labels, corrupted, strict=True)
    ]
    return [
        replace(one, label=f"{label} ({count})" if (count := named[: place + 1].count(label)) > 1 else label)
        for place, (one, label) in enumerate(zip(contestants, named, strict=True))
    ]
