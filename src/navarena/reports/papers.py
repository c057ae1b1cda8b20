"""The numbers of compared runs for papers: a LaTeX table, and a CSV file with a line for each number."""

import csv
import io
import re
from collections.abc import Iterator, Sequence

from navarena.evaluation.analyses.compare import Comparison
from navarena.metrics.catalog import TOUR_METRICS, Metric, get_metric
from navarena.metrics.statistics import Estimate, why_missing
from navarena.reports.comparison import headline_first

CSV_COLUMNS = (
    "kind",
    "run",
    "against",
    "agent",
    "identity",
    "metric",
    "mean",
    "low",
    "high",
    "n",
    "infinite",
    "method",
    "p",
    "wins",
    "ties",
    "losses",
)
"""A line is a "mean" over the episodes of a run, one "pooled" over its sub-tasks, or its "difference" to the
first run."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}

Columns = Sequence[tuple[str, Metric, Sequence[Estimate | None]]]
"""Heading, metric, and its mean in each run."""


def write_latex(comparison: Comparison) -> str:
    r"""A `tabular` in the style of booktabs: a line for each run, means with 95 % intervals below them.

    Rates are in per cent. The best mean of a column is bold where there are several runs; n and the
    identities stand in comments above.
    """
    columns: Columns = [(title, get_metric(name), found) for title, name, found in headline_first(comparison)]
    best = [_best(metric, found) for _, metric, found in columns]
    heads = " & ".join(_heading(title, metric) for title, metric, _ in columns)
    lines = [
        "% needs \\usepackage{booktabs}",
        f"% means over n = {', '.join(_counts(comparison))} episodes with 95 % intervals",
        *_other_counts(columns),
        *(f"% {one.label}: {one.identity}" for one in comparison.contestants),
        f"\\begin{{tabular}}{{l{'c' * len(columns)}}}",
        "\\toprule",
        f"Agent & {heads} \\\\",
        "\\midrule",
    ]
    for number, one in enumerate(comparison.contestants):
        means = [
            _bold(_number(metric, found[number]), number in tops)
            for (_, metric, found), tops in zip(columns, best, strict=True)
        ]
        ranges = [_range(metric, found[number]) for _, metric, found in columns]
        lines.append(f"{escape_latex(one.label)} & {' & '.join(means)} \\\\")
        lines.append(f" & {' & '.join(ranges)} \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def write_csv(comparison: Comparison) -> str:
    """A line for each mean of each run, and for each difference against the first; columns as CSV_COLUMNS.

    Numbers are as computed, infinite ones "inf", unknown ones empty.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for line in _lines(comparison):
        writer.writerow({name: "" if value is None else value for name, value in line.items()})
    return out.getvalue()


def _lines(comparison: Comparison) -> Iterator[dict[str, object]]:
    by_label = {one.label: one for one in comparison.contestants}
    for one, estimates, pooled in zip(
        comparison.contestants, comparison.estimates, comparison.pooled, strict=True
    ):
        who = {"run": one.label, "agent": one.agent, "identity": one.identity}
        for name, estimate in estimates.items():
            yield {"kind": "mean", **who, "metric": name, **_columns(estimate)}
        for name, estimate in pooled.items():
            yield {"kind": "pooled", **who, "metric": name, **_columns(estimate)}
    for difference in comparison.differences:
        result, one = difference.result, by_label[difference.label]
        yield {
            "kind": "difference",
            "run": one.label,
            "against": comparison.contestants[0].label,
            "agent": one.agent,
            "identity": one.identity,
            "metric": difference.metric,
            **_columns(result.difference),
            "p": result.p_value,
            "wins": result.wins,
            "ties": result.ties,
            "losses": result.losses,
        }


def _columns(estimate: Estimate) -> dict[str, object]:
    return {
        "mean": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "infinite": estimate.infinite,
        "method": estimate.method,
    }


def escape_latex(text: str) -> str:
    """`text` with the signs that mean something to LaTeX written out."""
    return re.sub(r"[\\~^&%$#_{}]", lambda sign: _LATEX[sign[0]], text)


def _heading(title: str, metric: Metric) -> str:
    unit = "%" if metric.is_binary else metric.unit
    arrow = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", None: ""}[metric.better]
    return escape_latex(f"{title}{f' [{unit}]' if unit else ''}") + arrow


def _counts(comparison: Comparison) -> list[str]:
    """The numbers of episodes, each once."""
    return list(dict.fromkeys(f"{len(one.rows[0]):,}" for one in comparison.contestants))


def _other_counts(columns: Columns) -> list[str]:
    """A comment for each column that is no mean over episodes: over how many tours or sub-tasks it is."""
    lines = []
    for title, metric, found in columns:
        counts = ", ".join(dict.fromkeys(f"{one.n:,}" for one in found if one is not None))
        if metric.name in TOUR_METRICS:
            lines.append(f"% {title}: n = {counts} tours")
        elif title != metric.title:  # pooled
            lines.append(f"% {title}: n = {counts} sub-tasks")
    return lines


def _number(metric: Metric, estimate: Estimate | None) -> str:
    return "--" if estimate is None else _write(metric, estimate.mean)


def _range(metric: Metric, estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    if estimate.low is None or estimate.high is None:
        return f"{{\\scriptsize {why_missing(estimate.method)}}}" if why_missing(estimate.method) else ""
    low, high = _write(metric, estimate.low), _write(metric, estimate.high)
    return f"{{\\scriptsize [{low}, {high}]}}"


def _write(metric: Metric, value: float) -> str:
    if value == float("inf"):
        return "$\\infty$"
    if metric.is_binary:
        return f"{100 * value:.1f}"
    return f"{value:.3f}" if metric.better == "higher" and not metric.unit else f"{value:.2f}"


def _bold(text: str, is_best: bool) -> str:
    return f"\\textbf{{{text}}}" if is_best else text


def _best(metric: Metric, found: Sequence[Estimate | None]) -> set[int]:
    """Places of the runs with the best mean; none where there is one run, or no better and worse."""
    means = {k: one.mean for k, one in enumerate(found) if one is not None}
    if metric.better is None or len(means) < 2:
        return set()
    top = max(means.values()) if metric.better == "higher" else min(means.values())
    return {k for k, mean in means.items() if mean == top}
