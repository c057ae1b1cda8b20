"""The plots of a report: the runs side by side."""

from collections.abc import Mapping, Sequence

import numpy as np

from navarena.evaluation.analyses.breakdowns import Group
from navarena.evaluation.analyses.compare import THRESHOLDS, Comparison
from navarena.metrics.catalog import TOUR_METRICS, get_metric
from navarena.metrics.failures import FailureClass
from navarena.reports.plots import Figure, Line, draw_lines, draw_ranges, draw_shares


def draw_summary(comparison: Comparison) -> list[Figure]:
    """Every score with its interval, and the distribution of the first score that is no rate."""
    names = [name for name in comparison.estimates[0] if get_metric(name).is_score]
    series = {
        one.label: [estimates.get(name) for name in names]
        for one, estimates in zip(comparison.contestants, comparison.estimates, strict=True)
    }
    figures = []
    if names:
        titles = [get_metric(name).title for name in names]
        plot = draw_ranges("Scores", titles, series, "score")
        figures.append(Figure(plot, "Scores with their 95 % intervals."))
    spread = [name for name in names if name not in TOUR_METRICS and not get_metric(name).is_binary]
    if spread:
        title = get_metric(spread[0]).title
        lines = [
            Line(one.label, THRESHOLDS, _share_above(one.values(spread[0])))
            for one in comparison.contestants
            if spread[0] in one.metrics
        ]
        figures.append(
            Figure(
                draw_lines(f"Distribution of {title}", lines, title, "share of episodes", True),
                f"Share of the episodes whose {title} is above a value: a line further up is better.",
            )
        )
    return figures


def _share_above(values: np.ndarray) -> tuple[float, ...]:
    """Share of `values` (N,) above each of THRESHOLDS."""
    return tuple(float((values > threshold).mean()) for threshold in THRESHOLDS)


def draw_breakdown(by: str, metric: str, groups: Mapping[str, Sequence[Group]]) -> Figure | None:
    """A score of the runs by the groups of a breakdown; None for other metrics.

    Args:
        by: what the groups are.
        metric: name.
        groups: label of a run -> its groups.
    """
    if not get_metric(metric).is_score:
        return None
    names = list(dict.fromkeys(group.name for found in groups.values() for group in found))
    series = {}
    for label, found in groups.items():
        by_name = {group.name: group.estimates.get(metric) for group in found}
        series[label] = [by_name.get(name) for name in names]
    title = f"{get_metric(metric).title} by {by}"
    return Figure(
        draw_ranges(title, names, series, get_metric(metric).title), f"{title}, with 95 % intervals."
    )


def draw_classes(
    classes: Mapping[str, Mapping[str, FailureClass]],
    episodes: Mapping[str, int],
    meanings: Mapping[FailureClass, str],
) -> Figure:
    """Share of all episodes that failed for each reason.

    Args:
        classes: label -> episode id -> class.
        episodes: label -> how many the run has.
        meanings: of the classes, in words.
    """
    kinds = [kind for kind in FailureClass if any(kind in found.values() for found in classes.values())]
    series = {
        label: [list(found.values()).count(kind) / episodes[label] for kind in kinds]
        for label, found in classes.items()
    }
    names = [meanings[kind] for kind in kinds]
    return Figure(draw_shares("Why episodes failed", names, series), "Share of all episodes.")
