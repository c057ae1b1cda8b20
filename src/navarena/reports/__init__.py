"""Reports of finished runs: tables, plots, drawings, videos and pages."""

from navarena.reports.plan_view import ScenePlan
from navarena.reports.runs.page import render_report, write_report
from navarena.reports.tables import Table, metric_table, tour_table
from navarena.reports.topdown import PlanSource, draw_episode, make_scene_plan, open_plans
from navarena.reports.tour_alignment import (
    DrawnEpisode,
    TourDrawing,
    draw_tour,
    drawing_in_house,
    drawing_on_graph,
    write_tour_drawing,
)

__all__ = [
    "DrawnEpisode",
    "PlanSource",
    "ScenePlan",
    "Table",
    "TourDrawing",
    "draw_episode",
    "draw_tour",
    "drawing_in_house",
    "drawing_on_graph",
    "make_scene_plan",
    "metric_table",
    "open_plans",
    "render_report",
    "tour_table",
    "write_report",
    "write_tour_drawing",
]
