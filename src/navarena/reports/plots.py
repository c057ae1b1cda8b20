"""Plots of a report by matplotlib, as inline SVG that follows the theme of the page.

Lines and letters are drawn in marker colours, which become CSS variables of the page afterwards; letters stay
letters, in the font of the page. Equal data give equal bytes.
"""

import io
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from navarena.metrics.statistics import Estimate

RUN_COLORS = (
    "#3b6fe0",
    "#e0762b",
    "#22936a",
    "#c4477f",
    "#8460c9",
    "#a2851a",
    "#3d9dbd",
    "#7c828a",
)
"""Of runs, in their order; they hold on light and on dark pages, and return after the eighth."""

_DASHES = ("-", "--", ":", "-.")
"""Of lines: the first eight are solid, those whose colours return are dashed."""

_VARIABLES = {"#010203": "var(--ink)", "#040506": "var(--soft)", "#070809": "var(--line)"}
_INK, _SOFT, _LINE = _VARIABLES

_SIZE = (5.4, 3.1)
"""Inches; 72 units of the SVG make one."""

_LETTERS = 60
"""Names of groups with more letters together are written aslant."""

_LEAST_SHARE = 0.1
"""Shares that are all smaller are drawn beside this one, lest one episode of a hundred look like all."""

_BESIDE = 12
"""Groups that stand side by side; more of them stand below each other."""

_RC = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # names may hold dollar signs
    "font.size": 9,
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": _LINE,
    "grid.linewidth": 0.6,
    "xtick.color": _LINE,
    "ytick.color": _LINE,
    "xtick.labelcolor": _SOFT,
    "ytick.labelcolor": _SOFT,
    "text.color": _INK,
    "legend.frameon": False,
    "legend.labelcolor": _INK,
    "legend.fontsize": 8.5,
    "patch.linewidth": 0,
}


@dataclass(frozen=True)
class Figure:
    """A plot and its caption."""

    svg: Markup
    caption: str


