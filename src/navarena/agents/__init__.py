"""Agents: observations in, actions out."""

from navarena.agents.agent import Agent, Boundary, SingleAgent, Start, WrappedAgent, wrap
from navarena.agents.catalog import AGENTS
from navarena.agents.loading import load_agent

__all__ = ["AGENTS", "Agent", "Boundary", "SingleAgent", "Start", "WrappedAgent", "load_agent", "wrap"]
