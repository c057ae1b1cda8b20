"""Agents: observations in, actions out."""

from typing import TYPE_CHECKING

from navarena.core.lazy import lazy_names

if TYPE_CHECKING:
    from navarena.agents.agent import Agent, Boundary, SingleAgent, Start, WrappedAgent, wrap
    from navarena.agents.catalog import AGENTS
    from navarena.agents.declaration import Declaration
    from navarena.agents.habitat import HabitatAgent, StandardAgent, read_action
    from navarena.agents.loading import declare_agent, load_agent
    from navarena.agents.oracles import OracleStopAgent

__all__ = [
    "AGENTS",
    "Agent",
    "Boundary",
    "Declaration",
    "HabitatAgent",
    "OracleStopAgent",
    "SingleAgent",
    "StandardAgent",
    "Start",
    "WrappedAgent",
    "declare_agent",
    "load_agent",
    "read_action",
    "wrap",
]

__getattr__, __dir__ = lazy_names(__name__)
