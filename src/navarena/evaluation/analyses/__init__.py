"""The analyses of the papers: tables and curves made of finished runs."""

from navarena.evaluation.analyses.analysis import (
    Analysis,
    Column,
    Curve,
    format_cell,
    format_number,
    read_analyses,
    save_analysis,
)

__all__ = [
    "Analysis",
    "Column",
    "Curve",
    "format_cell",
    "format_number",
    "read_analyses",
    "save_analysis",
]
