"""Analyses of IVLN (Krantz et al. 2023): tables over training seeds, numbers by position in the tour, and how
much of a tour has been seen.

They read the journals of runs, whose rows say where in its tour each episode was; coverage replays them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import get_args

import numpy as np

from navarena.core.errors import InputError
from navarena.evaluation.analyses.analysis import Analysis, Cell, Column, Curve
from navarena.evaluation.analyses.compare import pair_contestants
from navarena.evaluation.analyses.contestants import Contestant, estimate_metric, estimate_part
from navarena.evaluation.analyses.tour_coverage import (
    CoveragePoint,
    CoveredTour,
    estimate_coverage,
    replay_coverage,
)
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.results import summarize_tours
from navarena.evaluation.records.tour_scores import group_tours, require_tour
from navarena.metrics.catalog import get_metric
from navarena.metrics.statistics import Estimate
from navarena.metrics.tours import Reading, TourCoverage, TourScoring, Weighting
from navarena.tasks.catalog import get_task

POSITIONS = (1, 2, 3, 4, 5, 10, 20, 30, 50)
"""Positions at which groups begin; the last group has no end."""

BY_POSITION = ("success", "spl", "ndtw")

ALL_SCORINGS = tuple(TourScoring(one, two) for one in get_args(Reading) for two in get_args(Weighting))


def analyse_tours(contestants: Sequence[Contestant]) -> Analysis:
    """Each number as its mean and standard error over training seeds, as the tables of IVLN print them.

    t-nDTW stands in both readings and both weightings of tours; that of the protocol comes first. t-SR and
    t-SPL weigh tours by their episodes. One seed has no standard error.
    """
    rows: list[tuple[Cell, ...]] = []
    for one in contestants:
        by_name: dict[str, list[float | None]] = {}
        for run in one.rows:
            for name, value in _summarize(one, run).items():
                by_name.setdefault(name, []).append(value)
        tours = len(group_tours(one.rows[0]))
        for name, values in by_name.items():
            known = np.array([value for value in values if value is not None])
            error = float(known.std(ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else None
            mean = float(known.mean()) if len(known) else None
            rows.append((one.label, name, len(known), tours, len(one.rows[0]), mean, error))
    return Analysis(
        "tours",
        "Tours over training seeds",
        (
            Column("run"),
            Column("metric"),
            Column("seeds", "count"),
            Column("tours", "count"),
            Column("episodes", "count"),
            Column("mean", "score"),
            Column("± standard error", "score"),
        ),
        tuple(rows),
        ("Standard errors are those of the mean over seeds.",),
    )


def _summarize(one: Contestant, run: Sequence[Row]) -> dict[str, float | None]:
    """Title with unit -> mean of one run, over tours, then over episodes; None where nothing is finite."""
    own = get_task(str(one.records[0].settings["protocol"])).tour_scoring or TourScoring()
    found: dict[str, float | None] = {}
    for scoring in dict.fromkeys((own, *ALL_SCORINGS)):
        tours = summarize_tours(run, scoring)
        title = "t-nDTW" if scoring == own else f"t-nDTW ({scoring.reading}, by {scoring.weighting})"
        found.setdefault(title, tours.metrics["t_ndtw"].mean)
        found |= {"t-SR": tours.metrics["t_sr"].mean, "t-SPL": tours.metrics["t_spl"].mean}
    for name in one.metrics:
        values = [row.metric(name) for row in run]
        finite = [value for value in values if math.isfinite(value)]
        metric = get_metric(name)
        title = f"{metric.title} ({metric.unit})" if metric.unit else metric.title
        found[title] = math.fsum(finite) / len(finite) if finite else None
    return found


def analyse_maps(contestants: Sequence[Contestant]) -> Analysis:
    """Success, SPL, nDTW and t-nDTW by the map of the training and the map at evaluation (table 4).

    The changes are those to the same agent with the map of its training, over the pairs.

    Args:
        contestants: labelled with both maps, such as "iterative:known".

    Raises InputError for other labels, and for two of the same maps.
    """
    maps: dict[str, tuple[str, str]] = {}
    for one in contestants:
        trained, _, tested = one.label.partition(":")
        is_name = one.label.startswith(one.agent)  # of a run without a label, such as checkpoint:DIR
        if is_name or not (trained and tested):
            raise InputError(
                "expected the maps of training and evaluation before each run, as iterative:known=FOLDER, "
                f"got {one.label!r}"
            )
        if one.label in maps:
            raise InputError(
                f"expected one entry for {one.label}, got two; write several training seeds as one entry "
                "with commas"
            )
        maps[one.label] = trained, tested
    own = {maps[one.label][0]: one for one in contestants if len(set(maps[one.label])) == 1}
    rows: list[tuple[Cell, ...]] = []
    for one in contestants:
        trained, tested = maps[one.label]
        changes: list[Cell] = []
        for name in ("success", "t_ndtw"):
            base = own.get(trained)
            paired = None if base in (None, one) else pair_contestants(base, one, name)
            changes.append(None if paired is None else paired.difference)
        estimates = [estimate_metric(one, name) for name in (*BY_POSITION, "t_ndtw")]
        rows.append((trained, tested, len(one.rows[0]), *estimates, *changes))
    return Analysis(
        "maps",
        "Maps of training and evaluation",
        (
            Column("trained on"),
            Column("evaluated on"),
            Column("episodes", "count"),
            Column("success", "rate"),
            Column("SPL", "score"),
            Column("nDTW", "score"),
            Column("t-nDTW", "score"),
            Column("change of success", "points"),
            Column("change of t-nDTW", "score"),
        ),
        tuple(rows),
        ("Changes are to the same agent with the map that it was trained with.",),
    )


def analyse_tour_positions(contestants: Sequence[Contestant]) -> Analysis:
    """Success, SPL and nDTW by the position of the episode in its tour, as a measure of the use of memory.

    Over several training seeds an episode counts as the mean of its runs.
    """
    rows: list[tuple[Cell, ...]] = []
    curves = []
    for one in contestants:
        positions = np.array([require_tour(row).position + 1 for row in one.rows[0]])
        lines: dict[str, dict[float, Estimate]] = {name: {} for name in BY_POSITION}
        for first, following in zip(POSITIONS, [*POSITIONS[1:], None], strict=True):
            end = math.inf if following is None else following
            chosen = (positions >= first) & (positions < end)
            if not chosen.any():
                continue
            title = f"{first} and later" if following is None else f"{first} to {following - 1}"
            title = str(first) if end == first + 1 else title
            cells: list[Cell] = []
            for metric in BY_POSITION:
                estimate = estimate_part(one, metric, chosen)
                cells.append(estimate)
                if estimate is not None:
                    lines[metric][float(first)] = estimate
            rows.append((one.label, title, int(chosen.sum()), *cells))
        curves += [
            Curve(f"{one.label}: {get_metric(name).title}", tuple(line), tuple(line.values()))
            for name, line in lines.items()
            if line
        ]
    return Analysis(
        "tour-positions",
        "Episodes by their position in the tour",
        (
            Column("run"),
            Column("position"),
            Column("episodes", "count"),
            Column("success", "rate"),
            Column("SPL", "score"),
            Column("nDTW", "score"),
        ),
        tuple(rows),
        (),
        tuple(curves),
        "first position of the group",
        "score",
    )


def analyse_coverage(
    contestants: Sequence[Contestant], on_episode: Callable[[], object] = lambda: None
) -> Analysis:
    """The share of the next path, and of the whole tour, that was seen after n episodes, by replay.

    Over several training seeds a tour counts as the mean of its runs. Raises InputError for runs without
    tours, and CheckFailedError for illegal actions.
    """
    curves = {}
    for one in contestants:
        benchmark = one.open_benchmark()
        runs = [replay_coverage(rows, benchmark, on_episode) for rows in one.rows]
        tours = [
            CoveredTour(
                same[0].scene_id,
                TourCoverage(
                    np.mean([tour.coverage.next_path for tour in same], 0),
                    np.mean([tour.coverage.whole_tour for tour in same], 0),
                ),
            )
            for same in zip(*runs, strict=True)
        ]
        curves[one.label] = estimate_coverage(tours, one.identity)
    note = "Seen is what the body sees from all its poses, in agent and oracle phases."
    return tabulate_coverage("tour-coverage", "Seen before an episode begins", curves, note)


def tabulate_coverage(
    name: str, title: str, curves: Mapping[str, Sequence[CoveragePoint]], note: str
) -> Analysis:
    """The two curves of figure 2b of each run: of the next path, and of the whole tour, after n episodes."""
    shares = {"next_path": "next path", "whole_tour": "whole tour"}
    return Analysis(
        name,
        title,
        (
            Column("run"),
            Column("after episodes", "count"),
            Column("tours", "count"),
            *(Column(f"seen of the {words}", "rate") for words in shares.values()),
        ),
        tuple(
            (label, point.episodes, point.next_path.n, point.next_path, point.whole_tour)
            for label, points in curves.items()
            for point in points
        ),
        (note,),
        tuple(
            Curve(
                f"{label}: {words}",
                tuple(float(point.episodes) for point in points),
                tuple(getattr(point, share) for point in points),
            )
            for label, points in curves.items()
            for share, words in shares.items()
        ),
        "episodes done",
        "share seen",
    )
