"""Drawings from above of chosen episodes, made by re-executing the logged actions."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from navarena.evaluation.analyses.compare import Comparison
from navarena.evaluation.analyses.contestants import Contestant
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.records.journal import Row
from navarena.evaluation.running.replay import execute_actions
from navarena.evaluation.running.rows import pair_rows
from navarena.metrics.catalog import get_metric, leading_metrics
from navarena.metrics.failures import MEANINGS, FailureClass
from navarena.reports.tables import format_single
from navarena.reports.topdown import PlanSource, draw_episode, open_plans

PER_SECTION = 6

PER_CLASS = 3
"""Failures that are drawn of each class."""

Sections = dict[str, list[Row]]


@dataclass(frozen=True)
class Card:
    """Drawing of one episode.

    Attributes:
        episode_id, scene_id: of the episode.
        status: "success", "failure", or the error of the agent.
        drawing: inline SVG.
        facts: (name, value) in words.
    """

    episode_id: str
    scene_id: str
    status: str
    drawing: Markup
    facts: tuple[tuple[str, str], ...]


def choose_episodes(rows: Sequence[Row], outcome: str, score: str) -> Sections:
    """Title of a section -> at most PER_SECTION rows to draw.

    Args:
        rows: of a run.
        outcome: name of the metric that says success or not.
        score: name of the metric by which episodes are ranked.
    """
    if not get_metric(outcome).is_score:
        return {"Episodes": list(rows[:PER_SECTION])}
    ranked = sorted(rows, key=lambda row: (row.metric(score), row.scene_id, row.episode_id))
    failed = [row for row in ranked if row.metric(outcome) <= 0]
    succeeded = [row for row in ranked if row.metric(outcome) > 0]
    failed.sort(key=lambda row: (not row.failed, start_distance(row)))
    best = succeeded[::-1][:PER_SECTION]
    worst = [row for row in succeeded if row not in best][:PER_SECTION]
    sections = {
        "Failures, easiest first": failed[:PER_SECTION],
        "Least efficient successes": worst,
        "Most efficient successes": best,
    }
    return {title: chosen for title, chosen in sections.items() if chosen}


def choose_by_class(rows: Sequence[Row], classes: Mapping[str, FailureClass]) -> Sections:
    """Reason of failure -> at most PER_CLASS rows, the easiest first; the most frequent reason first.

    Args:
        rows: of a run.
        classes: episode id -> why it failed.
    """
    found: dict[FailureClass, list[Row]] = {}
    for row in sorted(rows, key=lambda row: (start_distance(row), row.scene_id, row.episode_id)):
        if row.episode_id in classes:
            found.setdefault(classes[row.episode_id], []).append(row)
    kinds = sorted(found, key=lambda kind: (-len(found[kind]), kind))
    return {f"Failed: {MEANINGS[kind]} ({len(found[kind])})": found[kind][:PER_CLASS] for kind in kinds}


def start_distance(row: Row) -> float:
    """Metres, geodesic, from start to goal; infinite without a path."""
    return math.inf if row.start_distance is None else row.start_distance


def draw_cards(benchmark: Benchmark, plans: PlanSource, sections: Sections) -> dict[str, list[Card]]:
    """The drawings of `sections`; each scene's plan is asked for once."""
    chosen = {row.episode_id: row for rows in sections.values() for row in rows}
    pairs = pair_rows(benchmark, sorted(chosen.values(), key=lambda row: row.scene_id))
    cards, scene_id, plan = {}, None, None
    outcomes = {row.episode_id: outcome for row, _, outcome in execute_actions(benchmark, pairs)}
    for row, episode in pairs:
        if plan is None or episode.scene_id != scene_id:
            scene_id, plan = episode.scene_id, plans(episode.scene_id)
        drawing = draw_episode(plan, episode, outcomes[row.episode_id].trajectory)
        cards[row.episode_id] = make_card(benchmark, row, drawing)
    return {title: [cards[row.episode_id] for row in rows] for title, rows in sections.items()}


def make_card(benchmark: Benchmark, row: Row, drawing: Markup) -> Card:
    """A card with the numbers that explain a drawing."""
    shortest = "∞" if row.start_distance is None else f"{row.start_distance:.2f} m"
    facts = [("shortest path", shortest)]
    for name in benchmark.metrics:
        metric = get_metric(name)
        if not metric.is_binary:
            facts.append((metric.title, format_single(metric, row.metric(name))))
    status = status_of(row, benchmark.metrics)
    return Card(row.episode_id, row.scene_id, status, drawing, tuple(facts))


def status_of(row: Row, metrics: Sequence[str]) -> str:
    """Either "success" or "failure" by the first score among `metrics`; else how the episode ended."""
    outcome = leading_metrics(metrics)[0]
    if row.failed or not get_metric(outcome).is_score:
        return row.status
    return "success" if row.metric(outcome) > 0 else "failure"


OpenBenchmark = Callable[[Contestant], Benchmark]


def make_opener() -> OpenBenchmark:
    """A function that opens the benchmark of a contestant's first run; runs of one identity share it.

    What it returns raises as Contestant.open_benchmark.
    """
    opened: dict[str, Benchmark] = {}

    def open_once(contestant: Contestant) -> Benchmark:
        if contestant.identity not in opened:
            opened[contestant.identity] = contestant.open_benchmark()
        return opened[contestant.identity]

    return open_once


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
        comparison: the runs; its leading metrics say which episodes are worth looking at.
        classes: for each contestant, episode id -> why it failed; None where this is not known.
        open_benchmark: opens the benchmark of a run.
        on_run: called after each contestant.
        open_scenes: where drawings find their scenes.

    Raises FileError for missing scenes, InputError for bad settings, CheckFailedError for illegal actions.
    """
    galleries = {}
    for one, found in zip(comparison.contestants, classes, strict=True):
        benchmark = open_benchmark(one)
        leading = one.leading_metrics(comparison.estimates[0])
        sections = choose_episodes(one.rows[0], leading[0], leading[-1])
        if found:
            by_class = choose_by_class(one.rows[0], found)
            sections = by_class | {title: rows for title, rows in sections.items() if "success" in title}
        galleries[one.label] = draw_cards(benchmark, cache(open_scenes(benchmark)), sections)
        on_run()
    return galleries
