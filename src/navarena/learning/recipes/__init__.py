"""Recipes: what is trained how, one readable file for each family; listed without PyTorch."""

from navarena.learning.recipes.pointnav import POINTNAV_SMALL, POINTNAV_SMOKE
from navarena.learning.recipes.recipe import Recipe

__all__ = ["POINTNAV_SMALL", "POINTNAV_SMOKE", "Recipe"]
