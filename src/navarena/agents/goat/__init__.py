"""Agents for GOAT-Bench that remember what they saw: things (Modular GOAT) or views (CLIP on Wheels)."""

from navarena.agents.goat.modular import ModularGoatAgent
from navarena.agents.goat.search import Search, SearchSettings

__all__ = ["ModularGoatAgent", "Search", "SearchSettings"]
