"""The analyses of the papers: tables and curves made of finished runs."""

from typing import TYPE_CHECKING

from navarena.core.lazy import lazy_names

if TYPE_CHECKING:
    from navarena.evaluation.analyses.analysis import (
        Analysis,
        Column,
        Curve,
        format_cell,
        format_number,
        read_analyses,
        save_analysis,
    )
    from navarena.evaluation.analyses.catalog import (
        ANALYSES,
        AnalysisKind,
        describe_replay,
        fitting_analyses,
        fitting_names,
        read_labelled,
        run_analysis,
    )
    from navarena.evaluation.analyses.tours import tabulate_coverage

__all__ = [
    "ANALYSES",
    "Analysis",
    "AnalysisKind",
    "Column",
    "Curve",
    "describe_replay",
    "fitting_analyses",
    "fitting_names",
    "format_cell",
    "format_number",
    "read_analyses",
    "read_labelled",
    "run_analysis",
    "save_analysis",
    "tabulate_coverage",
]

__getattr__, __dir__ = lazy_names(__name__)
