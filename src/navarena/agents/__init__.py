"""Agents: observations in, actions out."""

from navarena.agents.agent import Agent, Boundary, SingleAgent, Start, WrappedAgent, wrap
from navarena.agents.catalog import AGENTS, GRAPH_AGENTS
from navarena.agents.declaration import Declaration
from navarena.agents.graph_agent import GraphAgent
from navarena.agents.habitat import HabitatAgent, StandardAgent, read_action
from navarena.agents.loading import declare_agent, load_agent
from navarena.agents.oracles import OracleStopAgent

__all__ = [
    "AGENTS",
    "GRAPH_AGENTS",
    "Agent",
    "Boundary",
    "Declaration",
    "GraphAgent",
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
