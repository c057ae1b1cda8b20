"""The page of `navarena report`: runs side by side, with analyses, drawings and videos."""

from navarena.reports.runs.benchmarks import label_apart, opener
from navarena.reports.runs.films import FilmCard, Shooting, plan_films, shoot_films
from navarena.reports.runs.galleries import draw_galleries
from navarena.reports.runs.page import REPORT_NAME, Drawn, render_runs, write_runs

__all__ = [
    "REPORT_NAME",
    "Drawn",
    "FilmCard",
    "Shooting",
    "draw_galleries",
    "label_apart",
    "opener",
    "plan_films",
    "render_runs",
    "shoot_films",
    "write_runs",
]
