"""Agents: observations in, actions out."""

from navarena.agents.agent import Agent, Boundary, SingleAgent, Start, WrappedAgent, wrap
from navarena.agents.catalog import AGENTS, GRAPH_AGENTS
from navarena.agents.graph_agent import GraphAgent
from navarena.agents.loading import load_agent

__all__ = [
    "AGENTS",
    "GRAPH_AGENTS",
    "Agent",
    "Boundary",
    "GraphAgent",
    "SingleAgent",
    "Start",
    "WrappedAgent",
    "load_agent",
    "wrap",
]
