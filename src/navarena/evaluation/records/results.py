"""Results derived from the journals: the checked rows, summary.json and episodes.parquet."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import CheckFailedError
from navarena.core.files import read_json, write_atomic
from navarena.core.seeding import make_generator
from navarena.evaluation.records.episode_table import metric_columns, write_table
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.tour_scores import estimate_tours, group_tours
from navarena.metrics.catalog import MACRO, get_metric
from navarena.metrics.repetitions import estimate_over_seeds, estimate_weighted_seeds
from navarena.metrics.statistics import CONFIDENCE, Estimate
from navarena.metrics.subtasks import MODALITIES, PARTIAL, count_parts
from navarena.metrics.tours import Reading, TourScoring, Weighting

FORMAT = "navarena-summary-v1"
SUMMARY_NAME = "summary.json"
TABLE_NAME = "episodes.parquet"
ANALYSES_FOLDER = "analyses"
"""Below a run: tables of the papers, one JSON file for each analysis."""
_LISTED = 5


class MetricSummary(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A metric over all episodes.

    Attributes:
        title, unit, better: as of Metric.
        mean: over the finite values; None when all are infinite.
        low, high: interval at Summary.confidence; None when it cannot be known.
        n: episodes, failed ones included.
        infinite: those left out of the mean because the goal could not be reached.
        method: how the interval was made.
    """

    title: str
    unit: str
    better: Literal["higher", "lower"] | None
    mean: float | None
    low: float | None
    high: float | None
    n: int
    infinite: int
    method: str


