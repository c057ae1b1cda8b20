"""Agents without learning that map what they see, explore what they do not know, and go to goals."""

from navarena.agents.explorers.coverage_curves import trace_coverage
from navarena.agents.explorers.explorer import Aim, Explorer, ExplorerSettings
from navarena.agents.explorers.frontier import ExploreOnlyAgent, FrontierAgent, FrontierRgbAgent

__all__ = [
    "Aim",
    "ExploreOnlyAgent",
    "Explorer",
    "ExplorerSettings",
    "FrontierAgent",
    "FrontierRgbAgent",
    "trace_coverage",
]
