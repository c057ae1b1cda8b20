"""Analyses of IVLN (Krantz et al. 2023): tables over training seeds, numbers by position in the tour, and how
much of a tour has been seen.

They read results files of `navarena tours evaluate` in continuous scenes, and the details that it and
`navarena tours score` write on graphs: both hold every episode in the order in which its tour had it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from navarena.core.errors import FileError, InputError
from navarena.core.files import read_bytes
from navarena.core.seeding import make_generator
from navarena.evaluation.analyses.analysis import Analysis, Cell, Column, Curve
from navarena.evaluation.tour_coverage import Coverage
from navarena.metrics.statistics import Estimate, estimate_mean
from navarena.metrics.tours import Weighting, mean_over_tours

POSITIONS = (1, 2, 3, 4, 5, 10, 20, 30, 50)
"""Positions at which groups begin; the last group has no end."""

BY_POSITION = ("success", "spl", "ndtw")


class TourEpisodeResult(msgspec.Struct, frozen=True):
    """An episode of a results file: its tour, and its numbers."""

    tour: str
    metrics: dict[str, float | None]


class TourResult(msgspec.Struct, frozen=True):
    """A tour of a results file; ndtw, success and spl within [0, 1]."""

    tour_id: str
    scan: str
    episodes: int
    ndtw: float
    success: float
    spl: float


class TourResults(msgspec.Struct, frozen=True):
    """A results file; `weighting` is that of t-nDTW."""

    identity: str
    agent: str
    episodes: dict[str, TourEpisodeResult]
    tours: list[TourResult]
    weighting: Weighting = "changes"


@dataclass(frozen=True)
class TourContestant:
    """One method: results of each of its training seeds over the same tours.

    Attributes:
        label: in tables.
        files: of the results.
        runs: what they hold.
    """

    label: str
    files: tuple[Path, ...]
    runs: tuple[TourResults, ...]


def read_tour_results(entry: str) -> TourContestant:
    """The results that a command line names as [LABEL=]FILE[,FILE...]; called by their agent without a label.

    Raises FileError for missing or damaged files, InputError for files over other episodes.
    """
    label, mark, rest = entry.rpartition("=")
    files = tuple(Path(part) for part in (rest if mark else entry).split(","))
    runs = tuple(_read(file) for file in files)
    for file, run in zip(files, runs):
        if set(run.episodes) != set(runs[0].episodes):
            raise InputError(f"expected the episodes of {files[0]} in {file}, got others")
    return TourContestant(label or runs[0].agent, files, runs)


def _read(path: Path) -> TourResults:
    try:
        return msgspec.json.decode(read_bytes(path, "results of tours"), type=TourResults)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FileError(
            f"{path} holds no results of `navarena tours evaluate` ({error}); on graphs, give --details"
        ) from error


def analyse_tours(contestants: Sequence[TourContestant]) -> Analysis:
    """Each number as its mean and standard error over training seeds, as the tables of IVLN print them.

    t-nDTW weighs tours as the results say (by changes of episode in houses, as the continuous reference code
    does, by episodes on graphs), t-SR and t-SPL by their episodes. One seed has no standard error.
    """
    rows: list[tuple[Cell, ...]] = []
    for one in contestants:
        by_name: dict[str, list[float | None]] = {}
        for run in one.runs:
            for name, value in _summarize(run).items():
                by_name.setdefault(name, []).append(value)
        for name, values in by_name.items():
            known = np.array([value for value in values if value is not None])
            error = float(known.std(ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else None
            rows.append(
                (
                    one.label,
                    name,
                    len(known),
                    len(one.runs[0].tours),
                    len(one.runs[0].episodes),
                    float(known.mean()) if len(known) else None,
                    error,
                )
            )
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


def _summarize(run: TourResults) -> dict[str, float | None]:
    """Name -> mean of one run, over tours first, then over episodes; None where nothing is finite."""
    lengths = [tour.episodes for tour in run.tours]
    found: dict[str, float | None] = {
        "t-nDTW": mean_over_tours([tour.ndtw for tour in run.tours], lengths, run.weighting),
        "t-SR": mean_over_tours([tour.success for tour in run.tours], lengths),
        "t-SPL": mean_over_tours([tour.spl for tour in run.tours], lengths),
    }
    names = next(iter(run.episodes.values())).metrics if run.episodes else {}
    for name in names:
        values = [one.metrics[name] for one in run.episodes.values()]
        finite = [value for value in values if value is not None and math.isfinite(value)]
        found[name] = math.fsum(finite) / len(finite) if finite else None
    return found


def analyse_tour_positions(contestants: Sequence[TourContestant]) -> Analysis:
    """Success, SPL and nDTW by the position of the episode in its tour: does what was seen before help?

    Over several training seeds an episode counts as the mean of its runs.
    """
    rows: list[tuple[Cell, ...]] = []
    curves = []
    for one in contestants:
        positions = _positions(one.runs[0])
        scans = {tour.tour_id: tour.scan for tour in one.runs[0].tours}
        lines: dict[str, dict[float, Estimate]] = {name: {} for name in BY_POSITION}
        for first, following in zip(POSITIONS, [*POSITIONS[1:], None], strict=True):
            end = math.inf if following is None else following
            members = [name for name, place in positions.items() if first <= place < end]
            if not members:
                continue
            title = f"{first} and later" if following is None else f"{first} to {following - 1}"
            title = str(first) if end == first + 1 else title
            scenes = [scans[one.runs[0].episodes[name].tour] for name in members]
            cells: list[Cell] = []
            for metric in BY_POSITION:
                estimate = _estimate(one, members, metric, scenes)
                cells.append(estimate)
                if estimate is not None:
                    lines[metric][float(first)] = estimate
            rows.append((one.label, title, len(members), *cells))
        curves += [
            Curve(f"{one.label}: {name}", tuple(line), tuple(line.values()))
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
            Column("SPL", "rate"),
            Column("nDTW", "rate"),
        ),
        tuple(rows),
        ("Intervals resample whole scans, or episodes where there are fewer than five.",),
        tuple(curves),
        "first position of the group",
        "share",
    )


def _positions(run: TourResults) -> dict[str, int]:
    """Episode id -> its position in its tour, from 1."""
    counts: dict[str, int] = {}
    found = {}
    for name, episode in run.episodes.items():
        counts[episode.tour] = counts.get(episode.tour, 0) + 1
        found[name] = counts[episode.tour]
    return found


def _estimate(
    one: TourContestant, members: Sequence[str], metric: str, scenes: Sequence[str]
) -> Estimate | None:
    values = [[run.episodes[name].metrics.get(metric) for name in members] for run in one.runs]
    if any(value is None for row in values for value in row):
        return None
    generator = make_generator("analysis", one.runs[0].identity, "tour-positions", metric)
    return estimate_mean(np.array(values, np.float64).mean(0), list(scenes), generator)


def tabulate_coverage(coverage: Coverage, title: str) -> Analysis:
    """The two curves of figure 2b: of the next path, and of the whole tour, after n episodes."""
    counts = coverage.tours.tolist()
    shares: Mapping[str, list[float]] = {
        "the next path": coverage.next_path.tolist(),
        "the whole tour": coverage.whole_tour.tolist(),
    }
    columns = [Column("after episodes", "count"), Column("tours", "count")]
    rows = [(n, count, *(values[n] for values in shares.values())) for n, count in enumerate(counts)]
    curves = [
        Curve(
            name,
            tuple(float(n) for n in range(len(values))),
            tuple(Estimate(value, None, None, count) for value, count in zip(values, counts)),
        )
        for name, values in shares.items()
    ]
    return Analysis(
        "coverage",
        f"Seen before an episode begins: {title}",
        (*columns, *(Column(f"seen of {name}", "rate") for name in shares)),
        tuple(rows),
        ("An oracle follows the described paths; a cell counts as seen when its depth image shows it.",),
        tuple(curves),
        "episodes done",
        "share seen",
    )
