"""Plots as inline SVG whose colours are CSS classes of the page."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from markupsafe import Markup, escape

from navarena.evaluation.breakdowns import Group
from navarena.metrics.catalog import Metric, get_metric
from navarena.metrics.statistics import Estimate
from navarena.reports.tables import format_value

_WIDTH, _HEIGHT = 460, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 22, 42
_BINS = 10


def _frame(label: str, parts: Sequence[str]) -> Markup:
    return Markup(
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, name: str = "tick") -> str:
    return f'<text class="{name}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _grid(top: float, ticks: Sequence[float], labels: Sequence[str]) -> list[str]:
    """Horizontal lines at `ticks` of an axis that ends at `top`, with labels on the left."""
    parts = []
    for tick, label in zip(ticks, labels):
        y = _height_of(tick, top)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(_LEFT - 6, y + 4, label, "tick tick-y"))
    return parts


def _height_of(value: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / top


def _count_ticks(largest: int) -> list[int]:
    """At most six round numbers from 0 to at least `largest`."""
    for step in (base * 10**power for power in range(9) for base in (1, 2, 5)):
        if step * 5 >= largest:
            return list(range(0, step * (-(-largest // step)) + 1, step))
    return [0, largest]


def draw_scores(metric: Metric, values: Float[np.ndarray, "n"]) -> Markup:
    """How often each of (N,) values of a score in [0, 1] occurs; exact zeros stand apart as failures."""
    values = np.asarray(values, float)
    zeros = int((values <= 0).sum())
    counts, _ = np.histogram(values[values > 0], _BINS, (0.0, 1.0))
    bars = [zeros, *(int(count) for count in counts)]
    ticks = _count_ticks(max(*bars, 1))
    parts = _grid(ticks[-1], ticks, [str(tick) for tick in ticks])
    width = (_WIDTH - _LEFT - _RIGHT) / (_BINS + 1.5)
    for k, count in enumerate(bars):
        x = _LEFT + width * (0.08 if k == 0 else k + 0.5)
        y = _height_of(count, ticks[-1])
        kind = "bar bar-failed" if k == 0 else "bar"
        title = "0" if k == 0 else f"{(k - 1) / _BINS:g} to {k / _BINS:g}"
        parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width * 0.86:.1f}" '
            f'height="{_HEIGHT - _BOTTOM - y:.1f}"><title>{title}: {count} episodes</title></rect>'
        )
        if count:
            parts.append(_text(x + width * 0.43, y - 4, str(count), "tick tick-x"))
    base = _HEIGHT - _BOTTOM + 16
    parts.append(_text(_LEFT + width * 0.5, base, "= 0", "tick tick-x"))
    for k in range(0, _BINS + 1, 2):
        parts.append(_text(_LEFT + width * (k + 1.43), base, f"{k / _BINS:g}", "tick tick-x"))
    parts.append(_text(_LEFT + (_WIDTH - _LEFT) / 2, _HEIGHT - 6, f"{metric.title} of an episode", "axis"))
    return _frame(f"Distribution of {metric.title}", parts)


def draw_groups(groups: Sequence[Group], name: str) -> Markup:
    """The mean of a score in [0, 1] in each group, with its interval."""
    places = [(group.name, f"n = {group.n}", group.estimates[name]) for group in groups]
    return _frame(f"{get_metric(name).title} by start distance", _draw_estimates(get_metric(name), places))


def draw_severities(corruption: str, points: Sequence[tuple[int, Estimate]], name: str) -> Markup:
    """The mean of a score in [0, 1] by the severity of a corruption, 0 for none, with intervals."""
    metric = get_metric(name)
    places = [(str(severity) if severity else "clean", "", estimate) for severity, estimate in points]
    title = _text(_LEFT + (_WIDTH - _LEFT) / 2, _HEIGHT - 6, f"severity of {corruption}", "axis")
    parts = [*_draw_estimates(metric, places, joined=True), title]
    return _frame(f"{metric.title} by severity of {corruption}", parts)


def _draw_estimates(
    metric: Metric, places: Sequence[tuple[str, str, Estimate]], joined: bool = False
) -> list[str]:
    """Points with whiskers, evenly spaced, of (name, second line, estimate); `joined` by a line."""
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    parts = _grid(1.0, ticks, [f"{100 * tick:g} %" if metric.is_binary else f"{tick:g}" for tick in ticks])
    width = (_WIDTH - _LEFT - _RIGHT) / max(len(places), 1)
    spots = [
        (_LEFT + width * (k + 0.5), _height_of(estimate.mean, 1.0))
        for k, (_, _, estimate) in enumerate(places)
    ]
    if joined:
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        parts.append(f'<polyline class="curve" points="{line}"/>')
    for (x, y), (name, note, estimate) in zip(spots, places, strict=True):
        if estimate.low is not None and estimate.high is not None:
            low, high = _height_of(estimate.low, 1.0), _height_of(estimate.high, 1.0)
            parts.append(f'<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>')
        parts.append(
            f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="5">'
            f"<title>{escape(name)}: {escape(format_value(metric, estimate.mean))}</title></circle>"
        )
        base = _HEIGHT - _BOTTOM
        parts.append(_text(x, base + 16, name, "tick tick-x"))
        if note:
            parts.append(_text(x, base + 30, note, "tick tick-x faint"))
    return parts


def draw_interval(mean: float | None, low: float | None, high: float | None) -> Markup:
    """A track from 0 to 1 with the interval as a bar and the mean as a line; empty for other ranges."""
    if mean is None or not 0.0 <= mean <= 1.0:
        return Markup("")
    parts = ['<rect class="track" x="0" y="4" width="100" height="4" rx="2"/>']
    if low is not None and high is not None:
        parts.append(
            f'<rect class="span" x="{100 * low:.2f}" y="3" width="{max(100 * (high - low), 0.6):.2f}" '
            'height="6" rx="2"/>'
        )
    parts.append(f'<line class="mean" x1="{100 * mean:.2f}" x2="{100 * mean:.2f}" y1="0" y2="12"/>')
    return Markup(
        '<svg class="interval" viewBox="-1 0 102 12" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )
