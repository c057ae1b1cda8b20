"""DIR/report.html: the page of a run, one file that opens anywhere without a network."""

from collections.abc import Sequence
from pathlib import Path

from navarena.core.files import write_atomic
from navarena.evaluation.breakdowns import (
    RADIUS,
    SUBTASK,
    TRAITS,
    Group,
    band_groups,
    break_down,
    scene_groups,
)
from navarena.evaluation.failures import read_failures
from navarena.evaluation.journal import Row
from navarena.evaluation.results import Summary, metric_values
from navarena.evaluation.runner import REPORT_NAME, Evaluation
from navarena.metrics.catalog import get_metric
from navarena.reports.figures import draw_groups, draw_interval, draw_scores
from navarena.reports.gallery import choose_episodes, draw_cards
from navarena.reports.html import render_template
from navarena.reports.tables import (
    Table,
    broken_table,
    episode_table,
    failure_table,
    format_interval,
    format_value,
    group_table,
    headline_metrics,
    is_score,
    metric_table,
)
from navarena.reports.topdown import PATH_COLORS, PlanSource

MOST_SCENES = 200
MOST_EPISODES = 500


def render_report(evaluation: Evaluation, plans: PlanSource | None = None) -> str:
    """The HTML of a finished run; the same run always gives the same page.

    Args:
        evaluation: the run.
        plans: where the drawings find their scenes; None leaves the drawings out.
    """
    summary, rows = evaluation.summary, evaluation.rows
    headline = headline_metrics(summary)
    bands = band_groups(rows, headline)
    scene_names = sorted({row.scene_id for row in rows})
    shown = set(scene_names[:MOST_SCENES])
    sections = {}
    if plans is not None:
        sections = draw_cards(evaluation.benchmark, plans, choose_episodes(rows, headline[0], headline[-1]))
    return render_template(
        "report.html",
        record=evaluation.record,
        summary=summary,
        is_custom=evaluation.benchmark.identity.is_custom,
        tiles=_make_tiles(summary),
        metrics=metric_table(summary),
        intervals=[
            draw_interval(entry.mean, entry.low, entry.high) if is_score(name) else ""
            for name, entry in summary.metrics.items()
        ],
        infinite=max((entry.infinite for entry in summary.metrics.values()), default=0),
        figures=_draw_figures(rows, headline, bands),
        bands=group_table("start distance", bands),
        parts=_make_parts(rows, headline),
        scenes=group_table("scene", scene_groups([row for row in rows if row.scene_id in shown], headline)),
        scene_count=len(scene_names),
        failures=failure_table(read_failures(evaluation.folder) or {}),
        broken=broken_table(rows),
        sections=sections,
        path_colors=PATH_COLORS,
        episodes=episode_table(rows[:MOST_EPISODES], list(summary.metrics)),
        episode_count=len(rows),
    )


def write_report(evaluation: Evaluation, plans: PlanSource | None = None) -> Path:
    """Replace report.html in the run's folder in one step; raises StorageError. Returns its path."""
    path = evaluation.folder / REPORT_NAME
    write_atomic(path, render_report(evaluation, plans).encode())
    return path


def _make_parts(rows: Sequence[Row], headline: Sequence[str]) -> dict[str, Table]:
    """Title -> table of every further way to break the run down that tells parts apart."""
    parts = {}
    for by in (*TRAITS, SUBTASK, RADIUS):
        groups = break_down(rows, by, headline)
        if len(groups) > 1:
            parts[f"By {by}"] = group_table(by, groups)
    return parts


def _make_tiles(summary: Summary) -> list[dict[str, str]]:
    """The scores of a run, large."""
    tiles = []
    for name, entry in summary.metrics.items():
        if is_score(name):
            metric = get_metric(name)
            tiles.append(
                {
                    "title": entry.title,
                    "value": format_value(metric, entry.mean),
                    "interval": format_interval(metric, entry.low, entry.high),
                }
            )
    return tiles


def _draw_figures(
    rows: Sequence[Row], headline: Sequence[str], bands: Sequence[Group]
) -> list[dict[str, str]]:
    """The plots of a run with their captions."""
    figures = []
    scored = [name for name in headline if is_score(name) and not get_metric(name).is_binary]
    for name in scored:
        metric = get_metric(name)
        figures.append(
            {
                "svg": draw_scores(metric, metric_values(rows, name)),
                "caption": f"Distribution of {metric.title} over {len(rows)} episodes.",
            }
        )
    for name in [name for name in headline[:1] if is_score(name)]:
        figures.append(
            {
                "svg": draw_groups(bands, name),
                "caption": f"{get_metric(name).title} by geodesic distance from start to goal, "
                "with 95 % intervals.",
            }
        )
    return figures
