"""Sequences of discrete actions that bring a body to a goal."""

from navarena.simulation.planning.planner import ActionPlanner, Query, follow_plans

__all__ = ["ActionPlanner", "Query", "follow_plans"]
