"""Agents without learning that map what they see, explore frontiers, and go to goals."""

from navarena.agents.explorers.explorer import Aim, Explorer, ExplorerSettings
from navarena.agents.explorers.frontier import (
    ExploreOnlyAgent,
    FrontierAgent,
    FrontierRgbAgent,
    trace_coverage,
)

__all__ = [
    "Aim",
    "ExploreOnlyAgent",
    "Explorer",
    "ExplorerSettings",
    "FrontierAgent",
    "FrontierRgbAgent",
    "trace_coverage",
]
