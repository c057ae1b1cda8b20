"""Drawings from above of the runs of a report, made by executing their actions again."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.compare import Comparison
from navarena.metrics.failures import FailureClass
from navarena.reports.gallery import Card, choose_by_class, choose_episodes, draw_cards
from navarena.reports.runs.benchmarks import OpenBenchmark
from navarena.reports.topdown import PlanSource, open_plans


def draw_galleries(
    comparison: Comparison,
    classes: Sequence[Mapping[str, FailureClass] | None],
    open_benchmark: OpenBenchmark,
    on_run: Callable[[], object] = lambda: None,
    open_scenes: Callable[[Benchmark], PlanSource] = open_plans,
) -> dict[str, dict[str, list[Card]]]:
    """Label -> title of a section -> drawings, of the first run of each contestant.

    Failures are shown by their class where that is known, else the easiest ones.

    Args:
        comparison: the runs; its first two metrics say which episodes are worth looking at.
        classes: for each contestant, episode id -> why it failed; None where this is not known.
        open_benchmark: what a run was made on.
        on_run: called after each contestant.
        open_scenes: where drawings find their scenes.

    Raises what open_benchmark and execute_actions raise.
    """
    galleries = {}
    for one, found in zip(comparison.contestants, classes, strict=True):
        benchmark = open_benchmark(one)
        leading = [name for name in comparison.estimates[0] if name in one.metrics][:2]
        sections = choose_episodes(one.rows[0], leading[0], leading[-1])
        if found:
            by_class = choose_by_class(one.rows[0], found)
            sections = by_class | {title: rows for title, rows in sections.items() if "success" in title}
        galleries[one.label] = draw_cards(benchmark, cache(open_scenes(benchmark)), sections)
        on_run()
    return galleries
