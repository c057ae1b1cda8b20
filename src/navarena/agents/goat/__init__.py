"""Agents for GOAT-Bench that remember what they saw: objects (Modular GOAT) or views (CLIP on Wheels)."""

from navarena.agents.goat.cow import CowSettings, ModularCowAgent
from navarena.agents.goat.modular_gt import ModularGoatGtAgent
from navarena.agents.goat.search import Search, SearchSettings

__all__ = [
    "CowSettings",
    "ModularCowAgent",
    "ModularGoatGtAgent",
    "Search",
    "SearchSettings",
]
