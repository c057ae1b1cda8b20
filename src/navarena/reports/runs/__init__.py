"""The page of `navarena report`: runs side by side, with analyses, drawings and videos."""

from navarena.reports.runs.galleries import draw_galleries, label_apart
from navarena.reports.runs.page import REPORT_NAME, Drawn, render_runs, write_runs

__all__ = ["REPORT_NAME", "Drawn", "draw_galleries", "label_apart", "render_runs", "write_runs"]