class TourSummary(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The numbers of a run over its tours.

    Attributes:
        tours: how many.
        reading, weighting: of t-nDTW (see metrics.tours).
        metrics: "t_ndtw", "t_sr", "t_spl" -> summary; n counts tours.
    """

    tours: int
    reading: Reading
    weighting: Weighting
    metrics: dict[str, MetricSummary]


class Summary(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The numbers of a run.

    Attributes:
        format: of this file.
        identity: `protocol@dataset/split#hash`.
        agent: its name.
        episodes, scenes: how many.
        statuses: status -> how many episodes ended so.
        confidence: of the intervals.
        metrics: name -> summary.
        pooled: name -> the mean over all its sub-tasks, of scores by modality and by place (GOAT-Bench); n is
            their number.
        tours: over tours; None where episodes come without.
    """

    format: str = FORMAT
    identity: str
    agent: str
    episodes: int
    scenes: int
    statuses: dict[str, int]
    confidence: float
    metrics: dict[str, MetricSummary]
    pooled: dict[str, MetricSummary] = {}
    tours: TourSummary | None = None


def require_complete(rows: Sequence[Row], identity: str, episode_ids: Sequence[str]) -> None:
    """Raise CheckFailedError unless `rows` hold each of `episode_ids` exactly once, and of `identity`.

    No score is computed from anything else.
    """
    counts = Counter(row.episode_id for row in rows)
    problems = []
    for text, wrong in [
        ("missing", [name for name in episode_ids if name not in counts]),
        ("doubled", sorted(name for name, count in counts.items() if count > 1)),
        ("unknown", sorted(set(counts) - set(episode_ids))),
    ]:
        if wrong:
            listed = ", ".join(wrong[:_LISTED]) + (", ..." if len(wrong) > _LISTED else "")
            problems.append(f"{len(wrong)} {text} ({listed})")
    foreign = sorted({row.identity for row in rows} - {identity})
    if foreign:
        problems.append(f"rows of {', '.join(foreign)}")
    if problems:
        remedy = "run the same command again" if list(counts) else "the run has not started"
        if any(count > 1 for count in counts.values()) or foreign or set(counts) - set(episode_ids):
            remedy = "the journals were edited or mixed; start over with --fresh"
        raise CheckFailedError(
            f"expected each of {len(episode_ids)} episodes of {identity} once, got {'; '.join(problems)}; "
            f"{remedy}"
        )


def metric_values(rows: Sequence[Row], name: str) -> Float[np.ndarray, "n"]:
    """(N,) float64: the metric `name` of each row, infinity where the journal says so."""
    return metric_columns(rows, [name])[name]


def scene_labels(rows: Sequence[Row]) -> Int[np.ndarray, "n"]:
    """(N,) int64: for each row the place of its scene among the sorted scenes of `rows`."""
    places = {scene: place for place, scene in enumerate(sorted({row.scene_id for row in rows}))}
    return np.array([places[row.scene_id] for row in rows], np.int64)


def estimate_metric(rows: Sequence[Row], name: str, *stream: str) -> Estimate:
    """Mean and interval of a metric over `rows`; InputError for none.

    The resamples of the bootstrap come from the generator named by the run, the metric and
    `stream`, so that the same rows always give the same interval.
    """
    return estimate_runs([rows], name, *stream)


def estimate_runs(
    runs: Sequence[Sequence[Row]], name: str, *stream: str, two_levels: bool = False
) -> Estimate:
    """Mean and interval of a metric over runs of training seeds on the same episodes; of one run its own.

    An episode counts as the mean of its runs, and the interval is resampled over seeds, too, where
    estimate_over_seeds does so.
    """
    values = np.array([metric_values(own, name) for own in runs])
    return estimate_values(values, runs[0], name, *stream, two_levels=two_levels)


def estimate_values(
    values: Float[np.ndarray, "k n"], rows: Sequence[Row], name: str, *stream: str, two_levels: bool = False
) -> Estimate:
    """As estimate_runs, of the (K, N) `values` of the metric in K runs whose episodes are those of `rows`."""
    labels, metric = scene_labels(rows), get_metric(name)
    draws = make_generator("interval", "seeds", name, *stream)
    over_seeds = estimate_over_seeds([(1.0, values)], labels, draws, metric.bounds)
    generator = make_generator("interval", rows[0].identity, name, *stream)
    return over_seeds or metric.estimate(values.mean(0), labels, generator, two_levels)


def weigh_parts(rows: Sequence[Row], name: str) -> Float[np.ndarray, "n"]:
    """(N,) number of sub-tasks of each of `rows` over which a score is a mean (GOAT-Bench)."""
    return np.array([count_parts(name, row.metric) for row in rows], np.float64)


def pool_parts(runs: Sequence[Sequence[Row]], name: str) -> Estimate | None:
    """The mean of the score `name` over its sub-tasks, pooled; None without sub-tasks.

    Runs are those of training seeds on the same episodes. None, too, for other numbers than scores of
    sub-tasks, and where their numbers are not among the metrics.
    """
    rows = runs[0]
    modality = name.partition("_")[0]
    needed = {"subtasks", f"{modality}_subtasks"} if modality in MODALITIES else {"subtasks"}
    if not needed <= rows[0].metrics.keys():
        return None
    weights = weigh_parts(rows, name)
    if not weights.any():
        return None
    values = np.array([metric_values(own, name) for own in runs])
    generator = make_generator("interval", rows[0].identity, name, "pooled")
    return estimate_weighted_seeds(values, weights, [row.scene_id for row in rows], generator)


def pool_partial(runs: Sequence[Sequence[Row]], metrics: Iterable[str]) -> dict[str, Estimate]:
    """Means over sub-tasks of those `metrics` that are in PARTIAL, of runs of training seeds."""
    found = {name: pool_parts(runs, name) for name in metrics if name in PARTIAL}
    return {name: estimate for name, estimate in found.items() if estimate is not None}


def summarize(
    rows: Sequence[Row],
    identity: str,
    agent: str,
    metrics: Sequence[str],
    scoring: TourScoring | None = None,
) -> Summary:
    """The Summary of complete `rows`, which must be sorted (see journal.sort_rows).

    Args:
        rows: all of the run.
        identity: of the run.
        agent: its name.
        metrics: names, in the order of the tables.
        scoring: of tours; None where episodes come without.
    """
    labels = scene_labels(rows)
    summaries = {}
    for name, values in metric_columns(rows, metrics).items():
        metric = get_metric(name)
        estimate = metric.estimate(values, labels, make_generator("interval", rows[0].identity, name))
        summaries[name] = _summarize_metric(metric.title, metric.unit, metric.better, estimate)
    return Summary(
        identity=identity,
        agent=agent,
        episodes=len(rows),
        scenes=len({row.scene_id for row in rows}),
        statuses=dict(sorted(Counter(row.status for row in rows).items())),
        confidence=CONFIDENCE,
        metrics=summaries,
        pooled={
            name: _summarize_metric(
                get_metric(name).title.removesuffix(MACRO), "", get_metric(name).better, estimate
            )
            for name, estimate in pool_partial([rows], metrics).items()
        },
        tours=None if scoring is None else summarize_tours(rows, scoring),
    )


def summarize_tours(rows: Sequence[Row], scoring: TourScoring) -> TourSummary:
    """The numbers of tours; raises InputError for rows outside tours."""
    tours = group_tours(rows)
    if len(tours) == len(rows):
        scoring = TourScoring(scoring.reading, "episodes")  # tours of one episode have no changes to weigh
    metrics = {
        name: _summarize_metric(get_metric(name).title, "", "higher", estimate, len(tours))
        for name, estimate in estimate_tours(rows, scoring).items()
    }
    return TourSummary(
        tours=len(tours), reading=scoring.reading, weighting=scoring.weighting, metrics=metrics
    )


def _summarize_metric(
    title: str,
    unit: str,
    better: Literal["higher", "lower"] | None,
    estimate: Estimate | None,
    n: int = 0,
) -> MetricSummary:
    if estimate is None:
        method = "no alignment of some tour in this reading; `navarena analyse tours` shows the other"
        return MetricSummary(
            title=title,
            unit=unit,
            better=better,
            mean=None,
            low=None,
            high=None,
            n=n,
            infinite=0,
            method=method,
        )
    return MetricSummary(
        title=title,
        unit=unit,
        better=better,
        mean=None if estimate.infinite == estimate.n else estimate.mean,
        low=estimate.low,
        high=estimate.high,
        n=estimate.n,
        infinite=estimate.infinite,
        method=estimate.method,
    )


def encode_summary(summary: Summary) -> bytes:
    """The bytes of summary.json; equal summaries give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n"


def write_results(folder: Path, rows: Sequence[Row], summary: Summary) -> None:
    """Replace episodes.parquet and summary.json of `folder`, each in one step; raises StorageError."""
    write_table(folder / TABLE_NAME, rows, list(summary.metrics))
    write_atomic(folder / SUMMARY_NAME, encode_summary(summary))


def read_summary(folder: Path) -> Summary:
    """The summary.json of `folder`; raises FileError when it is missing or damaged."""
    remedy = "run navarena evaluate again to derive it anew"
    summary: Summary = read_json(folder / SUMMARY_NAME, "summary", Summary, remedy)
    return summary
