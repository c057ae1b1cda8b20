"""Drawings from above of the runs of a report, made by executing their actions again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.compare import Comparison, Contestant
from navarena.evaluation.replay import open_recorded_benchmark
from navarena.metrics.failures import FailureClass
from navarena.reports.gallery import Card, choose_by_class, choose_episodes, draw_cards
from navarena.reports.topdown import PlanSource, open_plans

OpenBenchmark = Callable[[Contestant], Benchmark]


def label_apart(contestants: Sequence[Contestant]) -> list[Contestant]:
    """The contestants with labels that differ: a number behind one that came before."""
    seen: dict[str, int] = {}
    made = []
    for one in contestants:
        seen[one.label] = seen.get(one.label, 0) + 1
        count = seen[one.label]
        made.append(one if count == 1 else replace(one, label=f"{one.label} ({count})"))
    return made


def open_once(contestant: Contestant, opened: dict[str, Benchmark]) -> Benchmark:
    """The benchmark of a contestant's first run, opened unless `opened` has it by its identity."""
    identity = contestant.identity
    if identity not in opened:
        opened[identity] = open_recorded_benchmark(contestant.records[0])
    return opened[identity]


def draw_galleries(
    comparison: Comparison,
    classes: Sequence[Mapping[str, FailureClass] | None],
    on_run: Callable[[], object] = lambda: None,
    open_benchmark: OpenBenchmark | None = None,
    open_scenes: Callable[[Benchmark], PlanSource] = open_plans,
) -> dict[str, dict[str, list[Card]]]:
    """Label -> title of a section -> drawings, of the first run of each contestant.

    Failures are shown by their class where that is known, else the easiest ones.

    Args:
        comparison: the runs; its first two metrics say which episodes are worth looking at.
        classes: for each contestant, episode id -> why it failed; None where this is not known.
        on_run: called after each contestant.
        open_benchmark: what a run was made on; by its run.json when None.
        open_scenes: where drawings find their scenes.

    Raises what open_recorded_benchmark and execute_actions raise.
    """
    opened: dict[str, Benchmark] = {}
    galleries = {}
    for one, found in zip(comparison.contestants, classes, strict=True):
        benchmark = open_benchmark(one) if open_benchmark else open_once(one, opened)
        leading = [name for name in comparison.estimates[0] if name in one.metrics][:2]
        sections = choose_episodes(one.rows[0], leading[0], leading[-1])
        if found:
            by_class = choose_by_class(one.rows[0], found)
            sections = by_class | {title: rows for title, rows in sections.items() if "success" in title}
        galleries[one.label] = draw_cards(benchmark, cache(open_scenes(benchmark)), sections)
        on_run()
    return galleries
