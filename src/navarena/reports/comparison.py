"""The tables of `navarena compare` and of repeated runs."""

from collections.abc import Callable, Iterator, Mapping

from navarena.evaluation.analyses.compare import Comparison
from navarena.evaluation.analyses.contestants import Contestant
from navarena.metrics.catalog import MACRO, Metric, get_metric
from navarena.metrics.repetitions import VarianceSplit
from navarena.metrics.statistics import Estimate
from navarena.reports.tables import (
    NO_VALUE,
    Table,
    format_count,
    format_difference,
    format_interval,
    format_value,
)

SIGNIFICANT = 4
"""Decimals of a p value."""

HASH_DIGITS = 12
"""Of a hash of weights; run.json holds all 64."""


def contestant_table(comparison: Comparison) -> Table:
    """The compared runs: identity, episodes, seeds, privileged inputs, beginnings of the weights' hashes."""
    rows = [
        (
            one.label,
            one.agent,
            one.identity,
            str(len(one.rows[0])),
            str(len(one.rows)),
            _describe(one),
            ", ".join(record.model_sha256[:HASH_DIGITS] or NO_VALUE for record in one.records),
        )
        for one in comparison.contestants
    ]
    columns = ("run", "agent", "of", "episodes", "seeds", "privileged", "weights")
    return Table(columns, tuple(rows), (False, False, False, True, True, False, False))


def _describe(one: Contestant) -> str:
    record = one.records[0]
    return ", ".join(record.privileged_inputs) or ("yes" if record.privileged else "no")


def estimate_table(comparison: Comparison) -> Table:
    """Every metric of every contestant with its interval and n."""
    rows = [
        (title, one.label, *_cells(name, estimate), estimate.method)
        for title, name, found in headline_first(comparison)
        for one, estimate in zip(comparison.contestants, found, strict=True)
        if estimate is not None
    ]
    columns = ("metric", "run", "mean", "95 % interval", "n", "interval by")
    return Table(columns, tuple(rows), (False, False, True, True, True, False))


def headline_first(comparison: Comparison) -> Iterator[tuple[str, str, list[Estimate | None]]]:
    """Title, name and estimates by contestant of every metric; pooled means come before macro means."""
    for name in dict.fromkeys(name for estimates in comparison.estimates for name in estimates):
        pooled = [found.get(name) for found in comparison.pooled]
        if any(pooled):
            yield get_metric(name).title.removesuffix(MACRO), name, pooled
        yield get_metric(name).title, name, [found.get(name) for found in comparison.estimates]


def difference_table(comparison: Comparison) -> Table:
    """The other contestants against the first, on the episodes that both ran."""
    first, rows = comparison.contestants[0].label, []
    for one in comparison.differences:
        result = one.result
        counts = (result.wins, result.ties, result.losses)
        p_value = NO_VALUE if result.p_value is None else f"{result.p_value:.{SIGNIFICANT}f}"
        rows.append(
            (
                get_metric(one.metric).title,
                f"{one.label} - {first}",
                *_cells(one.metric, result.difference, format_difference),
                p_value,
                result.p_method,
                NO_VALUE if result.wins is None else " / ".join(str(count) for count in counts),
            )
        )
    columns = (
        "metric",
        "difference",
        "mean",
        "95 % interval",
        "n",
        "p",
        "tested by",
        "win / tie / loss",
    )
    return Table(columns, tuple(rows), (False, False, True, True, True, True, False, False))


def seed_table(comparison: Comparison) -> Table:
    """Interquartile means over training seeds."""
    first = comparison.contestants[0].label
    rows = [
        (
            get_metric(one.metric).title,
            one.label,
            *_cells(one.metric, one.interquartile_mean),
            str(one.seeds),
            NO_VALUE if one.improvement is None else f"{one.improvement:.3f}",
        )
        for one in comparison.seeds
    ]
    columns = (
        "metric",
        "run",
        "interquartile mean",
        "95 % interval",
        "scores",
        "seeds",
        f"probability of improvement over {first}",
    )
    return Table(columns, tuple(rows), (False, False, True, True, True, True, True))


def variance_table(splits: Mapping[str, VarianceSplit]) -> Table:
    """The variance of each metric, split into episodes and the agent's seed."""
    rows = [
        (
            get_metric(name).title,
            format_value(get_metric(name), split.mean),
            f"{split.episode**0.5:.3g}",
            f"{split.agent**0.5:.3g}",
            NO_VALUE if split.agent_share is None else f"{100 * split.agent_share:.0f} %",
            f"{split.single_error:.3g}",
            f"{split.standard_error:.3g}",
            f"{split.n} x {split.repeats}",
        )
        for name, split in splits.items()
    ]
    columns = (
        "metric",
        "mean",
        "sd of episodes",
        "sd of the agent",
        "share of the agent",
        "error of one run",
        "error of all runs",
        "episodes x runs",
    )
    return Table(columns, tuple(rows), (False, *[True] * 7))


def _cells(
    name: str, estimate: Estimate, form: Callable[[Metric, float | None], str] = format_value
) -> tuple[str, str, str]:
    """Mean, interval and n of an estimate, whose values `form` writes."""
    metric = get_metric(name)
    return (
        form(metric, estimate.mean),
        format_interval(metric, estimate, form),
        format_count(estimate),
    )
