"""Sequences of discrete actions that bring a body to a goal."""

from navarena.simulation.planning.following import follow_plans
from navarena.simulation.planning.planner import ActionPlanner, Query

__all__ = ["ActionPlanner", "Query", "follow_plans"]
