"""The page of `navarena report`: one or several runs with analyses, drawings and videos."""

from navarena.reports.gallery import draw_galleries, make_opener
from navarena.reports.runs.page import COMPARISON_NAME, Classes, Drawn, render_runs, write_runs
from navarena.reports.runs.tables import label_apart
from navarena.reports.runs.videos import (
    KINDS,
    VideoCard,
    VideoPlan,
    choose_videos,
    plan_videos,
    render_videos,
)

__all__ = [
    "COMPARISON_NAME",
    "KINDS",
    "Classes",
    "Drawn",
    "VideoCard",
    "VideoPlan",
    "choose_videos",
    "draw_galleries",
    "label_apart",
    "make_opener",
    "plan_videos",
    "render_runs",
    "render_videos",
    "write_runs",
]
