"""Generated houses: floor plan, furniture, materials and light from a seed."""

from navarena.scenes.houses.building import build_house
from navarena.scenes.houses.house_sets import HOUSE_SPLITS, house_seed
from navarena.scenes.houses.house_statistics import HouseStatistics, compute_statistics
from navarena.scenes.houses.settings import HouseSettings

__all__ = [
    "HOUSE_SPLITS",
    "HouseSettings",
    "HouseStatistics",
    "build_house",
    "compute_statistics",
    "house_seed",
]
