"""Generates the furnished, lit scene of an apartment from its name."""

from navarena.scenes.apartments.apartment_sets import apartment_number
from navarena.scenes.apartments.furnish import called_by_furniture, furnish_apartment
from navarena.scenes.apartments.layout import apartment_plans
from navarena.scenes.apartments.twins import apartment_draws, draw_light, make_twin, relight, twin_draws
from navarena.scenes.houses.building import USUAL_SETTINGS
from navarena.scenes.houses.furnishing.furnish_rooms import draw_style
from navarena.scenes.houses.generator import compile_house
from navarena.scenes.houses.plan.house_plan import HousePlan, Storey
from navarena.scenes.scene import Scene
from navarena.scenes.twin_ids import APARTMENT_SET, TWIN_SET

LIGHT_SPACING_MM = USUAL_SETTINGS.light_spacing_mm
"""Light is baked at points so far apart on floors, walls and ceilings."""


def draw_apartment(split: str, index: int) -> HousePlan:
    """Walls and objects of apartment `index` of `split`, whole numbers of millimetres.

    Raises UnknownNameError for another split and InputError for an index outside it.
    """
    number = apartment_number(split, index)
    draws = apartment_draws(number)
    plan = apartment_plans()[number]
    placements = furnish_apartment(draws, plan, draw_style(draws.branch("style")), split)
    return HousePlan((Storey(called_by_furniture(plan, placements), 0, placements),))


def draw_twin(split: str, index: int) -> HousePlan:
    """The twin of an apartment; raises as draw_apartment does."""
    return make_twin(draw_apartment(split, index), apartment_number(split, index))


def build_apartment(split: str, index: int) -> Scene:
    """The apartment with geometry, objects, rooms, exact floors, materials and baked light.

    Raises UnknownNameError for another split and InputError for an index outside it.
    """
    number, house = apartment_number(split, index), draw_apartment(split, index)
    scene_id = f"{APARTMENT_SET}/{split}/{index:05d}"
    return compile_house(house, apartment_draws(number), LIGHT_SPACING_MM, scene_id)


def build_twin(split: str, index: int) -> Scene:
    """The twin of an apartment, under its own light; raises as build_apartment does."""
    number, house = apartment_number(split, index), draw_twin(split, index)
    scene_id = f"{TWIN_SET}/{split}/{index:05d}"
    scene = compile_house(house, twin_draws(number), LIGHT_SPACING_MM, scene_id)
    return relight(scene, draw_light(number))
