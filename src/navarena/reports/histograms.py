"""Histograms as an SVG file, for papers and pages."""

from collections.abc import Mapping

from markupsafe import escape

from navarena.episodes.statistics import Histogram

_PANEL, _HEIGHT = 320, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 40, 44
_STYLE = "text{font:12px sans-serif;fill:#333}.bar{fill:#4477aa}.axis{stroke:#999}.title{font-weight:bold}"


def draw_histograms(title: str, panels: Mapping[str, Histogram]) -> str:
    """An SVG with one panel beside the other; `panels` maps the label of an axis to its histogram.

    Widths of bars are those of the bins, except that the last bin, which may reach far, is drawn as wide as
    the others and labelled with its upper edge.
    """
    width = max(len(panels), 1) * _PANEL
    parts = [_draw_panel(label, histogram, k * _PANEL) for k, (label, histogram) in enumerate(panels.items())]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_HEIGHT}" width="{width}" '
        f'height="{_HEIGHT}" role="img"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="white"/>'
        f'<text class="title" x="{_LEFT}" y="18">{escape(title)}</text>{"".join(parts)}</svg>\n'
    )


def _draw_panel(label: str, histogram: Histogram, left: float) -> str:
    most, bins = max(*histogram.counts, 1), len(histogram.counts)
    step = (_PANEL - _LEFT - _RIGHT) / bins
    base, full = _HEIGHT - _BOTTOM, _HEIGHT - _BOTTOM - _TOP
    x0 = left + _LEFT
    parts = [f'<line class="axis" x1="{x0}" x2="{left + _PANEL - _RIGHT}" y1="{base}" y2="{base}"/>']
    for k, count in enumerate(histogram.counts):
        tall = full * count / most
        low, high = histogram.edges[k], histogram.edges[k + 1]
        parts.append(
            f'<rect class="bar" x="{x0 + k * step:.1f}" y="{base - tall:.1f}" width="{step * 0.92:.1f}" '
            f'height="{tall:.1f}"><title>{low:g} to {high:g}: {count}</title></rect>'
        )
    for k in sorted({0, bins // 2, bins}):
        x = x0 + k * step
        anchor = "end" if k == bins else "middle"
        parts.append(
            f'<text x="{x:.1f}" y="{base + 16}" text-anchor="{anchor}">{histogram.edges[k]:.4g}</text>'
        )
    parts.append(f'<text x="{x0 - 6}" y="{_TOP + 10}" text-anchor="end">{most}</text>')
    parts.append(f'<text x="{x0 - 6}" y="{base}" text-anchor="end">0</text>')
    middle = x0 + (_PANEL - _LEFT - _RIGHT) / 2
    parts.append(f'<text x="{middle:.1f}" y="{base + 34}" text-anchor="middle">{escape(label)}</text>')
    return "".join(parts)
