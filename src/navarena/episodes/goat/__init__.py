"""Goals and episodes of GOAT-Bench: categories, pictures and descriptions of the objects of a scene."""

from navarena.episodes.goat.settings import GOAT_VIEW_POINTS, find_goal_view_points

__all__ = ["GOAT_VIEW_POINTS", "find_goal_view_points"]
