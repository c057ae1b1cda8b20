"""Houses and plans that several tests look at; built once per process."""

from functools import cache

from navarena.scenes.houses import HouseSettings, build_house
from navarena.scenes.houses.generator import HousePlan, draw_house
from navarena.scenes.scene import Scene

SEEDS = tuple(range(12))
USUAL = HouseSettings()


@cache
def sample_scene(seed: int) -> Scene:
    return build_house(seed)


@cache
def sample_plan(seed: int) -> HousePlan:
    return draw_house(seed, USUAL)
