"""One image of a scene: its plan from above and views from inside."""

from navarena.reports.preview.sheet import Sheet, draw_preview, encode_png, write_png
from navarena.reports.preview.viewpoints import Viewpoint, choose_viewpoints

__all__ = ["Sheet", "Viewpoint", "choose_viewpoints", "draw_preview", "encode_png", "write_png"]
