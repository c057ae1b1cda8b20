"""Training recipes, one readable file per family; listed without PyTorch."""

from navarena.learning.recipes.objectnav import OBJECTNAV_STRETCH_SMALL
from navarena.learning.recipes.pointnav import (
    POINTNAV_BC_SMALL,
    POINTNAV_DAGGER_SMALL,
    POINTNAV_PPO_SMALL,
    POINTNAV_SMALL,
    POINTNAV_SMOKE,
)
from navarena.learning.recipes.recipe import Recipe

__all__ = [
    "OBJECTNAV_STRETCH_SMALL",
    "POINTNAV_BC_SMALL",
    "POINTNAV_DAGGER_SMALL",
    "POINTNAV_PPO_SMALL",
    "POINTNAV_SMALL",
    "POINTNAV_SMOKE",
    "Recipe",
]
