"""The page of `navarena report`: runs side by side, with analyses, drawings and videos."""

from navarena.reports.runs.benchmarks import label_apart, opener
from navarena.reports.runs.galleries import draw_galleries
from navarena.reports.runs.page import REPORT_NAME, Drawn, render_runs, write_runs
from navarena.reports.runs.videos import VideoCard, VideoPlan, plan_videos, render_videos

__all__ = [
    "REPORT_NAME",
    "Drawn",
    "VideoCard",
    "VideoPlan",
    "draw_galleries",
    "label_apart",
    "opener",
    "plan_videos",
    "render_runs",
    "render_videos",
    "write_runs",
]