@dataclass(frozen=True)
class Line:
    """One line of a plot.

    Attributes:
        label: in the legend.
        x, y: its points.
        low, high: ends of the intervals of `y`, None where unknown; empty without intervals.
        steps: whether values hold until the next point, as in distributions.
        group: number of its colour; None for one of its own. Lines with an empty label are not in the legend.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    steps: bool = False
    group: int | None = None


def draw_lines(
    title: str, lines: Sequence[Line], x_title: str, y_title: str, is_share: bool = False
) -> Markup:
    """Lines with their intervals as bands.

    Args:
        title: alternative text.
        lines: at least one.
        x_title: of the horizontal axis.
        y_title: of the vertical axis.
        is_share: whether y lives in [0, 1]; the axis is then that range.
    """
    with _styled(title) as (figure, axes):
        for number, line in enumerate(lines):
            group = number if line.group is None else line.group
            color, dashes = _color(group), _DASHES[group // len(RUN_COLORS) % len(_DASHES)]
            style = {"color": color, "linestyle": dashes, "label": line.label}
            if line.steps:
                axes.step(line.x, line.y, where="post", linewidth=1.8, **style)
                continue
            axes.plot(line.x, line.y, marker="o", markersize=3.5, linewidth=1.6, **style)
            known = [
                (x, low, high)
                for x, low, high in zip(line.x, line.low, line.high)
                if low is not None and high is not None
            ]
            if known:
                axes.fill_between(*zip(*known), color=color, alpha=0.15, linewidth=0)
        axes.set_xlabel(x_title)
        axes.set_ylabel(y_title)
        if all(float(x).is_integer() for line in lines for x in line.x):  # counts have no tick at 1.5
            axes.xaxis.get_major_locator().set_params(integer=True)
        if is_share:
            axes.set_ylim(-0.02, 1.02)
        if sum(bool(line.label) for line in lines) > 1:
            axes.legend()
        return _finish(figure, title)


def draw_ranges(
    title: str, names: Sequence[str], series: Mapping[str, Sequence[Estimate | None]], y_title: str
) -> Markup:
    """Means in [0, 1] with their intervals for each of `names`, side by side, or many below each other.

    Args:
        title: alternative text.
        names: of the groups, along the axis.
        series: label of a run -> an estimate for each group, None where it has none.
        y_title: of the axis of the means.
    """
    with _styled(title) as (figure, axes):
        is_upright = len(names) <= _BESIDE
        width = min(0.8 / max(len(series), 1), 0.18)
        for number, (label, estimates) in enumerate(series.items()):
            color, shift = _color(number), (number - (len(series) - 1) / 2) * width
            found = [(place + shift, one) for place, one in enumerate(estimates) if one is not None]
            for x, one in found:
                if one.low is not None and one.high is not None:
                    ends = ([x, x], [one.low, one.high])
                    axes.plot(*(ends if is_upright else ends[::-1]), color=color, linewidth=2, alpha=0.7)
            means = ([x for x, _ in found], [one.mean for _, one in found])
            axes.plot(*(means if is_upright else means[::-1]), "o", color=color, label=label)
        if len(series) > 1:
            axes.legend()
        if not is_upright:
            figure.set_size_inches(_SIZE[0], 0.7 + 0.2 * len(names))
            axes.set_yticks(range(len(names)), names)
            axes.set(xlim=(-0.02, 1.02), ylim=(len(names) - 0.4, -0.6), xlabel=y_title)
            axes.grid(axis="x")
            axes.grid(axis="y", visible=False)
            return _finish(figure, title)
        axes.set_xticks(range(len(names)), names)
        axes.set(xlim=(-0.6, len(names) - 0.4), ylim=(-0.02, 1.02), ylabel=y_title)
        room = _LETTERS / max(len(names), 1)
        if sum(map(len, names)) > _LETTERS or any(
            len(one) + len(two) > 2 * room for one, two in itertools.pairwise(names)
        ):
            axes.set_xticks(range(len(names)), names, rotation=28, ha="right", rotation_mode="anchor")
        return _finish(figure, title)


def draw_shares(title: str, names: Sequence[str], series: Mapping[str, Sequence[float]]) -> Markup:
    """Horizontal bars of shares in [0, 1], a group for each of `names` with a bar for each run."""
    with _styled(title) as (figure, axes):
        figure.set_size_inches(_SIZE[0], 0.7 + 0.2 * len(names) * (len(series) + 0.6))
        height = 0.8 / max(len(series), 1)
        for number, (label, shares) in enumerate(series.items()):
            places = [place + (number - (len(series) - 1) / 2) * height for place in range(len(names))]
            axes.barh(places, shares, height * 0.92, color=_color(number), label=label)
            for place, share in zip(places, shares):
                axes.annotate(
                    f"{100 * share:.0f} %",
                    (share, place),
                    (3, 0),  # points, so that the room that it takes does not depend on the shares
                    textcoords="offset points",
                    va="center",
                    fontsize=7.5,
                    color=_SOFT,
                )
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xlim(0, 1.1 * max(_LEAST_SHARE, *(share for shares in series.values() for share in shares)))
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)
        if len(series) > 1:
            figure.legend(loc="outside lower right", ncols=min(len(series), 4))
        return _finish(figure, title)


def _color(number: int) -> str:
    return RUN_COLORS[number % len(RUN_COLORS)]


@contextmanager
def _styled(title: str) -> Iterator[tuple[Any, Any]]:
    """A figure with one pair of axes, in the style of the page while it is drawn and written."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_RC | {"svg.hashsalt": title}):
        figure = Figure(_SIZE, layout="constrained")
        figure.patch.set_visible(False)
        axes = figure.add_subplot()
        axes.patch.set_visible(False)
        yield figure, axes


def _finish(figure: Any, title: str) -> Markup:
    """The SVG of `figure`, whose size, letters and colours are the page's."""
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Type", "Format")))
    text = out.getvalue().decode()
    found = re.search(r'<svg[^>]*viewBox="([^"]*)"[^>]*>(.*)</svg>', text, re.DOTALL)
    if found is None:
        raise ValueError("matplotlib wrote no SVG")
    box, text = found[1], found[2]
    for marker, variable in _VARIABLES.items():
        text = text.replace(marker, variable)
    for unwanted in (
        r"<metadata>.*?</metadata>",
        r"<style.*?</style>",
        r'(?<=<g) id="[^"]*"',
        r"font-family: [^;]*; ",
    ):
        text = re.sub(unwanted, "", text, flags=re.DOTALL)
    text = re.sub(r"\s+", " ", text)
    return Markup(f'<svg class="chart" viewBox="{box}" role="img" aria-label="{escape(title)}">{text}</svg>')
