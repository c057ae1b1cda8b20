"""Houses and plans that several tests look at; built once per process."""

from functools import cache

from navarena.scenes.houses import HouseSettings, build_house
from navarena.scenes.houses.generator import draw_house
from navarena.scenes.houses.house_plan import HousePlan
from navarena.scenes.houses.space import Placement
from navarena.scenes.scene import Scene

SEEDS = tuple(range(9))
USUAL = HouseSettings()


@cache
def sample_scene(seed: int) -> Scene:
    return build_house(seed)


@cache
def sample_plan(seed: int) -> HousePlan:
    return draw_house(seed, USUAL)


def placements_of(house: HousePlan) -> list[Placement]:
    """Of all storeys."""
    return [placed for storey in house.storeys for placed in storey.placements]
